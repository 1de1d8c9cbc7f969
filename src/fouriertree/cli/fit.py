"""`fouriertree fit data.csv --target y`: formulas for a column."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fouriertree.cli.errors import INTERRUPTED, InputError, listed

if TYPE_CHECKING:
    import pandas as pd

    from fouriertree.estimator import SymbolicRegressor
    from fouriertree.expr import PrimitiveSet

PICTURES = (".png", ".pdf", ".svg")


class SearchName(StrEnum):
    ftg = "ftg"


class ProjectorName(StrEnum):
    qr = "qr"
    gram_svd = "gram-svd"


def fit(
    data: Path = typer.Argument(..., help="CSV file; its first line names the columns."),
    target: str | None = typer.Option(None, "--target", "-t", help="Column to find a formula for."),
    ignore: list[str] = typer.Option([], "--ignore", help="Column to leave out; may be given several times."),
    search: SearchName = typer.Option(SearchName.ftg, "--search", help="How formulas are searched for."),
    projector: ProjectorName = typer.Option(
        ProjectorName.qr,
        "--projector",
        help="How coefficients are found; gram-svd is FTG as published, with its operators and deep trees.",
    ),
    time_limit: float | None = typer.Option(None, "--time-limit", min=0, help="Seconds at most."),
    max_terms: int | None = typer.Option(
        None, "--max-terms", min=1, help="Terms at most; 10, and no limit with gram-svd."
    ),
    seed: int | None = typer.Option(
        None, "--seed", min=0, help="Repeats a run; without it, every run is another one."
    ),
    operators: str | None = typer.Option(None, "--operators", help='Names or signs, such as "+,-,*,/,sin".'),
    jobs: int = typer.Option(
        1, "--jobs", min=-1, help="Threads; -1 for one per processor. Same result for any."
    ),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Write the model there, as JSON, for `predict`."
    ),
    plot: Path | None = typer.Option(
        None, "--plot", help="Write a picture of the fit there (.png, .pdf or .svg)."
    ),
) -> None:
    """Find formulas for one column of a CSV file in the others.

    Prints one formula per length, the chosen one marked with >>>. Ctrl-C ends the search: what was found is
    printed and written, and the exit status is 130.
    """
    check_outputs(data, output, plot)
    settings = {
        **search_settings(projector, max_terms, operators),
        "time_limit": time_limit,
        "random_state": seed,
        "n_jobs": check_jobs(jobs),
    }
    regressor = fit_table(data, target, ignore, settings, output, plot)
    if regressor.stop_reason_ == "interrupted":
        raise typer.Exit(INTERRUPTED)


def fit_table(
    data: Path,
    target: str | None,
    ignore: list[str],
    settings: dict[str, Any],
    output: Path | None = None,
    plot: Path | None = None,
) -> SymbolicRegressor:
    """Read, search, print, write: what `fit` and `demo` have in common."""
    X, y = features_and_target(data, target, ignore)
    from fouriertree.estimator import SymbolicRegressor

    regressor = SymbolicRegressor(progress=True, **settings).fit(X, y)
    show(regressor, y.name)
    if output is not None:
        from fouriertree.cli.files import save_model

        save_model(output, regressor, y.name)
        print(f"model written to {output}")
    if plot is not None:
        draw(plot, regressor, X, y)
        print(f"picture written to {plot}")
    return regressor


def check_outputs(data: Path, output: Path | None, plot: Path | None) -> None:
    from fouriertree.cli.files import check_writable

    for path in (output, plot):
        if path is not None:
            check_writable(path, data)
    if plot is not None and plot.suffix.lower() not in PICTURES:
        raise InputError(f"cannot draw {plot}: the name of a picture ends in {', '.join(PICTURES)}")


def check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise InputError("--jobs must be a number of threads, or -1 for one per processor; got 0")
    return jobs


def search_settings(projector: ProjectorName, max_terms: int | None, operators: str | None) -> dict[str, Any]:
    """What SymbolicRegressor is told about the search."""
    named = None if operators is None else parse_operators(operators)
    if projector is ProjectorName.qr:
        return {"operators": named, "max_terms": 10 if max_terms is None else max_terms}
    from fouriertree import FTG, GramSVD, PrimitiveSet

    print("FTG as published: Gram matrix and SVD, trees of up to 10 levels, the first relevant one is taken")
    return {
        "search": FTG(projector=GramSVD(), max_terms=max_terms),
        "operators": PrimitiveSet.paper() if named is None else named,
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

    from fouriertree.cli.tables import check_column, numbers, read_table

    table = read_table(path)
    if target is None:
        raise InputError(
            f"name the column to find a formula for with --target; {path} has {listed(table.columns)}"
        )
    for name in (target, *ignore):
        check_column(path, table, name)
    names = [name for name in table.columns if name != target and name not in ignore]
    if not names:
        raise InputError(
            f"{path} has no columns besides {target!r}, so there is nothing to make a formula of"
        )
    if len(table) < 2:
        raise InputError(f"{path} has {len(table)} row(s) below its header; a fit needs at least two")
    y = numbers(path, table, [target], "; a target must be numeric")[:, 0]
    X = numbers(path, table, names, "; leave the column out with --ignore, or turn it into numbers")
    check_range(path, target, y)
    return pd.DataFrame(X, columns=names), pd.Series(y, name=target)


def check_range(path: Path, target: str, y: Any) -> None:
    from fouriertree.checks import check_scale

    try:
        check_scale(y)
    except ValueError as error:
        raise InputError(f"column {target!r} of {path} cannot be fitted: {error}") from None


def show(regressor: SymbolicRegressor, target: str) -> None:
    """The table of formulas: a Rich table for a terminal, plain text without line breaks for a pipe."""
    from rich.console import Console

    console = Console()
    if console.is_terminal:
        console.print(rich_table(regressor, target))
    else:
        print(regressor)
    print(f"\n{target} = {regressor.get_best()['equation']}")
    print(f"stopped: {regressor.stop_reason_}; {regressor.traverses_:,} traverses; seed {regressor.seed_}")


def rich_table(regressor: SymbolicRegressor, target: str) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from fouriertree.front import HEADINGS, table_cells

    table = Table(title=Text(f"formulas for {target}"), box=SIMPLE_HEAD)
    for heading in HEADINGS[:-1]:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column(HEADINGS[-1], overflow="fold")
    for i, cells in enumerate(table_cells(regressor.equations_, regressor.best_index_)):
        # Text and not markup: a column may be called [bold].
        table.add_row(*map(Text, cells), style="bold" if i == regressor.best_index_ else None)
    return table


def draw(path: Path, regressor: SymbolicRegressor, X: pd.DataFrame, y: pd.Series) -> None:
    from fouriertree.cli.files import write_whole
    from fouriertree.plotting import draw_fit

    picture = draw_fit(
        y.to_numpy(), regressor.predict(X), regressor.equations_, regressor.best_index_, y.name,
        path.suffix.lower().lstrip("."),
    )  # fmt: skip
    write_whole(path, picture)
