"""`fouriertree predict model.json new.csv`: predictions of an equation on new rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fouriertree.cli.files import check_writable, load_model, write_atomically
from fouriertree.cli.help import examples
from fouriertree.cli.options import FILE, JSON, MODEL, ROW, SHEET, TABLE, option, with_options
from fouriertree.cli.output import document, note, printing, say, write_bytes
from fouriertree.errors import InputError
from fouriertree.fit.options import OUTPUT, path
from fouriertree.io.tables.source import DASH

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fouriertree.cli.files import SavedModel
    from fouriertree.io.tables.table import Table

PREDICTION = "prediction"
EXAMPLES = examples(
    ("predictions on the terminal", "fouriertree predict model.json new.csv"),
    ("the rows of the table with a column `prediction`", "fouriertree predict model.json new.csv -o out.csv"),
    ("the same in a pipe", "cat new.csv | fouriertree predict model.json - -o - | head"),
    ("from one format to another", "fouriertree predict model.json new.parquet -o out.xlsx"),
    ("another equation of the table", "fouriertree predict model.json new.csv --row 2"),
)  # fmt: skip


@with_options(
    MODEL,
    option("data", path("DATA"), f"Table with the features of the equation, in any order: {TABLE}.", argument=True),
    ROW,
    SHEET,
    option("output", FILE, "Write the rows of DATA with a column `prediction` to this file; the suffix chooses "
           "the format, and - is the standard output.", OUTPUT, short="-o"),
    JSON,
)  # fmt: skip
def predict(
    model: Path, data: Path, row: int | None, sheet: str | None, output: Path | None, json: bool
) -> None:
    """Evaluate an equation on the rows of a table.

    Columns are matched by name; other columns are ignored. Without -o, the predictions are printed as CSV with the one
    column `prediction`.
    """
    with document(json) as content:
        import numpy as np

        from fouriertree.io.tables.reading import read_table

        if json and output == DASH:
            raise InputError("--json and -o - both write to the standard output; give one of them")
        saved = load_model(model, row)
        if output is not None and output != DASH:
            check_writable(output, data, model)
        table = read_table(data, sheet)
        values = predictions(table, saved)
        bad = int(np.count_nonzero(~np.isfinite(values)))
        if bad:
            print(
                f"warning: the equation has no finite value on {bad} of {len(values)} rows", file=sys.stderr
            )
        for sentence in table.notes:
            note(sentence)
        content |= {
            "target": saved.target, "row": saved.row, "equation": str(saved.model), "rows": len(values),
            "predictions": values, "not_finite": bad, "output": None,
        }  # fmt: skip
        if output is not None:
            write_with_rows(output, table, values)
            content["output"] = str(output)
        elif not json:
            with printing():
                sys.stdout.write("\n".join([PREDICTION, *map(repr, values.tolist())]) + "\n")


def predictions(table: Table, saved: SavedModel) -> NDArray[np.float64]:
    """Values of the equation on the rows of the table, (n_rows,), with a note where it extrapolates."""
    import numpy as np

    from fouriertree.model import extrapolation

    names = {column: table.column(name) for column, name in saved.columns.items()}
    if len(table) == 0:
        return np.empty(0)
    X = np.zeros((len(table), 1 + max(names, default=0)))
    X[:, list(names)] = table.numbers(list(names.values()), "; the equation needs a number there")
    if sentence := extrapolation(saved.model, X, np.array(saved.box), saved.model.names or ()):
        note(sentence)
    return saved.model.predict(X)


def write_with_rows(output: Path, table: Table, values: NDArray[np.float64]) -> None:
    from fouriertree.io.tables.writing import with_columns

    if PREDICTION in table.names:
        raise InputError(f"{table.name} has a column {PREDICTION!r} already; rename it")
    content = with_columns(table, {PREDICTION: values}, output)
    if output == DASH:
        write_bytes(content)
    else:
        write_atomically(output, content)
        say(f"{len(values)} predictions written to {output}")
