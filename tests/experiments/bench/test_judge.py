"""Criteria of recovery: the law is accepted in any arrangement, and other laws are rejected."""

import numpy as np
import pytest

from fouriertree.experiments.bench import judge
from fouriertree.experiments.bench.cases import Data, Disguise
from fouriertree.experiments.bench.formulas import evaluate, parse, variables
from fouriertree.experiments.bench.suites import load


def case(formula, low, high):
    """Data of a law over x0, x1, … in a box."""
    lows, highs = np.atleast_1d(low).astype(float), np.atleast_1d(high).astype(float)
    symbols = variables(lows.tolist())
    truth = parse(formula, {str(s): s for s in symbols})
    X = np.random.default_rng(1).uniform(lows, highs, (200, len(lows)))
    y = evaluate(truth, symbols, X)
    return Data(X[:100], y[:100], X[100:], y[100:], tuple(symbols), truth)


def disguised(data):
    return Disguise.draw(data.X.shape[1], np.random.default_rng(3)).apply(data)


def verdict(text, data):
    return judge.symbolic(parse(text, {str(s): s for s in data.symbols}), data)


COLUMNS = {2: ([1.0, 1.0], [5.0, 5.0]), 3: ([1.0] * 3, [5.0] * 3)}
SAME = [
    ("x0/x1", "1.0000000001*x0/x1 + 3e-9", 2),
    ("x0/x1", "3.7*x0/x1", 2),
    ("x0/x1", "x0/x1 + 12.5", 2),
    ("x0/x1", "exp(log(x0) - log(x1))", 2),
    ("sqrt(x0*x1/x2)", "0.99999994*sqrt((0.97736740*x1)*(0.43429449*x0)/(0.42446527*x2))", 3),
    ("exp(-(x0/x1)**2/2)/(sqrt(2*pi)*x1)", "0.398942*exp(-0.5*x0^2/x1^2)/x1", 2),
    ("sin(2*pi*x0/x1)**2", "0.5 - 0.5*cos(12.566371*x0/x1)", 2),
    ("(x0+x1)/(x0-x1*2)", "(3.0*x0 + 3.0*x1)/(3.0*x0 - 6.0*x1)", 2),
    ("x0*x1+x2", "(2.0*x0 + 2.0*x2/x1)*(0.5*x1)", 3),
    ("log(x0*x1)", "log(x0) + log(x1) - 4.2", 2),
    ("x0*x1*tanh(x2)", "x0*x1*(1 - 2/(exp(2.0*x2) + 1))", 3),
    ("x0**3+x0**2", "x0*x0*(x0 + 1.0000001) + 1e-7*x1", 2),
]
OTHER = [
    ("x0/x1", "x1/x0", 2),
    ("x0/x1", "x0/(x1 + 0.01)", 2),
    ("x0/x1", "2.5", 2),
    ("x0/x1", "0*x0", 2),
    ("x0*x1", "x0*x1 + 0.01*x0", 2),
    ("x0*x1*x2", "1.00022*x0*x1*x2 - 0.0038*x2", 3),
    ("sin(x0)", "x0 - x0^3/6 + x0^5/120", 2),
    ("exp(-x0**2/2)", "exp(-0.51*x0^2)", 2),
    ("x0**2", "x0^2.01", 2),
    ("x0*x1*tanh(x2)", "x0*x1", 3),
]


@pytest.mark.parametrize(("truth", "model", "n"), SAME)
def test_a_law_in_another_arrangement_is_the_law(truth, model, n):
    assert verdict(model, case(truth, *COLUMNS[n]))


@pytest.mark.parametrize(("truth", "model", "n"), OTHER)
def test_another_law_is_not_the_law(truth, model, n):
    assert not verdict(model, case(truth, *COLUMNS[n]))


def test_constants_of_nature_are_not_rounded_away():
    data = case("8.854e-12*x0**2/2", 10.0, 1000.0)
    assert verdict("4.427e-12*x0^2", data)
    assert not verdict("4.427e-12*x0^3", data)
    assert not verdict("4.427e-12*x0^2 + 1e-11*x0", data)


def test_constants_of_features_in_tiny_units_are_not_rounded_away():
    data = case("3.1e9*x0 + 2*sin(1e9*x0)", 1e-10, 5e-9)
    assert verdict("2.0*sin(1.0e9*x0) + 3.1e9*x0", data)
    assert not verdict("2.0*sin(1.01e9*x0) + 3.1e9*x0", data)


def test_the_sign_of_features_is_known():
    assert verdict("sqrt(x0^2)*x1", case("x0*x1", [0.0, 1.0], [2.0, 3.0]))
    assert not verdict("sqrt(x0^2)*x1", case("x0*x1", [-2.0, 1.0], [2.0, 3.0]))


@pytest.mark.parametrize("name", ["feynman_I_37_4", "feynman_II_35_21", "feynman_test_7", "feynman_I_18_4"])
def test_a_disguised_law_is_recognised_and_others_are_not(name):
    plain = load("feynman", name, 0, 100, 0.0, False, None)
    data = disguised(plain)
    model = data.truth.evalf(8)
    assert judge.symbolic(model, data)
    assert judge.equivalent(data.truth.evalf(17), data)
    assert not judge.symbolic(model + 0.1 * data.symbols[0], data)


def test_equivalence_accepts_forms_that_algebra_cannot_unify():
    data = case("x0*x1", *COLUMNS[2])
    symbols = {str(s): s for s in data.symbols}
    assert judge.equivalent(parse("exp(2*atanh((x0*x1 - 1)/(x0*x1 + 1)))", symbols), data)
    assert judge.equivalent(parse("7*x0*x1", symbols), data)
    assert not judge.equivalent(parse("1.0000001*x0*x1 + 1e-7*x0", symbols), data)
    assert not judge.equivalent(parse("3.0", symbols), data)


def test_a_model_with_a_smaller_domain_is_not_equivalent():
    data = case("x0", -1.0, 1.0)
    assert not judge.equivalent(parse("x0 + 1e-30*log(x0)", {"x0": data.symbols[0]}), data)


def test_exact_is_stricter_without_noise():
    assert judge.exact(1e-7, 0.0)
    assert not judge.exact(1e-4, 0.0)
    assert judge.exact(1e-4, 0.01)


def test_a_prediction_that_is_not_finite_has_the_worst_score():
    y = np.array([1.0, 2.0, 4.0])
    assert judge.r2(y, y) == 1.0
    assert judge.r2(y, np.array([1.0, np.nan, 4.0])) == -np.inf
    assert judge.relative_error(y, np.array([1.0, np.inf, 4.0])) == np.inf
