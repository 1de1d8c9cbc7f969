"""Losses, and weights with which iteratively reweighted least squares minimize them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from fouriertree.criteria.losses import (
    HUBER,
    NAMES,
    Objective,
    as_loss,
    check_probabilities,
    probabilities,
    spread,
)
from fouriertree.data.training import TrainingData
from fouriertree.engine import ReferenceEngine

#: losses that are functions of the error
OF_ERRORS = [name for name in NAMES if name not in ("relative", "logistic")]

seeds = st.integers(0, 2**32 - 1)


def power(y, predicted):
    return np.abs(y - predicted) ** 1.5


def expectile(y, predicted):
    return np.where(y > predicted, 1.0, 9.0) * (y - predicted) ** 2


def skewed(seed=0, n=300):
    """A linear law with errors of a skewed distribution."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0, n)
    return np.stack([np.ones(n), x], axis=1), 1.0 + 2.0 * x + rng.exponential(1.0, n)


def reweighted(design, y, loss, rounds=100):
    """The fixed point of least squares with the loss's weights."""
    c = np.linalg.lstsq(design, y, rcond=None)[0]
    for _ in range(rounds):
        roots = np.sqrt(loss.weights(y, design @ c))
        c = np.linalg.lstsq(design * roots[:, None], y * roots, rcond=None)[0]
    return c


def least(objective, start):
    return minimize(
        objective, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000}
    )


# Losses of rows ---------------------------------------------------------------------------------------------
def slow_loss(name, error, quantile, width):
    if name == "squared":
        return error**2
    if name == "absolute":
        return abs(error)
    if name == "quantile":
        return quantile * error if error >= 0 else (1.0 - quantile) * -error
    return error**2 if abs(error) <= width else 2.0 * width * abs(error) - width**2


@pytest.mark.parametrize("name", OF_ERRORS)
@settings(max_examples=20, deadline=None)
@given(seed=seeds, quantile=st.floats(0.01, 0.99))
def test_losses_are_those_of_the_textbook(name, seed, quantile):
    y, predicted = np.random.default_rng(seed).standard_normal((2, 25))
    width = HUBER * spread(y - predicted)
    slow = [slow_loss(name, e, quantile, width) for e in (y - predicted).tolist()]
    np.testing.assert_allclose(as_loss(name, quantile).cost(y, predicted), slow, rtol=1e-12)


@pytest.mark.parametrize("loss", [*OF_ERRORS, power, expectile])
def test_an_error_of_zero_has_zero_loss_and_others_have_positive_loss(loss):
    y, errors = np.arange(9.0), np.array([0.0, 1.0, -2.0, 0.0, 0.5, -0.5, 3.0, -1.0, 2.0])
    losses = as_loss(loss, 0.3).cost(y, y - errors)
    assert ((losses > 0.0) == (errors != 0.0)).all()


def test_a_custom_function_returns_the_loss_of_every_row():
    y, predicted = np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 2.0])
    np.testing.assert_allclose(as_loss(power, 0.5).cost(y, predicted), [0.0, 2.0**1.5, 1.0])
    with pytest.raises(ValueError, match="loss must return the losses of 3 rows"):
        as_loss(lambda y, p: np.mean(np.square(y - p)), 0.5).cost(y, predicted)


# Weights ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("loss", ["squared", "absolute", "quantile", power, expectile])
def test_reweighted_least_squares_converge_to_the_minimum_of_the_loss(loss):
    loss = as_loss(loss, 0.8)
    design, y = skewed()
    found = reweighted(design, y, loss)
    best = least(lambda c: loss.cost(y, design @ c).sum(), found)
    assert loss.cost(y, design @ found).sum() <= (1.0 + 1e-4) * best.fun


def test_reweighted_least_squares_converge_to_hubers_estimate():
    design, y = skewed()
    found = reweighted(design, y, as_loss("huber", 0.5))
    width = HUBER * spread(y - design @ found)
    best = least(lambda c: sum(slow_loss("huber", e, 0.5, width) for e in (y - design @ c).tolist()), found)
    np.testing.assert_allclose(found, best.x, atol=1e-5)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_the_quantile_loss_fits_the_quantile(q):
    design, y = skewed(1, 1000)
    found = reweighted(design, y, as_loss("quantile", q))
    assert np.mean(y <= design @ found) == pytest.approx(q, abs=0.01)
    constant = reweighted(design[:, :1], y, as_loss("quantile", q))
    assert constant[0] == pytest.approx(np.quantile(y, q), abs=0.02)


@pytest.mark.parametrize("loss", ["absolute", "huber"])
def test_a_tenth_of_outliers_does_not_change_a_robust_linear_fit(loss):
    rng = np.random.default_rng(3)
    design, _ = skewed()
    y = design @ [1.0, 2.0] + rng.normal(0.0, 0.1, len(design))
    y[:30] += 100.0
    np.testing.assert_allclose(reweighted(design, y, as_loss(loss, 0.5)), [1.0, 2.0], atol=0.06)
    assert abs(reweighted(design, y, as_loss("squared", 0.5))[0] - 1.0) > 5.0


@pytest.mark.parametrize("loss", [*OF_ERRORS, power])
@settings(max_examples=20, deadline=None)
@given(seed=seeds, unit=st.sampled_from([1e-100, 1e-9, 1.0, 1e9, 1e100]))
def test_weights_are_finite_and_no_unit_changes_their_proportions(loss, seed, unit):
    y, predicted = np.random.default_rng(seed).standard_normal((2, 20))
    predicted[:3] = y[:3]
    loss = as_loss(loss, 0.3)
    weights, scaled = loss.weights(y, predicted), loss.weights(unit * y, unit * predicted)
    assert np.isfinite(weights).all()
    assert (weights >= 0.0).all()
    np.testing.assert_allclose(scaled / scaled[5:].max(), weights / weights[5:].max(), rtol=1e-6)


@pytest.mark.parametrize("loss", ["absolute", "huber", "quantile", power])
def test_if_most_rows_are_exact_the_others_have_positive_loss_and_some_weights_are_positive(loss):
    y = np.arange(10.0)
    predicted = y + np.where(y < 3.0, 100.0, 0.0)
    loss = as_loss(loss, 0.3)
    assert (loss.cost(y, predicted)[:3] > 0.0).all()
    assert loss.weights(y, predicted).max() > 0.0


def test_squares_are_not_reweighted():
    y, predicted = np.random.default_rng(0).standard_normal((2, 20))
    assert as_loss("squared", 0.5).squared
    np.testing.assert_array_equal(as_loss("squared", 0.5).weights(y, predicted), 1.0)


# Relative errors --------------------------------------------------------------------------------------------
@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_the_relative_loss_is_the_squared_loss_with_weights_of_one_over_the_square(seed):
    y, predicted = np.random.default_rng(seed).standard_normal((2, 25))
    relative, squared = as_loss("relative", 0.5), as_loss("squared", 0.5)
    assert relative.squared
    np.testing.assert_allclose(relative.row_weights(y), 1.0 / y**2)
    np.testing.assert_allclose(relative.cost(y, predicted), squared.cost(y, predicted) / y**2, rtol=1e-12)
    np.testing.assert_array_equal(relative.weights(y, predicted), relative.row_weights(y))
    np.testing.assert_array_equal(squared.row_weights(y), 1.0)


@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_the_objective_of_relative_errors_is_that_of_weights_up_to_the_scale_of_its_loss(seed):
    y, predicted, X = 1.0 + np.random.default_rng(seed).random((3, 25))
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, 25)
    relative, weighted = (
        Objective(TrainingData(X[:, None], y, w, 20), as_loss(loss, 0.5), ReferenceEngine())
        for loss, w in (("relative", weights), ("squared", weights / y**2))
    )
    ratio = relative.mean_loss(predicted) / weighted.mean_loss(predicted)
    assert relative.explained(predicted) == pytest.approx(weighted.explained(predicted), rel=1e-9)
    assert relative.constant == pytest.approx(weighted.constant, rel=1e-12)
    np.testing.assert_allclose(relative.weights, weighted.weights, rtol=1e-12)
    for name in ("baseline", "variance", "exact"):
        assert getattr(relative, name) == pytest.approx(ratio * getattr(weighted, name), rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=seeds, unit=st.sampled_from([0.0042, -1.0, 1e9]))
def test_no_unit_changes_a_relative_loss(seed, unit):
    y, predicted = np.random.default_rng(seed).standard_normal((2, 25))
    loss = as_loss("relative", 0.5)
    np.testing.assert_allclose(loss.cost(unit * y, unit * predicted), loss.cost(y, predicted), rtol=1e-9)


# Spread and names -------------------------------------------------------------------------------------------
@settings(max_examples=30, deadline=None)
@given(seed=seeds, scale=st.floats(1e-6, 1e6), shift=st.floats(-1e3, 1e3))
def test_the_spread_is_robust_to_outliers(seed, scale, shift):
    errors = np.random.default_rng(seed).standard_normal(2000)
    assert spread(errors) == pytest.approx(1.0, abs=0.15)
    assert spread(scale * errors + scale * shift) == pytest.approx(scale * spread(errors), rel=1e-6)
    spoiled = errors.copy()
    spoiled[:100] = 1e9
    assert spread(spoiled) == pytest.approx(1.0, abs=0.25)
    assert spread(errors[:0]) == 0.0


def test_an_unknown_loss_is_refused_with_the_valid_names():
    with pytest.raises(
        ValueError,
        match="loss must be one of squared, absolute, huber, quantile, relative, logistic, or a function",
    ):
        as_loss("cubed", 0.5)


@pytest.mark.parametrize("quantile", [0.0, 1.0, -0.2, float("nan")])
def test_a_quantile_lies_between_zero_and_one(quantile):
    with pytest.raises(ValueError, match="quantile must lie between 0 and 1"):
        as_loss("quantile", quantile)


# Log-odds ---------------------------------------------------------------------------------------------------
def labelled(seed=0, n=300):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2.0, 2.0, n)
    labels = rng.random(n) < 1.0 / (1.0 + np.exp(0.5 - 1.5 * x))
    return np.stack([np.ones(n), x], axis=1), labels.astype(float)


@given(st.floats(-15.0, 15.0), st.floats(0.0, 1.0))
def test_the_logistic_loss_is_the_cross_entropy(odds, y):
    p = 1.0 / (1.0 + np.exp(-odds))
    slow = -y * np.log(p) - (1.0 - y) * np.log1p(-p)
    found = as_loss("logistic", 0.5).cost(np.array([y]), np.array([odds]))
    np.testing.assert_allclose(found, slow, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(probabilities(np.array([odds])), p, atol=1e-15)


def test_working_responses_converge_to_the_maximum_likelihood():
    loss = as_loss("logistic", 0.5)
    design, y = labelled()
    c = np.zeros(2)
    for _ in range(20):
        target, weights = loss.working(y, design @ c)
        roots = np.sqrt(weights)
        c = np.linalg.lstsq(design * roots[:, None], target * roots, rcond=None)[0]
    best = least(lambda c: loss.cost(y, design @ c).sum(), c)
    np.testing.assert_allclose(c, best.x, atol=1e-5)


def test_a_working_response_is_finite_for_any_log_odds():
    odds = np.array([-np.inf, -1e300, 0.0, 800.0, np.inf, np.nan])
    target, weights = as_loss("logistic", 0.5).working(np.ones(6), odds)
    assert np.isfinite(target).all()
    assert (weights > 0.0).all()


@pytest.mark.parametrize(("mean", "odds"), [(0.5, 0.0), (0.9, np.log(9.0)), (0.0, -12.0), (1.0, 12.0)])
def test_the_constant_of_log_odds_is_that_of_the_mean(mean, odds):
    loss = as_loss("logistic", 0.5)
    assert loss.constant(np.array([mean, mean]), np.ones(2)) == pytest.approx(odds)
    assert as_loss("absolute", 0.5).constant(np.array([1.0, 4.0]), np.array([2.0, 1.0])) == 2.0


def test_the_logistic_loss_requires_probabilities():
    check_probabilities(as_loss("logistic", 0.5), np.array([0.0, 0.3, 1.0]))
    check_probabilities(as_loss("squared", 0.5), np.array([-3.0, 7.0]))
    with pytest.raises(ValueError, match="values of y from 0 to 1; for other labels use SymbolicClassifier"):
        check_probabilities(as_loss("logistic", 0.5), np.array([0.0, 2.0]))


@pytest.mark.parametrize("loss", ["logistic", lambda y, predicted: np.minimum(np.square(y - predicted), 1.0)])
def test_a_prediction_that_is_not_finite_is_infinitely_bad_even_where_its_loss_is_not(loss):
    y = np.array([0.0, 1.0, 0.0])
    data = TrainingData(np.zeros((3, 1)), y, np.ones(3), 3)
    objective = Objective(data, as_loss(loss, 0.5), ReferenceEngine())
    assert objective.mean_loss(np.array([-np.inf, 1.0, -1.0])) == np.inf
    assert np.isfinite(objective.mean_loss(np.array([-5.0, 1.0, -1.0])))
