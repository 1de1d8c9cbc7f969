"""Speed-up of fits with several jobs, and whether they end with the same equations: `make bench-jobs`.

Every fit has its own process and the same number of evaluations, which take one job a minute or more; the time is that
of `fit`, with the start of the process pool.  Other numbers of jobs: `python benchmarks/jobs.py --jobs 1 2 4 8 16`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from fouriertree.experiments.bars import Bar, report

#: rows, features and evaluations
TABLES = {
    "hard4": (300, 4, 1_700_000_000),
    "few2": (60, 2, 380_000_000),
    "noisy6": (1_000, 6, 1_600_000_000),
}
#: speed-up with so many jobs, where there are as many cores
GOALS = {2: 1.75, 16: 10.0}


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    rows, columns, _ = TABLES[name]
    rng = np.random.default_rng(5)
    if name == "few2":
        X = rng.uniform(-2.0, 2.0, (rows, columns))
        return X, np.sin(3.0 * X[:, 0]) * X[:, 1] ** 2 + np.exp(X[:, 0]) + 0.1 * rng.normal(size=rows)
    X = rng.uniform(1.0, 5.0, (rows, columns))
    law = np.exp(-(X[:, 0] ** 2) / X[:, 1]) * np.sin(X[:, 2] * X[:, 1] + 0.3) / (1.0 + X[:, 3] ** 3)
    if name == "hard4":
        return X, law + 0.01 * rng.normal(size=rows)
    law = np.sqrt(X[:, 0] * X[:, 1]) / (X[:, 2] + np.exp(-X[:, 3])) + np.sin(X[:, 4]) * np.log(X[:, 5])
    return X, law + 0.02 * np.std(law) * rng.normal(size=rows)


def fit(name: str, jobs: int) -> None:
    """Print the seconds of a fit, and its table to the last bit."""
    from fouriertree import SymbolicRegressor

    X, y = table(name)
    SymbolicRegressor(max_evaluations=1000).fit(X, y)
    began = time.monotonic()
    fitted = SymbolicRegressor(random_state=1, n_jobs=jobs, max_evaluations=TABLES[name][2]).fit(X, y)
    seconds = time.monotonic() - began
    found = [model.to_json() for model in fitted.models_]
    print(json.dumps([seconds, fitted.evaluations_, fitted.stop_reason_, found]))


def measured(name: str, jobs: int) -> tuple[float, Any]:
    command = [sys.executable, __file__, "--fit", name, "--jobs", str(jobs)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    seconds, *result = json.loads(done.stdout)
    return seconds, result


def curve(name: str, jobs: list[int]) -> tuple[dict[int, float], list[Bar]]:
    """Seconds by the number of jobs, and the goals for them."""
    seconds, bars = {}, []
    expected: Any = None
    for n in jobs:
        seconds[n], result = measured(name, n)
        expected = expected or result
        ratio = seconds[jobs[0]] / seconds[n]
        print(
            f"{name}: {n:>2} job{'' if n == 1 else 's'} {seconds[n]:7.1f} s, {ratio:5.2f} times as fast",
            flush=True,
        )
        bars.append(Bar(f"{name}-{n}-jobs-same", float(result == expected), 1.0))
        if n in GOALS and jobs[0] == 1 and (os.cpu_count() or 1) >= n:
            bars.append(Bar(f"{name}-{n}-jobs-speed-up", ratio, GOALS[n]))
    return seconds, bars


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2], help="numbers of jobs, 1 first")
    parser.add_argument("--table", choices=TABLES, nargs="+", default=list(TABLES), help="only these tables")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the seconds as JSON")
    parser.add_argument("--fit", choices=TABLES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit is not None:
        fit(options.fit, options.jobs[0])
        return 0
    curves, bars = {}, []
    for name in options.table:
        curves[name], goals = curve(name, options.jobs)
        bars += goals
        if options.output is not None:
            content = {
                "cores": os.cpu_count(),
                "evaluations": {n: TABLES[n][2] for n in curves},
                "seconds": curves,
            }
            options.output.write_text(json.dumps(content, indent=1) + "\n")
    return report(bars)


if __name__ == "__main__":
    sys.exit(main())
