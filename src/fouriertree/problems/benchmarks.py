"""The benchmarks of the paper.

Nine one-dimensional formulas on 20 points, drawn for every run, and large-scale polynomials (LSP) on a whole interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine import Engine
from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.generate import Grammar
from fouriertree.expr.polynomial import Polynomial
from fouriertree.problems.problem import Problem
from fouriertree.space import EmpiricalSpace, PolynomialSpace, QuadratureSpace

#: maximum degree of a tree of ten levels: a product of 2**9 variables
MAX_TREE_DEGREE = 512


@dataclass(frozen=True)
class Benchmark:
    """A target formula in x0, with `n_points` training points drawn uniformly from an interval.

    Examples
    --------
    >>> CONVENTIONAL["nguyen8"].formula, CONVENTIONAL["nguyen8"].interval
    ('sqrt(x0)', (0.0, 4.0))
    """

    name: str
    formula: str
    interval: tuple[float, float] = (-1.0, 1.0)
    n_points: int = 20

    @property
    def expression(self) -> Expression:
        return parse(self.formula)

    def sample(self, seed: int, n: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """X (n, 1) and y (n,) of one run."""
        X = np.random.default_rng(seed).uniform(*self.interval, (self.n_points if n is None else n, 1))
        return X, self.expression.evaluate(X)

    def problem(self, seed: int, engine: Engine | None = None) -> Problem:
        """The problem of one run, with the paper's operators."""
        X, y = self.sample(seed)
        return Problem(EmpiricalSpace(X, y, engine=engine), Grammar(PrimitiveSet.paper()), self.name)


CONVENTIONAL = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark("koza1", "x0^4 + x0^3 + x0^2 + x0"),
        Benchmark("koza2", "x0^5 - 2*x0^3 + x0"),
        Benchmark("koza3", "x0^6 - 2*x0^4 + x0^2"),
        Benchmark("nguyen3", "x0^5 + x0^4 + x0^3 + x0^2 + x0"),
        Benchmark("nguyen4", "x0^6 + x0^5 + x0^4 + x0^3 + x0^2 + x0"),
        Benchmark("nguyen5", "sin(x0^2)*cos(x0) - 1"),
        Benchmark("nguyen6", "sin(x0) + sin(x0 + x0^2)"),
        Benchmark("nguyen7", "log(x0 + 1) + log(x0^2 + 1)", (0.0, 2.0)),
        Benchmark("nguyen8", "sqrt(x0)", (0.0, 4.0)),
    )
}


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
