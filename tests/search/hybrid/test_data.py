"""The data of a search: the features that it uses, and terms in the units of the problem."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import parse
from fouriertree.search.hybrid.data import rescaled_term

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
