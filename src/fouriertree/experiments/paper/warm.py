"""A short run of every algorithm, so that compilation is not timed."""

from __future__ import annotations

from functools import cache

from fouriertree import Budget
from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.polynomials import WatchedGP
from fouriertree.experiments.paper.tasks import LSP, TABLE, Task, search_of
from fouriertree.problems import Benchmark, LargeScalePolynomial, get_problem
from fouriertree.search import run

FEW = Budget(1200)


@cache
def warm() -> None:
    """Run every algorithm briefly; a second call does nothing."""
    benchmark, lsp = get_problem("koza1"), get_problem("lsp10")
    assert isinstance(benchmark, Benchmark)
    assert isinstance(lsp, LargeScalePolynomial)
    for algorithm in facts.ALGORITHMS:
        run(search_of(Task(TABLE, algorithm, "koza1", 0)), benchmark.problem(0), FEW)
    for algorithm in (facts.ONE_PLUS_LAMBDA, facts.CANONICAL):
        run(WatchedGP(search_of(Task(LSP, algorithm, "lsp10", 0))), lsp.exact_problem(), FEW)
    for algorithm in (facts.PUBLISHED_FTG, facts.ORTHONORMAL_FTG):
        run(search_of(Task(LSP, algorithm, "lsp10", 0)), lsp.problem(), FEW)
