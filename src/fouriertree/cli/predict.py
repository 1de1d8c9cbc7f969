"""`fouriertree predict model.json new.csv`: values of a formula on new rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fouriertree.cli.errors import InputError
from fouriertree.cli.options import ROW
from fouriertree.cli.output import printing, say

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fouriertree.cli.files import SavedModel
    from fouriertree.cli.tables import Table

PREDICTION = "prediction"


def predict(
    model: Path = typer.Argument(..., metavar="MODEL", help="Model file that `fouriertree fit -o` wrote."),
    data: Path = typer.Argument(
        ..., metavar="DATA", help="CSV file with the columns that the formula mentions, in any order."
    ),
    row: int | None = ROW,
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        metavar="FILE",
        help="Write there the rows of DATA with a column `prediction` added.",
    ),
) -> None:
    """Evaluate a fitted formula on the rows of a CSV file.

    Columns are matched by name; other columns do not matter. Without -o, the predictions are printed as a CSV with
    the one column `prediction`.
    """
    from fouriertree.cli.files import check_writable, load_model
    from fouriertree.cli.tables import read_table

    saved = load_model(model, row)
    if output is not None:
        check_writable(output, data, model)
    table = read_table(data)
    values = predictions(table, saved)
    warn(values)
    if output is None:
        with printing():
            sys.stdout.write("\n".join([PREDICTION, *map(repr, values.tolist())]) + "\n")
    else:
        write_with_rows(output, table, values)


def predictions(table: Table, saved: SavedModel) -> NDArray[np.float64]:
    """Values of the formula on the rows of the table: (n_rows,)."""
    import numpy as np

    names = {column: table.column(name) for column, name in saved.columns.items()}
    if len(table) == 0:
        return np.empty(0)
    X = np.zeros((len(table), 1 + max(names, default=0)))
    X[:, list(names)] = table.numbers(list(names.values()), "; the formula needs a number there")
    return saved.model.predict(X)


def warn(values: NDArray[np.float64]) -> None:
    import numpy as np

    bad = int(np.count_nonzero(~np.isfinite(values)))
    if bad:
        print(f"warning: the formula has no finite value on {bad} of {len(values)} rows", file=sys.stderr)


def write_with_rows(output: Path, table: Table, values: NDArray[np.float64]) -> None:
    """The file of the table, cell by cell as it is, with one more column in the same notation."""
    from fouriertree.cli.files import write_whole
    from fouriertree.cli.tables import read_text

    if PREDICTION in table.names:
        raise InputError(f"{table.path} has a column {PREDICTION!r} already; rename it")
    cells = read_text(table.path, table.separator)
    cells[PREDICTION] = [PREDICTION, *(repr(value).replace(".", table.decimal) for value in values.tolist())]
    text = cells.to_csv(index=False, header=False, sep=table.separator, lineterminator="\n")
    write_whole(output, text.encode())
    say(f"{len(values)} predictions written to {output}")
