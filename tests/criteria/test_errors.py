"""Measures of errors: differences, relative errors and logarithms of ratios."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fouriertree.criteria.errors import Measure, bounds_of_errors, errors_of, unit_of_errors

MEASURES = get_args(Measure)
positive = st.floats(1e-6, 1e6)


@pytest.mark.parametrize("measure", MEASURES)
@given(p=positive, h=st.floats(1e-3, 5.0))
def test_the_bounds_have_errors_of_the_half_width(measure, p, h):
    predicted = np.array([p])
    if measure == "relative":
        h = h / 5.1  # a lower bound of at most zero has the same error, too, but its unit is checked below
    lower, upper = bounds_of_errors(predicted, h, measure)
    np.testing.assert_allclose(errors_of(upper, predicted, measure), h, rtol=1e-6)
    np.testing.assert_allclose(errors_of(lower, predicted, measure), -h, rtol=1e-6)


@pytest.mark.parametrize("measure", ["relative", "log"])
@given(y=positive, p=positive, unit=st.sampled_from([0.0042, 3.0, 1e6]))
def test_relative_errors_and_logarithms_do_not_depend_on_the_unit(measure, y, p, unit):
    before = errors_of(np.array([y]), np.array([p]), measure)
    after = errors_of(np.array([unit * y]), np.array([unit * p]), measure)
    np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
@given(p=positive)
def test_the_unit_is_the_slope_of_y_by_its_error(measure, p):
    predicted, h = np.array([p]), 1e-6
    lower, upper = bounds_of_errors(predicted, h, measure)
    np.testing.assert_allclose((upper - lower) / (2.0 * h), unit_of_errors(predicted, measure), rtol=1e-4)


@pytest.mark.parametrize("measure", MEASURES)
def test_an_infinite_half_width_bounds_nothing(measure):
    lower, upper = bounds_of_errors(np.array([0.0, 2.0]), np.inf, measure)
    assert np.isinf(upper[1])
    assert lower[1] == (0.0 if measure == "log" else -np.inf)
    if measure != "log":
        assert np.isinf([lower[0], upper[0]]).all()


def test_relative_errors_are_those_of_negative_predictions_too():
    y, p = np.array([-3.0, -1.0]), np.array([-2.0, -2.0])
    np.testing.assert_array_equal(errors_of(y, p, "relative"), [-0.5, 0.5])
