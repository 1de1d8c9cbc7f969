"""`fouriertree runs resume`: the same fit from its newest checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from fouriertree.cli.fit import fit_table
from fouriertree.cli.fitting.arguments import FitArguments
from fouriertree.cli.interrupts import handle_interrupts
from fouriertree.cli.runs.inspect import run_errors_as_input_errors
from fouriertree.errors import InputError
from fouriertree.io.tables.source import DASH
from fouriertree.runs import RunFolder, find_run
from fouriertree.runs.folder import FINISHED


def resume_run(store: Path, name: str, changes: Mapping[str, Any], content: dict[str, Any]) -> None:
    """Fit with the recorded arguments and the changes; `content` is the JSON document."""
    with run_errors_as_input_errors():
        run = find_run(store, name)
    recorded = recorded_arguments(run)
    if run.status == FINISHED and not {"time_limit", "max_evaluations"} & set(changes):
        raise InputError(
            f"run {run.id} is finished, and `fouriertree runs show {run.id}` prints it; give a larger --time-limit or "
            "--max-evaluations to continue it"
        )
    arguments = FitArguments(**{**vars(recorded), **changes, "seed": run.metadata["seed"]})
    if arguments.data == DASH:
        raise InputError(f"the table of run {run.id} came from the standard input; give it with --data FILE")
    with closing(run), handle_interrupts() as interrupts, run_errors_as_input_errors():
        fit_table(arguments, interrupts, content, run)


def recorded_arguments(run: RunFolder) -> FitArguments:
    command = run.metadata.get("command")
    if not isinstance(command, dict):
        raise InputError(
            f"run {run.id} was made from Python; resume it there: SymbolicRegressor.resume({str(run.path)!r}, X, y)"
        )
    try:
        return FitArguments.from_json(command)
    except (TypeError, ValueError) as error:
        raise InputError(f"{run.path / 'run.json'} is damaged: {error}") from None
