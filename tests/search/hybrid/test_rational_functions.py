"""Rational functions: one that equals the target is found, with the smallest degrees, in any units and with zeros."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree import SymbolicRegressor
from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search.hybrid.baselines import MAX_NEAR_DEGREE, NEARLY_RATIONAL, rational_functions
from fouriertree.search.hybrid.evaluation import EXACT

V = Vocabulary(PrimitiveSet.default())
SPARE = 4
#: numerator, denominator (the lowest power first), and where: sparse ones, with zeros and without
LAWS = {
    "1/(1 + x^2)": ([1], [1, 0, 1]),
    "x^4/(1 + x^4)": ([0, 0, 0, 0, 1], [1, 0, 0, 0, 1]),
    "(x + 1)^3/(x^2 - x + 1)": ([1, 3, 3, 1], [1, -1, 1]),
    "(x^6 + x^5)/(x^4 + … + 1)": ([0, 0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1]),
}


def value(coefficients, x):
    return np.polynomial.polynomial.polyval(x, coefficients)


def found_in(x, y, weights=None):
    return list(rational_functions(x, y, np.ones(len(x)) if weights is None else weights, SPARE))


def terms(coefficients):
    """Powers with their coefficients, the first of which is one."""
    kept = [(p, float(c)) for p, c in enumerate(coefficients) if c]
    return [(p, c / kept[0][1]) for p, c in kept]


def same(polynomial, expected):
    return [p for p, _ in polynomial] == [p for p, _ in expected] and np.allclose(
        [c for _, c in polynomial], [c for _, c in expected], rtol=1e-6
    )


@pytest.mark.parametrize("interval", [(-1.0, 1.0), (-10.0, 10.0), (0.3, 2.0)])
@pytest.mark.parametrize(("above", "below"), LAWS.values(), ids=LAWS)
def test_a_rational_function_is_found_with_the_smallest_degrees_it_has(above, below, interval):
    x = np.linspace(*interval, 20)
    *_, last = found_in(x, value(above, x) / value(below, x))
    exact = [f for f in last if f.loss <= EXACT]
    assert any(same(f.above, terms(above)) and same(f.below, terms(below)) for f in exact)
    assert len(found_in(x, value(above, x) / value(below, x))) == len(above) + len(below) - 2


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    above=st.integers(0, 2),
    below=st.integers(1, 2),
    unit=st.sampled_from([1.0, 1e-9, 3e6]),
)
def test_units_and_weights_change_the_constants_only(seed, above, below, unit):
    rng = np.random.default_rng(seed)
    P, Q = rng.uniform(0.5, 2.0, above + 1), rng.uniform(0.5, 2.0, below + 1)
    x = rng.uniform(0.1, 3.0, 30)
    y = value(P, x) / value(Q, x)
    *_, plain = found_in(x, y)
    *_, other = found_in(unit * x, 7.0 * y, rng.uniform(0.5, 2.0, 30))
    best = min(plain, key=lambda f: f.loss)
    moved = min(other, key=lambda f: f.loss)
    assert max(best.loss, moved.loss) <= EXACT
    for polynomial, original in ((moved.above, best.above), (moved.below, best.below)):
        back = [(p, c * unit ** (p - polynomial[0][0])) for p, c in polynomial]
        assert [p for p, _ in back] == [p for p, _ in original]


def test_the_written_expression_has_the_stated_loss():
    x = np.linspace(0.2, 3.0, 40)
    y = np.exp(-x) + 0.001 * np.random.default_rng(0).normal(size=40)
    near = [f for found in found_in(x, y) for f in found]
    assert near
    for f in near:
        values = f.expression(V, Expression.variable(0)).evaluate(x[:, None])
        residual = y - values * (values @ y) / (values @ values)
        assert residual @ residual / (y @ y) == pytest.approx(f.loss, rel=1e-6)
        assert f.loss <= NEARLY_RATIONAL
        assert max(p for p, _ in f.above) + max(q for q, _ in f.below) <= MAX_NEAR_DEGREE


def test_few_rows_are_no_evidence_for_a_rational_function():
    x = np.linspace(0.2, 3.0, SPARE + 1)
    assert found_in(x, np.sin(x)) == []


def test_a_target_with_zeros_or_of_zeros_does_no_harm():
    x = np.linspace(-1.0, 1.0, 21)
    assert found_in(x, np.zeros(21)) is not None
    *_, last = found_in(x, x / (x**2 + 1.0))
    assert any(f.loss <= EXACT for f in last)


@pytest.mark.parametrize(("above", "below"), LAWS.values(), ids=LAWS)
def test_the_regressor_finds_it_from_twenty_rows(above, below):
    x = np.linspace(-1.0, 1.0, 20)
    model = SymbolicRegressor(random_state=0, max_evaluations=10**6).fit(
        x[:, None], value(above, x) / value(below, x)
    )
    new = np.linspace(-0.99, 0.99, 50)
    assert np.allclose(
        model.predict(new[:, None]), value(above, new) / value(below, new), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("degree", [6, 9])
def test_an_exact_polynomial_may_have_more_terms_than_three_rows_each(degree):
    x = np.random.default_rng(0).uniform(-1.0, 1.0, 20)
    y = sum(x**p for p in range(1, degree + 1))
    model = SymbolicRegressor(random_state=0, max_evaluations=10**6).fit(x[:, None], y)
    assert model.model_.n_terms == degree
    assert np.allclose(model.predict(x[:, None]), y, atol=1e-10)


@pytest.mark.parametrize("function", [np.cosh, np.exp, np.sin])
def test_a_rational_function_that_is_close_to_any_smooth_function_ends_no_search(function):
    x = np.linspace(-1.5, 1.5, 60)
    model = SymbolicRegressor(
        operators=["+", "-", "*", "/", "exp", "sin"], random_state=0, max_evaluations=10**7
    )
    model.fit(x[:, None], 2.0 * function(x))
    assert model.get_best()["complexity"] <= 20
