"""Chains of products: e₀ = 1, e_k = e_{k−1}·2(u − r_k), for polynomials of high degree in one variable.

Powers of u become parallel as their degree grows; with r_k at Leja points of the data the products stay apart, so that
projection onto them is exact to rounding at degrees where powers are hopeless.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE, Vocabulary
from fouriertree.search.hybrid.explore import EXACT

Floats = NDArray[np.float64]

#: a chain is given up after so many links that took away less than this share of what was left
PATIENCE, USEFUL = 12, 1e-3
#: an element whose part outside the span is smaller, relative to itself, is rounding
NOVELTY = 1e-11


class Chain:
    """One chain in the only column x of a table, with the projection of y onto it."""

    def __init__(self, x: Floats, y: Floats, weights: Floats, v: Vocabulary) -> None:
        self.v = v
        self.variable = Expression.variable(0)
        self.half = 0.5 * float(x.max() - x.min()) or 1.0
        self.u = x / self.half
        self.roots = np.sqrt(weights)
        self.residual = self.roots * y
        self.length2 = float(self.residual @ self.residual) or 1.0
        self.basis = np.zeros((0, len(x)))
        self.terms: list[Expression] = []
        self.losses: list[float] = []  #: after every term
        self._values, self._expression = np.ones(len(x)), ONE
        self._nodes: list[float] = []
        self._idle = 0
        self.traverses = 0

    @property
    def loss(self) -> float:
        """Squared error relative to the target's."""
        return float(self.residual @ self.residual) / self.length2

    @property
    def finished(self) -> bool:
        return self.loss <= EXACT * 1e-8 or self._idle >= PATIENCE or len(self.terms) >= len(self.u) - 1

    def step(self) -> None:
        """One element more, projected."""
        before = self.loss
        vector = self.roots * self._values
        length = float(np.linalg.norm(vector))
        for _ in range(2):  # twice is enough
            vector = vector - self.basis.T @ (self.basis @ vector)
        self.traverses += 2 * len(self.basis) + 2
        novelty = float(np.linalg.norm(vector))
        if novelty > NOVELTY * length:
            q = vector / novelty
            self.basis = np.vstack([self.basis, q])
            self.residual = self.residual - q * float(q @ self.residual)
            self.terms.append(self._expression)
            self.losses.append(self.loss)
        self._idle = 0 if self.loss < (1.0 - USEFUL) * before else self._idle + 1
        self._extend()

    def _extend(self) -> None:
        """The next factor vanishes where the product so far is largest: the next Leja point."""
        node = float(self.u[int(np.argmax(np.abs(self._values)))])
        self._nodes.append(node)
        self._values = self._values * 2.0 * (self.u - node)
        scaled = self.v.apply("mul", Expression.constant(2.0 / self.half), self.variable)
        factor = self.v.apply("sub" if "sub" in self.v else "add", scaled, Expression.constant(2.0 * node))
        if "sub" not in self.v:
            factor = self.v.apply("add", scaled, Expression.constant(-2.0 * node))
        self._expression = self.v.product([self._expression, factor])
