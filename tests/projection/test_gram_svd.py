"""The published projector, compared with NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.projection import GramSVD
from fouriertree.projection.gram_svd import _is_identity

seeds = st.integers(0, 2**32 - 1)


def published(target, basis, v, eps1):
    """Coefficients after accepting v as the paper describes it, or None; written out with no shortcuts."""
    elements = [*basis, v]
    G = np.array([[np.dot(a, b) for b in elements] for a in elements])
    U, s, Vt = np.linalg.svd(G)
    with np.errstate(all="ignore"):  # a singular value may be zero, and then nothing is close to the identity
        inverse = Vt.T @ np.diag(1 / s) @ U.T
        if not np.allclose(G @ inverse, np.eye(len(G)), atol=eps1):
            return None
    return inverse @ np.array([np.dot(target, a) for a in elements])


@settings(max_examples=50, deadline=None)
@given(seed=seeds, noise=st.sampled_from([1.0, 1e-2, 1e-3, 1e-5, 1e-8]))
def test_accepts_and_solves_as_the_paper_describes(seed, noise):
    rng = np.random.default_rng(seed)
    target, common = rng.standard_normal((2, 20))
    projection, basis = GramSVD().start(target), []
    for _ in range(8):
        v = common + noise * rng.standard_normal(20)
        expected = published(target, basis, v, 1e-4)
        accepted = projection.add(v)
        if noise >= 1e-2:  # far from the edge of the check, where rounding decides
            assert accepted
        if noise <= 1e-8:
            assert accepted == (not basis)
        if accepted:
            basis.append(v)
        if accepted and expected is not None:
            tolerance = 1e-12 * projection.condition * np.abs(expected).max()
            np.testing.assert_allclose(projection.coefficients, expected, rtol=0, atol=tolerance)


@settings(max_examples=200, deadline=None)
@given(seed=seeds, size=st.integers(1, 6), scale=st.sampled_from([1e-6, 5e-5, 1e-4, 1.1e-4, 1e-3]))
def test_closeness_check_is_numpys_allclose(seed, size, scale):
    rng = np.random.default_rng(seed)
    product = np.eye(size) + scale * rng.uniform(-1, 1, (size, size))
    assert _is_identity(product, 1e-4) == np.allclose(product, np.eye(size), atol=1e-4)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1 + 1.1e-4 + 1e-9, 1 - 1.1e-4 - 1e-9])
def test_closeness_check_rejects_what_numpy_rejects(value):
    product = np.eye(3)
    product[1, 1] = value
    assert not _is_identity(product, 1e-4)
    assert not np.allclose(product, np.eye(3), atol=1e-4)


def test_eps1_is_the_tolerance_of_linear_independence():
    x = np.linspace(-1, 1, 20)
    powers = [x**i for i in range(15)]

    def accepted(eps1):
        projection = GramSVD(eps1).start(np.exp(x))
        return sum(projection.add(v) for v in powers)

    assert accepted(1e-12) < accepted(1e-4) <= accepted(1e-1)


def test_a_clean_step_costs_2k_plus_3_and_twenty_cost_478():
    projector = GramSVD()
    first = projector.attempt_traverses(1) + projector.acceptance_traverses(1)
    later = [1 + projector.attempt_traverses(k) + projector.acceptance_traverses(k) for k in range(2, 21)]
    assert first == 3
    assert later == [2 * k + 3 for k in range(2, 21)]
    assert first + sum(later) == 478


def test_values_whose_squares_overflow_are_rejected_without_a_warning():
    projection = GramSVD().start(np.ones(4))
    assert not projection.add(np.array([1e200, 0, 0, 0]))
    assert not projection.add(np.array([1e-200, 0, 0, 0]))


def test_basis_grows_beyond_its_initial_capacity():
    projection = GramSVD().start(np.arange(40.0))
    for v in np.eye(40)[:35]:
        assert projection.add(v)
    np.testing.assert_allclose(projection.residual, [0.0] * 35 + [35, 36, 37, 38, 39], atol=1e-12)
