"""Text tables: cells separated by commas, semicolons or tabs."""

from __future__ import annotations

import csv
import warnings
from contextlib import suppress
from typing import Any

import pandas as pd

from fouriertree.errors import InputError
from fouriertree.io.tables.header import composed, read_header
from fouriertree.io.tables.source import Source, reading
from fouriertree.io.tables.table import Notation, Table, check_names

# pandas 3 always parses floats exactly and rejects the option.
EXACT = {"float_precision": "round_trip"} if int(pd.__version__.split(".")[0]) < 3 else {}
FORMAT: Any = {
    "index_col": False, "encoding": "utf-8-sig", "skipinitialspace": True, "low_memory": False, **EXACT,
}  # fmt: skip
DECIMAL_COMMA = r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*"


def read(source: Source) -> Table:
    """The table; the separator is inferred from the header."""
    separator, names = read_header(source)
    check_names(source.name, names)
    cells, decimal = read_cells(source, separator), "."
    # Commas inside of cells that are separated by semicolons are usually decimal commas.
    if separator == ";" and has_decimal_commas(cells):
        cells, decimal = read_cells(source, separator, decimal=","), ","
    cells.columns = [composed(str(name)) for name in cells.columns]
    return Table(source.name, cells, Notation(source, separator, decimal))


def as_written(notation: Notation) -> pd.DataFrame:
    """All cells as strings, including the header."""
    return read_cells(notation.source, notation.separator, header=None, dtype=str, keep_default_na=False)


def read_cells(source: Source, separator: str, **options: Any) -> pd.DataFrame:
    try:
        with reading(source.name), warnings.catch_warnings(), source.open() as file:
            # pandas only warns about rows that are longer than the header, and truncates them.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(file, sep=separator, **FORMAT, **options)
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        detail = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        detail = long_row(source, separator) or detail
        raise InputError(f"{source.name} is not a CSV file: {detail}") from None


def long_row(source: Source, separator: str) -> str:
    """A message about the first row with more cells than the header, or ""; rows are counted from 1."""
    with suppress(csv.Error), source.lines() as lines:
        rows = (row for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if any(row))
        n_names = len(next(rows, []))
        for number, row in enumerate(rows, start=1):
            if len(row) > n_names:
                return f"row {number} has {len(row)} cells, and the header has {n_names} names"
    return ""


def has_decimal_commas(cells: pd.DataFrame) -> bool:
    """Whether cells look like 1,5 and none look like 1.5."""
    columns = [cells[name] for name in cells.columns]
    if any(pd.api.types.is_float_dtype(column) and (column % 1 > 0).any() for column in columns):
        return False
    text = [column for column in columns if not pd.api.types.is_numeric_dtype(column)]
    return any(column.astype(str).str.fullmatch(DECIMAL_COMMA).any() for column in text)
