"""Time and memory of a default fit by rows and features, and its overshoot of a time limit.

Run: make bench-scaling.  Every fit has its own process, seed 0, one thread.  With noise, no law is certain, and the
search ends at its time limit or after all strategies have run; without noise, the time is that to the law.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from fouriertree.experiments.bars import Bar, report

ROWS = (100, 1_000, 10_000, 100_000, 1_000_000)
COLUMNS = (2, 5, 20, 50, 200)
LIMIT = 10.0
MOST_GIGABYTES = 2.0

FIT = """
import json, resource, sys, time
import numpy as np
from fouriertree import SymbolicRegressor
rows, columns, noise, limit = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
SymbolicRegressor(time_limit=0.2, random_state=0).fit(rng.normal(size=(30, 2)), rng.normal(size=30))
X = rng.uniform(1.0, 3.0, (rows, columns))
y = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 0])
y += noise * rng.normal(size=rows)
started = time.perf_counter()
model = SymbolicRegressor(time_limit=limit, random_state=0).fit(X, y)
seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
print(json.dumps({"seconds": seconds, "gigabytes": peak, "equation": model.get_best()["equation"]}))
"""


def fit(rows: int = 1_000, columns: int = 5, noise: float = 0.0, limit: float = 60.0) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", FIT, json.dumps([rows, columns, noise, limit])],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(
        f"  {rows:>9,} rows {columns:>4} columns noise {noise:g}: {found['seconds']:.2f} s, "
        f"{found['gigabytes']:.2f} GB, {found['equation']}",
        flush=True,
    )
    return found


def plot(path: Path, rows: list[float], columns: list[float]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    for axes, sizes, seconds, what in zip(
        figure.subplots(1, 2, sharey=True), (ROWS, COLUMNS), (rows, columns), ("rows", "columns"), strict=True
    ):
        axes.loglog(sizes, seconds, "o-")
        axes.set(xlabel=what, ylabel="seconds to the law", ylim=(0.05, 100.0))
        axes.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plot", type=Path, default=Path("docs/images/scaling.png"))
    options = parser.parse_args()
    print("Time to a law, x0*x1 + sin(2*x0), without noise; 5 columns, or 1,000 rows")
    rows = [fit(rows=n)["seconds"] for n in ROWS]
    columns = [fit(columns=n)["seconds"] for n in COLUMNS]
    print(f"With noise and a time limit of {LIMIT:g} s")
    limited = [fit(n, 20, 0.1, LIMIT) for n in ROWS]
    plot(options.plot, rows, columns)
    return report([
        Bar("overshoot-seconds", max(found["seconds"] for found in limited) - LIMIT, 1.0, "<="),
        Bar("gigabytes-at-a-million-rows", limited[-1]["gigabytes"], MOST_GIGABYTES, "<="),
    ])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
