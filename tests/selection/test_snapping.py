"""Snapping to short constants: they are recovered from noise, others stay, and the loss increases little."""

from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares

from fouriertree.criteria.code_lengths import short_constants
from fouriertree.expr import PrimitiveSet, parse
from fouriertree.projection.refit import refit_constants
from fouriertree.selection.snapping import SNAPPING_ROWS, snapped

ROWS = 200
X = np.random.default_rng(0).uniform(0.5, 3.0, (ROWS, 2))
ONES = np.ones(ROWS)
seeds = st.integers(0, 2**32 - 1)


def constants(expression):
    return expression.const[expression.op == 0].tolist()


def loss(expression, y, weights=ONES):
    return float(np.sum(weights * np.square(y - expression.evaluate(X))))


def noise(size, seed=0):
    return size * np.random.default_rng(seed).standard_normal(ROWS)


# Recovery --------------------------------------------------------------------------------------------------
LAWS = [
    ("2.003*x0 + 0.498*x1", [2.0, 0.5]),
    ("3.14*x0^2", [pi]),
    ("0.319*x0", [1.0 / pi]),
    ("3.01*sin(1.99*x0)", [3.0, 2.0]),
    ("x0^2.51", [2.5]),
    ("0.669*x0*x1", [2.0 / 3.0]),
    ("9.8123*x0", [9.81]),
    ("6.1e-8*x0 + 3.01e-8*x1", [6e-8, 3e-8]),
]


@pytest.mark.parametrize("size", [0.0, 1e-6, 1e-4])
@pytest.mark.parametrize(("start", "law"), LAWS)
def test_short_constants_are_recovered_from_noise(start, law, size):
    start = parse(start)
    truth = start
    for place, number in zip(np.flatnonzero(start.op == 0)[::-1], law[::-1], strict=True):
        truth = truth.replace(int(place), type(start).constant(number))
    y = truth.evaluate(X)
    y += noise(size * np.std(y))
    assert constants(snapped(start, X, y, ONES)) == law


@pytest.mark.parametrize("number", [2.718281828, 1.4142135, 0.5772156, 123.4567])
@pytest.mark.parametrize("size", [1e-7, 1e-5])
def test_a_constant_without_a_short_value_nearby_is_not_snapped(number, size):
    y = number * X[:, 0] + noise(size)
    [found] = constants(snapped(parse("x0*3.3"), X, y, ONES))
    assert found == pytest.approx(X[:, 0] @ y / (X[:, 0] @ X[:, 0]), rel=1e-12)


def test_a_term_of_noise_is_dropped_and_a_small_true_one_is_not():
    y = 2.7 * X[:, 0] + noise(1e-3)
    assert constants(snapped(parse("2.6*x0 + 0.1*x1"), X, y, ONES)) == [2.7, 0.0]
    assert constants(snapped(parse("2.6*x0 + 0.1*x1"), X, y + 0.01 * X[:, 1], ONES)) == [2.7, 0.01]


# Losses -----------------------------------------------------------------------------------------------------
FORMS = ["1.5*x0 + 0.3", "1.5*x0 - 2*x1 + 0.1*x0*x1", "2*sin(x0) + 0.2*x1^2 + 3"]


@settings(max_examples=60, deadline=None)
@given(seed=seeds, form=st.sampled_from(FORMS), size=st.floats(-6, 0))
def test_snapped_constants_lie_within_their_errors_so_the_loss_increases_little(seed, form, size):
    rng = np.random.default_rng(seed)
    form, weights = parse(form), rng.uniform(0.3, 3.0, ROWS)
    free = np.flatnonzero(form.op == 0)
    const = form.const.copy()
    const[free] = rng.normal(0.0, 2.0, len(free))
    y = type(form).unchecked(form.op, form.arg, const, form.primitives).evaluate(X) + noise(10.0**size, seed)
    best = refit_constants(form, X, y, weights)
    found = snapped(form, X, y, weights)
    # A constant moved by four standard errors, with the others refitted, adds 4²/(n − p) of the loss.
    worst = (1.0 + 4.0**2 / (ROWS - len(free))) ** len(free)
    assert loss(best, y, weights) * (1.0 - 1e-9) <= loss(found, y, weights) <= worst * loss(best, y, weights)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, number=st.floats(0.1, 100.0), size=st.floats(-6, -3))
def test_snapping_is_nearly_idempotent(seed, number, size):
    y = number * X[:, 0] * np.exp(-0.5 * X[:, 1]) + noise(10.0**size, seed)
    once = snapped(parse(f"{1.02 * number}*x0*exp(-0.49*x1)"), X, y, ONES)
    np.testing.assert_allclose(constants(snapped(once, X, y, ONES)), constants(once), rtol=1e-3)


def test_snapping_keeps_the_form_and_constants_of_one():
    y = 2.0 * X[:, 0] / (1.0 + X[:, 1]) + noise(0.3)
    start = parse("1.8*x0/(1.0 + x1)")
    found = snapped(start, X, y, ONES)
    np.testing.assert_array_equal(found.op, start.op)
    assert constants(found)[1] == 1.0


def test_expressions_that_cannot_be_fitted_are_unchanged():
    undefined = parse("log(-1.3*x0)")
    assert snapped(undefined, X, X[:, 0], ONES) == undefined
    operators = PrimitiveSet(["add", "mul"])
    operators.add("half", lambda a: 0.5 * a)
    own = parse("half(1.99*x0)", primitives=operators)
    assert snapped(own, X, X[:, 0], ONES) == refit_constants(own, X, X[:, 0], ONES) == own


def test_rows_of_weight_zero_are_ignored():
    weights = (np.arange(ROWS) % 2).astype(float)
    y = np.where(weights > 0.0, 2.0 * X[:, 0], 1e3)
    assert constants(snapped(parse("2.1*x0"), X, y, weights)) == [2.0]


# Refitting --------------------------------------------------------------------------------------------------
@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_constants_of_a_linear_equation_are_least_squares(seed):
    rng = np.random.default_rng(seed)
    y, weights = rng.standard_normal(ROWS), rng.uniform(0.2, 2.0, ROWS)
    roots = np.sqrt(weights)
    slow = np.linalg.lstsq(np.column_stack([X, np.full(ROWS, 1.0)]) * roots[:, None], y * roots, rcond=None)[
        0
    ]
    found = refit_constants(parse("0.5*x0 + 2*x1 + 0.3"), X, y, weights)
    np.testing.assert_allclose(constants(found), slow, rtol=1e-9, atol=1e-12)


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_of_many_rows_some_decide_which_constants_are_short_and_all_determine_the_others(seed):
    rng = np.random.default_rng(seed)
    many = rng.uniform(0.5, 3.0, (5 * SNAPPING_ROWS, 2))
    y = 2.0 * many[:, 0] + 2.7182818 * np.sin(1.2345 * many[:, 1]) + 1e-3 * rng.standard_normal(len(many))
    weights = rng.uniform(0.5, 2.0, len(many))
    found = snapped(parse("2.01*x0 + 2.7*sin(1.2*x1)"), many, y, weights)
    two, *others = constants(found)
    assert two == 2.0

    def residuals(parameters):
        a, b = parameters
        return np.sqrt(weights) * (y - 2.0 * many[:, 0] - a * np.sin(b * many[:, 1]))

    np.testing.assert_allclose(others, least_squares(residuals, others, xtol=1e-12).x, rtol=1e-6)


def test_inner_constants_are_refitted_from_their_values():
    y = 1.7 * np.sin(2.3 * X[:, 0]) + np.exp(-0.77 * X[:, 1])
    found = refit_constants(parse("1.5*sin(2.2*x0) + exp(-0.9*x1)"), X, y, ONES)
    np.testing.assert_allclose(constants(found), [1.7, 2.3, -0.77], rtol=1e-6)


# Short constants -----------------------------------------------------------------------------------------------
@settings(max_examples=100, deadline=None)
@given(value=st.floats(-1e6, 1e6).filter(lambda v: abs(v) > 1e-6), tolerance=st.floats(0.0, 0.5))
def test_short_constants_lie_within_the_tolerance_and_have_a_positive_code_length(value, tolerance):
    for short in short_constants(value, tolerance):
        assert abs(short.value - value) <= tolerance
        assert short.value != 0.0
        assert short.length > 0.0


CONVENTIONAL = [(2.0, 2.0), (0.3334, 1 / 3), (-0.4999, -0.5), (6.2831, 2 * pi), (1234.0, 1234.0)]


@pytest.mark.parametrize(("value", "short"), CONVENTIONAL)
def test_the_constant_of_smallest_code_length_is_the_conventional_one(value, short):
    found = min(short_constants(value, 1e-3 * abs(value)), key=lambda n: n.length)
    assert found.value == pytest.approx(short, rel=1e-15)


def test_without_tolerance_a_constant_snaps_to_itself_only():
    assert [n.value for n in short_constants(0.123456789, 0.0)] == []
    assert {n.value for n in short_constants(0.5, 0.0)} == {0.5}


@pytest.mark.parametrize("value", [1.7e308, -1.7e308, 5e-324])
def test_constants_at_the_limits_of_float64_are_no_error(value):
    assert all(np.isfinite(short.value) for short in short_constants(value, 1e-14 * abs(value)))
