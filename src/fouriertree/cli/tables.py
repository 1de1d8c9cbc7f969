"""CSV files in, numbers out.  Rows are counted from 1, below the header; blank lines are no rows."""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.checks import is_number
from fouriertree.cli.errors import InputError, listed, suggestion, unreadable

SEPARATORS = ",;\t"
# From version 3 on, pandas reads every number exactly without being asked, and objects to being asked.
EXACT = {"float_precision": "round_trip"} if int(pd.__version__.split(".")[0]) < 3 else {}
DECIMAL_COMMA = r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*"
#: what pandas calls a column without a name, and writes when it writes one back
NO_NAME = re.compile(r"Unnamed: \d+")


@dataclass(frozen=True)
class Table:
    """A CSV file; names are composed (NFC), since macOS and Windows type the same letter differently."""

    path: Path
    cells: pd.DataFrame
    separator: str
    decimal: str

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
            f"{self.path} has no column {name!r}{hint} its columns are {listed(self.names)}{doubt}"
        )

    def numbers(self, names: Sequence[str], advice: str) -> NDArray[np.float64]:
        """The named columns as finite numbers: (n_rows, n_names); `advice` ends the sentence about a text column."""
        columns = [column_of_numbers(self.path, name, self.cells[name], advice) for name in names]
        return np.column_stack(columns) if columns else np.empty((len(self), 0))


def composed(name: str) -> str:
    return normalize("NFC", name)


def read_table(path: Path) -> Table:
    """The CSV file; separated by commas, or by the semicolons or tabs of its header."""
    separator, names = read_header(path)
    twice = [name for name, times in Counter(names).items() if times > 1 and name]
    if twice:
        raise InputError(f"{path} has more than one column called {twice[0]!r}; rename all but one of them")
    cells, decimal = read_cells(path, separator), "."
    # With commas between cells there are none inside them; with semicolons, they are decimal ones as a rule.
    if separator == ";" and has_decimal_commas(cells):
        cells, decimal = read_cells(path, separator, decimal=","), ","
    cells.columns = [composed(str(name)) for name in cells.columns]
    return Table(path, cells, separator, decimal)


def read_text(path: Path, separator: str) -> pd.DataFrame:
    """All cells as they are, the header among them."""
    return read_cells(path, separator, header=None, dtype=str, keep_default_na=False)


def read_cells(path: Path, separator: str, **options: Any) -> pd.DataFrame:
    try:
        with warnings.catch_warnings():
            # pandas only warns where rows are longer than the header, and drops the rest of them.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                path,
                sep=separator,
                index_col=False,
                encoding="utf-8-sig",
                skipinitialspace=True,
                low_memory=False,
                **EXACT,
                **options,
            )
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise not_text(path) from None
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        detail = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise InputError(f"{path} is not a CSV file: {long_row(path, separator) or detail}") from None


def long_row(path: Path, separator: str) -> str:
    """The first row with more cells than there are names, in our way of counting, or nothing."""
    with suppress(csv.Error), path.open(encoding="utf-8-sig", newline="") as file:
        rows = (row for row in csv.reader(file, delimiter=separator, skipinitialspace=True) if any(row))
        n_names = len(next(rows, []))
        for number, row in enumerate(rows, start=1):
            if len(row) > n_names:
                return f"row {number} has {len(row)} cells, and the header has {n_names} names"
    return ""


def has_decimal_commas(cells: pd.DataFrame) -> bool:
    """Whether cells look like 1,5 and none like 1.5, in which case a comma may mean anything."""
    columns = [cells[name] for name in cells.columns]
    if any(pd.api.types.is_float_dtype(column) and (column % 1 > 0).any() for column in columns):
        return False
    text = [column for column in columns if not pd.api.types.is_numeric_dtype(column)]
    return any(column.astype(str).str.fullmatch(DECIMAL_COMMA).any() for column in text)


def read_header(path: Path) -> tuple[str, list[str]]:
    """The separator and the names of the columns."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = next((line for line in file if line.strip()), "")
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise not_text(path) from None
    if not line:
        raise InputError(f"{path} is empty; it needs a header line with the names of the columns")
    # The first of the most frequent ones, so that commas win a tie.
    separator = max(SEPARATORS, key=line.count)
    names = next(csv.reader([line], delimiter=separator))
    return separator, [composed(name.strip()) for name in names]


def not_text(path: Path) -> InputError:
    return InputError(f"{path} is not text in UTF-8; if it is a CSV file, save it as UTF-8")


def column_of_numbers(path: Path, name: str, cells: pd.Series, advice: str) -> NDArray[np.float64]:
    where = f"column {name!r} of {path}"
    if not pd.api.types.is_numeric_dtype(cells):
        parsed = pd.to_numeric(cells, errors="coerce")
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
