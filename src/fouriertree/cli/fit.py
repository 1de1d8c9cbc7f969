"""`fouriertree fit data.csv --target y`: formulas for a column."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fouriertree.cli.documents import Json, document
from fouriertree.cli.fitting import options as o
from fouriertree.cli.fitting.outcome import Files, Outcome
from fouriertree.cli.help import examples
from fouriertree.cli.interrupts import Interrupts, interrupts_end_the_search

if TYPE_CHECKING:
    from fouriertree.cli.fitting.columns import Choice, Sample
    from fouriertree.cli.fitting.unseen import Unseen

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
    as_json: Json = False,
) -> None:
    """Find formulas for one column of a table in the others.

    Prints the formulas from the simplest to the most accurate, the chosen one marked with >>>. Ctrl-C ends the
    search: what was found is written and printed, and the exit status is 130; SIGTERM does the same, with 143. Another
    Ctrl-C leaves at once.
    """
    with document(as_json) as content, interrupts_end_the_search() as interrupts:
        from fouriertree.cli.fitting import checks
        from fouriertree.cli.fitting.columns import Choice
        from fouriertree.cli.fitting.settings import search_settings
        from fouriertree.cli.fitting.unseen import Unseen

        unseen = Unseen(validation, validation_last, validation_file)
        unseen.check(data)
        checks.check_outputs([data, *([validation_file] if validation_file else [])], output, plot)
        checks.check_search(search, projector, max_terms, max_size, guess)
        checks.check_loss(loss, quantile)
        limited = time_limit is not None or max_evaluations is not None
        settings = {
            **search_settings(search, projector, max_terms, operators, limited),
            "max_size": o.MAX_SIZE if max_size is None else max_size,
            "guesses": guess,
            "loss": str(loss),
            "quantile": o.QUANTILE if quantile is None else quantile,
            "model_selection": str(model_selection),
            "time_limit": time_limit,
            "max_evaluations": max_evaluations,
            "random_state": seed,
            "n_jobs": checks.check_jobs(jobs),
        }
        choice = Choice(target, tuple(column), tuple(ignore), weights)
        wish = Wish(data, choice, settings, Files(output, plot), unseen, sheet)
        fit_table(wish, interrupts, content)


@dataclass(frozen=True)
class Wish:
    """A table, which of its columns and rows to use, how to search, and where to write."""

    data: Path
    choice: Choice
    settings: dict[str, Any]
    files: Files
    unseen: Unseen | None = None
    sheet: str | None = None


def fit_table(wish: Wish, interrupts: Interrupts, content: dict[str, Any]) -> None:
    """Read, search, judge, write, print: what `fit` and `demo` have in common."""
    from fouriertree.checks import draw_seed
    from fouriertree.cli.fitting.checks import check_guesses

    # Drawn here and not by the regressor, since it also says which rows are kept aside.
    seed = draw_seed(wish.settings["random_state"])
    sample, others = samples(wish, seed)
    check_guesses(wish.settings.get("guesses", []), sample.X, wish.settings.get("operators"))
    from fouriertree.estimator import SymbolicRegressor

    regressor = SymbolicRegressor(progress=True, **{**wish.settings, "random_state": seed})
    interrupts.regressor = regressor
    regressor.fit(sample.X, sample.y, sample.weights)
    interrupts.announce()
    from fouriertree.cli.fitting.unseen import judge

    judgement = None if others is None else judge(regressor.models_, others)
    outcome = Outcome(regressor, sample, judgement)
    content |= outcome.document()
    outcome.finish(wish.files)


def samples(wish: Wish, seed: int) -> tuple[Sample, Sample | None]:
    """The rows to fit, and those to judge formulas by, if any."""
    from fouriertree.cli.fitting.columns import same_columns, training_sample
    from fouriertree.cli.fitting.unseen import split
    from fouriertree.tables.reading import read_table

    sample = training_sample(read_table(wish.data, wish.sheet), wish.choice)
    unseen = wish.unseen
    if unseen is not None and unseen.file is not None:
        return sample, same_columns(read_table(unseen.file), sample)
    if unseen is not None and unseen.share is not None:
        return split(sample, unseen.share, unseen.last, seed)
    return sample, None
