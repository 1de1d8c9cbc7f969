"""Tables with added columns, in the format given by the suffix of the output file."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.io.tables import excel, parquet, text
from fouriertree.io.tables.header import TAB_SUFFIXES
from fouriertree.io.tables.table import NO_NAME, Notation, Table

COMPRESSED = ".gz"


def with_columns(table: Table, added: dict[str, NDArray[np.float64]], output: Path) -> bytes:
    """The content of the file `output`: the cells of the table followed by the added columns."""
    suffix = output.name.lower().removesuffix(COMPRESSED).rpartition(".")[2]
    if suffix in parquet.SUFFIXES:
        return parquet.write(table.cells.assign(**added))
    if suffix in excel.SUFFIXES:
        return excel.write(table.cells.assign(**added))
    if table.notation is None:
        content = plain_text(table.cells.assign(**added), "\t" if suffix in TAB_SUFFIXES else ",")
    else:
        separator = "\t" if suffix in TAB_SUFFIXES else table.notation.separator
        content = same_text(table.notation, added, separator)
    compressed = output.name.lower().endswith(COMPRESSED)
    # mtime=0: the same table gives the same bytes.
    return gzip.compress(content.encode(), mtime=0) if compressed else content.encode()


def same_text(notation: Notation, added: dict[str, NDArray[np.float64]], separator: str) -> str:
    """The text of the table with its cells unchanged, and added columns in the same notation."""
    cells = text.as_written(notation)
    for name, values in added.items():
        cells[name] = [name, *(repr(value).replace(".", notation.decimal) for value in values.tolist())]
    rows = (separator.join(quoted(cell, separator) for cell in row) for row in cells.to_numpy())
    return "".join(f"{row}\n" for row in rows)


def quoted(cell: object, separator: str) -> str:
    """A cell, quoted where necessary; unlike in other CSV writers, a carriage return is quoted, too.

    >>> [quoted(cell, ",") for cell in ("1.5", "a,b", 'a"b', "a\\rb", " a", float("nan"))]
    ['1.5', '"a,b"', '"a""b"', '"a\\rb"', '" a"', '']
    """
    if not isinstance(cell, str):  # the end of a short row
        return ""
    special = cell.startswith((" ", "\ufeff")) or any(mark in cell for mark in (separator, '"', "\r", "\n"))
    return '"' + cell.replace('"', '""') + '"' if special else cell


def plain_text(cells: pd.DataFrame, separator: str) -> str:
    header = ["" if NO_NAME.fullmatch(name) else name for name in cells.columns]
    return str(cells.to_csv(index=False, header=header, sep=separator, lineterminator="\n"))
