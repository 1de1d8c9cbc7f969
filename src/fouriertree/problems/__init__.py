"""Problems: the paper's benchmarks, and what a search is given."""

from fouriertree.problems.base import Problem
from fouriertree.problems.conventional import CONVENTIONAL, Benchmark
from fouriertree.problems.large_scale_polynomial import LargeScalePolynomial

__all__ = ["CONVENTIONAL", "Benchmark", "LargeScalePolynomial", "Problem"]
