"""Engines evaluate many expressions on many rows, or compute their inner products."""

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .base import Batch, Engine, Floats, InnerProducts, Rows
from .compiled import CompiledEngine
from .reference import ReferenceEngine

__all__ = [
    "CompiledEngine", "Engine", "InnerProducts", "ReferenceEngine", "Rows", "evaluate", "inner_products", "make_engine",
]  # fmt: skip


def make_engine(name: str = "compiled", dtype: DTypeLike = np.float64, n_jobs: int = 1) -> Engine:
    """The engine "compiled" or "reference"; n_jobs = −1 is one thread per processor."""
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
    """Values of expressions on the rows of X.

    Parameters
    ----------
    expressions : sequence of Expression, or Programs
    X : array_like of shape (n_rows, n_features)
    engine : {"compiled", "reference"}
    dtype : float64 or float32
    n_jobs : int, default=1
        Number of threads; −1 for one per processor.

    Returns
    -------
    ndarray of shape (n_expressions, n_rows)

    Examples
    --------
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
    """Weighted inner products ⟨v, v⟩ and ⟨v, r_j⟩ of the values v of expressions and the columns r_j of R.

    Sums are float64 for any dtype.  An expression with a value that is not finite has `finite` False and NaN sums.

    Parameters
    ----------
    expressions, X, engine, dtype, n_jobs
        As for `evaluate`.
    R : array_like of shape (n_rows,) or (n_rows, n_targets)
    weights : array_like of shape (n_rows,), optional

    Returns
    -------
    InnerProducts
    """
    return make_engine(engine, dtype, n_jobs).inner_products(expressions, X, R, weights)
