"""Compile the kernels into Numba's cache; otherwise every worker of the first `make test` compiles all of them."""

from fouriertree import SymbolicRegressor
from fouriertree.experiments.paper.workers import warm

if __name__ == "__main__":
    warm()
    SymbolicRegressor(max_evaluations=1, random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])
