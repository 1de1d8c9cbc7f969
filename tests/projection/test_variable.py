"""Variable projection: exact laws are recovered, SciPy finds no better minimum, fixed constants are unchanged."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares

from fouriertree.engine import ReferenceEngine
from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.opcodes import CONST
from fouriertree.projection.variable import FitData, fit_constants, residuals_of

seeds = st.integers(0, 2**32 - 1)

# Laws with their coefficients; every constant in them is to be found.
LAWS = [
    (["sin(1.3*x0 + 0.2)", "x1/(x0 + 1.9)"], [2.5, -0.7]),
    (["exp(-0.8*x0)", "exp(-2.1*x0)*x1"], [1.0, 1.0]),
    (["inv(x0 + 0.7*x1*x0 + 1.2*x1)", "x0"], [3.0, 1.0]),
    (["pow(x0, 1.7)*pow(x1, -0.6)"], [2.0]),
    (["sqrt(x0^2 + 1.4*x1 + 0.3)", "sin(2.2*x1)", "1"], [1.0, 1.0, 0.5]),
    (["exp(-1.3*(x0 - 0.9)^2)", "cos(3*x1 + 0.4)"], [1.0, 2.0]),
    (["log(0.6*x0 + 1.1)", "tanh(1.8*x1 - 0.5)*x0", "x0*x1"], [2.0, 0.3, 1.0]),
    (["atan(2*x0 - 1.1)", "x1", "1"], [1.0, -1.0, 2.0]),
    (["max(x0, 0.8*x1 + 0.3)", "abs(x1 - 0.9)"], [1.0, 2.0]),
]
TERMS = [
    "sin(1.3*x0 + 0.2)",
    "exp(-0.7*x1)",
    "inv(x0 + 1.6)",
    "sqrt(x0*x1 + 0.4)",
    "tanh(0.9*x1 - 0.3)",
    "x0",
    "1",
]
# Finite for any constants near those that they have: a minimum is never at the edge of a domain.
EVERYWHERE = [text for text in TERMS if "sqrt" not in text] + ["sin(x0*x1*1.1)"]


def rows(n=200, seed=0):
    return np.random.default_rng(seed).uniform(0.1, 2.2, (n, 2))


def values(expressions, X):
    return ReferenceEngine().evaluate(list(expressions), X).T


def moved(e, rng, size):
    """The expression with its constants off by about `size`."""
    const = e.const + np.where(e.op == CONST, size * rng.standard_normal(len(e)), 0.0)
    return Expression(e.op, e.arg, const, e.primitives)


def loss_of(expressions, coefficients, X, y, w=1.0):
    return float(np.sum(w * (y - values(expressions, X) @ coefficients) ** 2))


def projected_residual(theta, model, X, y, root_weights):
    """√w·(y − Φ(θ)·Φ(θ)⁺y), by NumPy: the function that variable projection minimises the square of."""
    filled, at = [], 0
    for e in model:
        const, places = e.const.copy(), np.flatnonzero(e.op == CONST)
        const[places] = theta[at : at + len(places)]
        at += len(places)
        filled.append(Expression(e.op, e.arg, const, e.primitives))
    Phi = values(filled, X) * root_weights[:, None]
    if not np.abs(Phi).max() < 1e100:
        return 1e3 * root_weights  # too far: worse than anything nearby
    return root_weights * y - Phi @ np.linalg.lstsq(Phi, root_weights * y)[0]


@pytest.mark.parametrize(("texts", "coefficients"), LAWS)
def test_a_law_is_recovered_to_the_last_digits_from_nearby_constants(texts, coefficients):
    law, X, rng = [parse(text) for text in texts], rows(), np.random.default_rng(1)
    y = values(law, X) @ np.array(coefficients)
    fits = fit_constants([[moved(e, rng, 0.05) for e in law] for _ in range(5)], X, y)
    for fit in fits:
        assert fit.loss <= 1e-26 * (y @ y)
        np.testing.assert_allclose(values(fit.expressions, X) @ fit.coefficients, y, rtol=1e-11, atol=1e-12)
        for found, true in zip(fit.expressions, law, strict=True):
            if len(true) > 1:  # a constant that is a whole term is its coefficient's business
                np.testing.assert_allclose(found.constants, true.constants, rtol=1e-9)


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_scipy_finds_no_better_minimum_nearby(seed):
    rng = np.random.default_rng(seed)
    X, chosen = rows(60, seed), rng.choice(len(EVERYWHERE), 3, replace=False)
    model = [moved(parse(EVERYWHERE[i]), rng, 0.1) for i in chosen]
    weights = rng.uniform(0.2, 2.0, 60)
    y = values(model, X) @ rng.standard_normal(3) + 0.05 * rng.standard_normal(60)
    start = [moved(e, rng, 0.1) for e in model]
    [fit] = fit_constants([start], X, y, weights, iterations=200)
    theta = np.concatenate([e.constants for e in fit.expressions])
    # Nearly parallel terms have no minimum, and a tanh that has become a step has no derivative to follow.
    assume(fit.iterations < 200 and np.abs(fit.coefficients).max() < 100.0 and np.abs(theta).max() < 50.0)
    again = least_squares(
        projected_residual, theta, args=(model, X, y, np.sqrt(weights)), method="lm", max_nfev=2000
    )
    assert 2 * again.cost >= fit.loss * (1 - 1e-5)


@settings(max_examples=40, deadline=None)
@given(seed=seeds)
def test_the_loss_is_that_of_the_result_and_never_above_the_initial_projection(seed):
    rng = np.random.default_rng(seed)
    X, weights = rows(50, seed), rng.uniform(0.0, 2.0, 50)
    model = [moved(parse(TERMS[i]), rng, 0.5) for i in rng.choice(len(TERMS), 2, replace=False)]
    y = rng.standard_normal(50)
    before, after = (fit_constants([model], X, y, weights, iterations=n)[0] for n in (0, 30))
    assert before.iterations == 0
    assert before.expressions == tuple(model)
    if not np.isfinite(before.loss):
        assert after.expressions == tuple(model)
        return
    assert after.loss <= before.loss
    for fit in (before, after):
        loss = loss_of(fit.expressions, fit.coefficients, X, y, weights)
        # Large terms may cancel, and the rounding of each of them stays.
        parts = np.abs(values(fit.expressions, X) * fit.coefficients).sum(axis=1)
        assert np.sqrt(fit.loss) == pytest.approx(np.sqrt(loss), rel=1e-12, abs=1e-13 * np.linalg.norm(parts))


def test_more_iterations_never_raise_the_loss():
    X, rng = rows(), np.random.default_rng(3)
    y = values([parse("sin(2*x0)"), parse("exp(x1)")], X) @ np.array([1.0, 0.5]) + 0.1 * rng.standard_normal(
        200
    )
    model = [parse("sin(1.2*x0 + 0.5)"), parse("exp(0.3*x1)")]
    losses = [fit_constants([model], X, y, iterations=n)[0].loss for n in range(12)]
    assert all(later <= earlier for earlier, later in pairwise(losses))
    assert losses[-1] < 0.2 * losses[0]


def test_a_weight_counts_its_row_that_often():
    X, rng = rows(40), np.random.default_rng(4)
    y = np.sin(1.7 * X[:, 0]) + 0.3 * rng.standard_normal(40)
    times, model = rng.integers(0, 4, 40), [parse("sin(1.5*x0 + 0.1)"), parse("x1")]
    [weighted] = fit_constants([model], X, y, times)
    [repeated] = fit_constants([model], np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.loss == pytest.approx(repeated.loss, rel=1e-10)
    np.testing.assert_allclose(weighted.coefficients, repeated.coefficients, rtol=1e-5)


@pytest.mark.parametrize("n", [1, 3, 7, 8, 9, 1023, 1024, 1025, 3000])
def test_every_number_of_rows_is_fitted(n):
    X = rows(n)
    y = 2 * np.exp(-0.8 * X[:, 0])
    [fit] = fit_constants([[parse("exp(-0.6*x0)")]], X, y)
    assert fit.loss <= 1e-26 * (y @ y)


def test_results_depend_neither_on_the_threads_nor_on_the_other_models():
    X, rng = rows(), np.random.default_rng(5)
    y = rng.standard_normal(200) + X[:, 0]
    models = [
        [moved(parse(TERMS[i]), rng, 0.3) for i in rng.choice(len(TERMS), rng.integers(1, 5), replace=False)]
        for _ in range(60)
    ]
    together, threads = fit_constants(models, X, y), fit_constants(models, X, y, n_jobs=2)
    alone = [fit_constants([model], X, y)[0] for model in models]
    for a, b, c in zip(together, threads, alone, strict=True):
        for other in (b, c):
            np.testing.assert_array_equal(a.coefficients, other.coefficients)
            assert a.expressions == other.expressions
            assert (a.loss, a.iterations) == (other.loss, other.iterations)


def test_the_order_of_terms_and_repeated_rows_of_data_make_no_difference_to_the_minimum():
    X = rows()
    model = [parse("sin(1.2*x0 + 0.3)"), parse("inv(x1 + 1.5)")]
    y = values([parse("sin(1.4*x0 + 0.2)"), parse("inv(x1 + 1.8)")], X) @ np.array([1.0, 2.0]) + 0.1 * np.cos(
        9 * X[:, 1]
    )
    [one] = fit_constants([model], X, y)
    [other] = fit_constants([model[::-1]], X, y)
    [twice] = fit_constants([model], np.vstack([X, X]), np.append(y, y))
    assert other.loss == pytest.approx(one.loss, rel=1e-9)
    assert twice.loss == pytest.approx(2 * one.loss, rel=1e-9)


def test_linearly_dependent_terms_get_coefficient_zero_and_the_others_are_fitted():
    X = rows()
    y = 3 * np.sin(1.5 * X[:, 0]) + X[:, 1]
    model = [parse("sin(1.4*x0)"), parse("x1"), parse("x1*2"), parse("x0*0")]
    [fit] = fit_constants([model], X, y)
    np.testing.assert_allclose(fit.coefficients, [3.0, 1.0, 0.0, 0.0], atol=1e-12)
    assert fit.loss <= 1e-26 * (y @ y)


def test_more_terms_than_rows_interpolate():
    X, y = rows(3), np.array([1.0, -2.0, 0.5])
    [fit] = fit_constants([[parse(text) for text in ("x0", "x1", "1", "sin(3*x0)", "x0*x1")]], X, y)
    assert fit.loss < 1e-24
    assert np.count_nonzero(fit.coefficients) == 3


def test_constants_that_only_scale_a_term_are_unchanged():
    X = rows()
    y = 5 * np.exp(1.1 * X[:, 0])
    [fit] = fit_constants(
        [[parse("2*exp(0.9*x0)*3 - 0")]], X, y, fixed=[[parse("2*exp(0.9*x0)*3 - 0").const == 0.0]]
    )
    assert fit.expressions[0].constants[0] == 2.0
    assert fit.expressions[0].constants[2] == 3.0
    assert fit.loss <= 1e-26 * (y @ y)
    assert fit.coefficients[0] == pytest.approx(5 / 6)


def test_redundant_constants_do_not_stop_the_fit():
    X = rows()
    y = np.sin(1.5 * X[:, 0] + 0.4)
    [fit] = fit_constants([[parse("sin(1.2*(1.1*x0 + 0.1) + 0.2)")]], X, y)
    assert fit.loss <= 1e-26 * (y @ y)


def test_fixed_constants_are_unchanged():
    X, e = rows(), parse("sin(1.2*x0 + 0.3)")
    y = np.sin(1.5 * X[:, 0] + 0.3)
    shift = e.const == 0.3
    [fit] = fit_constants([[e, parse("x1")]], X, y, fixed=[[shift, None]])
    assert fit.expressions[0].constants == pytest.approx((1.5, 0.3))
    assert fit.expressions[0].constants[1] == 0.3
    [still] = fit_constants([[e]], X, y, fixed=[[np.ones(len(e), bool)]])
    assert still.expressions == (e,)
    assert still.iterations == 0


@pytest.mark.parametrize("text", ["log(0.5 - x0)", "1/(x0 - x0)", "exp(1000*x0)", "sqrt(x0 - 9)"])
def test_values_that_are_not_finite_at_the_start_give_an_infinite_loss_and_no_change(text):
    model = [parse(text), parse("sin(2*x1)")]
    [fit, fine] = fit_constants([model, model[1:]], rows(), np.ones(200))
    assert fit.loss == np.inf
    assert fit.expressions == tuple(model)
    assert fit.iterations == 0
    assert np.isnan(fit.coefficients).all()
    assert np.isfinite(fine.loss)


def test_a_step_out_of_the_domain_is_rejected():
    X = rows()
    # The best shift is near the end of the domain: −0.1 would be the logarithm of a negative number.
    y = np.log(X[:, 0] - 0.0999)
    [fit] = fit_constants([[parse("log(x0 + 0.5)")]], X, y)
    assert np.isfinite(fit.loss)
    assert fit.loss < fit_constants([[parse("log(x0 + 0.5)")]], X, y, iterations=0)[0].loss
    assert np.isfinite(values(fit.expressions, X)).all()


def test_a_constant_with_zero_derivative_does_not_stop_the_others():
    X = rows() - 1.0
    y = np.sin(1.5 * X[:, 0]) + X[:, 1] ** 2
    [fit] = fit_constants([[parse("sin(1.2*x0)"), parse("pow(x1, 2)")]], X, y)
    assert fit.loss <= 1e-26 * (y @ y)
    assert fit.expressions[1].constants == (2.0,)


def test_a_zero_in_the_data_does_not_freeze_a_root_or_an_exponent():
    X = np.linspace(0.0, 2.0, 40)[:, None]
    y = 2 * X[:, 0] ** 1.5
    [power] = fit_constants([[parse("pow(x0, 1.2)")]], X, y)
    assert power.expressions[0].constants == pytest.approx((1.5,))
    y = np.sqrt(X[:, 0] * (1 + 0.7 * X[:, 0]))
    [root] = fit_constants([[parse("sqrt(x0 + x0*x0*0.4)")]], X, y)
    assert root.expressions[0].constants == pytest.approx((0.7,))


def test_a_model_with_a_user_defined_operator_keeps_its_constants_and_gets_coefficients():
    known = PrimitiveSet(["add", "mul"])
    known.add("bump", lambda a: 1.0 / (1.0 + a * a), 1)
    X = rows()
    custom, plain = [parse("bump(2*x0)", primitives=known), parse("x1")], [parse("sin(1.4*x0)")]
    y = values(custom, X) @ np.array([3.0, -1.0])
    mine, other = fit_constants([custom, plain], X, y)
    assert not mine.polished
    assert mine.expressions == tuple(custom)
    np.testing.assert_allclose(mine.coefficients, [3.0, -1.0])
    assert mine.loss <= 1e-26 * (y @ y)
    assert other.polished
    assert other.iterations > 0


def test_a_user_defined_operator_that_is_not_finite_gives_an_infinite_loss():
    known = PrimitiveSet(["add"])
    known.add("pole", lambda a: 1.0 / (a - a), 1)
    [fit] = fit_constants([[parse("pole(x0)", primitives=known)]], rows(), np.ones(200))
    assert fit.loss == np.inf


def test_models_without_terms_or_constants_are_only_projected():
    X = rows()
    y = 2 * X[:, 0]
    empty, linear = fit_constants([[], [parse("x0")]], X, y)
    assert empty.loss == pytest.approx(y @ y)
    assert empty.coefficients.shape == (0,)
    assert linear.coefficients == pytest.approx([2.0])
    assert fit_constants([], X, y) == []


def test_models_of_different_lengths_get_their_own_constants_and_coefficients():
    X = rows()
    y = np.sin(1.5 * X[:, 0])
    models = [[parse("sin(1.2*x0)")], [parse("x1"), parse("sin(1.3*x0)")]]
    one, two = fit_constants(models, FitData.prepare(X, y))
    np.testing.assert_allclose(one.expressions[0].constants, 1.5)
    np.testing.assert_allclose(two.expressions[1].constants, 1.5)
    np.testing.assert_allclose([*one.coefficients, *two.coefficients], [1.0, 0.0, 1.0], atol=1e-12)
    assert max(one.loss, two.loss) < 1e-25
    assert min(one.iterations, two.iterations) > 0


def test_a_loose_tolerance_takes_fewer_steps():
    X, rng = rows(), np.random.default_rng(6)
    y = values([parse("exp(-x0)"), parse("exp(-3*x0)")], X).sum(axis=1) + 0.05 * rng.standard_normal(200)
    model = [parse("exp(-0.5*x0)"), parse("exp(-2*x0)")]
    [strict], [loose] = (fit_constants([model], X, y, tolerance=t) for t in (1e-13, 1e-3))
    assert loose.iterations < strict.iterations
    assert loose.loss <= strict.loss * 1.01


def test_errors_name_the_invalid_input():
    X, y, e = rows(5), np.ones(5), parse("sin(2*x0)")
    with pytest.raises(ValueError, match="y is missing"):
        fit_constants([[e]], X)
    with pytest.raises(ValueError, match="not finite"):
        fit_constants([[e]], X, y * np.nan)
    with pytest.raises(ValueError, match="shape"):
        fit_constants([[e]], X, np.ones(4))
    with pytest.raises(ValueError, match="at least 0"):
        fit_constants([[e]], X, y, -y)
    with pytest.raises(ValueError, match="uses x7"):
        fit_constants([[parse("x7 + 1")]], X, y)
    with pytest.raises(ValueError, match="needs 4 entries, one per token"):
        fit_constants([[e]], X, y, fixed=[[np.ones(2, bool)]])


@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 2**31))
def test_residuals_of_many_problems_are_those_of_least_squares(n, k, seed):
    rng = np.random.default_rng(seed)
    functions, weights, targets = rng.normal(size=(k, n)), rng.normal(size=(3, n)), rng.normal(size=(3, 2, n))
    weights[1] = 0.0
    found = residuals_of(functions, weights, targets)
    for w, problem, residual in zip(weights, targets, found, strict=True):
        A = (w * functions).T
        expected = problem - (A @ np.linalg.lstsq(A, problem.T, rcond=None)[0]).T
        np.testing.assert_allclose(residual, expected, atol=1e-6 if n <= k else 1e-9)


def test_residuals_of_problems_that_are_not_finite_are_not_numbers():
    functions, weights, targets = np.ones((2, 5)), np.ones((3, 5)), np.ones((3, 1, 5))
    weights[0, 2], targets[1, 0, 3] = np.inf, np.nan
    found = residuals_of(functions, weights, targets)
    assert np.isnan(found[:2]).all()
    np.testing.assert_allclose(found[2], 0.0, atol=1e-14)
