"""The data of a search: the features that it uses, and terms in the units of the problem."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import parse
from fouriertree.search.hybrid.data import (
    FOREST_FEATURES,
    MAX_FEATURES,
    most_correlated,
    rescaled_term,
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


# Units ------------------------------------------------------------------------------------------------------
TEXTS = [
    "x0*x1/(x0 + 2) + 1",
    "sqrt(x0/x1)",
    "sin(3*x0) - x1^2",
    "exp(x0*x1)/(1 + x1)",
    "(x0 - x1)^3",
    "x0^1.5",
]


@pytest.mark.parametrize("text", TEXTS)
@settings(max_examples=20, deadline=None)
@given(exponents=st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=2))
def test_a_rescaled_term_is_a_multiple_of_the_term(text, exponents):
    scales, term = 10.0 ** np.array(exponents), parse(text)
    X = np.random.default_rng(0).uniform(0.5, 1.5, (30, 2))
    moved = rescaled_term(term, np.array([2, 0]), scales)
    there = np.zeros((30, 3))
    there[:, [2, 0]] = X / scales
    ratio = moved.evaluate(there) / term.evaluate(X)
    assert ratio[0] > 0.0
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1e308])
def test_units_of_any_size_are_no_error(text, scale):
    with np.errstate(all="ignore"):
        moved = rescaled_term(parse(text), np.arange(2), 1.0 / np.array([scale, 1.0]))
    assert moved.columns == parse(text).columns
