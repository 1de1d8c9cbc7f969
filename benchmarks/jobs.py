"""Speed-up of fits with several jobs, and whether they end with the same equations: `make bench-jobs`.

Every fit has its own process and the same number of evaluations; the time is that of `fit`, with the start of the
process pool.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

import numpy as np

from fouriertree.experiments.bars import Bar, report

#: rows, features and evaluations
TABLES = {"hard4": (300, 4, 120_000_000), "few2": (60, 2, 25_000_000)}


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    rows, columns, _ = TABLES[name]
    rng = np.random.default_rng(5)
    if name == "hard4":
        X = rng.uniform(1.0, 5.0, (rows, columns))
        law = np.exp(-(X[:, 0] ** 2) / X[:, 1]) * np.sin(X[:, 2] * X[:, 1] + 0.3) / (1.0 + X[:, 3] ** 3)
        return X, law + 0.01 * rng.normal(size=rows)
    X = rng.uniform(-2.0, 2.0, (rows, columns))
    return X, np.sin(3.0 * X[:, 0]) * X[:, 1] ** 2 + np.exp(X[:, 0]) + 0.1 * rng.normal(size=rows)


def fit(name: str, jobs: int) -> None:
    from fouriertree import SymbolicRegressor

    X, y = table(name)
    SymbolicRegressor(max_evaluations=1000).fit(X, y)
    began = time.monotonic()
    fitted = SymbolicRegressor(random_state=1, n_jobs=jobs, max_evaluations=TABLES[name][2]).fit(X, y)
    seconds = time.monotonic() - began
    print(json.dumps([seconds, [model.text() for model in fitted.models_]]))


def measured(name: str, jobs: int) -> tuple[float, list[str]]:
    done = subprocess.run(
        [sys.executable, __file__, name, str(jobs)], check=True, capture_output=True, text=True
    )
    seconds, formulas = json.loads(done.stdout)
    return seconds, formulas


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", choices=TABLES)
    parser.add_argument("jobs", nargs="?", type=int, default=2)
    options = parser.parse_args()
    if options.name is not None:
        fit(options.name, options.jobs)
        return 0
    bars = []
    for name in TABLES:
        (alone, formulas), (together, same) = measured(name, 1), measured(name, 2)
        print(
            f"{name}: {alone:.1f} s with one job, {together:.1f} s with two: {alone / together:.2f} times as fast"
        )
        bars.append(Bar(f"{name}-speed", alone / together, 1.1))
        bars.append(Bar(f"{name}-same", float(formulas == same), 1.0))
    return report(bars)


if __name__ == "__main__":
    sys.exit(main())
