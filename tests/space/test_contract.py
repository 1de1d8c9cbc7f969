"""Every space satisfies the contract suite of the package."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.engine import CompiledEngine, ReferenceEngine
from fouriertree.expr import parse
from fouriertree.space import EmpiricalSpace, PolynomialSpace, QuadratureSpace
from fouriertree.testing.spaces import CHECKS


def empirical(n, columns=1, weights=False, engine=None):
    rng = np.random.default_rng(n)
    w = rng.uniform(0.1, 3.0, n) if weights else None
    return EmpiricalSpace(rng.uniform(-2, 2, (n, columns)), rng.standard_normal(n), w, engine)


SPACES = {
    "polynomial": PolynomialSpace(-1, 1, parse("x0^4"), max_degree=16),
    "polynomial elsewhere": PolynomialSpace(0.5, 3, parse("x0^3 - x0"), max_degree=16),
    "quadrature": QuadratureSpace(-1, 1, 30, "sin(x0)"),
    "quadrature elsewhere": QuadratureSpace(0.5, 3, 12, np.exp),
    "quadrature by NumPy": QuadratureSpace(-2, 1, 9, "x0", ReferenceEngine()),
    "empirical": empirical(25),
    "empirical, four points": empirical(4),
    "empirical, weighted": empirical(600, weights=True),
    "empirical, two columns, two threads": empirical(40, columns=2, engine=CompiledEngine(n_jobs=2)),
    "empirical by NumPy": empirical(17, weights=True, engine=ReferenceEngine()),
}


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_space_satisfies(check, space, seed):
    check(space, np.random.default_rng(seed))


def test_the_suite_collects_every_check():
    assert len(CHECKS) >= 10
    assert len({check.__name__ for check in CHECKS}) == len(CHECKS)
