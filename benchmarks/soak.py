"""Soak test: hundreds of fits and thousands of uses of a fitted model in one process, checked for leaks.

Run: make soak.  Random rows, features, operators, laws, noise, losses, weights, searches and threads, all from one
seed.  Fails if memory, threads or open files keep growing after the first fits.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from fouriertree import FTG, PrimitiveSet, SymbolicRegressor
from fouriertree.experiments.bars import Bar, report
from fouriertree.search import CanonicalGP, OnePlusLambda

FITS, USES, EVERY = 500, 2_000, 50
MOST_MEGABYTES = 50.0
OPERATORS = (
    None, ["+", "*"], ["+", "-", "*", "/"], ["+", "*", "sin", "exp"], ["+", "*", "sqrt", "log", "square"],
)  # fmt: skip
LOSSES = ("squared", "squared", "squared", "absolute", "huber", "quantile")
LAWS: tuple[Callable[[Any], Any], ...] = (
    lambda X: 2.0 * X[:, 0] + 1.0,
    lambda X: X[:, 0] * X[:, -1],
    lambda X: np.sin(2.0 * X[:, 0]) + X[:, -1],
    lambda X: np.exp(-X[:, 0]) / (1.0 + X[:, -1] ** 2),
    lambda X: X[:, 0] ** 3 - X[:, 0],
    lambda X: np.zeros(len(X)),
)
TEXTS = ("python", "c", "sqlite", "latex", "julia", "r", "javascript", "json", "excel", "matlab", "sympy")


@dataclass(frozen=True)
class Held:
    """Resources that the process holds."""

    megabytes: float
    threads: int
    files: int
    objects: int

    @classmethod
    def now(cls) -> Held:
        gc.collect()
        trim_free_memory()
        process = psutil.Process()
        files = process.num_fds() if hasattr(process, "num_fds") else len(process.open_files())
        return cls(process.memory_info().rss / 1e6, process.num_threads(), files, len(gc.get_objects()))

    def __str__(self) -> str:
        return f"{self.megabytes:7.1f} MB  {self.threads:3d} threads  {self.files:3d} files  {self.objects:9,} objects"


def trim_free_memory() -> None:
    """Have the C library return free memory: what its allocator caches is no leak."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def custom_operators(rng: np.random.Generator) -> PrimitiveSet:
    """A set with a user-defined operator that is new every time, as in a notebook cell that is run again."""
    operators = PrimitiveSet(["+", "*"])
    factor = float(rng.uniform(0.5, 2.0))
    operators.add("bend", lambda a: factor * a * abs(a))
    return operators


def random_fit(rng: np.random.Generator, number: int) -> SymbolicRegressor:
    rows, columns = int(10 ** rng.uniform(1.0, 3.3)), int(rng.integers(1, 9))
    X = rng.uniform(0.5, 3.0, (rows, columns))
    y = LAWS[rng.integers(len(LAWS))](X) + rng.choice([0.0, 0.01, 0.3]) * rng.normal(size=rows)
    kind = rng.integers(10)
    search = {0: FTG(max_terms=5), 1: OnePlusLambda(), 2: CanonicalGP(population=100)}.get(int(kind))
    operators = custom_operators(rng) if number % EVERY == 0 else OPERATORS[rng.integers(len(OPERATORS))]
    model = SymbolicRegressor(
        search, operators=operators, loss=LOSSES[rng.integers(len(LOSSES))], time_limit=float(rng.uniform(0.1, 1.0)),
        max_evaluations=int(10 ** rng.uniform(3.0, 5.5)), random_state=number, n_jobs=int(rng.integers(1, 3)),
    )  # fmt: skip
    weights = rng.uniform(0.1, 1.0, rows) if rng.integers(3) == 0 else None
    return model.fit(X, y, weights)


def watched(title: str, count: int, every: int, work: Callable[[int], object]) -> tuple[list[Held], float]:
    print(f"{title}, a line for every {every}")
    started, found = time.monotonic(), []
    for number in range(count):
        work(number)
        if (number + 1) % every == 0:
            found.append(Held.now())
            print(f"  {number + 1:6,}  {found[-1]}  {time.monotonic() - started:6.1f} s", flush=True)
    return found, time.monotonic() - started


def use(model: SymbolicRegressor, rng: np.random.Generator, folder: Path, number: int) -> None:
    """Predict, save, load and export."""
    X = rng.uniform(0.5, 3.0, (int(rng.integers(1, 500)), model.n_features_in_))
    model.predict(X)
    path = folder / "model.json"
    model.save(path)
    again = SymbolicRegressor.load(path)
    again.export(TEXTS[number % len(TEXTS)])
    if number % 100 == 0:
        again.plot_front()
        again.plot_fit(X, again.predict(X))


def grown(name: str, found: list[Held]) -> list[Bar]:
    """Growth of each resource after the first measurement."""
    first, later = found[0], found[1:] or found
    return [
        Bar(f"{name}-megabytes", max(h.megabytes for h in later) - first.megabytes, MOST_MEGABYTES, "<="),
        Bar(f"{name}-threads", max(h.threads for h in later) - first.threads, 0.0, "<="),
        Bar(f"{name}-files", max(h.files for h in later) - first.files, 0.0, "<="),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fits", type=int, default=FITS)
    parser.add_argument("--uses", type=int, default=USES)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(options.seed)
    fits, seconds = watched("fits", options.fits, EVERY, lambda number: random_fit(rng, number))
    print(f"{options.fits} fits in {seconds:.0f} s")
    X = rng.uniform(0.5, 3.0, (100, 2))
    model = SymbolicRegressor(max_evaluations=20_000, random_state=0).fit(X, np.sin(X[:, 0]) + X[:, 1])
    with tempfile.TemporaryDirectory() as folder:
        uses, seconds = watched(
            "predict, save, load and export",
            options.uses,
            4 * EVERY,
            lambda n: use(model, rng, Path(folder), n),
        )
    print(f"{options.uses} uses in {seconds:.0f} s")
    return report([*grown("fits", fits), *grown("uses", uses)])


if __name__ == "__main__":
    sys.exit(main())
