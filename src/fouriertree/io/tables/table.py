"""A table in memory: columns by name, as finite float64 values or with a message about the first invalid cell.

Rows are counted from 1, below the header; blank lines are not counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.errors import InputError, listed, suggestion
from fouriertree.io.numbers import is_number
from fouriertree.io.tables.header import composed
from fouriertree.io.tables.source import Source

#: names by pandas of columns without a name, and of an index in a Parquet file
NO_NAME = re.compile(r"Unnamed: \d+|__index_level_\d+__")


@dataclass(frozen=True)
class Notation:
    """The notation of a text table."""

    source: Source
    separator: str
    decimal: str


@dataclass(frozen=True)
class Table:
    """Cells under normalized names; `name` is for messages, and `notation` is None unless the table is text."""

    name: str
    cells: pd.DataFrame
    notation: Notation | None = None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return list(self.cells.columns)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def nameless(self) -> list[str]:
        """The columns without a name, by the names that pandas gives them."""
        return [name for name in self.names if NO_NAME.fullmatch(name)]

    @property
    def starts_with_data(self) -> bool:
        """Whether all names are numbers, as if the header were missing."""
        return all(is_number(name) for name in self.names)

    def column(self, name: str) -> str:
        """The column called `name`, or InputError."""
        column = composed(name)
        if column in self.names:
            return column
        hint = suggestion(column, self.names) or ";"
        note = "; the first line looks like data, not names" if self.starts_with_data else ""
        columns = f"its columns are {listed(self.names)}{note}"
        raise InputError(f"{self.name} has no column {name!r}{hint} {columns}")

    def numbers(self, names: Sequence[str], advice: str) -> NDArray[np.float64]:
        """The columns as finite values: (n_rows, n_names); `advice` ends the message about a text column."""
        columns = [column_of_numbers(self.name, name, self.cells[name], advice) for name in names]
        return np.column_stack(columns) if columns else np.empty((len(self), 0))


def check_names(table: str, names: Sequence[str]) -> None:
    """InputError if two columns have the same name."""
    repeated = [name for name, times in Counter(map(composed, names)).items() if times > 1 and name]
    if repeated:
        raise InputError(f"{table} has more than one column called {repeated[0]!r}; rename all but one")


def named(names: Sequence[str]) -> list[str]:
    """The names, with pandas' name for a column without one."""
    return [composed(name) if name.strip() else f"Unnamed: {i}" for i, name in enumerate(names)]


def as_numbers(cells: pd.Series) -> pd.Series:
    """The cells as numbers, NaN for text."""
    try:
        return pd.to_numeric(cells, errors="coerce")
    except OverflowError:  # pandas raises it for integers beyond float64
        return cells.map(lambda cell: float(str(cell)) if is_number(str(cell)) else np.nan)


def column_of_numbers(table: str, name: str, cells: pd.Series, advice: str) -> NDArray[np.float64]:
    where = f"column {name!r} of {table}"
    if not pd.api.types.is_numeric_dtype(cells):
        parsed = as_numbers(cells)
        text = np.flatnonzero(parsed.isna() & cells.notna())
        if len(text):
            raise InputError(f"{where} has text in row {text[0] + 1}: {cells.iloc[text[0]]!r}{advice}")
        cells = parsed
    values = cells.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        missing = bool(np.isnan(values[bad[0]]))
        what, remedy = ("no value", "fill it in") if missing else ("an infinite value", "correct it")
        raise InputError(f"{where} has {what} in row {bad[0] + 1}; {remedy} or remove the row")
    return np.asarray(values)
