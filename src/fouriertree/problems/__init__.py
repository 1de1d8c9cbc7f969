"""Problems, the input of searches: the benchmarks of the paper, and a registry."""

from fouriertree.problems.base import Problem
from fouriertree.problems.conventional import CONVENTIONAL, Benchmark
from fouriertree.problems.large_scale_polynomial import LargeScalePolynomial
from fouriertree.problems.registry import (
    get_problem,
    register_problem,
    registered_problems,
    unregister_problem,
)

__all__ = [
    "CONVENTIONAL", "Benchmark", "LargeScalePolynomial", "Problem", "get_problem", "register_problem",
    "registered_problems", "unregister_problem",
]  # fmt: skip
