"""L2(a, b) for polynomials, in exact rational arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.polynomial import Polynomial, normal_form
from fouriertree.space.base import Elements, Sample, Scores, Vector
from fouriertree.space.quadrature import gauss_legendre

#: numbers of points of the ladder of samples
RUNGS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


class PolynomialSpace:
    """Polynomials on (a, b) with ⟨f, g⟩ = ∫ f g, exactly.

    Coordinates are those of the orthonormal Legendre polynomials: computed exactly and rounded once.  Polynomials
    above `max_degree` have none.  Slow and certain: the oracle for the other spaces.

    >>> from fouriertree.expr import parse
    >>> space = PolynomialSpace(-1, 1)
    >>> space.exact_inner(parse("x0^2 + 1"), parse("x0^2"))
    Fraction(16, 15)
    """

    def __init__(
        self,
        a: float | Fraction,
        b: float | Fraction,
        target: Polynomial | Expression | None = None,
        max_degree: int = 512,
    ) -> None:
        self.a, self.b = Fraction(a), Fraction(b)
        if not self.a < self.b:
            raise ValueError(f"the interval must have a < b; got a = {a}, b = {b}")
        self.max_degree = max_degree
        self._target = target

    @property
    def dimension(self) -> int | None:
        return None

    @property
    def n_columns(self) -> int:
        return 1

    @cached_property
    def _polynomial(self) -> Polynomial:
        if self._target is None:
            raise ValueError("this space has no target; give one: PolynomialSpace(a, b, target=…)")
        polynomial = self._target if isinstance(self._target, Polynomial) else normal_form(self._target)
        if polynomial.degree > self.max_degree:
            raise ValueError(
                f"the target has degree {polynomial.degree}, above max_degree = {self.max_degree}"
            )
        return polynomial

    @cached_property
    def target(self) -> Vector:
        return self._coordinates(self._polynomial)

    def samples(self) -> Sequence[Sample]:
        """Gauss–Legendre points for polynomials of every degree up to the largest rung."""
        target = self._polynomial
        rungs = [n for n in RUNGS if n > target.degree]
        if not rungs:
            raise ValueError(f"the target has degree {target.degree}; points serve degrees below {RUNGS[-1]}")
        points = [gauss_legendre(float(self.a), float(self.b), n) for n in rungs]
        return [(nodes[:, None], target.values(nodes), weights) for nodes, weights in points]

    def exact_inner(self, f: Expression | Polynomial, g: Expression | Polynomial) -> Fraction:
        """⟨f, g⟩ as a rational number."""
        p, q = (h if isinstance(h, Polynomial) else normal_form(h) for h in (f, g))
        return (p * q).integral(self.a, self.b)

    def inner(self, f: Expression, g: Expression) -> float:
        return float(self.exact_inner(f, g))

    def span_size(self, f: Expression) -> int:
        """Number of powers of x with a coefficient other than zero."""
        return normal_form(f).span_size

    def coordinates(self, elements: Elements) -> NDArray[np.float64]:
        out = np.full((len(elements), self.max_degree + 1), np.nan)
        for row, element in zip(out, elements, strict=True):
            polynomial = normal_form(element)
            if polynomial.degree <= self.max_degree:
                row[:] = self._coordinates(polynomial)
        return out

    def scores(
        self, elements: Elements, residual: Vector, basis: NDArray[np.float64] | None = None
    ) -> Scores:
        vectors = self.coordinates(elements)
        inside = vectors @ (np.empty((len(residual), 0)) if basis is None else basis)
        norms, shadows = (np.einsum("ij,ij->i", matrix, matrix) for matrix in (vectors, inside))
        return Scores(norms, vectors @ residual, shadows)

    def _coordinates(self, polynomial: Polynomial) -> Vector:
        """Coefficients of the orthonormal Legendre polynomials of (a, b)."""
        half, middle = (self.b - self.a) / 2, (self.a + self.b) / 2
        legendre = legendre_coefficients(substitute_line(polynomial, half, middle).coefficients)
        out = np.zeros(self.max_degree + 1)
        for k, c in enumerate(legendre):
            # ‖P_k‖² = 2/(2k+1) on (−1, 1), and lengths on (a, b) are `half` times as long.
            out[k] = float(c) * sqrt(2 * half / (2 * k + 1))
        return out


def substitute_line(p: Polynomial, slope: Fraction, offset: Fraction) -> Polynomial:
    """p(slope·x + offset)."""
    if slope == 1 and offset == 0:
        return p
    line, total = Polynomial.of([offset, slope]), Polynomial(())
    for c in reversed(p.coefficients):
        total = total * line + Polynomial.of([c])
    return total


def legendre_coefficients(coefficients: Sequence[Fraction]) -> list[Fraction]:
    """Legendre coefficients of Σ coefficients[i]·x**i, by Horner's rule in the Legendre basis.

    Multiplication by x there is x·P_k = ((k+1)·P_{k+1} + k·P_{k−1}) / (2k+1).
    """
    series: list[Fraction] = []
    for c in reversed(coefficients):
        shifted = [Fraction(0)] * (len(series) + 1)
        for k, s in enumerate(series):
            if s:
                shifted[k + 1] += s * Fraction(k + 1, 2 * k + 1)
                if k:
                    shifted[k - 1] += s * Fraction(k, 2 * k + 1)
        shifted[0] += c
        series = shifted
    return series
