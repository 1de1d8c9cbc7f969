"""`fouriertree fit data.csv --target y`: formulas for a column."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fouriertree.cli.errors import InputError, listed, unwritable
from fouriertree.cli.interrupts import Interrupts, interrupts_end_the_search
from fouriertree.cli.options import LARGEST_SEED, one_of, seconds, share, whole_number
from fouriertree.cli.output import note, say
from fouriertree.cli.show import show

if TYPE_CHECKING:
    import pandas as pd

    from fouriertree.cli.tables import Table
    from fouriertree.estimator import SymbolicRegressor
    from fouriertree.expr import PrimitiveSet

PICTURES = (".png", ".pdf", ".svg")
#: PrimitiveSet.default() in words, for a help text that imports nothing
DEFAULT_OPERATORS = "+,-,*,/,sin,cos,exp,log,sqrt,square,tanh"
#: what SymbolicRegressor does unless told otherwise, and help texts say
MAX_TERMS, MAX_SIZE, QUANTILE = 10, 80, 0.5
#: GP has no end of its own
GP_TRAVERSES = 100_000
#: of so many small trees, FTG takes the one that describes the data most briefly
FTG_LEVELS, FTG_BEST_OF = 4, 10_000


class SearchName(StrEnum):
    hybrid = "hybrid"
    ftg = "ftg"
    one_plus_lambda = "one-plus-lambda"
    gp = "gp"


class ProjectorName(StrEnum):
    qr = "qr"
    gram_svd = "gram-svd"


class Selection(StrEnum):
    mdl = "mdl"
    best = "best"
    accuracy = "accuracy"


class LossName(StrEnum):
    squared = "squared"
    absolute = "absolute"
    huber = "huber"
    quantile = "quantile"


SEARCH, SEARCHES = one_of(SearchName), "|".join(SearchName)
PROJECTOR, PROJECTORS = one_of(ProjectorName), "|".join(ProjectorName)
SELECTION, SELECTIONS = one_of(Selection), "|".join(Selection)
LOSS, LOSSES = one_of(LossName), "|".join(LossName)


def fit(
    data: Path = typer.Argument(..., metavar="DATA", help="CSV file; its first line names the columns."),
    target: str | None = typer.Option(
        None, "--target", "-t", metavar="NAME", help="Column to find a formula for."
    ),
    ignore: list[str] = typer.Option(
        [], "--ignore", metavar="NAME", help="Column to leave out; may be given several times."
    ),
    search: SearchName = typer.Option(
        SearchName.hybrid,
        "--search",
        parser=SEARCH,
        metavar=SEARCHES,
        help="How formulas are searched for: hybrid is the strongest; ftg adds up random trees; the others evolve one "
        f"tree by genetic programming, for {GP_TRAVERSES:,} traverses where no limit is given.",
    ),
    projector: ProjectorName | None = typer.Option(
        None,
        "--projector",
        parser=PROJECTOR,
        metavar=PROJECTORS,
        help="How ftg finds coefficients: qr, unless told otherwise; gram-svd is FTG as published, with its operators "
        "and deep trees.",
    ),
    time_limit: float | None = typer.Option(
        None, "--time-limit", parser=seconds, metavar="SECONDS", help="Seconds at most."
    ),
    max_evaluations: int | None = typer.Option(
        None,
        "--max-evaluations",
        parser=whole_number(1),
        metavar="N",
        help="Candidates to look at, about; unlike a time limit, it gives the same formulas again.",
    ),
    max_terms: int | None = typer.Option(
        None,
        "--max-terms",
        parser=whole_number(1),
        metavar="N",
        help=f"Terms at most; {MAX_TERMS}, and no limit with gram-svd.",
    ),
    max_size: int | None = typer.Option(
        None,
        "--max-size",
        parser=whole_number(1),
        metavar="N",
        help=f"Complexity of a formula at most, for hybrid; {MAX_SIZE} unless told otherwise.",
    ),
    loss: LossName = typer.Option(
        LossName.squared,
        "--loss",
        parser=LOSS,
        metavar=LOSSES,
        help="What an error costs; absolute and huber do not mind a few wild rows, and quantile finds a formula that a "
        "share of the rows stays below.",
    ),
    quantile: float | None = typer.Option(
        None,
        "--quantile",
        parser=share,
        metavar="SHARE",
        help=f"That share, for --loss quantile; {QUANTILE} unless told otherwise.",
    ),
    model_selection: Selection = typer.Option(
        Selection.mdl,
        "--model-selection",
        parser=SELECTION,
        metavar=SELECTIONS,
        help="Which row is chosen: the shortest description, the one after which more complexity gains little, or the "
        "smallest validation loss.",
    ),
    guess: list[str] = typer.Option(
        [],
        "--guess",
        metavar="FORMULA",
        help="Formula for hybrid to start from, such as 'a*sin(angle)'; names that are no columns are numbers to be "
        "fitted. May be given several times.",
    ),
    seed: int | None = typer.Option(
        None,
        "--seed",
        parser=whole_number(0, LARGEST_SEED),
        metavar="N",
        help="Repeats a run; without it, every run is another one.",
    ),
    operators: str | None = typer.Option(
        None,
        "--operators",
        metavar="NAMES",
        help=f"Names or signs, separated by commas; {DEFAULT_OPERATORS} unless told otherwise.",
    ),
    jobs: int = typer.Option(
        1,
        "--jobs",
        parser=whole_number(-1),
        metavar="N",
        help="Threads; -1 for one per processor. Same result for any.",
    ),
    output: Path | None = typer.Option(
        None, "--output", "-o", metavar="FILE", help="Write the model there, as JSON, for `predict`."
    ),
    plot: Path | None = typer.Option(
        None, "--plot", metavar="FILE", help="Write a picture of the fit there (.png, .pdf or .svg)."
    ),
) -> None:
    """Find formulas for one column of a CSV file in the others.

    Prints the formulas from the simplest to the most accurate, the chosen one marked with >>>. Ctrl-C ends the
    search: what was found is written and printed, and the exit status is 130; SIGTERM does the same, with 143.
    """
    with interrupts_end_the_search() as interrupts:
        check_outputs(data, output, plot)
        check_search(search, projector, max_terms, max_size, guess)
        check_loss(loss, quantile)
        limited = time_limit is not None or max_evaluations is not None
        settings = {
            **search_settings(search, projector, max_terms, operators, limited),
            "max_size": MAX_SIZE if max_size is None else max_size,
            "guesses": guess,
            "loss": str(loss),
            "quantile": QUANTILE if quantile is None else quantile,
            "model_selection": str(model_selection),
            "time_limit": time_limit,
            "max_evaluations": max_evaluations,
            "random_state": seed,
            "n_jobs": check_jobs(jobs),
        }
        fit_table(data, target, ignore, settings, interrupts, output, plot)


def fit_table(
    data: Path,
    target: str | None,
    ignore: list[str],
    settings: dict[str, Any],
    interrupts: Interrupts,
    output: Path | None = None,
    plot: Path | None = None,
    report: Path | None = None,
) -> None:
    """Read, search, write, print: what `fit` and `demo` have in common."""
    X, y = features_and_target(data, target, ignore)
    check_guesses(settings.get("guesses", []), X, settings.get("operators"))
    from fouriertree.estimator import SymbolicRegressor

    regressor = SymbolicRegressor(progress=True, **settings)
    interrupts.regressor = regressor
    regressor.fit(X, y)
    interrupts.announce()
    finish(regressor, X, y, output, plot, report)


def finish(
    regressor: SymbolicRegressor, X: pd.DataFrame, y: pd.Series, output: Path | None, plot: Path | None,
    report: Path | None = None,
) -> None:  # fmt: skip
    """Write the files and print the table: files first, since stdout may fail, and each whatever the others do."""
    steps: list[Callable[[], None]] = []
    done: list[str] = []
    if output is not None:
        steps.append(lambda: save(output, regressor, y.name, done))
    if plot is not None:
        steps.append(lambda: draw(plot, regressor, X, y, done))
    if report is not None:
        steps.append(lambda: write_report(report, regressor, y.name, done))
    steps.append(lambda: show(regressor, y.name))
    with ExitStack() as stack:
        # A stack runs the last one first, and the others even if one fails.
        for step in reversed(steps):
            stack.callback(step)
    if done:
        say(*done)


def check_outputs(data: Path, output: Path | None, plot: Path | None) -> None:
    from fouriertree.cli.files import check_writable

    for path in (output, plot):
        if path is not None:
            check_writable(path, data)
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise InputError(f"cannot draw {plot}: the name of a picture ends in {', '.join(PICTURES)}")
    if output is not None and plot is not None and output.resolve() == plot.resolve():
        raise InputError(f"{plot} cannot be both the model and the picture; give one of them another name")


def check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise InputError("--jobs must be a number of threads, or -1 for one per processor; got 0")
    return jobs


def check_search(
    search: SearchName, projector: ProjectorName | None, max_terms: int | None, max_size: int | None, guess: list[str]
) -> None:  # fmt: skip
    """Options that the search has no use for are refused, not forgotten."""
    one_tree = search in (SearchName.one_plus_lambda, SearchName.gp)
    if one_tree and (projector is not None or max_terms is not None):
        raise InputError(
            f"--projector and --max-terms are about sums of trees; --search {search} finds one tree"
        )
    if search is not SearchName.ftg and projector is not None:
        raise InputError(f"--projector is about ftg; give --search ftg with it, not {search}")
    if search is not SearchName.hybrid and (max_size is not None or guess):
        raise InputError(
            f"--max-size and --guess are about the hybrid search; --search {search} has no use for them"
        )


def check_loss(loss: LossName, quantile: float | None) -> None:
    if quantile is not None and loss is not LossName.quantile:
        raise InputError(f"--quantile is about --loss quantile; give that with it, not {loss}")


def check_guesses(guesses: list[str], X: pd.DataFrame, operators: PrimitiveSet | None) -> None:
    if not guesses:
        return
    from fouriertree.expr import ParseError, PrimitiveSet
    from fouriertree.guesses import parse_guesses

    for guess in guesses:
        try:
            parse_guesses([guess], list(X.columns), operators or PrimitiveSet.default())
        except ParseError as error:
            raise InputError(f"--guess {guess!r} is no formula: {error.reason}") from None


def search_settings(
    search: SearchName,
    projector: ProjectorName | None,
    max_terms: int | None,
    operators: str | None,
    limited: bool,
) -> dict[str, Any]:
    """What SymbolicRegressor is told about the search."""
    named = None if operators is None else parse_operators(operators)
    if search is SearchName.hybrid:
        return {"operators": named, "max_terms": MAX_TERMS if max_terms is None else max_terms}
    if search is not SearchName.ftg:
        return {"operators": named, **gp_settings(search, limited)}
    from fouriertree import FTG, GramSVD, PrimitiveSet, RampedHalfAndHalf

    if projector is not ProjectorName.gram_svd:
        generator = RampedHalfAndHalf(1, FTG_LEVELS)
        ftg = FTG(
            generator=generator, best_of=FTG_BEST_OF, max_terms=MAX_TERMS if max_terms is None else max_terms
        )
        return {"search": ftg, "operators": named}
    say("FTG as published: Gram matrix and SVD, trees of up to 10 levels, the first relevant one is taken")
    return {
        "search": FTG(projector=GramSVD(), max_terms=max_terms),
        "operators": PrimitiveSet.paper() if named is None else named,
    }


def gp_settings(search: SearchName, limited: bool) -> dict[str, Any]:
    from fouriertree.search import CanonicalGP, OnePlusLambda

    return {
        "search": CanonicalGP() if search is SearchName.gp else OnePlusLambda(),
        "max_traverses": None if limited else GP_TRAVERSES,
    }


def parse_operators(text: str) -> PrimitiveSet:
    from fouriertree.expr import PrimitiveSet
    from fouriertree.expr.primitives import did_you_mean

    names = [name.strip() for name in text.split(",") if name.strip()]
    known = PrimitiveSet.catalogue()
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known.names) or "; there are"
            raise InputError(f"unknown operator {name!r}{hint} + - * / ^ {' '.join(known.names)}")
    rows = [known[name] for name in names]
    if not rows or len(set(rows)) < len(rows):
        raise InputError(f"--operators must name one operator or more, each of them once; got {text!r}")
    return PrimitiveSet(rows)


def features_and_target(path: Path, target: str | None, ignore: list[str]) -> tuple[pd.DataFrame, pd.Series]:
    """The columns to search in, and the one to find, as finite numbers."""
    import pandas as pd

    from fouriertree.cli.tables import read_table

    table = read_table(path)
    if target is None:
        raise InputError(
            f"name the column to find a formula for with --target; {path} has {listed(table.names)}"
        )
    target, ignored = table.column(target), [table.column(name) for name in ignore]
    if target in ignored:
        raise InputError(f"{target!r} is both the target and ignored; it can be one of them")
    nameless = [name for name in table.nameless if name != target and name not in ignored]
    names = [name for name in table.names if name != target and name not in (*ignored, *nameless)]
    if not names:
        raise InputError(
            f"{path} has no named columns besides {target!r}, so there is nothing to make a formula of"
        )
    if len(table) < 2:
        raise InputError(f"{path} has {len(table)} row(s) below its header; a fit needs at least two")
    y = table.numbers([target], "; a target must be numeric")[:, 0]
    X = table.numbers(names, "; leave the column out with --ignore, or turn it into numbers")
    check_range(path, target, y)
    note_doubts(table, nameless)
    return pd.DataFrame(X, columns=names), pd.Series(y, name=target)


def note_doubts(table: Table, nameless: list[str]) -> None:
    """Say what may not be what the user meant; input that is refused gets its one sentence only."""
    for name in nameless:
        number = table.names.index(name) + 1
        note(f"column {number} has no name, an index probably: left out; name it to use it")
    if table.starts_with_data:
        note(f"the first line of {table.path} looks like data, not names")


def check_range(path: Path, target: str, y: Any) -> None:
    from fouriertree.checks import check_scale

    try:
        check_scale(y)
    except ValueError as error:
        raise InputError(f"column {target!r} of {path} cannot be fitted: {error}") from None


def save(path: Path, regressor: SymbolicRegressor, target: str, done: list[str]) -> None:
    from fouriertree.cli.files import save_model

    save_model(path, regressor, target)
    done.append(f"model written to {path}")


def write_report(path: Path, regressor: SymbolicRegressor, target: str, done: list[str]) -> None:
    try:
        regressor.report(path, target)
    except OSError as error:
        raise unwritable(path, error) from None
    done.append(f"report written to {path}")


def draw(path: Path, regressor: SymbolicRegressor, X: pd.DataFrame, y: pd.Series, done: list[str]) -> None:
    from fouriertree.cli.files import write_whole
    from fouriertree.plotting import draw_fit

    picture = draw_fit(
        y.to_numpy(), regressor.predict(X), regressor.equations_, regressor.best_index_, y.name,
        path.suffix.lower().lstrip("."),
    )  # fmt: skip
    write_whole(path, picture)
    done.append(f"picture written to {path}")
