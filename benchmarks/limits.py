"""How far fits overshoot their time limit, by rows, features, limits and searches.

Run: make bench-limits.  Every table has its own process, which compiles before any timing; seed 0, one thread, noise,
so that no exact law ends the search early.  The overshoot is the wall time of `fit` minus its limit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import numpy as np

from fouriertree.experiments.bars import Bar, report

HYBRID, FTG, ONE_PLUS_LAMBDA, GP = "hybrid", "ftg", "one-plus-lambda", "gp"
#: rows, features, searches and limits; larger tables do not fit into the memory of a small machine
TABLES = (
    (100, 2, (HYBRID,), (0.5, 1.0, 2.0, 5.0, 20.0)),
    (100, 200, (HYBRID,), (0.5, 2.0, 5.0)),
    (1_000, 5, (HYBRID, FTG, ONE_PLUS_LAMBDA, GP), (0.5, 1.0, 2.0, 5.0)),
    (1_000, 50, (HYBRID,), (1.0, 5.0, 20.0)),
    (10_000, 2, (HYBRID,), (0.5, 1.0, 5.0)),
    (10_000, 20, (HYBRID, FTG, ONE_PLUS_LAMBDA, GP), (0.5, 2.0, 5.0)),
    (10_000, 200, (HYBRID,), (0.5, 2.0, 5.0, 20.0)),
    (100_000, 5, (HYBRID, FTG, ONE_PLUS_LAMBDA, GP), (1.0, 5.0)),
    (100_000, 100, (HYBRID,), (0.5, 2.0, 20.0)),
    (1_000_000, 2, (HYBRID, FTG, ONE_PLUS_LAMBDA, GP), (1.0, 5.0)),
    (1_000_000, 20, (HYBRID, FTG, ONE_PLUS_LAMBDA, GP), (2.0, 5.0, 20.0)),
)

FITS = """
import json, sys, time
import numpy as np
from fouriertree import FTG, SymbolicRegressor
from fouriertree.search import CanonicalGP, OnePlusLambda
searches = {"hybrid": None, "ftg": FTG(), "one-plus-lambda": OnePlusLambda(), "gp": CanonicalGP()}
rows, columns, names, limits, cpu = json.loads(sys.argv[1])
if cpu:
    time.monotonic = time.perf_counter = time.process_time
rng = np.random.default_rng(0)
for name in names:
    few = rng.normal(size=(30, columns)), rng.normal(size=30)
    SymbolicRegressor(searches[name], max_evaluations=2000, random_state=0).fit(*few)
X = rng.uniform(1.0, 3.0, (rows, columns))
y = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=rows)
for name in names:
    for limit in limits:
        started = time.perf_counter()
        model = SymbolicRegressor(searches[name], time_limit=limit, random_state=0).fit(X, y)
        seconds = time.perf_counter() - started
        record = {"search": name, "limit": limit, "seconds": seconds, "reason": model.stop_reason_}
        print(json.dumps(record), flush=True)
"""


def overshoots(
    rows: int, columns: int, searches: tuple[str, ...], limits: tuple[float, ...], cpu: bool
) -> list[float]:
    command = [sys.executable, "-c", FITS, json.dumps([rows, columns, searches, limits, cpu])]
    found = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            fit = json.loads(line)
            found.append(fit["seconds"] - fit["limit"])
            print(
                f"  {rows:>9,} rows {columns:>4} columns  {fit['search']:<15} limit {fit['limit']:>4g} s: "
                f"{fit['seconds']:6.2f} s, {found[-1]:+.2f} s  ({fit['reason']})",
                flush=True,
            )
    if process.returncode:
        raise SystemExit(process.returncode)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most-limit", type=float, default=np.inf, help="leave out longer limits")
    parser.add_argument(
        "--cpu", action="store_true", help="CPU time instead of wall time, for a machine under load"
    )
    parser.add_argument("--search", help="only these searches, separated by commas")
    options = parser.parse_args()
    found: list[float] = []
    for rows, columns, searches, limits in TABLES:
        if options.search:
            searches = tuple(name for name in searches if name in options.search.split(","))
        kept = tuple(limit for limit in limits if limit <= options.most_limit)
        found += overshoots(rows, columns, searches, kept, options.cpu)
    shares = np.quantile(found, [0.0, 0.25, 0.5, 0.75, 0.9, 1.0])
    print(f"{len(found)} fits; overshoot in seconds: smallest {shares[0]:+.2f}, quartiles "
          f"{shares[1]:+.2f} {shares[2]:+.2f} {shares[3]:+.2f}, 90 % at most {shares[4]:+.2f}, "
          f"largest {shares[5]:+.2f}")  # fmt: skip
    return report([Bar("overshoot-seconds", max(found), 1.0, "<=")])


if __name__ == "__main__":
    sys.exit(main())
