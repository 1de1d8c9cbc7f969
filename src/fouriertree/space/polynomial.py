"""L2(a, b) for polynomials, in exact rational arithmetic."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.polynomial.legendre import legmulx

from fouriertree.expr import Expression
from fouriertree.expr.polynomial import Polynomial, normal_form
from fouriertree.space.base import Elements, Matrix, Sample, Scores, Vector
from fouriertree.space.quadrature import gauss_legendre

#: numbers of quadrature nodes of the samples
SAMPLE_SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


class PolynomialSpace:
    """Polynomials on (a, b) with ⟨f, g⟩ = ∫ f g in exact rational arithmetic: the reference for the other spaces.

    Coordinates are the coefficients of the orthonormal Legendre polynomials, computed exactly and rounded once.

    Parameters
    ----------
    a, b : float or Fraction
        The interval.
    target : Polynomial or Expression, optional
    max_degree : int, default=512
        Polynomials of higher degree are not in the space.

    Examples
    --------
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
            raise ValueError("this space has no target; pass one: PolynomialSpace(a, b, target=…)")
        polynomial = self._target if isinstance(self._target, Polynomial) else normal_form(self._target)
        if polynomial.degree > self.max_degree:
            raise ValueError(f"the target has degree {polynomial.degree} > max_degree = {self.max_degree}")
        return polynomial

    @cached_property
    def target(self) -> Vector:
        return self._coordinates(self._polynomial)

    def samples(self) -> Sequence[Sample]:
        """Gauss–Legendre nodes with weights, for polynomials of degrees below the largest number of nodes."""
        target = self._polynomial
        sizes = [n for n in SAMPLE_SIZES if n > target.degree]
        if not sizes:
            raise ValueError(f"the target has degree {target.degree}; the maximum is {SAMPLE_SIZES[-1] - 1}")
        points = [gauss_legendre(float(self.a), float(self.b), n) for n in sizes]
        return [(nodes[:, None], target.values(nodes), weights) for nodes, weights in points]

    def exact_inner(self, f: Expression | Polynomial, g: Expression | Polynomial) -> Fraction:
        """⟨f, g⟩ as a rational number."""
        p, q = (h if isinstance(h, Polynomial) else normal_form(h) for h in (f, g))
        return (p * q).integral(self.a, self.b)

    def inner(self, f: Expression, g: Expression) -> float:
        return float(self.exact_inner(f, g))

    def span_size(self, f: Expression) -> int:
        """Number of nonzero coefficients of f as a polynomial."""
        return normal_form(f).span_size

    def coordinates(self, elements: Elements) -> Matrix:
        out = np.full((len(elements), self.max_degree + 1), np.nan)
        for row, element in zip(out, elements, strict=True):
            polynomial = normal_form(element)
            if polynomial.degree <= self.max_degree:
                row[:] = self._coordinates(polynomial)
        return out

    def scores(self, elements: Elements, residual: Vector, basis: Matrix | None = None) -> Scores:
        vectors = self.coordinates(elements)
        projected = vectors @ (np.empty((len(residual), 0)) if basis is None else basis)
        norms, projected_norms = (np.einsum("ij,ij->i", matrix, matrix) for matrix in (vectors, projected))
        return Scores(norms, vectors @ residual, projected_norms)

    def _coordinates(self, polynomial: Polynomial) -> Vector:
        """Coefficients of the orthonormal Legendre polynomials of (a, b)."""
        half, middle = (self.b - self.a) / 2, (self.a + self.b) / 2
        series = legendre_coefficients(compose_affine(polynomial, half, middle).coefficients)
        out = np.zeros(self.max_degree + 1)
        for k, c in enumerate(series):
            # ‖P_k‖² = 2/(2k+1) on (−1, 1), and `half` times that on (a, b).
            out[k] = float(c) * sqrt(2 * half / (2 * k + 1))
        return out


def compose_affine(p: Polynomial, slope: Fraction, offset: Fraction) -> Polynomial:
    """p(slope·x + offset)."""
    if slope == 1 and offset == 0:
        return p
    affine, total = Polynomial.of([offset, slope]), Polynomial(())
    for c in reversed(p.coefficients):
        total = total * affine + Polynomial.of([c])
    return total


def legendre_coefficients(coefficients: Sequence[Fraction]) -> list[Fraction]:
    """Legendre coefficients of Σ coefficients[i]·x**i, by Horner's rule in the Legendre basis, exactly."""
    series = np.array([Fraction(0)])
    for c in reversed(coefficients):
        series = legmulx(series)
        series[0] += c
    return list(series)
