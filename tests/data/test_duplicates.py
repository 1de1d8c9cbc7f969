"""Weights as multiplicities: a row of weight k equals that row k times."""

import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fouriertree.data import training
from fouriertree.data.training import Deduplicated, TrainingData, deduplicated, row_hashes, validation_mask

FEW_VALUES = st.sampled_from([0.0, -0.0, 1.0, 2.0, -1.5, 1e300])


@st.composite
def weighted_tables(draw, least=0):
    n, p = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    X = draw(arrays(float, (n, p), elements=FEW_VALUES))
    y = draw(arrays(float, n, elements=FEW_VALUES))
    weights = draw(arrays(float, n, elements=st.integers(least, 4).map(float)).filter(np.any))
    return X, y, weights


def contents(table):
    """Rows as bytes, in order."""
    return [(x.tobytes(), y.tobytes()) for x, y in zip(table.X, table.y, strict=True)]


def slowly_counted(X, y, weights):
    """The sum of the weights of equal rows, one row after the other."""
    total = Counter()
    for x, value, weight in zip(X, y, weights, strict=True):
        if weight > 0:
            total[x.tobytes(), value.tobytes()] += weight
    return total


@given(weighted_tables(), st.randoms(use_true_random=False))
def test_a_weight_of_k_equals_k_rows_in_any_order(data, random):
    X, y, weights = data
    times = weights.astype(int)
    order = list(range(len(y)))
    random.shuffle(order)
    weighted = deduplicated(X[order], y[order], weights[order])
    repeated = deduplicated(X.repeat(times, axis=0), y.repeat(times))
    if len(set(slowly_counted(X, y, weights).values())) > 1:
        assert contents(weighted) == contents(repeated)
    else:  # rows of equal weight keep their order
        assert Counter(contents(weighted)) == Counter(contents(repeated))
    assert weighted.weights is None
    assert repeated.weights is None


@given(weighted_tables())
def test_multiplicities_equal_those_of_a_slow_count(data):
    X, y, weights = data
    expected = slowly_counted(X, y, weights)
    divisor = np.gcd.reduce([int(count) for count in expected.values()])
    assert Counter(contents(deduplicated(X, y, weights))) == {row: c / divisor for row, c in expected.items()}


@given(weighted_tables(), st.sampled_from([2.0, 3.0, 1024.0]))
def test_a_common_factor_of_the_weights_changes_nothing(data, factor):
    X, y, weights = data
    assert contents(deduplicated(X, y, weights)) == contents(deduplicated(X, y, factor * weights))


@given(weighted_tables(least=1))
def test_weights_that_are_not_integers_are_added_up_per_row(data):
    X, y, weights = data
    table = deduplicated(X, y, weights + 0.25)
    expected = slowly_counted(X, y, weights + 0.25)
    found = np.ones(len(table.y)) if table.weights is None else table.weights
    assert set(contents(table)) == set(expected)
    wanted = np.array([expected[row] for row in contents(table)])
    np.testing.assert_allclose(found / found.sum(), wanted / wanted.sum())


@given(weighted_tables())
def test_rows_with_equal_features_are_in_the_same_set_and_the_validation_set_is_not_too_large(data):
    table = deduplicated(*data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "MIN_ROWS_TO_SPLIT", 0)
        for most in range(len(table.y) + 1):
            patch.setattr(training, "VALIDATION_SHARE", most / len(table.y) + 1e-12)
            mask = validation_mask(table, seed=0)
            assert np.count_nonzero(mask) <= most
            if table.group is not None:
                apart = {x.tobytes() for x in table.X[mask]} & {x.tobytes() for x in table.X[~mask]}
                assert not apart


@given(weighted_tables(least=1), st.integers(0, 100))
def test_training_data_are_the_same_rows_with_the_training_set_first(data, seed):
    X, y, weights = data
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "MIN_ROWS_TO_SPLIT", 2)
        rows = TrainingData.from_arrays(X, y, weights, seed)
    table = deduplicated(X, y, weights)
    assert Counter(contents(rows)) == Counter(contents(table))
    assert rows.n_training + rows.n_validation == rows.n_rows
    part = rows.training_only()
    assert part.n_rows == rows.n_training
    assert np.shares_memory(part.X, rows.X)


@given(weighted_tables())
def test_different_rows_with_the_same_hash_are_not_merged(data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "row_hashes", lambda X, y=None: np.zeros(len(X), dtype=np.uint64))
        clashing = deduplicated(*data)
    assert Counter(contents(clashing)) == Counter(contents(deduplicated(*data)))


@settings(max_examples=30)
@given(st.integers(2, 60), st.integers(0, 2**32))
def test_distinct_rows_with_equal_weights_are_unchanged(n, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.integers(3, size=n).astype(float)
    for weights in (None, np.full(n, 0.7)):
        table = deduplicated(X, y, weights)
        assert table.X is X
        assert table.y is y
        assert table.weights is None
    mask = validation_mask(table, seed)
    first = np.random.default_rng([seed, 0]).permutation(n)[: n // 5 if n >= 20 else 0]
    assert sorted(first) == np.flatnonzero(mask).tolist()


def test_many_counts_become_weights_and_few_become_rows(monkeypatch):
    X, y, weights = np.arange(3.0)[:, None], np.arange(3.0), np.array([1.0, 2.0, 7.0])
    assert len(deduplicated(X, y, weights).y) == 10
    monkeypatch.setattr(training, "MAX_ROWS", 9)
    table = deduplicated(X, y, weights)
    assert sorted(table.weights) == [1.0, 2.0, 7.0]
    assert contents(deduplicated(X.repeat([1, 2, 7], axis=0), y.repeat([1, 2, 7]))) == contents(table)


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0, -1.0], [1.0, np.inf]])
def test_bad_weights_are_refused(weights):
    with pytest.raises(ValueError, match="weight"):
        deduplicated(np.zeros((2, 1)), np.zeros(2), np.array(weights))


def test_small_integers_rarely_collide():
    X = np.stack(np.meshgrid(*[np.arange(30.0)] * 3), axis=-1).reshape(-1, 3)
    assert len(np.unique(row_hashes(X))) == len(X)


@pytest.mark.parametrize("kind", ["different", "discrete"])
def test_a_million_rows_take_no_noticeable_time(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 20))
    y = rng.normal(size=len(X)) if kind == "different" else rng.integers(5, size=len(X)).astype(float)
    started = time.process_time()
    table = deduplicated(X, y)
    assert isinstance(table, Deduplicated)
    assert time.process_time() - started < 2.0
