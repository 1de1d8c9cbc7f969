"""Fits of benchmarks in processes of one thread each, and their common arguments."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

import numpy as np

from fouriertree import SymbolicRegressor
from fouriertree.search.processes import ONE_THREAD

Item = TypeVar("Item")
Result = TypeVar("Result")


def parser_of(description: str | None, seconds: float, seeds: int) -> argparse.ArgumentParser:
    """A parser of the arguments --seconds, --seeds and --jobs."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=seconds, help="time limit of one fit")
    parser.add_argument(
        "--seeds", type=int, default=seeds, help="number of seeds of the search and of the rows"
    )
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS", "1")),
                        help="number of fits at a time; default: the variable JOBS, or 1")  # fmt: skip
    return parser


def performed(function: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    """Results of a function of a module in their order, from `jobs` processes that have compiled the kernels."""
    # The processes read these when they import NumPy.
    os.environ.update(ONE_THREAD)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=warm_up) as pool:
        yield from pool.map(function, items)


def warm_up() -> None:
    """A short fit, so that imports and compilation are not timed."""
    warnings.simplefilter("ignore")
    X = np.linspace(1.0, 2.0, 40).reshape(20, 2)
    fitted(X, np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2, 1.0, 0)


def fitted(X: np.ndarray, y: np.ndarray, seconds: float, seed: int, **options: Any) -> SymbolicRegressor:
    return SymbolicRegressor(time_limit=seconds, random_state=seed, n_jobs=1, **options).fit(X, y)
