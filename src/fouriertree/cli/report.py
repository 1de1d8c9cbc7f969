"""`fouriertree report model.json --data data.csv -o report.html`: everything about a formula on one page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fouriertree.cli.documents import Json, document
from fouriertree.cli.errors import InputError, unwritable
from fouriertree.cli.help import OUTPUT, examples
from fouriertree.cli.options import TABLE, ModelFile, Sheet, whole_number
from fouriertree.cli.output import say

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fouriertree.estimators.regressor import SymbolicRegressor


EXAMPLES = examples(
    ("everything about the chosen formula", "fouriertree report model.json --data data.csv -o report.html"),
    ("and how often formulas return on resampled rows", "fouriertree report model.json --data data.csv --refits 20"),
)  # fmt: skip

Data = Annotated[
    Path,
    typer.Option(
        "--data",
        metavar="DATA",
        help=f"Table with the columns and the target of the fit, in any order: {TABLE}.",
    ),
]
Refits = Annotated[
    int,
    typer.Option(
        "--refits",
        parser=whole_number(0),
        metavar="N",
        help="Fit again to so many resamples of the rows, to see how often formulas return; each takes as long as "
        "the fit.",
    ),
]
Output = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FILE", rich_help_panel=OUTPUT, help="Where to write the page."),
]


def report(
    model: ModelFile,
    data: Data,
    sheet: Sheet = None,
    refits: Refits = 0,
    output: Output = Path("report.html"),
    as_json: Json = False,
) -> None:
    """Write a page of HTML about a fitted formula: one file, which needs no network.

    The table of formulas, the chosen one typeset, plots of the fit and of every column, intervals, where the formula is
    proved to hold, how it was made, and the formula in other languages to copy.
    """
    with document(as_json) as content:
        from fouriertree.cli.files import check_writable, load_regressor

        regressor, target = load_regressor(model)
        check_writable(output, data, model)
        X, y = columns_of(data, sheet, regressor, target)
        try:
            regressor.report(output, target, X, y, refits, progress=tell if refits else None)
        except OSError as error:
            raise unwritable(output, error) from None
        content |= {
            "target": target, "row": regressor.best_index_, "equation": regressor.get_best()["equation"],
            "output": str(output),
        }  # fmt: skip
        say(f"report written to {output}")


def columns_of(
    path: Path, sheet: str | None, regressor: SymbolicRegressor, target: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The columns of the fit and its target, from a file that has them in any order."""
    from fouriertree.io.tables.reading import read_table

    table = read_table(path, sheet)
    if len(table) == 0:
        raise InputError(f"{table.name} has no rows")
    names = [*regressor._column_texts, target]
    values = table.numbers([table.column(name) for name in names], "; a report needs a number there")
    return values[:, :-1], values[:, -1]


def tell(done: int, of: int) -> None:
    """One line that counts, where somebody can see it."""
    if sys.stderr.isatty():
        print(f"\rrefit {done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True)
