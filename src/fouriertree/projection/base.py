"""The contract of projectors.

Elements and target are coordinate vectors of a Hilbert space, float64[n], so that inner products are dot products.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
State = dict[str, np.ndarray[Any, Any] | float | int]


class Projection(ABC):
    """The orthogonal projection Σ c_i·v_i of a target onto the span of the accepted elements v_1 … v_k."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number k of accepted elements."""

    @property
    @abstractmethod
    def coefficients(self) -> Vector:
        """Least-squares coefficients of the elements as they were added, not normalized: float64[k]."""

    @property
    @abstractmethod
    def residual(self) -> Vector:
        """The target minus its projection: float64[n], read-only."""

    @property
    @abstractmethod
    def loss(self) -> float:
        """Squared norm of the residual, computed from the residual itself."""

    @property
    def basis(self) -> Matrix | None:
        """An orthonormal basis of the span: (n, k), read-only; None if the method computes none."""
        return None

    @property
    @abstractmethod
    def condition(self) -> float:
        """Condition number of the elements' Gram matrix; 1 for an empty basis."""

    @abstractmethod
    def gain(self, v: ArrayLike) -> float:
        """Decrease of the loss if `v` (n,) were added; 0 if `v` would be rejected."""

    def gains(self, V: ArrayLike) -> Vector:
        """Gain of every row of `V` (m, n), each on its own: float64[m]."""
        return np.array([self.gain(v) for v in np.asarray(V, dtype=np.float64)], dtype=np.float64)

    @abstractmethod
    def add(self, v: ArrayLike) -> bool:
        """Add `v` (n,) to the basis; False, without a change, if it is linearly dependent or not finite."""

    @abstractmethod
    def drop(self, i: int) -> None:
        """Remove the i-th accepted element and project onto the others."""

    @abstractmethod
    def coefficients_of_prefix(self, j: int) -> Vector:
        """Least-squares coefficients of the first j accepted elements alone: float64[j]."""

    @abstractmethod
    def state(self) -> State:
        """Arrays and scalars from which `Projector.restore` makes an equal projection."""


class Projector(Protocol):
    """A method of projection and its cost in data traverses, one for every inner product."""

    def start(self, target: ArrayLike) -> Projection:
        """The projection of `target` (n,) onto the empty basis."""

    def restore(self, state: Mapping[str, Any]) -> Projection:
        """The projection with this `Projection.state()`."""

    def attempt_traverses(self, k: int) -> int:
        """Traverses to try a k-th element (k = 1 is the first), whether or not it is accepted."""

    def acceptance_traverses(self, k: int) -> int:
        """Additional traverses if the k-th element is accepted."""


def as_target(target: ArrayLike) -> Vector:
    """A read-only copy of `target` (n,), or ValueError if it is not a finite vector."""
    vector = np.array(target, dtype=np.float64)
    if vector.ndim != 1 or vector.size == 0:
        raise ValueError(f"the target must be a vector of at least one value, not of shape {vector.shape}")
    if not np.isfinite(vector).all():
        raise ValueError("the target has values that are not finite; remove these rows first")
    return frozen(vector)


def as_element(v: ArrayLike, n: int) -> Vector:
    """`v` as float64[n], or ValueError if it has another shape."""
    vector = np.asarray(v, dtype=np.float64)
    if vector.shape != (n,):
        raise ValueError(f"an element has shape {vector.shape}, but the target has shape ({n},)")
    return vector


def check_index(i: int, size: int) -> None:
    """IndexError unless 0 ≤ i < size."""
    if not 0 <= i < size:
        raise IndexError(f"there is no element {i}; the basis has {size}")


def check_prefix(j: int, size: int) -> None:
    """IndexError unless 0 ≤ j ≤ size."""
    if not 0 <= j <= size:
        raise IndexError(f"there is no prefix of {j} elements; the basis has {size}")


def frozen(array: Vector) -> Vector:
    """The same array, marked read-only."""
    array.flags.writeable = False
    return array
