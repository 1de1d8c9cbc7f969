"""The nine one-dimensional benchmarks of the paper: 20 points, drawn for every run."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine import Engine
from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.generate import Grammar
from fouriertree.problems.base import Problem
from fouriertree.space import EmpiricalSpace


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
