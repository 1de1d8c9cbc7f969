"""Leave-one-out predictions by linearization: the errors of refits, and the forms that one row decides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree import PrimitiveSet
from fouriertree.expr import parse
from fouriertree.projection.refit import leave_one_out_ratios, refit_constants


def slow_ratio(expression, X, y, weights):
    """By refits of the constants to all rows but one, for an expression that is linear in its constants."""
    n, p = len(y), len([c for c in expression.constants if c != 1.0])
    out = [np.delete(np.arange(n), i) for i in range(n)]
    errors = [
        y[i] - refit_constants(expression, X[rest], y[rest], weights[rest]).evaluate(X[i : i + 1])[0]
        for i, rest in enumerate(out)
    ]
    residual = y - expression.evaluate(X)
    return np.sum(weights * np.square(errors)) / np.sum(weights * residual**2) * ((n - p) / n) ** 2


@given(st.integers(0, 10**6), st.integers(12, 40))
@settings(max_examples=15, deadline=None)
def test_the_ratio_is_that_of_refits_without_each_row(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 3.0, (n, 2))
    y, weights = 2.0 * X[:, 0] - X[:, 1] + rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    e = refit_constants(parse("1.5*x0 + 0.7*sin(x1) + 0.3"), X, y, weights)
    np.testing.assert_allclose(
        leave_one_out_ratios(e, X, y, weights)[1], slow_ratio(e, X, y, weights), rtol=1e-6
    )


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_the_ratio_is_near_one_where_no_row_stands_out(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 3.0, (200, 2))
    y = 2.0 * X[:, 0] * np.exp(-0.5 * X[:, 1]) + 0.1 * rng.normal(size=200)
    e = refit_constants(parse("2.0*x0*exp(-0.5*x1)"), X, y, np.ones(200))
    assert leave_one_out_ratios(e, X, y, np.ones(200))[1] == pytest.approx(1.0, abs=0.1)


def test_a_term_that_fits_one_outlier_makes_the_ratio_large():
    rng = np.random.default_rng(0)
    x = np.append(np.linspace(0.0, 1.0, 60), 1.4)
    y = 2.0 * x + 0.01 * rng.normal(size=61)
    y[-1] += 5.0
    e = refit_constants(parse("2.0*x0 + 1e-12*exp(20.7*x0)"), x[:, None], y, np.ones(61))
    assert leave_one_out_ratios(e, x[:, None], y, np.ones(61))[1] > 100.0


@pytest.mark.parametrize("text", ["x0", "x0/(x0 + 1.0)"])
def test_without_fitted_constants_there_is_nothing_to_leave_out(text):
    X = np.linspace(0.0, 1.0, 30)[:, None]
    assert leave_one_out_ratios(parse(text), X, X[:, 0] ** 2, np.ones(30)) == (1.0, 1.0)


def test_an_exponent_whose_derivative_is_undefined_is_no_sign_of_few_rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (100, 1))
    e = parse("2.3*x0^5.0 + 0.7", PrimitiveSet(["add", "mul", "pow"]))
    y = e.evaluate(X) + 0.1 * rng.normal(size=100)
    assert leave_one_out_ratios(e, X, y, np.ones(100))[1] == pytest.approx(1.0, abs=0.3)
