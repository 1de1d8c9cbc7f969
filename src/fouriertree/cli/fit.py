"""`fouriertree fit data.csv --target y`: equations for a column."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fouriertree.cli.files import as_input_errors
from fouriertree.cli.fitting.arguments import FitArguments, check_guesses
from fouriertree.cli.fitting.options import FIT
from fouriertree.cli.fitting.outcome import Outcome, resume_command
from fouriertree.cli.help import examples
from fouriertree.cli.interrupts import Interrupts, handle_interrupts
from fouriertree.cli.options import with_options
from fouriertree.cli.output import document, note
from fouriertree.collector import long_lived_objects
from fouriertree.errors import InputError

if TYPE_CHECKING:
    from fouriertree.runs import RunFolder

EXAMPLES = examples(
    ("equations for the column y, in half a minute at most", "fouriertree fit data.csv -t y --time-limit 30 -o m.json"),
    ("some features only; names with spaces need quotes", "fouriertree fit data.csv -t y -c mass -c 'top speed'"),
    ("scores on a hold-out set of 20 % of the rows", "fouriertree fit data.csv -t y --validation 0.2"),
    ("the same for a time series: the last rows", "fouriertree fit data.csv -t y --validation 0.2 --validation-last"),
    ("one sheet of a workbook, with sample weights", "fouriertree fit lab.xlsx --sheet Run7 -t y --weights w"),
    ("from a pipe, for a script", "zcat data.csv.gz | fouriertree fit - -t y --json | jq -r .equation"),
)  # fmt: skip


@with_options(*FIT)
def fit(**values: Any) -> None:
    """Symbolic regression: find equations for one column of a table.

    Prints the equations from the simplest to the most accurate, the chosen one marked with >>>. Ctrl-C ends the
    search: the equations found so far are written and printed, and the exit status is 130; SIGTERM does the same, with
    143. A second Ctrl-C exits at once. A run that was killed is resumed by `fouriertree runs resume last`.
    """
    as_json, no_run = values.pop("json"), values.pop("no_run")
    if no_run:
        values["run_dir"] = None
    with document(as_json) as content, handle_interrupts() as interrupts:
        fit_table(FitArguments(**values), interrupts, content)


def fit_table(
    arguments: FitArguments, interrupts: Interrupts, content: dict[str, Any], folder: RunFolder | None = None,
    report: Path | None = None,
) -> None:  # fmt: skip
    """Read the table, fit, score, write and print: for `fit`, `demo` and `runs resume`."""
    with long_lived_objects():
        from fouriertree.cli.fitting.columns import holdout_scores, note_wide, samples
        from fouriertree.data.checks import draw_seed
        from fouriertree.estimators.regressor import SymbolicRegressor
        from fouriertree.estimators.single_fit import RunContext
        from fouriertree.fit.stopping import MemoryLimitError
        from fouriertree.runs import RunError

    arguments.check()
    parameters = arguments.parameters()
    # Drawn here and not by the regressor, since the hold-out set depends on it.
    seed = draw_seed(arguments.seed)
    training, holdout = samples(arguments, seed)
    check_guesses(arguments.guess, training.X, parameters["operators"])
    note_wide(training.y, arguments)
    parameters |= {"random_state": seed, "progress": True}
    regressor = (
        SymbolicRegressor(**parameters) if folder is None else SymbolicRegressor.of_run(folder, **parameters)
    )
    interrupts.regressor = regressor
    context = RunContext(folder, {"command": arguments.to_json()})
    # A run that cannot be resumed, and a memory limit that is too small.
    with warnings_as_notes(), as_input_errors(RunError, MemoryLimitError):
        try:
            regressor.fit_run(training.X, training.y, training.weights, context=context, stop=interrupts.stop)
        except MemoryError:
            advice = "with a --memory-limit, a search ends before that and keeps its equations"
            if (run := context.folder) is not None:
                advice += f"; the run is in {run.path}, and `{resume_command(run.path)}` resumes it"
            raise InputError(f"there is not enough memory; {advice}") from None
        interrupts.announce()
        scores = None if holdout is None else holdout_scores(regressor.models_, holdout, regressor._measure)
        outcome = Outcome(regressor, training, scores)
        content |= outcome.document()
        outcome.finish(arguments.output, arguments.plot, report)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Inside, a warning about a run folder or a model file is one line on stderr, as all notes are."""
    from fouriertree.runs import RunFolderWarning
    from fouriertree.runs.model_file import ModelFileWarning

    ours = (RunFolderWarning, ModelFileWarning)
    with warnings.catch_warnings():
        before = warnings.showwarning

        def show(message: Any, category: Any, *place: Any, **more: Any) -> None:
            if issubclass(category, ours):
                note(str(message))
            else:
                before(message, category, *place, **more)

        for category in ours:
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        yield
