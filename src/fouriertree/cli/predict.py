"""`fouriertree predict model.json new.csv`: values of a formula on new rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fouriertree.cli.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fouriertree.model import Model

PREDICTION = "prediction"


def predict(
    model: Path = typer.Argument(..., help="Model file that `fouriertree fit -o` wrote."),
    data: Path = typer.Argument(
        ..., help="CSV file with the columns that the formula mentions, in any order."
    ),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Write there the rows of DATA with a column `prediction` added."
    ),
) -> None:
    """Evaluate a fitted formula on the rows of a CSV file.

    Columns are matched by name; other columns do not matter. Without -o, the predictions are printed as a CSV with
    the one column `prediction`.
    """
    from fouriertree.cli.files import check_writable, load_model

    saved = load_model(model)
    if output is not None:
        check_writable(output, data, model)
    values = predictions(data, saved.columns, saved.model)
    warn(values)
    if output is None:
        sys.stdout.write("\n".join([PREDICTION, *map(repr, values.tolist())]) + "\n")
    else:
        write_with_rows(output, data, values)


def predictions(path: Path, columns: dict[int, str], formula: Model) -> NDArray[np.float64]:
    """Values of the formula on the rows of the file: (n_rows,)."""
    import numpy as np

    from fouriertree.cli.tables import check_column, numbers, read_table

    table = read_table(path)
    for name in columns.values():
        check_column(path, table, name)
    if len(table) == 0:
        return np.empty(0)
    X = np.zeros((len(table), 1 + max(columns, default=0)))
    X[:, list(columns)] = numbers(path, table, list(columns.values()), "; the formula needs a number there")
    return formula.predict(X)


def warn(values: NDArray[np.float64]) -> None:
    import numpy as np

    bad = int(np.count_nonzero(~np.isfinite(values)))
    if bad:
        print(f"warning: the formula has no finite value on {bad} of {len(values)} rows", file=sys.stderr)


def write_with_rows(output: Path, data: Path, values: NDArray[np.float64]) -> None:
    """The file `data`, cell by cell as it is, with one more column."""
    from fouriertree.cli.files import write_whole
    from fouriertree.cli.tables import read_table

    table = read_table(data, dtype=str, keep_default_na=False)
    if PREDICTION in table.columns:
        raise InputError(f"{data} has a column {PREDICTION!r} already; rename it")
    table[PREDICTION] = [repr(value) for value in values.tolist()]
    write_whole(output, table.to_csv(index=False, lineterminator="\n").encode())
    print(f"{len(table)} predictions written to {output}")
