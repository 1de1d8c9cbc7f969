"""Ablation of the hybrid search: laws recovered with one part disabled.

Run: make bench-ablation.  Laws of the feynman suite, 1,000 rows, no noise, seed 0, one thread; a law is recovered if
the chosen equation agrees with it on the test set to six digits.  Every line disables one part.  With `--out`, the
results are stored, and an interrupted ablation resumes with the same command.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from rich.console import Console
from rich.progress import track

from fouriertree import SymbolicRegressor
from fouriertree.experiments.bench.judge import exact, relative_error
from fouriertree.experiments.bench.names import case_names
from fouriertree.experiments.bench.suites import load
from fouriertree.experiments.store import Record, Store
from fouriertree.search import Hybrid
from fouriertree.search.hybrid.context import PARTS


@dataclass(frozen=True)
class Task:
    """A fit to the case `case` with the part `without` disabled."""

    case: str
    without: str
    seconds: float
    file: ClassVar[str] = "ablation.jsonl"

    @property
    def key(self) -> str:
        return f"{self.case} without {self.without or 'nothing'} {self.seconds:g} s"


def fit(task: Task) -> Record:
    """Whether the law was recovered, and the seconds of the fit."""
    data = load("feynman", task.case, 0, 1000, 0.0, False, None)
    search = Hybrid(max_terms=10, without=frozenset({task.without} - {""}))
    model = SymbolicRegressor(search, time_limit=task.seconds, random_state=0)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data.X, data.y)
        elapsed = time.perf_counter() - started
        error = relative_error(data.y_test, model.predict(data.X_test))
    return {"recovered": exact(error, 0.0), "seconds": elapsed}


def stored(task: Task, store: Store | None) -> Record:
    """The record of a task, from the store where it has one."""
    if store is None:
        return fit(task)
    if task not in store:
        store.append(task, fit(task))
    return store[task]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="time limit of one fit")
    parser.add_argument("--every", type=int, default=1, help="only every n-th case")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="store the results in this folder")
    options = parser.parse_args()
    store = Store(options.out, Task.file) if options.out else None
    names = case_names("feynman")[:: options.every]
    SymbolicRegressor(time_limit=0.5, random_state=0).fit(np.eye(20)[:, :2], np.arange(20.0))
    print("| without | laws recovered | median seconds to a law | lost without it |\n|---|--:|--:|---|")
    whole: set[str] = set()
    for part in ("", *PARTS):
        console = Console(stderr=True)
        records = {
            name: stored(Task(name, part, options.seconds), store)
            for name in track(names, part or "nothing", transient=True, console=console)
        }
        found = {name for name, record in records.items() if record["recovered"]}
        whole = whole or found
        seconds = np.median([records[name]["seconds"] for name in found] or [np.nan])
        lost = ", ".join(name.removeprefix("feynman_") for name in names if name in whole - found)
        print(f"| {part or 'nothing'} | {len(found)} of {len(names)} | {seconds:.2f} | {lost} |", flush=True)


if __name__ == "__main__":
    main()
