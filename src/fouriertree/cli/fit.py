"""`fouriertree fit data.csv --target y`: formulas for a column."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fouriertree.cli.errors import InputError, listed
from fouriertree.cli.interrupts import Interrupts, interrupts_end_the_search
from fouriertree.cli.options import LARGEST_SEED, one_of, seconds, whole_number
from fouriertree.cli.output import note, say
from fouriertree.cli.show import show

if TYPE_CHECKING:
    import pandas as pd

    from fouriertree.cli.tables import Table
    from fouriertree.estimator import SymbolicRegressor
    from fouriertree.expr import PrimitiveSet

PICTURES = (".png", ".pdf", ".svg")
#: PrimitiveSet.default() in words, for a help text that imports nothing
DEFAULT_OPERATORS = "+,-,*,/,sin,cos,exp,log,sqrt,square"
#: GP has no end of its own
GP_TRAVERSES = 100_000


class SearchName(StrEnum):
    ftg = "ftg"
    one_plus_lambda = "one-plus-lambda"
    gp = "gp"


class ProjectorName(StrEnum):
    qr = "qr"
    gram_svd = "gram-svd"


SEARCH, SEARCHES = one_of(SearchName), "|".join(SearchName)
PROJECTOR, PROJECTORS = one_of(ProjectorName), "|".join(ProjectorName)


def fit(
    data: Path = typer.Argument(..., metavar="DATA", help="CSV file; its first line names the columns."),
    target: str | None = typer.Option(
        None, "--target", "-t", metavar="NAME", help="Column to find a formula for."
    ),
    ignore: list[str] = typer.Option(
        [], "--ignore", metavar="NAME", help="Column to leave out; may be given several times."
    ),
    search: SearchName = typer.Option(
        SearchName.ftg,
        "--search",
        parser=SEARCH,
        metavar=SEARCHES,
        help="How formulas are searched for: ftg adds up trees, the others evolve one tree by genetic programming, "
        f"for {GP_TRAVERSES:,} traverses where no time limit is given.",
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
    max_terms: int | None = typer.Option(
        None,
        "--max-terms",
        parser=whole_number(1),
        metavar="N",
        help="Terms at most; 10, and no limit with gram-svd.",
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

    Prints one formula per length, the chosen one marked with >>>. Ctrl-C ends the search: what was found is
    written and printed, and the exit status is 130; SIGTERM does the same, with 143.
    """
    with interrupts_end_the_search() as interrupts:
        check_outputs(data, output, plot)
        settings = {
            **search_settings(search, projector, max_terms, operators, time_limit),
            "time_limit": time_limit,
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
) -> None:
    """Read, search, write, print: what `fit` and `demo` have in common."""
    X, y = features_and_target(data, target, ignore)
    from fouriertree.estimator import SymbolicRegressor

    regressor = SymbolicRegressor(progress=True, **settings)
    interrupts.regressor = regressor
    regressor.fit(X, y)
    interrupts.announce()
    finish(regressor, X, y, output, plot)


def finish(
    regressor: SymbolicRegressor, X: pd.DataFrame, y: pd.Series, output: Path | None, plot: Path | None
) -> None:
    """Write the files and print the table: files first, since stdout may fail, and each whatever the others do."""
    steps: list[Callable[[], None]] = []
    done: list[str] = []
    if output is not None:
        steps.append(lambda: save(output, regressor, y.name, done))
    if plot is not None:
        steps.append(lambda: draw(plot, regressor, X, y, done))
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


def search_settings(
    search: SearchName,
    projector: ProjectorName | None,
    max_terms: int | None,
    operators: str | None,
    time_limit: float | None,
) -> dict[str, Any]:
    """What SymbolicRegressor is told about the search."""
    named = None if operators is None else parse_operators(operators)
    if search is not SearchName.ftg:
        if projector is not None or max_terms is not None:
            raise InputError(
                f"--projector and --max-terms are about sums of trees; --search {search} finds one tree"
            )
        return {"operators": named, **gp_settings(search, time_limit)}
    if projector is not ProjectorName.gram_svd:
        return {"operators": named, "max_terms": 10 if max_terms is None else max_terms}
    from fouriertree import FTG, GramSVD, PrimitiveSet

    say("FTG as published: Gram matrix and SVD, trees of up to 10 levels, the first relevant one is taken")
    return {
        "search": FTG(projector=GramSVD(), max_terms=max_terms),
        "operators": PrimitiveSet.paper() if named is None else named,
    }


def gp_settings(search: SearchName, time_limit: float | None) -> dict[str, Any]:
    from fouriertree.search import CanonicalGP, OnePlusLambda

    return {
        "search": CanonicalGP() if search is SearchName.gp else OnePlusLambda(),
        "max_traverses": GP_TRAVERSES if time_limit is None else None,
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


def draw(path: Path, regressor: SymbolicRegressor, X: pd.DataFrame, y: pd.Series, done: list[str]) -> None:
    from fouriertree.cli.files import write_whole
    from fouriertree.plotting import draw_fit

    picture = draw_fit(
        y.to_numpy(), regressor.predict(X), regressor.equations_, regressor.best_index_, y.name,
        path.suffix.lower().lstrip("."),
    )  # fmt: skip
    write_whole(path, picture)
    done.append(f"picture written to {path}")
