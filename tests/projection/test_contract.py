"""Both projectors satisfy the contract suite of the package."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.projection import GramSVD, IncrementalQR
from fouriertree.testing.projectors import CHECKS


@pytest.mark.parametrize("projector", [GramSVD(), IncrementalQR()], ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_projector_satisfies(check, projector, seed):
    check(projector, np.random.default_rng(seed))


def test_the_suite_collects_every_check():
    assert len(CHECKS) >= 20
    assert len({check.__name__ for check in CHECKS}) == len(CHECKS)
