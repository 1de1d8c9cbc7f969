"""The protocol of engines, and checks of their arguments."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.expr import Expression, Programs

Floats: TypeAlias = NDArray[np.floating]
Batch: TypeAlias = Sequence[Expression] | Programs
R = TypeVar("R", bound="Rows")


class InnerProducts(NamedTuple):
    """Inner products of expressions; NaN if a value of the expression is not finite.

    Attributes
    ----------
    norms : ndarray of shape (n_expressions,)
        ⟨v, v⟩.
    products : ndarray of shape (n_expressions, n_targets)
        ⟨v, r_j⟩.
    finite : ndarray of bool of shape (n_expressions,)
        Whether all values of the expression are finite.
    """

    norms: NDArray[np.float64]
    products: NDArray[np.float64]
    finite: NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """Data in the layout of an engine; made by `Engine.prepare`, for many calls."""

    n_rows: int
    n_columns: int
    dtype: np.dtype[np.floating]  #: the floating-point type of the engine


class Engine(Protocol):
    """Evaluates many expressions on many rows."""

    def prepare(self, X: ArrayLike, weights: ArrayLike | None = None) -> Rows:
        """X (n_rows, n_features) and weights (n_rows,) in the layout of the engine."""

    def evaluate(self, expressions: Batch, X: ArrayLike | Rows) -> Floats:
        """Values of every expression on every row: (n_expressions, n_rows)."""

    def inner_products(
        self, expressions: Batch, X: ArrayLike | Rows, R: ArrayLike, weights: ArrayLike | None = None
    ) -> InnerProducts:
        """Weighted ⟨v, v⟩ and ⟨v, r_j⟩ of every expression v and every column r_j of R (n_rows, n_targets)."""


def prepared(engine: Any, kind: type[R], X: ArrayLike | Rows, weights: ArrayLike | None = None) -> R:
    """Plain data in the layout of the engine, or X if this engine prepared it; TypeError if another one did."""
    if not isinstance(X, Rows):
        rows: R = engine.prepare(X, weights)
        return rows
    if not isinstance(X, kind) or X.dtype != np.dtype(engine.dtype):
        expected = f"{kind.__name__} of {np.dtype(engine.dtype).name}"
        raise TypeError(f"these rows were prepared by another engine; expected {expected}")
    if weights is not None:
        raise ValueError("prepared rows have their weights already; give weights to prepare()")
    return X


def check_data(X: ArrayLike, weights: ArrayLike | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Copies of X (n_rows, n_features) and of the weights (n_rows,), 1 by default, as float64."""
    matrix = np.array(X, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"X must be two-dimensional (rows, features); got {matrix.ndim} dimension(s)")
    n_rows = len(matrix)
    if n_rows == 0:
        raise ValueError("X has no rows")
    vector = np.ones(n_rows) if weights is None else np.array(weights, dtype=np.float64)
    if vector.shape != (n_rows,):
        raise ValueError(f"weights must have one entry per row, {n_rows}; got shape {vector.shape}")
    return matrix, vector


def check_targets(R: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """R as (n_rows, n_targets); a vector is one target."""
    targets = np.asarray(R, dtype=np.float64)
    if targets.ndim == 1:
        targets = targets[:, None]
    if targets.ndim != 2 or targets.shape[0] != n_rows:
        raise ValueError(f"R must have {n_rows} rows, as X has; got shape {np.shape(R)}")
    return targets


def as_programs(expressions: Batch, n_columns: int | None = None) -> Programs:
    """Packed expressions; ValueError for missing features: compiled code would read beyond the data."""
    programs = expressions if isinstance(expressions, Programs) else Programs.pack(expressions)
    if n_columns is not None and programs.n_columns > n_columns:
        last = programs.n_columns - 1
        raise ValueError(f"an expression uses feature x{last}, but X has {n_columns} feature(s)")
    return programs
