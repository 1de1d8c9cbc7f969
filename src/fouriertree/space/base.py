"""The contract of spaces.

A space maps its elements isometrically to vectors of float64, their *coordinates*: the inner product of two elements
is the dot product of their coordinates.  Projectors operate on coordinates only.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, Programs

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Sample: TypeAlias = tuple[Matrix, Vector, Vector]  #: X, target values, weights
Elements: TypeAlias = Sequence[Expression] | Programs


class Scores(NamedTuple):
    """Inner products of many elements v with a residual r and an orthonormal basis q.

    Attributes
    ----------
    norms, products, projected_norms : ndarray of shape (n_elements,)
        ⟨v, v⟩, ⟨v, r⟩ and Σ_j ⟨v, q_j⟩², the squared norm of the projection of v onto span(q), 0 without a basis.
        NaN for elements that are not in the space.
    """

    norms: Vector
    products: Vector
    projected_norms: Vector


class Space(Protocol):
    """A Hilbert space of functions with a target: the contract of `EmpiricalSpace` and the others."""

    @property
    def dimension(self) -> int | None:
        """Maximum number of linearly independent elements; None if it is not bounded."""

    @property
    def n_columns(self) -> int:
        """Number of features, the variables of the functions."""

    @property
    def target(self) -> Vector:
        """Coordinates of the target."""

    def samples(self) -> Sequence[Sample]:
        """Weighted points (X, target values, weights) with ⟨f, g⟩ = Σ w·f·g.

        Of several samples, a polynomial of degree d is evaluated on the first with more than d points.
        """

    def inner(self, f: Expression, g: Expression) -> float:
        """⟨f, g⟩."""

    def coordinates(self, elements: Elements) -> Matrix:
        """Coordinates of every element: (n_elements, n); NaN in the rows of elements that are not in the space."""

    def scores(self, elements: Elements, residual: Vector, basis: Matrix | None = None) -> Scores:
        """Inner products of every element with itself, the residual (n,) and an orthonormal basis (n, k).

        The matrix of coordinates need not be formed.
        """
