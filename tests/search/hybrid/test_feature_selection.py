"""Features are selected by a short search for sums of products, and by a forest."""

import numpy as np
import pytest

from fouriertree.search.hybrid.feature_selection import (
    FOREST_FEATURES,
    MAX_FEATURES,
    most_correlated,
    pursued,
    useful_features,
)

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


@pytest.mark.parametrize("n", [50, 1000])
def test_features_that_matter_only_in_products_are_used(n):
    rng = np.random.default_rng(3)
    X = rng.uniform(0.5, 4.0, (400, n))
    a, b, c = X[:, 5], X[:, 20], X[:, 40]
    y = 2.0 * np.sin(2.0 * a) * np.exp(-0.4 * b) + 0.1 * c * b
    y += 0.01 * y.std() * rng.normal(size=len(y))
    assert set(pursued(X.T, y, np.ones(len(y)))[:4].tolist()) >= {5, 20, 40}
    assert {5, 20, 40} <= set(useful_features(X, y, np.ones(len(y)), np.random.default_rng(0)).tolist())


def test_rows_of_weight_zero_do_not_matter():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 30))
    y, weights = X[:, 7] * X[:, 8] + X[:, 8], np.ones(300)
    wrong = np.where(np.arange(300) % 3 == 0, 100.0 * rng.normal(size=300), y)
    weights[::3] = 0.0
    assert set(pursued(X.T, wrong, weights)[:2].tolist()) == {7, 8}


def test_constant_features_are_no_functions():
    assert pursued(np.zeros((3, 20)), np.arange(20.0), np.ones(20)).size == 0
