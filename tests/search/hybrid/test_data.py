"""The features that a search uses."""

import numpy as np
import pytest

from fouriertree.search.hybrid.data import FOREST_FEATURES, MAX_FEATURES, most_correlated, useful_features

LAW = (3, 7, 11, 19)


def table(n, rows=400):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, n))
    a, b, c, d = (X[:, i] for i in LAW)
    return X, a + 2.0 * b + np.sin(c) + d**2


@pytest.mark.parametrize("n", [100, 400, 3000])
def test_of_many_features_those_that_matter_are_used(n):
    X, y = table(n)
    found = useful_features(X, y, np.ones(len(y)), np.random.default_rng(0))
    assert set(LAW) <= set(found.tolist())
    assert len(found) == MAX_FEATURES


def test_the_choice_among_thousands_does_not_depend_on_the_order_of_the_features():
    X, y = table(FOREST_FEATURES + 50)
    order = np.random.default_rng(2).permutation(X.shape[1])
    found, moved = (
        useful_features(A, y, np.ones(len(y)), np.random.default_rng(0)) for A in (X, X[:, order])
    )
    assert set(order[moved].tolist()) == set(found.tolist())


def test_correlations_are_those_of_numpy():
    X, y = table(20, 50)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    slow = [max(abs(np.corrcoef(x, y)[0, 1]), abs(np.corrcoef(x**2, y)[0, 1])) for x in standard.T]
    assert set(most_correlated(standard, (y,), 5).tolist()) == set(np.argsort(slow)[-5:].tolist())
