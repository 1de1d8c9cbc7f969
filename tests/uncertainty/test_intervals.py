"""Intervals of predictions and parameters: ranks are exact, and closed forms are those of linear least squares."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fouriertree.expr import PrimitiveSet, parse
from fouriertree.model import Model
from fouriertree.uncertainty.intervals import (
    calibration_scores,
    conformal_quantile,
    cross_validation_scores,
    linear_intervals,
    linear_prediction_bounds,
    min_scores_for,
    prediction_bounds,
)

LEVELS = [0.5, 0.8, 0.9, 0.95]
rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (60, 2))
NOISE = rng.normal(0, 0.3, 60)


# ranks -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("m", range(1, 41))
def test_coverage_over_all_ranks_of_the_new_score_is_the_level_or_just_above_it(m, level):
    scores = np.arange(m + 1.0)
    covered = [scores[i] <= conformal_quantile(np.delete(scores, i), level) for i in range(m + 1)]
    assert level - 1e-12 <= np.mean(covered)
    if m >= min_scores_for(level):
        assert np.mean(covered) < level + 1 / (m + 1) + 1e-12
    else:
        assert all(covered)


@pytest.mark.parametrize("level", LEVELS)
def test_coverage_over_all_orders_of_any_scores_with_ties_is_at_least_the_level(level):
    for values in product((0.0, 1.0, 2.0), repeat=4):
        orders = list(permutations(values))
        covered = [order[-1] <= conformal_quantile(order[:-1], level) for order in orders]
        assert np.mean(covered) >= level


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.sampled_from(LEVELS), st.randoms())
def test_the_order_of_the_scores_does_not_matter(scores, level, random):
    shuffled = random.sample(scores, len(scores))
    assert conformal_quantile(scores, level) == conformal_quantile(shuffled, level)


@given(st.lists(st.floats(0, 1e6), max_size=50))
def test_a_higher_level_has_wider_bounds(scores):
    widths = [conformal_quantile(scores, level) for level in LEVELS]
    assert widths == sorted(widths)


@pytest.mark.parametrize("level", LEVELS)
def test_bounds_are_finite_from_min_scores_on(level):
    assert np.isinf(conformal_quantile(np.ones(min_scores_for(level) - 1), level))
    assert np.isfinite(conformal_quantile(np.ones(min_scores_for(level)), level))


def test_a_score_that_is_not_a_number_counts_as_infinite():
    assert conformal_quantile([1.0, np.nan, 2.0], 0.5) == 2.0
    assert np.isinf(conformal_quantile([1.0, np.nan, np.nan], 0.5))


def test_bounds_lie_around_the_prediction():
    low, high = prediction_bounds([0.0, 10.0], np.arange(1.0, 11.0), 0.8)
    assert low.tolist() == [-9.0, 1.0]
    assert high.tolist() == [9.0, 19.0]


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.5])
def test_a_level_that_is_not_a_probability_is_rejected(level):
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        conformal_quantile([1.0], level)


# scores ----------------------------------------------------------------------------------------------------------
def test_the_fit_for_validation_scores_does_not_use_the_validation_set():
    training = np.arange(60) >= 12
    y = 2.3 * X[:, 0] + 0.7 + NOISE
    shifted = y + np.where(training, 0.0, 1000.0)
    form = parse("2*x0 + 0.5")
    assert calibration_scores(form, X, shifted, None, training, 0.9) == pytest.approx(
        np.abs(1000.0 + _signed(form, y, training)), rel=1e-9
    )


def _signed(form, y, training):
    design = np.column_stack([X[:, 0], np.ones(60)])
    parameters = np.linalg.lstsq(design[training], y[training], rcond=None)[0]
    return (y - design @ parameters)[~training]


def test_leaving_one_out_agrees_with_the_closed_form_of_linear_least_squares():
    y = 2.3 * X[:, 0] + 0.7 + NOISE
    design = np.column_stack([X[:, 0], np.ones(60)])
    hat = design @ np.linalg.pinv(design)
    expected = np.abs((y - hat @ y) / (1.0 - np.diag(hat)))
    assert cross_validation_scores(parse("2*x0 + 0.5"), X, y) == pytest.approx(expected, rel=1e-9)


def test_leaving_one_out_refits_constants_inside_of_functions():
    y = np.sin(1.7 * X[:, 0]) + 0.1 * NOISE
    scores = cross_validation_scores(parse("0.9*sin(1.6*x0)"), X[:15], y[:15])
    assert scores.shape == (15,)
    assert scores.max() < 0.5


def test_a_row_without_weight_has_a_score_but_no_influence():
    y = 2.3 * X[:, 0] + NOISE
    y[0], weights = 1000.0, np.ones(60)
    weights[0] = 0.0
    scores = cross_validation_scores(parse("2*x0"), X, y, weights)
    assert scores[0] > 900
    assert scores[1:].max() < 2


def test_scores_are_those_of_the_validation_set_if_it_is_large_enough_and_leave_one_out_otherwise():
    y, form = 2.3 * X[:, 0] + 0.7 + NOISE, parse("2*x0 + 0.5")
    training = np.arange(60) >= 12
    assert len(calibration_scores(form, X, y, None, training, 0.9)) == 12
    assert len(calibration_scores(form, X, y, None, training, 0.95)) == 60
    assert len(calibration_scores(form, X[:9], y[:9], None, np.ones(9, bool), 0.8)) == 9


# closed form -----------------------------------------------------------------------------------------------------
LINE = Model((0.5, 2.0), (parse("1"), parse("x0")))


def fitted_line(y, weights=None):
    roots = np.ones(60) if weights is None else np.sqrt(weights)
    design = np.column_stack([np.ones(60), X[:, 0]])
    parameters = np.linalg.lstsq(design * roots[:, None], y * roots, rcond=None)[0]
    return Model(tuple(parameters.tolist()), LINE.expressions)


def test_the_bounds_of_a_linear_model_are_those_of_the_textbook():
    y = 2.3 * X[:, 0] + 0.7 + NOISE
    table = linear_intervals(fitted_line(y), X, y, level=0.9)
    expected = stats.linregress(X[:, 0], y)
    assert table["value"].tolist() == pytest.approx([expected.intercept, expected.slope])
    assert table["standard_error"].tolist() == pytest.approx([expected.intercept_stderr, expected.stderr])
    assert (table["upper"] - table["value"]).tolist() == pytest.approx(
        (stats.t.ppf(0.95, 58) * table["standard_error"]).tolist()
    )


def test_the_prediction_bounds_of_a_linear_model_are_those_of_the_textbook():
    y = 2.3 * X[:, 0] + 0.7 + NOISE
    model, new = fitted_line(y), np.array([[3.0, 0.0]])
    s = np.sqrt(np.sum((y - model.predict(X)) ** 2) / 58)
    x = X[:, 0]
    leverage = 1 / 60 + (3.0 - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2)
    for noise in (True, False):
        low, high = linear_prediction_bounds(model, X, y, None, new, 0.95, noise)
        assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 58) * s * np.sqrt(leverage + noise))
        assert (high + low) / 2 == pytest.approx(model.predict(new))


def test_bounds_are_invariant_to_the_scale_of_weights_and_rows_of_weight_zero_are_ignored():
    y, weights = 2.3 * X[:, 0] + NOISE, rng.uniform(0.5, 2, 60)
    weights[:7] = 0.0
    model = fitted_line(y, weights)
    once, ten = (linear_intervals(model, X, y, w) for w in (weights, 10 * weights))
    without = linear_intervals(model, X[7:], y[7:], weights[7:])
    assert once["lower"].tolist() == pytest.approx(ten["lower"].tolist())
    assert once["lower"].tolist() == pytest.approx(without["lower"].tolist())


def test_constants_inside_of_functions_have_the_bounds_of_nonlinear_least_squares():
    from scipy.optimize import curve_fit

    y = 3 * np.sin(1.7 * X[:, 0]) + NOISE
    parameters, covariance = curve_fit(lambda x, a, b: a * np.sin(b * x), X[:, 0], y, p0=(3, 1.7), ftol=1e-14)
    model = Model.from_expression(parse(f"{parameters[0]}*sin({parameters[1]}*x0)"))
    table = linear_intervals(model, X, y)
    assert table["number"].tolist() == ["coefficient", "inside"]
    assert table["standard_error"].tolist() == pytest.approx(np.sqrt(np.diag(covariance)).tolist(), rel=1e-4)


def test_parameters_that_are_not_identified_have_infinite_bounds_but_predictions_do_not():
    # e^(x + b) = e^b·e^x: only the product of both parameters is known.
    y = 3 * np.exp(X[:, 0]) + NOISE
    model = Model((3.0, 0.1), (parse("exp(x0 + 0.00001)"), parse("x1")))
    table = linear_intervals(model, X, y)
    assert np.isinf(table["standard_error"]).tolist() == [True, True, False]
    low, high = linear_prediction_bounds(model, X, y, None, X)
    assert np.isfinite(high - low).all()


def test_as_many_parameters_as_rows_leave_no_degrees_of_freedom():
    table = linear_intervals(LINE, X[:2], X[:2, 0])
    assert np.isinf(table["standard_error"]).all()


def test_terms_with_user_defined_operators_have_bounds_for_their_coefficients():
    own = PrimitiveSet(["add"])
    own.add("drag", lambda a: a * abs(a))
    model = Model((2.0,), (parse("drag(x0)", primitives=own),))
    table = linear_intervals(model, X, model.predict(X) + NOISE)
    assert table["number"].tolist() == ["coefficient"]
    assert table["lower"][0] < 2 < table["upper"][0]


def test_bounds_of_parameters_have_their_nominal_coverage():
    draws = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        y = 2.3 * X[:, 0] + 0.7 + draws.normal(0, 0.3, 60)
        row = linear_intervals(fitted_line(y), X, y, level=0.8).iloc[1]
        hits += row.lower < 2.3 < row.upper
    # Four standard deviations of a binomial share.
    assert abs(hits / 400 - 0.8) < 4 * np.sqrt(0.8 * 0.2 / 400)


def test_folds_leave_out_several_rows_at_a_time():
    x = np.linspace(0.0, 1.0, 12)
    y = 2.0 * x + np.sin(30.0 * x) / 10.0
    scores = cross_validation_scores(parse("1.9*x0"), x[:, None], y, folds=3)
    for fold in range(3):
        out = np.arange(12) % 3 == fold
        slope = (x[~out] @ y[~out]) / (x[~out] @ x[~out])
        assert scores[out] == pytest.approx(np.abs(y[out] - slope * x[out]), rel=1e-9)


# Relative errors --------------------------------------------------------------------------------------------
def test_a_prediction_of_zero_takes_no_part_in_relative_intervals():
    x = np.arange(0.0, 9.0)[:, None]
    y = 2.0 * x[:, 0] * (1.0 + 0.1 * (-1.0) ** np.arange(9))
    y[0] = 0.1
    model = Model((2.0,), (parse("x0"),))
    whole, without = (linear_intervals(model, x[k:], y[k:], measure="relative") for k in (0, 1))
    pd.testing.assert_frame_equal(whole, without)


def test_relative_intervals_are_those_of_weights_of_one_over_the_square_of_the_predictions():
    x = np.linspace(1.0, 9.0, 20)[:, None]
    y = 2.0 * x[:, 0] * (1.0 + 0.05 * np.sin(9.0 * x[:, 0]))
    model = Model((2.0,), (parse("x0"),))
    relative = linear_intervals(model, x, y, measure="relative")
    weighted = linear_intervals(model, x, y, 1.0 / model.predict(x) ** 2)
    np.testing.assert_allclose(relative["standard_error"], weighted["standard_error"], rtol=1e-9)
