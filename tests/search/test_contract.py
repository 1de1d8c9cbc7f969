"""Fourier Tree Growing, with every projector, and the hybrid search satisfy the contract on every space."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.engine import ReferenceEngine
from fouriertree.expr import PrimitiveSet
from fouriertree.expr.generate import GenerateComposition, Grammar, RampedHalfAndHalf
from fouriertree.problems import CONVENTIONAL, LargeScalePolynomial, Problem
from fouriertree.projection import GramSVD, IncrementalQR
from fouriertree.search import FTG, Hybrid
from fouriertree.space import EmpiricalSpace, PolynomialSpace, QuadratureSpace
from fouriertree.testing.searches import BUDGET, CHECKS, accepted, recorded


def weighted_problem():
    rng = np.random.default_rng(5)
    X = rng.uniform(-2, 2, (40, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(40)
    return Problem(EmpiricalSpace(X, y, rng.uniform(0.2, 2.0, 40)), Grammar(n_columns=2))


lsp = LargeScalePolynomial(6)
PROBLEMS = {
    "empirical": CONVENTIONAL["koza1"].problem(3),
    "empirical by NumPy": CONVENTIONAL["nguyen7"].problem(1, ReferenceEngine()),
    "weighted": weighted_problem(),
    "quadrature": Problem(QuadratureSpace(-1, 1, 24, "exp(x0)"), Grammar()),
    "polynomials by quadrature": Problem(QuadratureSpace(-1, 1, 40, lsp.target), lsp.grammar),
    "polynomials": Problem(
        PolynomialSpace(-1, 1, lsp.target, max_degree=16),
        Grammar(PrimitiveSet.polynomial(), constants=(-1.0, 1.0)),
    ),
}
SEARCHES = {
    "QR": FTG(generator=RampedHalfAndHalf(1, 5)),
    "Gram": FTG(projector=GramSVD(), generator=RampedHalfAndHalf(1, 5)),
    "QR, breadth first": FTG(generator=GenerateComposition(u=4)),
    "QR, best of 20": FTG(IncrementalQR(), RampedHalfAndHalf(1, 4), best_of=20),
    "Gram, best of 5": FTG(GramSVD(), RampedHalfAndHalf(1, 4), best_of=5),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_search_satisfies(check, search, problem, seed):
    check(search, problem, np.random.default_rng(seed))


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_hybrid_search_satisfies(check, problem, seed):
    check(Hybrid(), problem, np.random.default_rng(seed))


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_every_event_adds_one_element_and_holds_the_best_coefficients(search, problem, seed):
    events = accepted(recorded(search, problem, BUDGET, seed)[1])
    target = problem.space.target
    for k, event in enumerate(events, start=1):
        assert event.progress.terms == k
        assert event.expressions == tuple(e.expression for e in events[:k])
        vectors = problem.space.coordinates(event.expressions)
        best, *_ = np.linalg.lstsq(vectors.T, target, rcond=None)
        # No other combination is closer, which is what an orthogonal residual says.
        least = np.linalg.norm(target - best @ vectors)
        assert np.sqrt(event.progress.loss) <= least + 1e-6 * np.linalg.norm(target)


def test_the_suite_collects_every_check():
    assert len(CHECKS) >= 7
    assert len({check.__name__ for check in CHECKS}) == len(CHECKS)
