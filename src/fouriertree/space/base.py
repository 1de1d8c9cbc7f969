"""What every space answers.

A space maps its elements isometrically to vectors of float64, their *coordinates*, so that the inner product of two
elements is the dot product of their coordinates.  Projectors see coordinates only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, Programs

Vector: TypeAlias = NDArray[np.float64]
Sample: TypeAlias = tuple[NDArray[np.float64], Vector, Vector]
Elements: TypeAlias = Sequence[Expression] | Programs


class Scores(NamedTuple):
    """Inner products of many elements v: (n_elements,) each, NaN for those that are not in the space."""

    norms: Vector  #: ⟨v, v⟩
    products: Vector  #: ⟨v, r⟩
    shadows: Vector  #: Σ ⟨v, q_j⟩², the squared length of v's part in the span of the basis q; 0 without one


class Space(Protocol):
    """What an inner product is."""

    @property
    def dimension(self) -> int | None:
        """How many elements can be independent; None where there is no bound."""
        ...

    @property
    def n_columns(self) -> int:
        """Number of variables of the functions in the space."""
        ...

    @property
    def target(self) -> Vector:
        """Coordinates of the function that is sought."""
        ...

    def samples(self) -> Sequence[Sample]:
        """The space as weighted points (X, target values, weights), on which Σ w·f·g is the inner product.

        Several samples are a ladder: a polynomial of degree d belongs on the first of more than d points.
        """
        ...

    def inner(self, f: Expression, g: Expression) -> float:
        """⟨f, g⟩."""
        ...

    def coordinates(self, elements: Elements) -> NDArray[np.float64]:
        """Coordinates of every element: (n_elements, n), NaN in the rows of those that are not in the space."""
        ...

    def scores(
        self, elements: Elements, residual: Vector, basis: NDArray[np.float64] | None = None
    ) -> Scores:
        """Inner products of every element v with itself, the residual r and an orthonormal basis q (n, k).

        There is no matrix of coordinates in between.
        """
        ...
