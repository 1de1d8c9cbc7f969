"""CSV files in, numbers out.  Rows are counted from 1, below the header."""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.cli.errors import InputError, listed, suggestion, unreadable

SEPARATORS = ",;\t"
# From version 3 on, pandas reads every number exactly without being asked, and objects to being asked.
EXACT = {"float_precision": "round_trip"} if int(pd.__version__.split(".")[0]) < 3 else {}


def read_table(path: Path, **options: Any) -> pd.DataFrame:
    """The CSV file as pandas reads it; separated by commas, or by the semicolons or tabs of its header."""
    separator, names = read_header(path)
    twice = [name for name, times in Counter(names).items() if times > 1 and name]
    if twice:
        raise InputError(f"{path} has more than one column called {twice[0]!r}; rename all but one of them")
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
    except pd.errors.ParserWarning:
        raise InputError(
            f"{path} is not a CSV file: its rows have more cells than its header has names"
        ) from None
    except (pd.errors.ParserError, ValueError) as error:
        detail = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise InputError(f"{path} is not a CSV file: {detail}") from None


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
    return separator, [name.strip() for name in next(csv.reader([line], delimiter=separator))]


def not_text(path: Path) -> InputError:
    return InputError(f"{path} is not a CSV file: it is not text in UTF-8")


def check_column(path: Path, table: pd.DataFrame, name: str) -> None:
    if name not in table.columns:
        hint = suggestion(name, table.columns) or ";"
        raise InputError(f"{path} has no column {name!r}{hint} its columns are {listed(table.columns)}")


def numbers(path: Path, table: pd.DataFrame, names: Sequence[str], advice: str) -> NDArray[np.float64]:
    """The named columns as finite numbers: (n_rows, n_names); `advice` ends the sentence about a text column."""
    columns = [column_of_numbers(path, name, table[name], advice) for name in names]
    return np.column_stack(columns) if columns else np.empty((len(table), 0))


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
