"""Projection by a QR factorization that is updated for every element added or removed.

With A = QR, adding v decreases the loss by exactly ⟨r, w⟩²/‖w‖², where w is the component of v orthogonal to the
columns of Q.  A itself is factored and not its Gram matrix G, since cond(G) = cond(A)².
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular

from .base import Matrix, Projection, State, Vector, as_element, as_target, check_index, check_prefix, frozen

# Elements are scaled by a power of two before anything is squared.  Beyond 2^±900 (about 1e±271) their coefficients
# would overflow or underflow.
_MAX_EXPONENT = 900


@dataclass(frozen=True)
class IncrementalQR:
    """Projection by A = QR: classical Gram–Schmidt with reorthogonalization and a rank test.

    Parameters
    ----------
    rank_tolerance : float, default=1e-10
        v is rejected if ‖w‖ ≤ rank_tolerance·‖v‖, where w is its component orthogonal to the basis.

    Examples
    --------
    >>> projection = IncrementalQR().start([1.0, 2.0, 4.0])
    >>> projection.add([1.0, 1.0, 1.0]), projection.add([0.0, 1.0, 2.0]), projection.add([1.0, 2.0, 3.0])
    (True, True, False)
    >>> projection.coefficients.round(6).tolist()
    [0.833333, 1.5]
    """

    rank_tolerance: float = 1e-10

    def start(self, target: ArrayLike) -> Projection:
        """The projection of `target` (n,) onto the empty basis."""
        return _QRProjection(self.rank_tolerance, as_target(target))

    def restore(self, state: Mapping[str, Any]) -> Projection:
        """The projection with this `state()`."""
        projection = _QRProjection(self.rank_tolerance, as_target(state["target"]))
        projection._restore(state)
        return projection

    def attempt_traverses(self, k: int) -> int:
        """2(k − 1) + 1: two passes over k − 1 columns of Q, and ‖w‖."""
        return 2 * (k - 1) + 1

    def acceptance_traverses(self, k: int) -> int:
        """2: ⟨r, q⟩, and one pass for the new residual and its norm."""
        return 2


class _Direction(NamedTuple):
    """The decomposition 2^−exponent · v = Q · components + norm · unit."""

    unit: Vector
    norm: float
    components: Vector
    exponent: int


class _QRProjection(Projection):
    """A · diag(2^−exponents) = QR for the elements A (n, k), with the moments Qᵀy (k,) and the residual (n,)."""

    # Attributes, in place of the properties of the contract.
    size, loss, residual = 0, 0.0, np.empty(0)

    def __init__(self, rank_tolerance: float, target: Vector) -> None:
        self._rank_tolerance = rank_tolerance
        self._target = target
        self._coefficients: Vector | None = None
        # Columns beyond the size are spare capacity; Fortran order makes columns contiguous.
        self._Q = np.empty((target.size, 8), order="F")
        self._R = np.zeros((8, 8))
        self._moments = np.empty(8)
        self._exponents = np.empty(8, dtype=np.int64)
        self._set_residual(target)

    @property
    def coefficients(self) -> Vector:
        if self._coefficients is None:
            self._coefficients = frozen(self.coefficients_of_prefix(self.size))
        return self._coefficients

    @property
    def basis(self) -> Matrix | None:
        return frozen(self._Q[:, : self.size])

    @property
    def condition(self) -> float:
        k = self.size
        if k == 0:
            return 1.0
        with np.errstate(over="ignore"):
            return float(np.square(np.linalg.cond(np.ldexp(self._R[:k, :k], self._exponents[:k]))))

    def gain(self, v: ArrayLike) -> float:
        direction = self._direction(as_element(v, self._target.size))
        return 0.0 if direction is None else float(direction.unit @ self.residual) ** 2

    def gains(self, V: ArrayLike) -> Vector:
        U, usable = _scaled_rows(np.asarray(V, dtype=np.float64))
        Q = self._Q[:, : self.size]
        norms = np.einsum("ij,ij->i", U, U)
        W = U - (U @ Q) @ Q.T
        W -= (W @ Q) @ Q.T
        orthogonal_norms = np.einsum("ij,ij->i", W, W)
        usable &= orthogonal_norms > self._rank_tolerance**2 * norms
        gains = np.zeros(len(U))
        np.divide(np.square(W @ self.residual), orthogonal_norms, out=gains, where=usable)
        return gains

    def add(self, v: ArrayLike) -> bool:
        direction = self._direction(as_element(v, self._target.size))
        if direction is None:
            return False
        k = self.size
        self._reserve(k + 1)
        self._Q[:, k] = direction.unit
        self._R[:k, k] = direction.components
        self._R[k, k] = direction.norm
        self._exponents[k] = direction.exponent
        # ⟨q, r⟩ = ⟨q, y⟩, without the cancellation that a large y would bring.
        self._moments[k] = direction.unit @ self.residual
        self.size = k + 1
        self._set_residual(self.residual - self._moments[k] * direction.unit)
        return True

    def drop(self, i: int) -> None:
        check_index(i, self.size)
        k = self.size
        Q, R, moments = self._Q, self._R, self._moments
        R[:k, i : k - 1] = R[:k, i + 1 : k].copy()
        R[:k, k - 1] = 0.0
        self._exponents[i : k - 1] = self._exponents[i + 1 : k].copy()
        for j in range(i, k - 1):
            # A Givens rotation of rows j and j + 1 eliminates the one nonzero below the diagonal in column j.
            norm = math.hypot(R[j, j], R[j + 1, j])
            cosine, sine = R[j, j] / norm, R[j + 1, j] / norm
            rotation = np.array([[cosine, sine], [-sine, cosine]])
            R[j : j + 2, j : k - 1] = rotation @ R[j : j + 2, j : k - 1]
            R[j + 1, j] = 0.0
            moments[j : j + 2] = rotation @ moments[j : j + 2]
            Q[:, j : j + 2] = Q[:, j : j + 2] @ rotation.T
        # The last column of Q is now orthogonal to the remaining elements.
        self.size = k - 1
        self._set_residual(self.residual + moments[k - 1] * Q[:, k - 1])

    def coefficients_of_prefix(self, j: int) -> Vector:
        check_prefix(j, self.size)
        if j == 0:
            return np.empty(0)
        scaled = solve_triangular(self._R[:j, :j], self._moments[:j], check_finite=False)
        return np.asarray(np.ldexp(scaled, -self._exponents[:j]))

    def state(self) -> State:
        k = self.size
        return {
            "target": self._target.copy(),
            "Q": self._Q[:, :k].copy(order="F"),
            "R": self._R[:k, :k].copy(),
            "moments": self._moments[:k].copy(),
            "exponents": self._exponents[:k].copy(),
            "residual": self.residual.copy(),
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        k = len(state["moments"])
        self._reserve(k)
        self._Q[:, :k] = state["Q"]
        self._R[:k, :k] = state["R"]
        self._moments[:k] = state["moments"]
        self._exponents[:k] = state["exponents"]
        self.size = k
        self._set_residual(np.array(state["residual"], dtype=np.float64))

    def _direction(self, v: Vector) -> _Direction | None:
        """`v` split along the span and orthogonal to it, or None if it fails the rank test."""
        largest = float(np.abs(v).max())
        if not 0.0 < largest < math.inf:  # also rejects NaN
            return None
        exponent = math.frexp(largest)[1]
        if abs(exponent) > _MAX_EXPONENT:
            return None
        Q = self._Q[:, : self.size]
        scaled = v * math.ldexp(1.0, -exponent)
        components = scaled @ Q
        w = scaled - Q @ components
        # The first pass leaves rounding errors along Q where digits cancelled; a second one is enough.
        correction = w @ Q
        w -= Q @ correction
        norm = math.sqrt(w @ w)
        if norm <= self._rank_tolerance * math.sqrt(scaled @ scaled) or norm == 0.0:
            return None
        return _Direction(w / norm, norm, components + correction, exponent)

    def _set_residual(self, residual: Vector) -> None:
        self.residual = frozen(residual)
        self.loss = float(residual @ residual)
        self._coefficients = None

    def _reserve(self, size: int) -> None:
        while size > len(self._moments):
            capacity = 2 * len(self._moments)
            k = self.size
            Q = np.empty((self._target.size, capacity), order="F")
            R = np.zeros((capacity, capacity))
            Q[:, :k], R[:k, :k] = self._Q[:, :k], self._R[:k, :k]
            self._Q, self._R = Q, R
            self._moments = np.resize(self._moments, capacity)
            self._exponents = np.resize(self._exponents, capacity)


def _scaled_rows(V: Matrix) -> tuple[Matrix, NDArray[np.bool_]]:
    """The rows of `V` (m, n) scaled by powers of two to at most 1, and which of them (m,) are usable."""
    largest = np.abs(V).max(axis=1, initial=0.0)
    exponents = np.frexp(largest)[1]
    usable = np.isfinite(largest) & (largest > 0.0) & (np.abs(exponents) <= _MAX_EXPONENT)
    scales = np.ldexp(1.0, -np.where(usable, exponents, 0))
    return np.where(usable[:, None], V, 0.0) * scales[:, None], usable
