"""Sums with parameters: one parameter may occur several times, and many initial values find the best fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import PrimitiveSet, parse
from fouriertree.projection.variable import fit_constants
from fouriertree.selection.guesses.fitter import ParametricFitter
from fouriertree.selection.guesses.multistart import promising
from fouriertree.selection.guesses.parametric import ParametricSum
from fouriertree.selection.guesses.starts import initial_values

rng = np.random.default_rng(0)
X = rng.uniform(0.5, 4.0, (80, 2))
ONES = np.ones(80)
NAMES = ("x0", "x1", "a", "b", "c", "d", "w")


def parametric(text, names=NAMES):
    return ParametricSum.of(parse(text, names), 2)


def values_of(fit, X=X):
    return fit.expression.evaluate(X)


def fitted(found, y, theta, free=None, X=X, weights=ONES):
    free = np.ones(found.n_parameters, bool) if free is None else free
    return ParametricFitter(found, X, y, weights).fit(np.array(theta, float), free, 300)


def searched(found, y, X=X, seed=0, count=1000):
    starts = promising(found, X, y, np.ones(len(y)), count, 4, np.random.default_rng(seed))
    fits = [fitted(found, y, theta, X=X, weights=np.ones(len(y))) for theta in starts]
    return min(fits, key=lambda fit: fit.loss)


# The sum ----------------------------------------------------------------------------------------------------
def test_constant_factors_of_addends_are_no_parameters():
    found = parametric("-(a/b)*exp(-0.5*((x0 - c)/d)^2) + 2*pi*w*x1 + 7")
    assert [str(term) for term in found.terms] == ["exp(-0.5*((x0 - 1.0)/1.0)^2)", "x1", "1.0"]
    np.testing.assert_array_equal(found.given, [np.nan, np.nan, -0.5])


def test_zero_one_pi_e_and_whole_exponents_belong_to_the_form():
    found = parametric("max(x0, 0)/(1 + x1^4 + sin(2*pi*x0)) + exp(e*x0) + x0^2.5")
    assert found.given.tolist() == [2.0, 2.5]
    assert parametric("exp(nan*x0)").n_parameters == 0


def test_a_repeated_name_is_one_parameter():
    found = parametric("a*cos(w*x0) + b*sin(w*x0)")
    assert found.n_parameters == 1
    assert found.repeated.tolist() == [True]
    assert [str(term) for term in found.with_values(np.array([2.5]))] == ["cos(2.5*x0)", "sin(2.5*x0)"]


def test_a_sum_of_thousands_of_factors_is_taken_apart():
    found = ParametricSum.of(parse("*".join(["x0"] * 3000) + "+" + "+".join(["x1"] * 3000)), 2)
    assert len(found.terms) == 2


# Fits -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "theta"),
    [("exp(-a*x0)", [0.5]), ("sin(a*x0 + b) + x1", [1.4, 0.2]), ("1/(1 + a*x0 + x1^b)", [2.0, 1.2])],
)
def test_without_repeated_parameters_a_fit_is_that_of_the_compiled_kernel(text, theta):
    found = parametric(text)
    law = sum(term.evaluate(X) for term in found.with_values(1.1 * np.array(theta)))
    y = law + np.random.default_rng(1).normal(0.0, 0.1, 80)
    [other] = fit_constants([found.with_values(np.array(theta))], X, y, iterations=300, fixed=[
        [places < 0 for places in found.places]
    ])  # fmt: skip
    fit = fitted(found, y, theta)
    assert fit.loss == pytest.approx(other.loss, rel=1e-9)
    np.testing.assert_allclose(fit.coefficients, other.coefficients, rtol=1e-4)


def test_the_loss_is_the_squared_error_of_the_printed_sum():
    found, weights = parametric("a*cos(w*x0) + b*sin(w*x0) + c"), rng.uniform(0.5, 2.0, 80)
    y = np.cos(2.0 * X[:, 0] + 0.3) + 0.1 * X[:, 1]
    fit = fitted(found, y, [1.9], weights=weights)
    assert np.sum(weights * (y - values_of(fit)) ** 2) == pytest.approx(fit.loss)


def test_no_nearby_value_of_a_repeated_parameter_is_better():
    found = parametric("a*cos(w*x0)*x1 + b*sin(w*x0)/(1 + w*x1)")
    y = np.cos(2.0 * X[:, 0]) * X[:, 1] + 0.5 * np.sin(2.0 * X[:, 0]) + rng.normal(0.0, 0.1, 80)
    fit = fitted(found, y, [1.9])
    for step in (-1e-4, 1e-4):
        moved = fitted(found, y, fit.theta * (1.0 + step), free=np.zeros(1, bool))
        assert moved.loss >= fit.loss


def test_fixed_parameters_keep_their_values():
    found = parametric("exp(-((x0 - a)/b)^2)")
    fit = fitted(found, np.exp(-((X[:, 0] - 2.0) ** 2)), [1.5, 0.9], free=np.array([True, False]))
    assert fit.theta[1] == 0.9
    assert fit.theta[0] != 1.5


def test_a_parameter_that_the_data_do_not_determine_becomes_one():
    found = parametric("1/(a + b*x0) + x1")
    fitter = ParametricFitter(found, X, 1.0 / (2.0 + 3.0 * X[:, 0]) + X[:, 1], ONES)
    free = np.ones(2, bool)
    first = fitter.fit(np.array([7.0, 2.0]), free, 300)
    fit, free = fitter.simplified(first, free, 300)
    assert free.tolist() == [False, True]
    np.testing.assert_allclose(fit.theta, [1.0, 1.5])
    assert fit.loss < 1e-20


def test_a_sum_that_is_not_finite_has_an_infinite_loss():
    found = parametric("log(x0 - 9)")
    assert fitted(found, X[:, 1], found.given).loss == np.inf
    assert len(promising(parametric("log(a*x0^2 - a*x0^2 - 1)"), X, X[:, 1], ONES, 50, 4, rng)) == 0


def test_custom_operators_are_compared_without_steps():
    own = PrimitiveSet.default()
    own.add("bend", lambda a: a / (1.0 + np.abs(a)))
    found = ParametricSum.of(parse("bend(a*x0)", NAMES, own), 2)
    y = 2.0 * X[:, 0] / (1.0 + X[:, 0])
    fit = searched(found, y)
    assert 0.5 < abs(fit.theta[0]) < 2.0
    assert fit.loss < 0.01 * np.sum((y - y.mean()) ** 2)


# Initial values ---------------------------------------------------------------------------------------------
FORMS = [
    "exp(-a*x0)", "exp(a/(x0 + b))", "1/(1 + exp(a - b*x0))", "exp(-0.5*((x0 - a)/b)^2)", "x0^a", "sin(a*x0 + b)",
    "(a + b*x0 + c*x0^2)/(1 + d*x0)", "a*cos(w*x0) + b*sin(w*x0)", "x0/(1 + (x0/a)^b)", "log(a*x0 + b*x1 + 1)",
    "sqrt(x0^2 + a*x1^2)*exp(-x0/b)", "tanh(a*x0)*x1/(x1 + b)", "a*x0/(1 + a*x0)", "a^x0", "max(a*x0, b*x1)",
]  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(
    form=st.sampled_from(FORMS),
    scales=st.tuples(*[st.sampled_from([1.37, 1e-6, 3e4, 273.15]) for _ in range(2)]),
)
def test_initial_values_are_the_same_functions_in_other_units(form, scales):
    found, scaled = parametric(form), X * scales
    first = initial_values(found, X, 200, np.random.default_rng(3))
    second = initial_values(found, scaled, 200, np.random.default_rng(3))
    if form in ("x0^a", "a^x0"):
        return  # their values differ by a factor, or the base depends on the exponent
    for one, other in zip(first[:20], second[:20], strict=True):
        for term, same in zip(found.with_values(one), found.with_values(other), strict=True):
            with np.errstate(all="ignore"):
                u, v = term.evaluate(X), same.evaluate(scaled)
            if np.isfinite(u).all() and np.isfinite(v).all():
                # Up to a factor, since a coefficient follows.
                assert abs(u @ v) == pytest.approx(
                    np.linalg.norm(u) * np.linalg.norm(v), rel=1e-6, abs=1e-300
                )


def test_initial_values_have_both_signs_and_several_orders_of_magnitude():
    theta = initial_values(parametric("exp(a*x0)"), X, 2000, rng)[:, 0]
    assert 0.4 < np.mean(theta > 0.0) < 0.6
    assert np.ptp(np.log10(np.abs(theta))) > 3.0


def test_given_constants_are_the_initial_values():
    theta = initial_values(parametric("exp(-0.5*x0/b)"), X, 10, rng)
    assert (theta[:, 1] == -0.5).all()


# Many starts ------------------------------------------------------------------------------------------------
def law(text, X):
    return parse(text).evaluate(X)


TEMPERATURE = np.column_stack([np.arange(0.0, 361.0, 20.0), np.ones(19)])
LAWS = [
    ("exp(-b/(x0 + c))", "8.7e7*exp(-7306.65/(x0 + 273.15))", TEMPERATURE),
    (
        "a*exp(b/(x0 + c))",
        "0.0056096*exp(6181.35/(x0 + 345.22))",
        np.linspace(50.0, 125.0, 32).reshape(16, 2),
    ),
    ("a/(1 + exp(b - c*x0))", "72.5/(1 + exp(2.618 - 0.06736*x0))", 20.0 * X),
    ("a*(1 - exp(-b*x0))", "239*(1 - exp(-0.00055*x0))", 200.0 * X),
    ("exp(-a*x0)/(b + c*x0)", "exp(-0.1666*x0)/(0.00517 + 0.01215*x0)", X),
    ("(a/b)*exp(-0.5*((x0 - c)/b)^2)", "0.38*exp(-0.5*((x0 - 451.5)/4.089)^2)", 400.0 + 25.0 * X),
    ("exp(-a*x0)*cos(b*x0 + c)", "2*exp(-0.3*x0)*cos(17*x0 + 0.4)", X),
    ("exp(-a*x0)*(b*cos(w*x0) + c*sin(w*x0))", "exp(-0.3*x0)*(cos(9*x0) - 0.7*sin(9*x0))", X),
    ("a*x0^b/(c^b + x0^b)", "3*x0^2.7/(2.2^2.7 + x0^2.7)", X),
    ("a*tanh(b*(x0 - c)) + d", "1.5*tanh(3*(x0 - 2.2)) + 4", X),
]


@pytest.mark.parametrize(("form", "truth", "X"), LAWS, ids=[form for form, *_ in LAWS])
def test_the_form_alone_finds_the_law(form, truth, X):
    y = law(truth, X)
    fit = searched(parametric(form), y, X, count=3000)
    assert fit.loss <= 1e-16 * (y @ y)


def test_the_same_random_numbers_give_the_same_starts():
    found, y = parametric("exp(-a*x0)*cos(b*x0 + c)"), np.cos(3.0 * X[:, 0])
    first, second = (promising(found, X, y, ONES, 500, 4, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_the_expression_is_in_the_form_of_the_formula():
    found = parametric("a*(1 - exp(-b*x0))")
    fit = searched(found, 3.0 * (1.0 - np.exp(-0.5 * X[:, 0])))
    assert fit.expression.text(digits=6) == "3*(1 - exp(-0.5*x0))"


def test_a_superfluous_addend_of_an_exponent_becomes_zero():
    found = parametric("exp(a + b*x0)")
    fitter, free = ParametricFitter(found, X, 3.0 * np.exp(0.5 * X[:, 0]), ONES), np.ones(2, bool)
    fit, free = fitter.simplified(fitter.fit(np.array([0.7, 0.4]), free, 300), free, 300)
    assert free.tolist() == [False, True]
    assert fit.expression.text(digits=6) == "3*exp(0.5*x0)"


def test_phases_are_reduced_without_changing_the_function():
    found = parametric("sin(a*x0 - b) + cos(c + d*x1) + sin(x0 + w)*cos(x0 + w) + exp(a*x0)")
    assert len(found.phases) == 2
    theta = rng.uniform(-50.0, 50.0, found.n_parameters)
    reduced = found.with_reduced_phases(theta)
    assert (np.abs(reduced[found.phases]) <= np.pi).all()
    for one, other in zip(found.with_values(theta)[:2], found.with_values(reduced)[:2], strict=True):
        np.testing.assert_allclose(one.evaluate(X), other.evaluate(X), atol=1e-11)
