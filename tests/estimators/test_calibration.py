"""Labels, log-odds and probabilities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from scipy.special import logit, softmax

from fouriertree.estimators.calibration import (
    UNCALIBRATED,
    as_counts,
    binary_probabilities,
    calibration_exponents,
    class_probabilities,
    platt_targets,
)

log_odds = arrays(float, (4, 3), elements=st.floats(-40.0, 40.0))


@given(log_odds, st.tuples(st.floats(0.0, 3.0), st.floats(0.0, 3.0)))
def test_class_probabilities_sum_to_one_and_keep_the_order_of_the_log_odds(odds, exponents):
    found = class_probabilities(odds, exponents)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    for p, f in zip(found, odds, strict=True):
        assert (np.diff(p[np.argsort(f)]) >= -1e-12).all()


@given(log_odds)
def test_equal_exponents_are_the_softmax(odds):
    np.testing.assert_allclose(class_probabilities(odds, (1.0, 1.0)), softmax(odds, axis=1), atol=1e-12)


@given(arrays(float, (4, 3), elements=st.floats(0.01, 1.0)))
def test_correct_log_odds_give_the_correct_probabilities(parts):
    p = parts / parts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(class_probabilities(logit(p)), p, rtol=1e-9)


def test_infinite_log_odds_are_probabilities_zero_and_one():
    np.testing.assert_allclose(
        class_probabilities(np.array([[np.inf, -np.inf, 0.0]])), [[2 / 3, 0.0, 1 / 3]], atol=1e-15
    )
    np.testing.assert_array_equal(
        binary_probabilities(np.array([np.inf, -np.inf, 0.0])), [[0, 1], [1, 0], [0.5, 0.5]]
    )


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.tuples(st.floats(0.3, 2.0), st.floats(0.0, 1.5)))
def test_exponents_are_recovered_from_classes_drawn_with_them(seed, exponents):
    rng = np.random.default_rng(seed)
    odds = rng.normal(0.0, 1.5, (1000, 3))
    p = class_probabilities(odds, exponents)
    codes = (p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1).clip(max=2)
    found = calibration_exponents(odds, codes, np.ones(len(odds)))

    def cost(e):
        logs = np.log(class_probabilities(odds, tuple(np.abs(e)))[np.arange(len(odds)), codes])
        return -logs.sum() + 0.5 * np.sum((np.abs(e) - UNCALIBRATED) ** 2)

    slow = minimize(cost, exponents, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-8})
    assert cost(np.array(found)) <= slow.fun + 1e-4


def test_exponents_are_finite_for_separable_classes():
    odds = 5.0 * np.eye(3)[np.repeat([0, 1, 2], 20)] - 2.5
    a, b = calibration_exponents(odds, np.repeat([0, 1, 2], 20), np.ones(60))
    assert 0.0 <= a < 10.0
    assert 0.0 <= b < 10.0


def test_a_weight_of_two_is_two_labels():
    labels, weights = np.array([True, False, False]), np.array([2.0, 1.0, 3.0])
    once = platt_targets(labels, weights)
    again = platt_targets(labels.repeat([2, 1, 3]), np.ones(6))
    np.testing.assert_array_equal(once.repeat([2, 1, 3]), again)


@pytest.mark.parametrize("factor", [1e-6, 0.3, 77.7])
def test_weights_that_are_not_counts_are_relative(factor):
    weights = np.array([0.5, 1.25, 2.0])
    np.testing.assert_allclose(as_counts(factor * weights), as_counts(weights))
