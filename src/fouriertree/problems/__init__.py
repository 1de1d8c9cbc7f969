"""Problems, the input of searches: the benchmarks of the paper, and a registry."""

from .benchmarks import CONVENTIONAL, Benchmark, LargeScalePolynomial
from .problem import Problem
from .registry import get_problem, register_problem, registered_problems, unregister_problem

__all__ = [
    "CONVENTIONAL", "Benchmark", "LargeScalePolynomial", "Problem", "get_problem", "register_problem",
    "registered_problems", "unregister_problem",
]  # fmt: skip
