"""What each part of the hybrid search is worth: laws found without it.

Run: make bench-ablation.  Laws of the feynman suite, 1,000 rows, no noise, seed 0, one thread; a law is found if the
chosen formula agrees with it on test rows to six digits.  Every line leaves one part out.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from rich.console import Console
from rich.progress import track

from fouriertree import SymbolicRegressor
from fouriertree.experiments.bench.judge import exact, relative_error
from fouriertree.experiments.bench.names import case_names
from fouriertree.experiments.bench.suites import load
from fouriertree.search import Hybrid
from fouriertree.search.hybrid.plan import PARTS


def fit(name: str, without: frozenset[str], seconds: float) -> tuple[bool, float]:
    """Whether the law was found, and after how many seconds."""
    data = load("feynman", name, 0, 1000, 0.0, False, None)
    model = SymbolicRegressor(Hybrid(max_terms=10, without=without), time_limit=seconds, random_state=0)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data.X, data.y)
        elapsed = time.perf_counter() - started
        return exact(relative_error(data.y_test, model.predict(data.X_test)), 0.0), elapsed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="time of one fit")
    parser.add_argument("--every", type=int, default=1, help="every so many-th case only")
    options = parser.parse_args()
    names = case_names("feynman")[:: options.every]
    SymbolicRegressor(time_limit=0.5, random_state=0).fit(np.eye(20)[:, :2], np.arange(20.0))
    print("| without | laws found | median seconds to a law | only found with it |\n|---|--:|--:|---|")
    whole: set[str] = set()
    for part in ("", *PARTS):
        left_out = frozenset({part} - {""})
        console = Console(stderr=True)
        outcomes = {
            name: fit(name, left_out, options.seconds)
            for name in track(names, part or "nothing", transient=True, console=console)
        }
        found = {name for name, (solved, _) in outcomes.items() if solved}
        whole = whole or found
        seconds = np.median([s for solved, s in outcomes.values() if solved] or [np.nan])
        lost = ", ".join(name.removeprefix("feynman_") for name in names if name in whole - found)
        print(f"| {part or 'nothing'} | {len(found)} of {len(names)} | {seconds:.2f} | {lost} |", flush=True)


if __name__ == "__main__":
    main()
