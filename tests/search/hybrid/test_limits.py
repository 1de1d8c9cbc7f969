"""Simpler forms of fitted sums: limits of differences, waves of one phase, nearly linear functions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fouriertree import SymbolicRegressor, parse
from fouriertree.expr import PrimitiveSet
from fouriertree.expr.calculus import derivative_by_constant
from fouriertree.expr.opcodes import CONST
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search.hybrid.limits import (
    cancel,
    joined_waves,
    limits_of_difference,
    simpler_forms,
    without_nearly_linear,
)

VOCABULARY = Vocabulary(PrimitiveSet.default())
rng = np.random.default_rng(3)
POSITIVE = rng.uniform(0.5, 3.0, (80, 2))


def squared_error(terms, y, X=POSITIVE):
    """Squared error of the least-squares sum of the terms, relative to y."""
    columns = np.stack([e.evaluate(X) for e in terms], axis=1)
    return float(np.sum(np.square(columns @ np.linalg.lstsq(columns, y, rcond=None)[0] - y)) / (y @ y))


# Differences ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    ["sin(2*x0 + 0.3)", "exp(-0.7*x0)*x1", "x0^1.3", "x1/(x0 + 0.4)", "log(x0 + 2)", "tanh(0.8*x0*x1)"],
)
def test_the_derivative_by_a_constant_is_the_limit_of_differences(text):
    e, step = parse(text), 1e-6
    for i in np.flatnonzero(e.op == CONST).tolist():
        moved = [e.replace(i, parse(str(e.const[i] + s))).evaluate(POSITIVE) for s in (-step, step)]
        slow = (moved[1] - moved[0]) / (2.0 * step)
        np.testing.assert_allclose(
            derivative_by_constant(e, i).evaluate(POSITIVE), slow, rtol=1e-7, atol=1e-8
        )


@pytest.mark.parametrize(
    ("pair", "law"),
    [
        (("cos(2.1*x0 - 0.002*x1)", "cos(2.1*x0)"), "x1*sin(2.1*x0)"),
        (("exp(-0.801*x0)", "exp(-0.8*x0)"), "x0*exp(-0.8*x0)"),
        (("x0^0.001", "1"), "log(x0)"),
        (("x1/(x0 + 0.4)", "x1/(x0 + 0.401)"), "x1/(x0 + 0.4)^2"),
    ],
)
def test_a_difference_of_nearly_equal_terms_has_its_limit_among_the_simpler_forms(pair, law):
    terms, y = [parse(text) for text in pair], parse(law).evaluate(POSITIVE)
    columns = np.stack([e.evaluate(POSITIVE) for e in terms], axis=1)
    coefficients = np.linalg.lstsq(columns, y, rcond=None)[0]
    forms = simpler_forms(coefficients.tolist(), terms, POSITIVE, VOCABULARY)
    assert min(squared_error(form, y) for form in forms) < 1e-5
    assert all(cancel(*(columns * coefficients).T) for _ in forms)


def test_limits_use_allowed_operators_only():
    few = Vocabulary(PrimitiveSet(["add", "mul", "cos"]))
    assert not list(limits_of_difference(parse("cos(2*x0)"), parse("cos(2.001*x0)"), few))


def test_terms_that_do_not_cancel_have_no_limit():
    terms = [parse("exp(-0.8*x0)"), parse("sin(x1)")]
    assert simpler_forms([2.0, -1.0], terms, POSITIVE, VOCABULARY) == []


# Waves ----------------------------------------------------------------------------------------------------------
@given(st.floats(-5.0, 5.0), st.floats(0.1, 5.0), st.floats(0.2, 4.0))
def test_two_waves_of_one_frequency_are_a_multiple_of_one_with_a_phase(a, b, k):
    first, second = parse(f"x1*sin({k}*x0)"), parse(f"x1*cos({k}*x0)")
    joined = joined_waves((a, first), (b, second))
    y = a * first.evaluate(POSITIVE) + b * second.evaluate(POSITIVE)
    assert squared_error([joined], y) < 1e-20 or float(y @ y) < 1e-12
    assert joined_waves((b, second), (a, first)) == joined


@pytest.mark.parametrize(
    ("first", "second"), [("sin(x0)", "cos(2*x0)"), ("sin(2*x0)", "sin(2*x0)"), ("x0*sin(x1)", "cos(x1)")]
)
def test_other_pairs_of_waves_stay(first, second):
    assert joined_waves((1.0, parse(first)), (1.0, parse(second))) is None


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_law_that_fits_of_constants_approach_by_differences_is_found(noise):
    draws = np.random.default_rng(0)
    X = draws.uniform(0.5, 4.0, (500, 3))
    y = 2.5 * X[:, 0] * np.exp(-0.8 * X[:, 1]) + 1.3 * X[:, 2] * np.sin(2.1 * X[:, 0])
    y = y + noise * np.sqrt(np.mean(y**2)) * draws.normal(size=500)
    model = SymbolicRegressor(random_state=0, max_evaluations=30_000_000).fit(X, y).model_
    assert model.n_terms == 2
    assert max(abs(np.array(model.coefficients))) < 3.0


# Nearly linear functions ----------------------------------------------------------------------------------------
X = np.random.default_rng(0).uniform(-1.0, 2.0, (40, 2))


@pytest.mark.parametrize(
    "text",
    ["1e4*sin(1e-4*x0)*x1", "3e6*log(2e6 + x0*x1) + sin(x0)", "tanh(1e-3*x0)/sqrt(1e6 + x1)", "exp(1e-4*x0)"],
)
def test_a_nearly_linear_function_becomes_a_linear_one_with_the_same_values(text):
    whole = parse(text)
    found = without_nearly_linear([1.0], [whole], X)
    assert not any(name in " ".join(map(str, found)) for name in ("log", "tanh", "exp", "sin(1", "sin(0"))
    y, columns = whole.evaluate(X), np.stack([e.evaluate(X) for e in (*found, parse("1"))], axis=1)
    assert np.abs(columns @ np.linalg.lstsq(columns, y, rcond=None)[0] - y).max() < 1e-3 * np.ptp(y)


@pytest.mark.parametrize(
    "text", ["sin(x0)", "exp(x0*x1)", "x0^2 + x1", "cos(1e-4*x0)", "3*x0", "1/x0", "sqrt(x0)"]
)
def test_other_functions_stay(text):
    assert without_nearly_linear([1.0], [parse(text)], X) is None
