"""Linear algebra on padded rows: what NumPy says of the same matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.engine.padded import (
    LANES,
    aligned_rows,
    damped_step,
    dots,
    inner,
    orthogonalise,
    orthonormalise,
    project,
    subtract,
)

seeds = st.integers(0, 2**32 - 1)
vectors = st.integers(1, 45)


def rows(seed, k, n_vectors):
    found = aligned_rows(k, LANES * n_vectors)
    found[:] = np.random.default_rng(seed).standard_normal(found.shape)
    return found


@given(st.integers(0, 9), st.integers(1, 9))
def test_rows_begin_with_a_whole_vector(k, n_vectors):
    found = aligned_rows(k, LANES * n_vectors)
    assert found.shape == (k, LANES * n_vectors)
    assert found.flags.c_contiguous
    assert k == 0 or found.ctypes.data % 64 == 0


@settings(max_examples=60, deadline=None)
@given(seed=seeds, k=st.integers(0, 27), n_vectors=vectors)
def test_sums_of_products_and_differences_are_those_of_numpy(seed, k, n_vectors):
    A, v = rows(seed, k, n_vectors), rows(seed + 1, 1, n_vectors)[0]
    products, factors = np.zeros(k), np.random.default_rng(seed).standard_normal(k)
    dots(A, k, v, products)
    np.testing.assert_allclose(products, A @ v, rtol=1e-12, atol=1e-12 * len(v))
    assert inner(v, v) == pytest.approx(v @ v, rel=1e-13)
    expected = v - factors @ A
    square = subtract(A, k, factors, v)
    np.testing.assert_allclose(v, expected, rtol=1e-12, atol=1e-12 * (k + 1))
    assert square == pytest.approx(v @ v if k else 0.0, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, k=st.integers(1, 12), size=st.floats(-14.0, 0.0))
def test_what_is_left_of_a_vector_is_orthogonal_however_little_it_is(seed, k, size):
    A = rows(seed, k + 1, 5)
    A[:k] = np.linalg.qr(A[:k].T)[0].T
    inside = np.random.default_rng(seed).standard_normal(k)
    A[k] = inside @ A[:k] + 10.0**size * (A[k] - (A[:k] @ A[k]) @ A[:k])
    length, before = np.linalg.norm(A[k]), A[k].copy()
    along, part = np.empty(k), np.empty(k)
    left = orthogonalise(A, k, length, along, part)
    assert left == pytest.approx(np.linalg.norm(A[k]), rel=1e-12)
    assert np.abs(A[:k] @ A[k]).max() <= 1e-14 * left + 1e-30
    np.testing.assert_allclose(along @ A[:k] + A[k], before, atol=1e-14 * length)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, k=st.integers(1, 12), done=st.integers(0, 12))
def test_rows_that_are_done_already_are_not_needed_again(seed, k, done):
    Phi = rows(seed, k, 6)
    Q, R, norms, part = aligned_rows(k, Phi.shape[1]), np.empty((k, k)), np.empty(k), np.empty(k)
    orthonormalise(Phi, 0, Q, R, norms, part)
    np.testing.assert_allclose(Q @ Q.T, np.eye(k), atol=1e-14)
    np.testing.assert_allclose(norms[:, None] * (R @ Q), Phi, atol=1e-13)
    assert (np.triu(R, 1) == 0.0).all()
    whole = Q.copy(), R.copy(), norms.copy()
    first = min(done, k)
    for changed in (Q, R, norms):
        changed[first:] = np.nan
    orthonormalise(Phi, first, Q, R, norms, part)
    for again, before in zip((Q, R, norms), whole, strict=True):
        np.testing.assert_array_equal(again, before)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, k=st.integers(0, 10))
def test_a_projection_is_that_of_least_squares(seed, k):
    Phi, y = rows(seed, k, 6), rows(seed + 1, 1, 6)[0]
    Phi *= 10.0 ** np.random.default_rng(seed).uniform(-6, 6, (k, 1))
    scratch, c, r = (aligned_rows(k, 48), np.empty((k, k)), np.empty(k)), np.empty(k), np.empty(48)
    loss = project(Phi, 0, y, *scratch, c, r, np.empty(k), np.empty(k))
    sizes = np.linalg.norm(Phi, axis=1)
    expected = np.linalg.lstsq((Phi / sizes[:, None]).T, y)[0]
    np.testing.assert_allclose(c * sizes, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(r, y - c @ Phi, atol=1e-12)
    assert loss == pytest.approx(r @ r, rel=1e-12)


def test_rows_of_zeros_and_copies_of_rows_have_coefficient_zero():
    A = rows(0, 2, 6)
    Phi, y = np.stack([np.zeros(48), A[0], 3 * A[0], A[1], np.zeros(48)]), A[0] + 2 * A[1]
    scratch, c, r = (aligned_rows(5, 48), np.full((5, 5), np.nan), np.empty(5)), np.empty(5), np.empty(48)
    project(Phi, 0, y, *scratch, c, r, np.empty(5), np.empty(5))
    np.testing.assert_allclose(c, [0.0, 1.0, 0.0, 2.0, 0.0], atol=1e-14)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, p=st.integers(1, 15), exponent=st.floats(-12.0, 6.0))
def test_a_damped_step_is_that_of_least_squares(seed, p, exponent):
    rng = np.random.default_rng(seed)
    T, z, damping = np.triu(rng.standard_normal((p, p))), rng.standard_normal(p), 10.0**exponent
    T /= np.linalg.norm(T, axis=0)
    step = np.empty(p)
    damped_step(T, z, damping, np.empty((p, p)), np.empty(p), np.empty(p), step)
    stacked = np.vstack([T, np.sqrt(damping) * np.eye(p)])
    target = np.concatenate([z, np.zeros(p)])
    error = np.linalg.norm(stacked @ step - target)
    best = np.linalg.norm(stacked @ np.linalg.lstsq(stacked, target, rcond=1e-15)[0] - target)
    assert error <= best * (1.0 + 1e-9) + 1e-9
