"""Projection by the Gram matrix and its inverse from the SVD, exactly as published.

Antonov, Kalkreuth, Yang, Bäck, van Stein, Kononova: A Functional Analysis Approach to Symbolic Regression.
GECCO 2024.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .base import Matrix, Projection, State, Vector, as_element, as_target, check_index, check_prefix, frozen

# Relative tolerance of the published check, numpy.allclose(G·G⁻¹, I, atol=eps1).
_RTOL = 1e-5


@dataclass(frozen=True)
class GramSVD:
    """Projection by the normal equations α = G⁻¹·(⟨F, v_i⟩)_i with G_ij = ⟨v_i, v_j⟩, as published.

    Parameters
    ----------
    eps1 : float, default=1e-4
        An element is accepted if every entry of G·G⁻¹ − I is at most eps1 (1e-5 more on the diagonal).
    charge_residual : bool, default=True
        Count a traverse for the residual; the published LSP runs did not.

    Examples
    --------
    >>> projection = GramSVD().start([1.0, 2.0, 4.0])
    >>> projection.add([1.0, 1.0, 1.0]), projection.add([0.0, 1.0, 2.0]), projection.add([1.0, 2.0, 3.0])
    (True, True, False)
    >>> projection.coefficients.round(6).tolist()
    [0.833333, 1.5]
    """

    eps1: float = 1e-4
    charge_residual: bool = True

    def start(self, target: ArrayLike) -> Projection:
        """The projection of `target` (n,) onto the empty basis."""
        return _GramSVDProjection(self.eps1, as_target(target))

    def restore(self, state: Mapping[str, Any]) -> Projection:
        """The projection with this `state()`."""
        projection = _GramSVDProjection(self.eps1, as_target(state["target"]))
        projection._restore(state)
        return projection

    def attempt_traverses(self, k: int) -> int:
        """2k − 1: a row and a column of inner products."""
        return 2 * k - 1

    def acceptance_traverses(self, k: int) -> int:
        """2 for ⟨F, v⟩ and the loss, and 1 for the residual, which v₁ was not compared with."""
        return 3 if k > 1 and self.charge_residual else 2


class _Fit(NamedTuple):
    """The projection onto a basis that passed the check."""

    gram: Matrix
    inverse: Matrix
    moments: Vector
    coefficients: Vector
    residual: Vector
    loss: float


_SAVED = _Fit._fields[:-1]


def _fit(gram: Matrix, inverse: Matrix, moments: Vector, coefficients: Vector, residual: Vector) -> _Fit:
    loss = float(residual @ residual)
    return _Fit(gram, inverse, moments, frozen(coefficients), frozen(residual), loss)


class _GramSVDProjection(Projection):
    """Elements (k, n), their Gram matrix and its inverse (k, k), and the moments ⟨F, v_i⟩ (k,)."""

    # Attributes, in place of the properties of the contract; `_set` assigns them.
    size, loss, residual, coefficients = 0, 0.0, np.empty(0), np.empty(0)

    def __init__(self, eps1: float, target: Vector) -> None:
        self._eps1 = eps1
        self._target = target
        # Row i is element i; rows beyond the size are spare capacity.
        self._elements = np.empty((8, target.size))
        self._set(_fit(np.empty((0, 0)), np.empty((0, 0)), np.empty(0), np.empty(0), target))

    def _set(self, fit: _Fit) -> None:
        self._fit, self.size = fit, len(fit.moments)
        self.coefficients, self.residual, self.loss = fit.coefficients, fit.residual, fit.loss

    @property
    def condition(self) -> float:
        return float(np.linalg.cond(self._fit.gram)) if self.size else 1.0

    def gain(self, v: ArrayLike) -> float:
        # Negative where the rounding error of an ill-conditioned inverse exceeds the gain.
        fit = self._attempt(as_element(v, self._target.size))
        return 0.0 if fit is None else self.loss - fit.loss

    def add(self, v: ArrayLike) -> bool:
        vector = as_element(v, self._target.size)
        fit = self._attempt(vector)
        if fit is None:
            return False
        self._reserve(self.size + 1)
        self._elements[self.size] = vector
        self._set(fit)
        return True

    def drop(self, i: int) -> None:
        check_index(i, self.size)
        k = self.size - 1
        gram = np.delete(np.delete(self._fit.gram, i, axis=0), i, axis=1)
        moments = np.delete(self._fit.moments, i)
        inverse = _svd_inverse(gram)
        coefficients = inverse @ moments
        self._elements[i:k] = self._elements[i + 1 : k + 1].copy()
        residual = self._target - coefficients @ self._elements[:k]
        self._set(_fit(gram, inverse, moments, coefficients, residual))

    def coefficients_of_prefix(self, j: int) -> Vector:
        check_prefix(j, self.size)
        if j == self.size:
            return self.coefficients
        return _svd_inverse(self._fit.gram[:j, :j]) @ self._fit.moments[:j]

    def state(self) -> State:
        arrays = {name: getattr(self._fit, name).copy() for name in _SAVED}
        return {"target": self._target.copy(), "elements": self._elements[: self.size].copy(), **arrays}

    def _restore(self, state: Mapping[str, Any]) -> None:
        fit = _fit(*(np.array(state[name], dtype=np.float64) for name in _SAVED))
        self._reserve(len(fit.moments))
        self._elements[: len(fit.moments)] = state["elements"]
        self._set(fit)

    def _attempt(self, v: Vector) -> _Fit | None:
        """The projection with `v` added, or None if the Gram matrix fails the check."""
        k = self.size
        elements = self._elements[:k]
        with np.errstate(all="ignore"):
            gram = np.empty((k + 1, k + 1))
            gram[:k, :k] = self._fit.gram
            gram[:k, k] = gram[k, :k] = elements @ v
            gram[k, k] = v @ v
            # LAPACK may not terminate on a matrix with NaN.
            if not np.isfinite(gram[k]).all():
                return None
            try:
                inverse = _svd_inverse(gram)
            except np.linalg.LinAlgError:
                return None
            if not _is_identity(gram @ inverse, self._eps1):
                return None
            moments = np.append(self._fit.moments, self._target @ v)
            coefficients = inverse @ moments
            residual = self._target - coefficients[:k] @ elements - coefficients[k] * v
            fit = _fit(gram, inverse, moments, coefficients, residual)
        return fit if np.isfinite(fit.loss) else None

    def _reserve(self, size: int) -> None:
        while size > len(self._elements):
            self._elements = np.concatenate([self._elements, np.empty_like(self._elements)])


def _svd_inverse(gram: Matrix) -> Matrix:
    """V · diag(1/s) · Uᵀ for G = U · diag(s) · Vᵀ: (k, k), without a cut-off for small singular values."""
    U, s, Vt = np.linalg.svd(gram)
    return np.asarray((Vt.T / s) @ U.T)


def _is_identity(product: Matrix, atol: float) -> bool:
    """numpy.allclose(product, I, atol=atol) without its overhead, which exceeds the cost of the SVD."""
    identity = np.eye(len(product))
    # NaN compares as False and is rejected.
    return bool((np.abs(product - identity) <= atol + _RTOL * identity).all())
