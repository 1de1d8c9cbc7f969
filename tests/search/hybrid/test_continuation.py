"""Which branches are continued, and which sums are starts once more."""

from dataclasses import replace

import numpy as np

from fouriertree import EmpiricalSpace, Grammar, PrimitiveSet, Problem
from fouriertree.criteria.archive import Candidate, CandidateArchive
from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE
from fouriertree.search import Hybrid
from fouriertree.search.hybrid.beam import Beam, Starts
from fouriertree.search.hybrid.continuation import GAP, _next_branch, _parts_of_best
from fouriertree.search.hybrid.reductions import Reduction
from fouriertree.search.hybrid.state import BranchState
from fouriertree.search.hybrid.transformed import Branch, Sum
from fouriertree.search.hybrid.transforms import TRANSFORMS

N_ROWS = 30


def test_a_branch_with_a_description_that_is_longer_by_a_gap_has_half_of_the_tasks():
    x = (Expression.variable(0),)
    beam = Beam(Starts.pack([(0.0, Sum(x))]), *(np.zeros(0, kind) for kind in (np.uint64, float, np.uint64)))
    names = [t.name for t in TRANSFORMS[:3]]
    bests = 0.0, GAP * N_ROWS, 100.0 * GAP * N_ROWS
    branches = [
        BranchState(Branch(Reduction(x), name, "powers"), beam, best)
        for name, best in zip(names, bests, strict=True)
    ]
    for _ in range(130):
        i = _next_branch(branches, N_ROWS)
        branches[i] = replace(branches[i], continued=branches[i].continued + 1)
    assert [branch.continued for branch in branches] == [80, 40, 10]


def test_parts_of_the_best_sums_are_starts_once():
    x, y = Expression.variable(0), Expression.variable(1)
    sums = [{x, y}, {x, y, x * y, ONE}, {x * x, x / y, y / x}]
    archive = CandidateArchive()
    for k, terms in enumerate(sums, 1):
        archive = archive.added(10 * k, 0.1 / k, Candidate((1.0,) * len(terms), tuple(terms)))
    X = np.random.default_rng(0).uniform(1.0, 3.0, (30, 2))
    state, _ = Hybrid().init(Problem(EmpiricalSpace(X, X[:, 0]), Grammar(PrimitiveSet.default(), 2)), 0)
    state = replace(state, training=archive)
    beam = Beam(Starts.pack([]), *(np.zeros(0, kind) for kind in (np.uint64, float, np.uint64)))
    seen = 0
    while (found := _parts_of_best(state, beam))[0]:
        ([part], beam), seen = found, seen + 1
        assert any(set(part) < whole_sum for whole_sum in sums)
        assert len(beam.started) == seen
    # Of two terms: one. Of three: two, and one; x and y are known, and x + y is one of the sums.
    assert seen == 2 + (3 + 1) + (3 + 3)
