"""Shorter forms: equal values, less complexity, and the forms that a scientist would write."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.canonical import canonical
from fouriertree.expr.complexity import Complexity
from fouriertree.expr.factoring import expanded, shorter
from fouriertree.expr.vocabulary import Vocabulary

from .strategies import expressions

V, COST = Vocabulary(PrimitiveSet.default()), Complexity()
ROWS = np.random.default_rng(0).uniform(0.5, 3.0, (40, 4))


def same(a: Expression, b: Expression, tolerance: float = 1e-9) -> None:
    with np.errstate(all="ignore"):
        x, y = a.evaluate(ROWS) + 0.0 * ROWS[:, 0], b.evaluate(ROWS) + 0.0 * ROWS[:, 0]
    finite = np.isfinite(x) & np.isfinite(y) & (np.abs(x) < 1e100)
    size = np.abs(x[finite]).max(initial=1.0)
    np.testing.assert_allclose(y[finite], x[finite], rtol=tolerance, atol=tolerance * size)


terms = st.lists(
    st.tuples(
        st.sampled_from([-3.0, -1.0, 0.5, 1.0, 2.0, 1.21]),
        st.lists(
            st.sampled_from(["x0", "x1", "x2", "exp(x0)", "x1^2", "1/x2", "1/x0", "(x0 + 2)"]),
            min_size=0,
            max_size=4,
        ),
    ),
    min_size=2,
    max_size=6,
)


@settings(max_examples=150, deadline=None)
@given(terms)
def test_sums_of_products_keep_their_values_and_get_no_more_complex(some):
    text = " + ".join("*".join([f"({number})", *factors]) for number, factors in some)
    e = canonical(parse(text), PrimitiveSet.default(), (0, 1, 2))
    found = shorter(e, V, COST)
    same(e, found)
    assert COST(found) <= COST(e)
    same(e, expanded(found, V))


@settings(max_examples=100, deadline=None)
@given(expressions())
def test_any_expression_keeps_its_values(e):
    found = shorter(e, V, COST)
    same(e, found, 1e-7)
    assert COST(found) <= COST(e)


@pytest.mark.parametrize(
    ("given_form", "shortest"),
    [
        ("x0^2/x2 - 2*x0*x1/x2 + x1^2/x2", "(x0 - x1)^2/x2"),
        ("x0^2 + 2.2*x0*x1 + 1.21*x1^2", "(x0 + 1.1*x1)^2"),
        ("4*x0^2 + 4*x0*x1 + x1^2 + x2", "x2 + (2*x0 + x1)^2"),
        ("x0*x1 + x0*x2 + x3*x1 + x3*x2", "(x1 + x2)*(x0 + x3)"),
        ("0.5/(1/x0 + 0.5)", "x0/(x0 + 2)"),
        ("x0/(1 + 2/x1)", "x0*x1/(x1 + 2)"),
        ("1/(1/x0 + 1/x1)", "x0*x1/(x0 + x1)"),
        ("x0*exp(x1) + 3*exp(x1)", "(x0 + 3)*exp(x1)"),
        ("sin(x0*x1 + 2*x0) + x0", "sin(x0*(x1 + 2)) + x0"),
    ],
)
def test_the_shortest_of_equal_forms_is_found(given_form, shortest):
    e = canonical(parse(given_form), PrimitiveSet.default(), (0, 1, 2, 3))
    found = canonical(shorter(e, V, COST), PrimitiveSet.default(), (0, 1, 2, 3))
    same(e, found)
    assert COST(found) <= COST(canonical(parse(shortest), PrimitiveSet.default(), (0, 1, 2, 3)))


@pytest.mark.parametrize(
    "text", ["4.4/(0.86 + x0) + 1.3*x0", "x0 - x1", "exp(x0 + 1)", "x0^2 + x0*x1 + x1^2 + 1"]
)
def test_partial_fractions_and_other_short_forms_stay(text):
    e = parse(text)
    assert COST(shorter(e, V, COST)) <= COST(e)
    if "^" not in text:
        assert shorter(e, V, COST) is e


def test_a_variable_is_not_taken_out_of_some_addends_only():
    for text in ("3*x0^2 + 0.2*x0*sin(x1) - x1", "x0^4 + 2*x0^3 - x0^2 + x0"):
        e = parse(text)
        assert shorter(e, V, COST) is e


def test_numbers_that_overflow_stay_as_they_are():
    e = parse("x0*(1e200*x1)^3 + x0")
    assert shorter(e, V, COST) is e
    assert expanded(e, V) is e


def test_operators_that_are_not_allowed_are_not_used():
    few = Vocabulary(PrimitiveSet(["add", "mul"]))
    e = parse("x0*x1 + x0*x2")
    assert COST(shorter(e, few, COST)) < COST(e)
    with_square = parse("x0^2 + 2*x0*x1 + x1^2")
    found = shorter(with_square, few, COST)
    same(with_square, found)


def test_sums_with_a_constant_and_long_products_of_sums_are_not_multiplied_out():
    for text in ("x1*(x0 - 2010)", "*".join(f"(x{i} + x{i + 1})" for i in range(12))):
        e = parse(text)
        assert expanded(e, V).size <= e.size + 2


@pytest.mark.parametrize(
    "text",
    [
        "1/(" + " + ".join(f"x0*x{i}/x{i + 1}/x{i + 2}" for i in range(8)) + ")",
        "1/(" + " + ".join(f"sin(x{i})*x{i + 1}/cos(x{i + 2})" for i in range(8)) + ")",
    ],
)
def test_wide_fractions_take_no_longer_than_others(text):
    e = parse(text)
    assert COST(shorter(e, V, COST)) <= COST(e)


def test_powers_of_powers_and_products_of_large_numbers_stay():
    e = parse("x0 + 1")
    for _ in range(8):
        e = ((e**3) ** 3) + Expression.constant(1.0)
    assert shorter(e, V, COST) is e
    e = parse("1e200*(x0*x1*1e200) + x0*x2")
    assert shorter(e, V, COST) is e
