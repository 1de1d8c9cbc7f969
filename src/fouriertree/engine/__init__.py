"""Engines: many expressions × many rows → a matrix of values, or the sums that a projection needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fouriertree.engine.base import Batch, Engine, Floats, InnerProducts, Rows
from fouriertree.engine.compiled import CompiledEngine
from fouriertree.engine.reference import ReferenceEngine

__all__ = [
    "CompiledEngine",
    "Engine",
    "InnerProducts",
    "ReferenceEngine",
    "Rows",
    "evaluate",
    "inner_products",
    "make_engine",
]


def make_engine(name: str = "compiled", dtype: DTypeLike = np.float64, n_jobs: int = 1) -> Engine:
    """The engine called "compiled" or "reference"; n_jobs = −1 is one thread per processor."""
    if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"engines compute in float64 or float32; got {np.dtype(dtype).name}")
    if name == "compiled":
        return CompiledEngine(dtype, n_jobs)
    if name == "reference":
        return ReferenceEngine(dtype)
    raise ValueError(f"unknown engine {name!r}; choose 'compiled' or 'reference'")


def evaluate(
    expressions: Batch,
    X: ArrayLike,
    *,
    engine: str = "compiled",
    dtype: DTypeLike = np.float64,
    n_jobs: int = 1,
) -> Floats:
    """Values of every expression on every row of X: (n_expressions, n_rows).

    >>> from fouriertree.expr import parse
    >>> evaluate([parse("x0*x1"), parse("x0 - x1")], [[1.0, 2.0], [3.0, 4.0]])
    array([[ 2., 12.],
           [-1., -1.]])
    """
    return make_engine(engine, dtype, n_jobs).evaluate(expressions, X)


def inner_products(
    expressions: Batch,
    X: ArrayLike,
    R: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    engine: str = "compiled",
    dtype: DTypeLike = np.float64,
    n_jobs: int = 1,
) -> InnerProducts:
    """⟨v, v⟩ and ⟨v, r_j⟩ for every expression v and every column r_j of R (n_rows, n_targets).

    Sums are float64 for any dtype.  Expressions with a value that is not finite have `finite` False and NaN sums.
    """
    return make_engine(engine, dtype, n_jobs).inner_products(expressions, X, R, weights)
