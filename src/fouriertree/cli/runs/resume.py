"""`fouriertree runs resume`: the same fit once more, from its newest checkpoint."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fouriertree.cli.errors import InputError
from fouriertree.cli.fit import fit_table
from fouriertree.cli.fitting.arguments import FitArguments
from fouriertree.cli.interrupts import handle_interrupts
from fouriertree.cli.runs.inspect import run_errors_as_input_errors
from fouriertree.io.tables.source import DASH
from fouriertree.runs import RunFolder, find_run
from fouriertree.runs.folder import FINISHED


@dataclass(frozen=True)
class Changes:
    """What is to be other than it was."""

    data: Path | None
    time_limit: float | None
    max_evaluations: int | None
    jobs: int | None
    output: Path | None
    plot: Path | None

    def apply(self, given: FitArguments) -> FitArguments:
        wanted = {name: value for name, value in vars(self).items() if value is not None}
        return replace(given, **wanted)


def go_on(store: Path, wanted: str, changes: Changes, content: dict[str, Any]) -> None:
    with run_errors_as_input_errors():
        run = find_run(store, wanted)
    given = changes.apply(given_of(run))
    if run.status == FINISHED and changes.time_limit is None and changes.max_evaluations is None:
        raise InputError(
            f"run {run.id} is finished, and `fouriertree runs show {run.id}` prints it; give a larger --time-limit or "
            "--max-evaluations to search on"
        )
    if given.data == DASH:
        raise InputError(f"the table of run {run.id} came from the standard input; give it with --data FILE")
    given = replace(given, seed=run.metadata["seed"])
    with closing(run), handle_interrupts() as interrupts, run_errors_as_input_errors():
        fit_table(given.request(), interrupts, content, run)


def given_of(run: RunFolder) -> FitArguments:
    """What was asked of `fit`."""
    command = run.metadata.get("command")
    if not isinstance(command, dict):
        raise InputError(
            f"run {run.id} was made from Python; go on with it there: SymbolicRegressor.resume({str(run.path)!r}, X, y)"
        )
    try:
        return FitArguments.from_json(command)
    except (TypeError, ValueError) as error:
        raise InputError(f"{run.path / 'run.json'} is damaged: {error}") from None
