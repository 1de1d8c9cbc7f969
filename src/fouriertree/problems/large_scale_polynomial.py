"""The large-scale polynomial benchmark (LSP) of the paper: a polynomial of high degree on a whole interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fouriertree.engine import Engine
from fouriertree.expr import PrimitiveSet
from fouriertree.expr.generate import Grammar
from fouriertree.expr.polynomial import Polynomial
from fouriertree.problems.base import Problem
from fouriertree.space import PolynomialSpace, QuadratureSpace

#: maximum degree of a tree of ten levels: a product of 2**9 variables
MAX_TREE_DEGREE = 512


@dataclass(frozen=True)
class LargeScalePolynomial:
    """Σ c_i·x**i on (a, b) in L2, with trees of +, * and − over x and 1; all `coefficients` c_i are 1 by default.

    Examples
    --------
    >>> LargeScalePolynomial(3).target.coefficients
    (Fraction(1, 1), Fraction(1, 1), Fraction(1, 1), Fraction(1, 1))
    """

    degree: int
    a: float = -1.0
    b: float = 1.0
    coefficients: Sequence[float | Fraction] | None = None

    @property
    def target(self) -> Polynomial:
        return Polynomial.of([1] * (self.degree + 1) if self.coefficients is None else self.coefficients)

    @property
    def grammar(self) -> Grammar:
        return Grammar(PrimitiveSet.polynomial(), constants=(1.0, 1.0))

    def problem(self, engine: Engine | None = None) -> Problem:
        """In a `QuadratureSpace` with enough nodes for every product of two trees to be exact."""
        n = max(MAX_TREE_DEGREE, self.target.degree) + 1
        space = QuadratureSpace(self.a, self.b, n, target=self.target, engine=engine)
        return Problem(space, self.grammar, f"lsp{self.degree}")

    def exact_problem(self) -> Problem:
        """In a `PolynomialSpace`, in exact rational arithmetic: slow."""
        return Problem(PolynomialSpace(self.a, self.b, self.target), self.grammar, f"lsp{self.degree}-exact")
