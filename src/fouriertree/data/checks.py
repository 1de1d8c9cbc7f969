"""Validation of the input of a fit; every error message has a remedy."""

import secrets
from collections import Counter
from collections.abc import Sequence, Sized
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.errors import shortened
from fouriertree.io.numbers import is_number


def check_tables(X: Any, y: Any = None) -> None:
    """Raise an error that names the first column that is not numeric; scikit-learn checks the rest."""
    for what, values in (("X", X), ("y", y)):
        check_not_masked(values, what)
        check_magnitude(values, what)
    check_unique_names(getattr(X, "columns", ()))
    table = table_with_cells(X)
    columns = [(f"column {name!r}", table.iloc[:, i]) for i, name in enumerate(table.columns)]
    if has_object_cells(y):
        columns.append(("y", pd.Series(np.ravel(y))))
    for what, cells in columns:
        check_dtype(what, cells.dtype)
        if not pd.api.types.is_numeric_dtype(cells):
            for cell in cells:
                check_cell(what, cell)


def check_not_masked(values: Any, what: str) -> None:
    """Raise ValueError for masked cells: scikit-learn would use the values under the mask."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{what} has masked cells, which are missing values; fill them in or remove their rows"
        )


def check_unique_names(names: Any) -> None:
    name, times = Counter(map(str, names)).most_common(1)[0] if len(names) else ("", 0)
    if times > 1:
        raise ValueError(f"{times} columns are called {name!r}; names of features must be unique")


def check_magnitude(values: Any, what: str) -> None:
    """Raise ValueError for a list with an integer beyond float64; scikit-learn reports other errors in lists."""
    if isinstance(values, list | tuple):
        try:
            np.asarray(values, dtype=np.float64)
        except OverflowError:
            raise too_large(what) from None
        except (TypeError, ValueError):
            return


def too_large(what: str) -> ValueError:
    return ValueError(f"{what} has a number beyond the range of float64; give it in another unit")


def check_dtype(what: str, dtype: Any) -> None:
    """Raise ValueError for complex values, dates, periods and intervals."""
    if getattr(dtype, "kind", "") == "c":
        # scikit-learn's estimator checks require the first words.
        raise ValueError(f"Complex data not supported: {what}; give real and imaginary parts as two columns")
    if getattr(dtype, "kind", "") in "mM" or isinstance(dtype, pd.PeriodDtype | pd.IntervalDtype):
        raise ValueError(f"{what} holds {dtype}; turn it into numbers, such as days since the first row")


def check_cell(what: str, cell: Any) -> None:
    """Raise an error unless the cell is a number, text of a number, or missing, which scikit-learn reports."""
    if cell is None or isinstance(cell, float | np.number):
        return
    if cell is pd.NA or cell is pd.NaT:
        raise ValueError(f"{what} has a missing value; fill it in or remove its row")
    if isinstance(cell, str | bytes):
        if not is_number(cell):
            reason = f"{what} is not numeric: it contains {shortened(cell)}"
            raise ValueError(f"{reason}; leave it out or turn it into numbers")
        return
    try:
        float(cell)
    except OverflowError:
        raise too_large(what) from None
    except (TypeError, ValueError):
        # scikit-learn's estimator checks require the last words.
        reason = f"{what} is not numeric: it contains {shortened(cell)}"
        raise TypeError(f"{reason}; a cell of this argument must be a string of digits or a number") from None


def check_names(names: Sequence[str]) -> None:
    """Raise ValueError for a name with a lone surrogate, which no file can hold."""
    for name in names:
        if any("\ud800" <= c <= "\udfff" for c in name):
            raise ValueError(f"the name {name!r} of a feature has a lone surrogate; rename it")


def table_with_cells(X: Any) -> pd.DataFrame:
    """X as a DataFrame, without its numeric columns unless it is one already."""
    if isinstance(X, pd.DataFrame):
        return X
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):  # such as those of polars
        arrays = {name: np.asarray(X[name]) for name in X.columns}
        return pd.DataFrame({name: array for name, array in arrays.items() if has_object_cells(array)})
    return pd.DataFrame(X) if has_object_cells(X) else pd.DataFrame()


def target_as_numbers(y: Any) -> Any:
    """y with text and pandas.NA converted to numbers, as scikit-learn does for X only; other y are unchanged."""
    may_have_text = isinstance(y, np.ndarray | pd.Series) and y.ndim <= 2 and y.dtype.kind in "OUT"
    if not may_have_text and not isinstance(y, list | tuple):
        return y
    cells = np.asarray(y, dtype=object)
    if not any(isinstance(cell, str | bytes) or cell is pd.NA for cell in cells.flat):
        return y
    return np.array([number_of(cell) for cell in cells.flat]).reshape(cells.shape)


def number_of(cell: Any) -> float:
    """A cell of y as a float; NaN, which scikit-learn refuses, if it is missing."""
    if cell is None or cell is pd.NA:
        return np.nan
    check_cell("y", cell)
    return float(cell)


def check_operators(primitives: Sized) -> None:
    """Raise ValueError for an empty set of operators."""
    if len(primitives) == 0:
        raise ValueError("there are no operators to build trees from; name at least one")


def has_object_cells(values: Any) -> bool:
    """Whether it is a table or a column whose cells may not be numbers."""
    return (
        isinstance(values, np.ndarray | pd.Series)
        and 1 <= values.ndim <= 2
        and (values.dtype.kind in "OUTcmM" or not isinstance(values.dtype, np.dtype))
    )


def check_scale(y: NDArray[np.float64]) -> None:
    """Raise ValueError if the squares of y leave the range of float64."""
    largest = float(np.abs(y).max())
    if largest > 1e140 or 0.0 < largest < 1e-140:
        raise ValueError(
            f"|y| is at most {largest:.1e}, and its squares leave the range of float64; give y in another unit"
        )


def whole_limit(limit: float | None) -> int | None:
    """A limit as an integer; None if it is infinite.

    >>> whole_limit(2.5), whole_limit(float("inf")), whole_limit(None)
    (2, None, None)
    """
    return None if limit is None or np.isinf(float(limit)) else int(limit)


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """The seed of a fit."""
    if random_state is None:
        return secrets.randbelow(2**32)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, Integral) and 0 <= random_state < 2**63:
        return int(random_state)
    raise ValueError(
        f"random_state must be None, a RandomState or an integer from 0 to 2**63 - 1; got {random_state!r}"
    )


def nth_seed(seed: int, k: int) -> int:
    """The seed of the k-th search of a fit: `seed` itself, then others that are unlikely to equal a small seed."""
    if k == 0:
        return seed
    return int(np.random.SeedSequence([seed, k]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def output_names(y: Any) -> list[str] | None:
    """The names of the columns of y; None if there is only one."""
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # rows of unequal length, which scikit-learn reports
        return None
    if len(shape) != 2 or shape[1] < 2:
        return None
    return [str(name) for name in getattr(y, "columns", [f"y{i}" for i in range(shape[1])])]
