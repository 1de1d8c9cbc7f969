"""The orthonormal projector on ill-conditioned bases, where the Gram matrix fails."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.projection import GramSVD, IncrementalQR
from fouriertree.testing.projectors import independent_rows

seeds = st.integers(0, 2**32 - 1)


def hilbert(k, n):
    """Rows 1, x, x², … on (0, 1]: their Gram matrix is Hilbert's, up to quadrature."""
    x = (np.arange(n) + 0.5) / n
    return np.array([x**i for i in range(k)])


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_both_projectors_agree_on_well_conditioned_bases(seed):
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(1, 20)), int(rng.integers(20, 60))
    target = rng.standard_normal(n)
    gram, qr = GramSVD().start(target), IncrementalQR().start(target)
    for v in independent_rows(rng, k, n):
        np.testing.assert_allclose(gram.gain(v), qr.gain(v), rtol=1e-8, atol=1e-11)
        assert gram.add(v)
        assert qr.add(v)
        np.testing.assert_allclose(gram.coefficients, qr.coefficients, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(gram.residual, qr.residual, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(gram.condition, qr.condition, rtol=1e-8)


def test_qr_accepts_a_hilbert_basis_that_the_gram_matrix_rejects():
    basis = hilbert(12, 60)
    target = np.sin(3 * basis[1]) + np.sqrt(basis[1])
    gram, qr = GramSVD().start(target), IncrementalQR().start(target)
    assert not all(gram.add(v) for v in basis)
    assert all(qr.add(v) for v in basis)
    expected = target - basis.T @ np.linalg.lstsq(basis.T, target, rcond=1e-15)[0]
    assert qr.loss == pytest.approx(expected @ expected, rel=1e-6)
    assert qr.condition > 1e16


def test_qr_keeps_its_columns_orthonormal_on_a_hilbert_basis():
    projection = IncrementalQR(rank_tolerance=1e-14).start(np.ones(60))
    for v in hilbert(14, 60):
        projection.add(v)
    Q = projection.state()["Q"]
    np.testing.assert_allclose(Q.T @ Q, np.eye(projection.size), atol=1e-14)


def test_gains_of_many_equal_the_gain_of_each_on_a_hilbert_basis():
    basis = hilbert(11, 60)
    projection = IncrementalQR().start(np.sqrt(basis[1]))
    for v in basis[:9]:
        assert projection.add(v)
    single = [projection.gain(v) for v in basis]
    assert min(single[9:]) > 0.0
    np.testing.assert_allclose(projection.gains(basis), single, rtol=1e-6, atol=0)


@pytest.mark.parametrize("scale", [1e-250, 1e-150, 1e150, 1e250])
def test_scale_of_an_element_does_not_matter(scale):
    rng = np.random.default_rng(0)
    target, elements = rng.standard_normal(30), independent_rows(rng, 5, 30)
    plain, scaled = IncrementalQR().start(target), IncrementalQR().start(target)
    for i, v in enumerate(elements):
        factor = scale if i % 2 else 1.0
        assert scaled.gain(factor * v) == pytest.approx(plain.gain(v), rel=1e-12)
        assert scaled.gains(factor * v[None])[0] == pytest.approx(plain.gain(v), rel=1e-12)
        assert plain.add(v)
        assert scaled.add(factor * v)
    np.testing.assert_allclose(scaled.residual, plain.residual, rtol=1e-12, atol=1e-13)
    expected = plain.coefficients / np.where(np.arange(5) % 2, scale, 1.0)
    np.testing.assert_allclose(scaled.coefficients, expected, rtol=1e-10)
    assert scaled.condition >= 1.0  # perhaps infinite, but without a warning


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_scale_of_the_target_does_not_matter(scale):
    rng = np.random.default_rng(1)
    target, elements = rng.standard_normal(30), independent_rows(rng, 5, 30)
    plain, scaled = IncrementalQR().start(target), IncrementalQR().start(scale * target)
    for v in elements:
        assert plain.add(v)
        assert scaled.add(v)
    np.testing.assert_allclose(scaled.coefficients, scale * plain.coefficients, rtol=1e-12)
    assert scaled.loss == pytest.approx(scale * scale * plain.loss)


def test_rank_tolerance_is_relative_to_the_candidate():
    e = np.eye(4)
    for scale in (1e-9, 1.0, 1e9):
        projection = IncrementalQR(rank_tolerance=1e-6).start(np.ones(4))
        assert projection.add(e[0])
        assert not projection.add(scale * (e[0] + 0.9e-6 * e[1]))
        assert projection.add(scale * (e[0] + 1.1e-6 * e[1]))


def test_more_elements_than_points_are_rejected():
    rng = np.random.default_rng(2)
    projection = IncrementalQR().start(rng.standard_normal(6))
    assert [projection.add(v) for v in rng.standard_normal((9, 6))] == [True] * 6 + [False] * 3
    assert projection.loss < 1e-28


@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_additions_and_drops_that_cancel_leave_the_projection_unchanged(seed):
    rng = np.random.default_rng(seed)
    target = rng.standard_normal(30)
    projection, kept = IncrementalQR().start(target), []
    for _ in range(120):
        if (kept and rng.random() < 0.45) or len(kept) == 25:
            i = int(rng.integers(len(kept)))
            kept.pop(i)
            projection.drop(i)
        else:
            kept.append(rng.standard_normal(30))
            assert projection.add(kept[-1])
    afresh = IncrementalQR().start(target)
    for v in kept:
        assert afresh.add(v)
    np.testing.assert_allclose(projection.residual, afresh.residual, atol=1e-10)
    np.testing.assert_allclose(projection.coefficients, afresh.coefficients, rtol=1e-6, atol=1e-9)
    R = projection.state()["R"]
    np.testing.assert_array_equal(R, np.triu(R))


def test_an_attempt_costs_two_passes_and_a_norm():
    projector = IncrementalQR()
    assert [projector.attempt_traverses(k) for k in (1, 2, 5)] == [1, 3, 9]
    assert [projector.acceptance_traverses(k) for k in (1, 2, 5)] == [2, 2, 2]
