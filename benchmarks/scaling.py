"""How the time of a default fit grows with rows, columns and terms.

Run: make bench-scaling.  Noisy data, so that no fit ends early; seed 0; best of three.
"""

from __future__ import annotations

import time

import numpy as np
from bars import Bar, finish

from fouriertree import SymbolicRegressor

TURNS = 3
ROWS, COLUMNS, TERMS = (100, 1_000, 10_000, 100_000), (2, 20, 200, 2_000), (2, 5, 10, 20)


def seconds(rows: int = 1_000, columns: int = 5, terms: int = 6) -> float:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    y = np.sin(3 * X[:, 0]) + rng.normal(0, 0.1, rows)
    best = float("inf")
    for _ in range(TURNS):
        started = time.perf_counter()
        SymbolicRegressor(max_terms=terms, random_state=0).fit(X, y)
        best = min(best, time.perf_counter() - started)
    return best


def exponent(sizes: tuple[int, ...], times: list[float]) -> float:
    """Slope of the time in doubly logarithmic axes, over the last factor of ten or so."""
    return float(np.log(times[-1] / times[-2]) / np.log(sizes[-1] / sizes[-2]))


def main() -> None:
    seconds(100, 2, 2)
    table = {
        "rows": (ROWS, [seconds(rows=n) for n in ROWS]),
        "columns": (COLUMNS, [seconds(columns=n) for n in COLUMNS]),
        "terms": (TERMS, [seconds(terms=n) for n in TERMS]),
    }
    print("Seconds of a default fit; 1,000 rows, 5 columns, 6 terms unless said")
    for what, (sizes, times) in table.items():
        print(f"  {what:8s} " + ", ".join(f"{n:,}: {t:.2f}" for n, t in zip(sizes, times, strict=True)))
    # Every term adds an inner product to every later candidate, so terms cost as their square.
    goals = {"rows": 1.1, "columns": 1.0, "terms": 2.5}
    finish(
        [Bar(f"growth-exponent-{what}", exponent(*table[what]), goals[what], at_most=True) for what in table]
    )


if __name__ == "__main__":
    main()
