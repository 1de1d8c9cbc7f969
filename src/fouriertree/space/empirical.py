"""Data as a Hilbert space: ⟨f, g⟩ = Σ w_i f(x_i) g(x_i)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.engine import CompiledEngine, Engine
from fouriertree.engine.base import Rows, as_programs
from fouriertree.expr import Expression
from fouriertree.space.base import Elements, Matrix, Sample, Scores, Vector

#: an element of smaller root-mean-square may be rounding error only: it is evaluated again at perturbed points
SMALL_NORM, PERTURBATION = 1e-6, 1e-10


class WeightedPoints(ABC):
    """Functions known at weighted points; the coordinates of f are √w_i · f(x_i)."""

    def __init__(self, X: Matrix, weights: Vector, engine: Engine | None) -> None:
        self.X = X
        self.weights = weights
        self.engine = CompiledEngine() if engine is None else engine
        self._roots = np.sqrt(weights)

    @cached_property
    def _rows(self) -> Rows:
        """The points in the engine's layout, a copy that is made on first use."""
        return self.engine.prepare(self.X, self.weights)

    @property
    @abstractmethod
    def target(self) -> Vector:
        """Coordinates of the target."""

    @property
    def dimension(self) -> int | None:
        return len(self.X)

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])

    def samples(self) -> Sequence[Sample]:
        return [(self.X, self.target / self._roots, self.weights)]

    def inner(self, f: Expression, g: Expression) -> float:
        values = self.engine.evaluate([f, g], self._rows)
        return float(np.sum(self.weights * values[0] * values[1]))

    def values(self, elements: Elements) -> Matrix:
        """Values of elements at the points: (n_elements, n_points), finite or not."""
        return self.engine.evaluate(elements, self._rows).astype(np.float64, copy=False)

    def coordinates(self, elements: Elements) -> Matrix:
        values = self.values(elements)
        with np.errstate(all="ignore"):
            values *= self._roots
        values[~np.isfinite(values).all(axis=1)] = np.nan
        values[self._rounding_only(elements, values)] = np.nan
        return values

    def _rounding_only(self, elements: Elements, values: Matrix) -> NDArray[np.intp]:
        """Which elements are zero up to rounding, such as x·(x·x) − (x·x)·x.

        Their values change at perturbed points by as much as they are.  Only elements of small norm are tested.
        """
        with np.errstate(all="ignore"):
            norms = np.sqrt(np.einsum("ij,ij->i", values, values))
        small = np.flatnonzero(norms <= SMALL_NORM * np.sqrt(self.weights.sum()))
        if len(small) == 0:
            return small
        chosen = as_programs(elements).subset(small)
        perturbed = self.engine.evaluate(chosen, self.X * (1.0 - PERTURBATION)).astype(np.float64, copy=False)
        change = np.linalg.norm(perturbed * self._roots - values[small], axis=1)
        return np.compress(~(change <= 0.5 * norms[small]), small)

    def scores(self, elements: Elements, residual: Vector, basis: Matrix | None = None) -> Scores:
        vectors = residual[:, None] if basis is None else np.column_stack([residual, basis])
        # The engine weights both factors by w, and coordinates are multiplied by √w already.
        result = self.engine.inner_products(elements, self._rows, vectors / self._roots[:, None])
        with np.errstate(all="ignore"):
            projected_norms = np.einsum("ij,ij->i", result.products[:, 1:], result.products[:, 1:])
        return Scores(result.norms, result.products[:, 0], projected_norms)


class EmpiricalSpace(WeightedPoints):
    """Functions on the rows of X with ⟨f, g⟩ = Σ w_i f(x_i) g(x_i), and the target y.

    Parameters
    ----------
    X, y : array_like of shape (n_rows, n_features), (n_rows,)
    sample_weight : array_like of shape (n_rows,), optional
        Weights w ≥ 0; rows of weight zero are dropped.
    engine : Engine, optional
        Evaluates expressions; `CompiledEngine()` by default.

    Examples
    --------
    >>> from fouriertree.expr import parse
    >>> space = EmpiricalSpace([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> space.inner(parse("x0"), parse("x0^2")), space.dimension
    (9.0, 3)
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        engine: Engine | None = None,
        copy: bool = True,
    ) -> None:
        # Copies by default: what the caller does to its arrays later must not change the space.
        as_array = np.array if copy else np.asarray
        matrix, values = as_array(X, dtype=np.float64, order="C"), as_array(y, dtype=np.float64)
        if matrix.ndim != 2 or values.shape != (len(matrix),):
            shapes = f"{matrix.shape} and {values.shape}"
            raise ValueError(f"X must be (n_rows, n_features) and y (n_rows,); got shapes {shapes}")
        if not np.isfinite(values).all():
            raise ValueError("y has values that are not finite; remove these rows first")
        weights = np.ones(len(matrix)) if sample_weight is None else as_array(sample_weight, dtype=np.float64)
        if weights.shape != values.shape:
            raise ValueError(f"sample_weight must have one value per row, {len(matrix)}; got {weights.shape}")
        if not (np.isfinite(weights).all() and (weights >= 0.0).all()):
            raise ValueError("sample_weight must be finite and not negative")
        used = weights > 0.0
        if not used.any():
            raise ValueError("there are no rows with a positive weight")
        if not used.all():
            matrix, values, weights = matrix[used], values[used], weights[used]
        super().__init__(matrix, weights, engine)
        self.y = values

    @property
    def target(self) -> Vector:
        return self._roots * self.y
