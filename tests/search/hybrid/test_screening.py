"""All pairs at once: the gains that matrix products give are those of projecting one pair after the other."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.engine.screen import DEPTH, TILE_COLUMNS, TILE_ROWS, first_of_each
from fouriertree.search.hybrid import screening
from fouriertree.search.hybrid.screening import BLOCK, best_products, best_sums

seeds = st.integers(0, 2**32 - 1)
#: sizes of a block
blocks = st.integers(1, 7).map(lambda n: TILE_ROWS * n)
#: what float32 may lose of a gain
LOST = 2e-3


def orthonormal(vectors):
    """Rows that span what the rows of `vectors` (k, n) span: (k, n)."""
    return np.linalg.qr(vectors.T)[0].T


def without_span(vector, basis):
    return vector - basis.T @ (basis @ vector)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def slow_gain(vector, residual, basis):
    """Share of ‖residual‖² = 1 that the part of `vector` outside the span takes away, in float64."""
    outside = without_span(vector, basis)
    length2 = outside @ outside
    return (residual @ outside) ** 2 / length2 if length2 > screening.NOVELTY * (vector @ vector) else 0.0


def slow_products(A, roots, residual, basis):
    """{(i, j): gain of a_i·a_j} for i ≤ j."""
    m = len(A)
    return {(i, j): slow_gain(roots * A[i] * A[j], residual, basis) for i in range(m) for j in range(i, m)}


def slow_sums(directions, residual):
    """{(i, j): gain of d_i and d_j together} for i < j, by least squares on every pair."""
    found = {}
    for i in range(len(directions)):
        for j in range(i + 1, len(directions)):
            pair = directions[[i, j]]
            if 1.0 - (pair[0] @ pair[1]) ** 2 > screening.NOVELTY:
                fitted = np.linalg.lstsq(pair.T, residual, rcond=None)[0] @ pair
                found[i, j] = fitted @ fitted
            else:
                found[i, j] = 0.0
    return found


def screened_products(A, roots, residual, basis, count, scales=1.0):
    weighted = A * roots * scales
    return best_products(*(np.asarray(a, np.float32) for a in (A, weighted, residual, basis)), count)


def problem(seed, m, n=40, k=0):
    """Atoms (m, n), roots of weights, a unit residual outside of an orthonormal basis (k, n)."""
    rng = np.random.default_rng(seed)
    A, roots = rng.standard_normal((m, n)), np.sqrt(rng.uniform(0.2, 3.0, n))
    basis = orthonormal(rng.standard_normal((k, n))) if k else np.zeros((0, n))
    return A, roots, unit(without_span(rng.standard_normal(n), basis)), basis


def assert_best(pairs, truth, count):
    """The pairs have the gains that they tell, and no better ones were left out."""
    told = list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert len(set(told)) == len(told)
    np.testing.assert_allclose(pairs.gain, [truth[pair] for pair in told], rtol=LOST, atol=1e-6)
    assert (np.diff(pairs.gain) <= 0.0).all()
    best = sorted((gain for gain in truth.values() if gain > 0.0), reverse=True)[:count]
    assert len(pairs.gain) == len(best)
    np.testing.assert_allclose(pairs.gain, best, rtol=LOST, atol=1e-6)


@pytest.mark.parametrize("k", [0, 1, 2, 3])
@pytest.mark.parametrize("m", [1, 7, BLOCK, BLOCK + 1, TILE_COLUMNS - 1, TILE_COLUMNS + 1, 150])
def test_the_best_products_are_those_of_brute_force(m, k):
    A, roots, residual, basis = problem(m + k, m, k=k)
    truth = slow_products(A, roots, residual, basis)
    assert_best(screened_products(A, roots, residual, basis, 25), truth, 25)


@pytest.mark.parametrize("m", [2, 7, BLOCK, BLOCK + 1, TILE_COLUMNS - 1, TILE_COLUMNS + 1, 150])
def test_the_best_sums_are_those_of_brute_force(m):
    A, _, residual, _ = problem(m, m)
    directions = unit(A)
    pairs = best_sums(directions.astype(np.float32), residual.astype(np.float32), 25)
    assert_best(pairs, slow_sums(directions, residual), 25)
    assert (pairs.left < pairs.right).all()


@settings(max_examples=30, deadline=None)
@given(seed=seeds, m=st.integers(1, 12), k=st.integers(0, 3), block=blocks, count=st.integers(1, 90))
def test_neither_the_size_of_a_block_nor_the_count_changes_which_are_best(seed, m, k, block, count):
    A, roots, residual, basis = problem(seed, m, 20, k)
    directions = unit(np.array([without_span(a, basis) for a in A]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screening, "BLOCK", block)
        products = screened_products(A, roots, residual, basis, count)
        sums = best_sums(directions.astype(np.float32), residual.astype(np.float32), count)
    assert_best(products, slow_products(A, roots, residual, basis), count)
    assert_best(sums, slow_sums(directions, residual), count)


@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_the_length_in_which_weighted_atoms_come_does_not_matter(seed):
    A, roots, residual, basis = problem(seed, 10, k=2)
    scales = np.random.default_rng(seed).uniform(0.1, 10.0, (10, 1))
    pairs = screened_products(A, roots, residual, basis, 15, scales)
    assert_best(pairs, slow_products(A, roots, residual, basis), 15)


def test_products_within_the_span_gain_nothing():
    A, roots, _, _ = problem(3, 6)
    basis = orthonormal(np.stack([roots * A[0] * A[1], roots * A[2] * A[2], roots * A[4] * A[5]]))
    residual = unit(without_span(np.random.default_rng(0).standard_normal(40), basis))
    pairs = screened_products(A, roots, residual, basis, 100)
    found = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert found == set(slow_products(A, roots, residual, basis)) - {(0, 1), (2, 2), (4, 5)}


def test_two_atoms_that_are_one_do_not_gain_as_a_sum():
    _, _, residual, _ = problem(4, 1)
    one = unit(residual + 0.1)
    directions = np.stack([one, -one, unit(np.arange(40.0) - 3.0)]).astype(np.float32)
    pairs = best_sums(directions, residual.astype(np.float32), 10)
    assert set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)) == {(0, 2), (1, 2)}


def test_the_product_that_is_the_residual_takes_all_of_it():
    A, roots, _, basis = problem(5, 200)
    residual = unit(roots * A[17] * A[150])
    pairs = screened_products(A, roots, residual, basis, 3)
    assert (pairs.left[0], pairs.right[0]) == (17, 150)
    assert pairs.gain[0] == pytest.approx(1.0, abs=1e-5)


def test_the_two_terms_of_a_sum_take_all_of_it_though_neither_does_alone():
    A, _, _, _ = problem(6, 200)
    directions = unit(A)
    residual = unit(directions[17] - 0.4 * directions[150])
    pairs = best_sums(directions.astype(np.float32), residual.astype(np.float32), 3)
    assert (pairs.left[0], pairs.right[0]) == (17, 150)
    assert pairs.gain[0] == pytest.approx(1.0, abs=1e-5)
    assert max(directions @ residual) ** 2 < 0.9


def test_without_atoms_there_are_no_pairs():
    none, residual = np.zeros((0, 4), np.float32), np.full(4, 0.5, np.float32)
    for pairs in (best_products(none, none, residual, none, 5), best_sums(none, residual, 5)):
        assert len(pairs.left) == len(pairs.right) == len(pairs.gain) == 0


def test_equal_gains_come_in_the_order_of_the_atoms():
    directions = np.eye(6, dtype=np.float32)
    pairs = best_sums(directions, np.full(6, 6**-0.5, np.float32), 15)
    assert list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)) == list(
        combinations(range(6), 2)
    )


def twin(gains, count):
    """The largest positive gains (m, m) on and above the diagonal, of equal ones the first: (left, right, gain)."""
    left, right = np.triu_indices(len(gains))
    flat = gains[left, right]
    order = np.lexsort((right, left, -flat))
    order = order[flat[order] > 0.0][:count]
    return left[order], right[order], flat[order]


def assert_same(pairs, expected):
    for found, wanted in zip((pairs.left, pairs.right, pairs.gain), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def whole_numbers(seed, m, n=8):
    """Small whole numbers (m, n), of which all products of matrices are exact, so that many gains are equal."""
    return np.random.default_rng(seed).integers(-2, 3, (m, n)).astype(np.float32)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, m=st.integers(1, 110), k=st.integers(0, 3), block=blocks, count=st.integers(1, 900))
def test_products_with_equal_gains_are_chosen_as_by_sorting_all_of_them(seed, m, k, block, count):
    A, axes = whole_numbers(seed, m), np.eye(8, dtype=np.float32)
    residual, basis = axes[0], axes[1 : 1 + k]
    v = A[:, None] * A[None]
    norms = np.square(v).sum(axis=-1)
    outside = norms - np.square(v @ basis.T).sum(axis=-1)
    with np.errstate(all="ignore"):
        gains = np.where(
            outside > np.float32(screening.NOVELTY) * norms, np.square(v @ residual) / outside, 0.0
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screening, "BLOCK", block)
        patch.setattr(screening, "PANELS", 1)
        patch.setattr(screening, "CAPACITY", 1)
        assert_same(best_products(A, A, residual, basis, count), twin(gains, count))


@settings(max_examples=40, deadline=None)
@given(seed=seeds, m=st.integers(1, 110), block=blocks, count=st.integers(1, 900))
def test_sums_with_equal_gains_are_chosen_as_by_sorting_all_of_them(seed, m, block, count):
    # Quarters: some of the pairs are within the range of cosines.
    directions, residual = whole_numbers(seed, m, 4) / np.float32(4.0), np.full(4, 0.5, np.float32)
    cosine, gram = directions @ residual, directions @ directions.T
    squares, outside = np.square(cosine), 1.0 - np.square(gram)
    with np.errstate(all="ignore"):
        gains = (squares[:, None] + squares - 2.0 * gram * np.outer(cosine, cosine)) / outside
    gains = np.where(outside > np.float32(screening.NOVELTY), gains, 0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screening, "BLOCK", block)
        patch.setattr(screening, "PANELS", 1)
        patch.setattr(screening, "CAPACITY", 1)
        assert_same(best_sums(directions, residual, count), twin(gains, count))


def test_atoms_that_are_not_finite_gain_nothing():
    A, roots, residual, basis = problem(8, 12, k=1)
    A[3], A[7, 0] = np.nan, np.inf
    pairs = screened_products(A, roots, residual, basis, 100)
    assert np.isfinite(pairs.gain).all()
    assert not {3, 7} & {*pairs.left.tolist(), *pairs.right.tolist()}


def test_too_many_atoms_for_the_numbers_of_pairs_are_an_error():
    many = np.zeros((screening.MOST_ELEMENTS + 1, 1), np.float32)
    with pytest.raises(ValueError, match="at most 65,536 atoms; got 65,537"):
        best_sums(many, np.ones(1, np.float32), 1)


@pytest.mark.parametrize("n", [1, DEPTH - 1, DEPTH + 1, 3 * DEPTH])
def test_any_number_of_rows_is_summed_up(n):
    A, roots, residual, basis = problem(n, 30, n, 1 if n > 1 else 0)
    truth = slow_products(A, roots, residual, basis)
    assert_best(screened_products(A, roots, residual, basis, 40), truth, 40)


def test_pairs_are_the_same_to_the_bit_among_other_atoms():
    A, roots, residual, basis = problem(9, 130, k=2)
    alone = screened_products(A[:37], roots, residual, basis, 10_000)
    among = screened_products(A, roots, residual, basis, 10_000)
    gains = dict(
        zip(zip(among.left.tolist(), among.right.tolist(), strict=True), among.gain.tolist(), strict=True)
    )
    pairs = zip(alone.left.tolist(), alone.right.tolist(), strict=True)
    assert [gains[pair] for pair in pairs] == alone.gain.tolist()


@settings(max_examples=100, deadline=None)
@given(keys=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=60), count=st.integers(0, 70))
def test_first_of_each_keeps_the_first_occurrence_of_every_key(keys, count):
    expected = [i for i, key in enumerate(keys) if key not in keys[:i]][:count]
    assert first_of_each(np.array(keys, np.uint64), count).tolist() == expected
    signed = np.array(keys, np.uint64).view(np.int64)
    assert first_of_each(signed, count).tolist() == expected
