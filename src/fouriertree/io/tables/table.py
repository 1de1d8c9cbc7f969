"""A table that has been read: columns by name, cells as finite numbers, and a sentence for every other cell.

Rows are counted from 1, below the header; blank lines are no rows.
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

#: what pandas calls a column without a name, and an index that it writes to Parquet
NO_NAME = re.compile(r"Unnamed: \d+|__index_level_\d+__")


@dataclass(frozen=True)
class Notation:
    """How a table is written as text."""

    source: Source
    separator: str
    decimal: str


@dataclass(frozen=True)
class Table:
    """Cells under composed names; `name` is for sentences, and `notation` is there for text alone."""

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
        """The columns that have only the name that pandas gave them."""
        return [name for name in self.names if NO_NAME.fullmatch(name)]

    @property
    def starts_with_data(self) -> bool:
        """Whether the names are numbers; those that pandas made unique, 1 and 1.1, are numbers still."""
        return all(is_number(name) for name in self.names)

    def column(self, name: str) -> str:
        """The column that the user means by `name`, or InputError."""
        found = composed(name)
        if found in self.names:
            return found
        hint = suggestion(found, self.names) or ";"
        doubt = "; the first line looks like data, not names" if self.starts_with_data else ""
        raise InputError(
            f"{self.name} has no column {name!r}{hint} its columns are {listed(self.names)}{doubt}"
        )

    def numbers(self, names: Sequence[str], advice: str) -> NDArray[np.float64]:
        """The named columns as finite numbers: (n_rows, n_names); `advice` ends the sentence about a text column."""
        columns = [column_of_numbers(self.name, name, self.cells[name], advice) for name in names]
        return np.column_stack(columns) if columns else np.empty((len(self), 0))


def check_names(table: str, names: Sequence[str]) -> None:
    """InputError for a name that two columns have."""
    twice = [name for name, times in Counter(map(composed, names)).items() if times > 1 and name]
    if twice:
        raise InputError(f"{table} has more than one column called {twice[0]!r}; rename all but one of them")


def named(names: Sequence[str]) -> list[str]:
    """The names, and for a column without one what pandas calls it."""
    return [composed(name) if name.strip() else f"Unnamed: {i}" for i, name in enumerate(names)]


def as_numbers(cells: pd.Series) -> pd.Series:
    """The cells as numbers, and NaN where one is text."""
    try:
        return pd.to_numeric(cells, errors="coerce")
    except OverflowError:  # pandas takes whole numbers beyond float64 for whole numbers all the same
        return cells.map(number_or_nan)


def number_or_nan(cell: object) -> float:
    try:
        return float(str(cell))
    except ValueError:
        return np.nan


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
        what = "no value" if np.isnan(values[bad[0]]) else "an infinite value"
        raise InputError(f"{where} has {what} in row {bad[0] + 1}; fill it in or remove the row")
    return np.asarray(values)
