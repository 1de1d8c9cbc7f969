"""Symmetries: those that data with a known law have, and no others; every reduction multiplies out to the data."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import PrimitiveSet, differentiate, parse
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search import Progress
from fouriertree.search.hybrid.context import HybridOptions, SearchContext
from fouriertree.search.hybrid.data import SearchData
from fouriertree.search.hybrid.reductions import (
    POWER,
    PRODUCT,
    SUM,
    Reduction,
    Slopes,
    proportion,
    proposals_of,
    reduced_problem,
    signed_error,
    single_index,
    with_inverse,
)
from fouriertree.search.hybrid.scheduler import refilled
from fouriertree.search.hybrid.state import QUICK, REDUCE, HybridState, merged
from fouriertree.search.hybrid.tasks import perform

V = Vocabulary(PrimitiveSet.default())
seeds = st.integers(0, 2**32 - 1)


def data_of(X, y, weights=None):
    """The rows as a search has them, in units of their own."""
    weights, n = np.ones(len(y)) if weights is None else weights, len(y)
    columns, d = np.arange(X.shape[1]), X.shape[1]
    return SearchData(X, y, weights, columns, np.ones(d), 1.0, np.arange(n), None)


def problem_of(law, seed=0, n=240, low=0.5, high=3.0, weights=None):
    """The given problem of a law over its features, and the rows."""
    law = parse(law)
    X = np.random.default_rng(seed).uniform(low, high, (n, max(law.columns) + 1))
    data = data_of(X, law.evaluate(X) * np.ones(n), weights)
    return reduced_problem(data, Reduction(data.variables)), X


def reductions_of(law, weights=None):
    """The reduced problems that the stage for symmetries finds, the given one first, and the rows."""
    given, X = problem_of(law, weights=weights)
    data = data_of(X, given.t, weights)
    context = SearchContext(HybridOptions(), data, V, 0)
    state = refilled(HybridState(context, Progress(0, 0, 0, 0, 1.0), stage=QUICK, round=1))
    while state.stage == REDUCE:
        state = refilled(merged(state, perform(state.jobs[0])))
    return [reduced_problem(data, reduction) for reduction in state.reductions], X


def exact_slopes(law, X):
    """The slopes that a perfect surrogate would have."""
    law = parse(law)
    g = np.stack([differentiate(law, i).evaluate(X) * np.ones(len(X)) for i in range(X.shape[1])])
    return Slopes(law.evaluate(X), X.T * g, g, 0.0, "plain")


def certain(law, kind, vocabulary=V, **how):
    """{features: parameters} of the symmetries of one kind that are certain with exact slopes."""
    problem, X = problem_of(law, **how)
    found = proposals_of(problem, exact_slopes(law, X), vocabulary)
    return {p.variables: p.parameters for p in found if p.certain and p.kind == kind}


# From exact slopes ------------------------------------------------------------------------------------------
POWERS = [
    ("x0^2*sin(x1 + x2)", {(0,): (2.0,)}),
    ("x0*x1/x2^2", {(0,): (1.0,), (1,): (1.0,), (2,): (-2.0,)}),
    ("sqrt(x0)*(1 + x1*x2)/x3", {(0,): (0.5,), (3,): (-1.0,)}),
    ("x0 + x1*x2", {}),
    ("x0*exp(x0)*x1^3", {(1,): (3.0,)}),
    ("x0^0.9*x1", {(1,): (1.0,)}),
]
PRODUCTS = [
    ("x0*x1 + x2/x3", {(0, 1): (1.0, 1.0), (2, 3): (-1.0, 1.0)}),
    ("sin(x0*x1^2) + x2", {(0, 1): (1.0, 2.0)}),
    ("x0 + sin(x1)", {}),
    ("sqrt(1 + x0^2/x1) - x2*x1", {}),
]
SUMS = [
    ("sin(2*x0 + x1) + x2", {(0, 1): (2.0,)}),
    ("x2/(x0 - x1)", {(0, 1): (-1.0,)}),
    ("x0*x1 + x2", {}),
]


@pytest.mark.parametrize(("law", "powers"), POWERS)
def test_features_that_act_as_a_power_are_proposed_with_it_and_no_others(law, powers):
    assert certain(law, POWER) == powers


@pytest.mark.parametrize(("law", "products"), PRODUCTS)
def test_features_that_act_through_a_product_are_proposed_and_no_others(law, products):
    assert certain(law, PRODUCT) == products


@pytest.mark.parametrize(("law", "sums"), SUMS)
def test_features_that_act_through_a_sum_are_proposed_and_no_others(law, sums):
    found = certain(law, SUM)
    assert found.keys() == sums.keys()
    for features, parameters in found.items():
        np.testing.assert_allclose(parameters, sums[features], rtol=1e-9)


@settings(max_examples=20, deadline=None)
@given(
    seed=seeds,
    exponents=st.lists(st.sampled_from([1.0, 2.0, 3.0, -1.0, -2.0, 0.5, -0.5]), min_size=2, max_size=4),
)
def test_every_exponent_of_a_power_law_is_read_off(seed, exponents):
    law = "*".join(f"x{i}^({p})" for i, p in enumerate(exponents))
    assert certain(law, POWER, seed=seed) == {(i,): (p,) for i, p in enumerate(exponents)}


@settings(max_examples=20, deadline=None)
@given(seed=seeds, units=st.lists(st.floats(-20, 20), min_size=4, max_size=4))
def test_units_change_neither_powers_nor_products(seed, units):
    units = 10.0 ** np.array(units)
    problem, X = problem_of("x0^2*sin(x1*x2) + x0^2", seed=seed, high=1.5)
    s = exact_slopes("x0^2*sin(x1*x2) + x0^2", X)

    def kinds(problem, s):
        found = [p for p in proposals_of(problem, s, V) if p.certain and p.kind != SUM]
        return {(p.kind, p.variables, p.parameters) for p in found}

    scales = units[:3, None]
    other = replace(problem, V=problem.V * scales, t=problem.t * units[3])
    moved = Slopes(s.f * units[3], s.e * units[3], s.g * units[3] / scales, 0.0, "plain")
    expected = {(POWER, (0,), (2.0,)), (PRODUCT, (1, 2), (1.0, 1.0))}
    assert kinds(other, moved) == kinds(problem, s) == expected


def test_no_power_is_proposed_that_cannot_be_written_or_taken():
    assert certain("x0/x1", POWER, Vocabulary(PrimitiveSet(["add", "mul", "div"]))) == {
        (0,): (1.0,),
        (1,): (-1.0,),
    }
    assert certain("x0/x1", POWER, Vocabulary(PrimitiveSet(["add", "mul"]))) == {}
    assert certain("x0*x1", POWER, Vocabulary(PrimitiveSet(["add", "sin"]))) == {}
    # A whole power of a feature of both signs, but no root of it.
    assert certain("x0*x1^2", POWER, low=-3.0) == {(0,): (1.0,), (1,): (2.0,)}


# From data --------------------------------------------------------------------------------------------------
FOUND = [
    ("x0*x1/x2^2", [], {"x0": 1.0, "x1": 1.0, "x2": -2.0}),
    ("x0*x1*sqrt(1 - x2^2/16)", ["x2"], {"x0": 1.0, "x1": 1.0}),
    ("sqrt(x1^2 + x2^2)/x0", ["x1", "x2"], {"x0": -1.0}),
    ("x0*x1 + x2/x3", ["x0*x1", "x3/x2"], {}),
]


@pytest.mark.parametrize(("law", "variables", "factor"), FOUND)
def test_the_symmetries_of_a_law_are_found_in_its_data(law, variables, factor):
    last = reductions_of(law)[0][-1].reduction
    assert sorted(map(str, last.variables)) == variables
    assert {str(base): p for base, p in last.factor} == factor


def test_a_sum_of_features_is_found_in_data():
    [_, problem], X = reductions_of("sin(x0 + 0.5*x1) + 3")
    expected = 2.0 * X[:, 0] + X[:, 1]
    np.testing.assert_allclose(problem.V[0], expected, rtol=1e-2)


@pytest.mark.parametrize("law", ["sin(2*x0) + x1^2", "sin(x0*x1) + x1*x2^2 + 2"])
def test_of_a_law_without_symmetries_only_the_given_problem_is_left(law):
    assert len(reductions_of(law)[0]) == 1


@pytest.mark.parametrize("law", ["sqrt(x0)*(1 + x1/x2)", "x0^2/(x1 + x2)"])
def test_every_reduced_problem_multiplies_out_to_the_data(law):
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 240)
    problems, X = reductions_of(law, weights)
    y = parse(law).evaluate(X)
    assert len(problems) > 2
    for problem in problems:
        scale = np.ones(len(y))
        for base, p in problem.reduction.factor:
            scale *= base.evaluate(X) ** p
        np.testing.assert_allclose(problem.t * scale, y, rtol=1e-12)
        # Errors of t count like errors of y.
        np.testing.assert_allclose(problem.weights, weights * scale**2, rtol=1e-12)
        np.testing.assert_allclose(problem.scale, scale, rtol=1e-12)
        variables = problem.reduction.variables
        assert len(variables) == len(problem.V)
        for variable, values in zip(variables, problem.V, strict=True):
            np.testing.assert_allclose(variable.evaluate(X), values, rtol=1e-12)


def test_a_reduction_of_some_rows_has_the_values_of_those_rows():
    problem, X = problem_of("x0^2/(x1 + x2)")
    data, x = data_of(X, problem.t), problem.reduction.variables
    reduction, rows = Reduction(x[1:], ((x[0], 2.0),)), np.array([3, 17, 100])
    whole, part = reduced_problem(data, reduction), reduced_problem(data, reduction, rows)
    for name in ("t", "weights", "scale"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[rows])
    np.testing.assert_array_equal(part.V, whole.V[:, rows])


# One variable for all ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("law", "variable", "factor"),
    [("sin(4*x1/x2)/x0", "x1/x2", {"x0": -1.0}), ("x0*sin(x1*x2*x3/2)", "x1*x2*x3", {"x0": 1.0})],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_wave_of_a_product_is_found_by_sorting(law, variable, factor, seed):
    problem, X = problem_of(law, seed, n=400)
    found = single_index(problem, V)
    assert [str(e) for e in found.variables] == [variable]
    assert {str(base): p for base, p in found.factor} == factor
    again = reduced_problem(data_of(X, problem.t), found)
    np.testing.assert_allclose(found.variables[0].evaluate(X), again.V[0], rtol=1e-12)
    np.testing.assert_allclose(again.t * again.scale, problem.t, rtol=1e-12)


@pytest.mark.parametrize("law", ["sin(4*x0) + x1*x2", "x0 + exp(x1)*sin(5*x2)"])
def test_two_influences_are_not_one_variable(law):
    assert single_index(problem_of(law)[0], V) is None


def test_a_single_index_is_tried_only_where_all_are_positive_and_multiply():
    problem, _ = problem_of("sin(x0*x1)")
    assert single_index(problem, V) is not None
    assert single_index(problem, Vocabulary(PrimitiveSet(["add", "sin"]))) is None
    assert single_index(problem_of("sin(x0*x1)", low=-1.0)[0], V) is None


# The measures -----------------------------------------------------------------------------------------------
@settings(max_examples=50, deadline=None)
@given(seed=seeds, c=st.floats(-1e6, 1e6).filter(lambda c: abs(c) > 1e-6))
def test_proportion_is_the_projection_and_its_squared_sine(seed, c):
    a, b = np.random.default_rng(seed).standard_normal((2, 20))
    assert proportion(c * b, b) == (pytest.approx(c), pytest.approx(0.0, abs=1e-12))
    slope, sine2 = proportion(a, b)
    assert slope == pytest.approx(np.linalg.lstsq(b[:, None], a, rcond=None)[0][0])
    left = a - slope * b
    assert sine2 == pytest.approx(left @ left / (a @ a))
    assert proportion(left, b)[1] == pytest.approx(1.0)


def test_nothing_is_proportional_to_nothing():
    assert proportion(np.zeros(3), np.ones(3)) == proportion(np.ones(3), np.zeros(3)) == (0.0, 1.0)


@settings(max_examples=30, deadline=None)
@given(seed=seeds, unit=st.floats(1e-10, 1e10))
def test_the_signed_error_has_no_unit_and_is_one_for_the_best_constant(seed, unit):
    y, noise = np.random.default_rng(seed).standard_normal((2, 60))
    assert signed_error(y, y) == 0.0
    error = signed_error(y, y + 0.1 * noise)
    assert signed_error(unit * y, unit * (y + 0.1 * noise)) == pytest.approx(error)
    middle = 0.3 * np.median(np.abs(y))
    constant = middle * np.sinh(np.mean(np.arcsinh(y / middle)))
    assert signed_error(y, np.full(60, constant)) == pytest.approx(1.0)


@pytest.mark.parametrize(("law", "first"), [("x0*x1/x2", "x0*x1/x2"), ("x2/(x0*x1)", "x0*x1/x2")])
def test_of_a_product_and_its_reciprocal_the_one_with_more_positive_exponents_comes_first(law, first):
    given, X = problem_of("x0 + x1 + x2")
    data = data_of(X, given.t)
    both = with_inverse(data, Reduction((parse(law),)), V)
    assert len(both) == 2
    np.testing.assert_allclose(both[0].variables[0].evaluate(X), parse(first).evaluate(X))
    np.testing.assert_allclose(both[1].variables[0].evaluate(X), 1.0 / parse(first).evaluate(X))


@pytest.mark.parametrize("variable", ["x0", "x0 + 2*x1"])
def test_a_feature_and_a_sum_have_no_reciprocal_of_their_own(variable):
    given, X = problem_of("x0 + x1")
    reduction = Reduction((parse(variable),))
    assert with_inverse(data_of(X, given.t), reduction, V) == (reduction,)
