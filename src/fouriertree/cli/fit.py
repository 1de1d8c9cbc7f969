"""`fouriertree fit data.csv --target y`: formulas for a column."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fouriertree.cli.documents import Json, document
from fouriertree.cli.errors import InputError
from fouriertree.cli.fitting import options as o
from fouriertree.cli.fitting.arguments import FitArguments, FitRequest
from fouriertree.cli.fitting.outcome import Outcome
from fouriertree.cli.help import examples
from fouriertree.cli.interrupts import Interrupts, handle_interrupts
from fouriertree.cli.output import note

if TYPE_CHECKING:
    from fouriertree.cli.fitting.columns import Sample
    from fouriertree.estimators.regressor import SymbolicRegressor
    from fouriertree.runs import RunFolder

EXAMPLES = examples(
    ("formulas for the column y, in half a minute at most", "fouriertree fit data.csv -t y --time-limit 30 -o m.json"),
    ("some columns only; names with spaces need quotes", "fouriertree fit data.csv -t y -c mass -c 'top speed'"),
    ("how well do they predict rows that the fit never sees?", "fouriertree fit data.csv -t y --validation 0.2"),
    ("the same, for a table in the order of time", "fouriertree fit data.csv -t y --validation 0.2 --validation-last"),
    ("one sheet of a workbook, rows that count differently", "fouriertree fit lab.xlsx --sheet Run7 -t y --weights w"),
    ("from a pipe, for a script", "zcat data.csv.gz | fouriertree fit - -t y --json | jq -r .equation"),
)  # fmt: skip


def fit(
    data: o.Data,
    target: o.Target = None,
    column: o.Column = [],
    ignore: o.Ignore = [],
    weights: o.Weights = None,
    sheet: o.Sheet = None,
    search: o.Search = o.SearchName.hybrid,
    projector: o.Projector = None,
    time_limit: o.TimeLimit = None,
    max_evaluations: o.MaxEvaluations = None,
    memory_limit: o.MemoryLimit = None,
    seed: o.Seed = None,
    jobs: o.Jobs = 1,
    operators: o.Operators = None,
    max_terms: o.MaxTerms = None,
    max_size: o.MaxSize = None,
    guess: o.Guess = [],
    loss: o.Loss = o.LossName.squared,
    quantile: o.Quantile = None,
    model_selection: o.ModelSelection = o.Selection.mdl,
    validation: o.Validation = None,
    validation_last: o.ValidationLast = False,
    validation_file: o.ValidationFile = None,
    output: o.Output = None,
    plot: o.Plot = None,
    run_dir: o.RunDir = o.RUNS,
    no_run: o.NoRun = False,
    as_json: Json = False,
) -> None:
    """Find formulas for one column of a table in the others.

    Prints the formulas from the simplest to the most accurate, the chosen one marked with >>>. Ctrl-C ends the
    search: what was found is written and printed, and the exit status is 130; SIGTERM does the same, with 143. Another
    Ctrl-C leaves at once. A run that was killed goes on with `fouriertree runs resume last`.
    """
    given = FitArguments(
        data, target, tuple(column), tuple(ignore), weights, sheet, search, projector, time_limit, max_evaluations,
        memory_limit, seed, jobs, operators, max_terms, max_size, tuple(guess), loss, quantile, model_selection,
        validation, validation_last, validation_file, output, plot, None if no_run else run_dir,
    )  # fmt: skip
    with document(as_json) as content, handle_interrupts() as interrupts:
        fit_table(given.request(), interrupts, content)


def fit_table(
    request: FitRequest, interrupts: Interrupts, content: dict[str, Any], folder: RunFolder | None = None
) -> None:
    """Read, search, judge, write, print: what `fit`, `demo` and `runs resume` have in common."""
    from fouriertree.cli.fitting.checks import check_guesses
    from fouriertree.data.checks import draw_seed
    from fouriertree.estimators.single_fit import RunContext

    # Drawn here and not by the regressor, since it also says which rows are kept aside.
    seed = draw_seed(request.settings["random_state"])
    sample, others = samples(request, seed)
    check_guesses(request.settings.get("guesses", []), sample.X, request.settings.get("operators"))
    regressor = make_regressor({**request.settings, "random_state": seed}, folder)
    interrupts.regressor = regressor
    with warnings_as_notes():
        with refusals_as_input_errors():
            context = RunContext(folder, request.notes)
            regressor.fit_run(sample.X, sample.y, sample.weights, context=context, stop=interrupts.stop)
        interrupts.announce()
        from fouriertree.cli.fitting.holdout import judge

        judgement = None if others is None else judge(regressor.models_, others)
        outcome = Outcome(regressor, sample, judgement)
        content |= outcome.document()
        outcome.finish(request.files)


def make_regressor(settings: dict[str, Any], folder: RunFolder | None) -> SymbolicRegressor:
    from fouriertree.estimators.regressor import SymbolicRegressor

    if folder is not None:
        return SymbolicRegressor.of_run(folder, progress=True, **settings)
    return SymbolicRegressor(progress=True, **settings)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Inside, what cannot be written to a run folder or a model file is one line on stderr, as all notes are."""
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


@contextmanager
def refusals_as_input_errors() -> Iterator[None]:
    """Inside, a run that cannot go on, and a limit that cannot be kept, are the user's to change."""
    from fouriertree.fit.memory import MemoryLimitError
    from fouriertree.runs import RunError

    try:
        yield
    except (RunError, MemoryLimitError) as error:
        raise InputError(str(error)) from None


def samples(request: FitRequest, seed: int) -> tuple[Sample, Sample | None]:
    """The rows to fit, and those to judge formulas by, if any."""
    from fouriertree.cli.fitting.columns import same_columns, training_sample
    from fouriertree.cli.fitting.holdout import split
    from fouriertree.io.tables.reading import read_table

    sample = training_sample(read_table(request.data, request.sheet), request.choice)
    unseen = request.unseen
    if unseen is not None and unseen.file is not None:
        return sample, same_columns(read_table(unseen.file), sample)
    if unseen is not None and unseen.share is not None:
        return split(sample, unseen.share, unseen.last, seed)
    return sample, None
