"""Exact polynomials: a ring, and the normal form of trees."""

from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.polynomial import LARGEST_EXPONENT, Polynomial, normal_form
from fouriertree.space.polynomial import compose_affine, legendre_coefficients

from .strategies import expressions

fractions = st.fractions(-5, 5, max_denominator=12)
polynomials = st.lists(fractions | st.just(Fraction(0)), max_size=6).map(Polynomial.of)
ZERO, ONE, X = Polynomial(()), Polynomial((1,)), Polynomial((0, 1))
POLYNOMIAL_OPERATORS = PrimitiveSet(["add", "sub", "mul", "neg", "square", "cube"])
trees = expressions(POLYNOMIAL_OPERATORS, n_columns=1, max_leaves=7, edges=False)
few = settings(max_examples=40)


@st.composite
def polynomial_trees(draw):
    """Trees of + − * and small powers over x0 and constants that are exact in binary."""
    tree = draw(trees)
    simple = [draw(st.integers(-8, 8)) / 4 if code == 0 else 0.0 for code in tree.op.tolist()]
    return Expression(tree.op, tree.arg, simple)


def degree_bound(tree):
    """Degree of a tree if nothing cancels."""
    stack = []
    for code, column in zip(tree.op.tolist(), tree.arg.tolist(), strict=True):
        row = None if code < 2 else tree.primitives.by_opcode(code)
        if row is None:
            stack.append(code + column)
        elif row.arity == 1:
            stack.append(stack.pop() * {"square": 2, "cube": 3}.get(row.name, 1))
        else:
            a, b = stack.pop(), stack.pop()
            stack.append(a + b if row.name == "mul" else max(a, b))
    return stack[0]


small_trees = polynomial_trees().filter(lambda tree: degree_bound(tree) <= 20)


def at(tree, x):
    """Value of a polynomial tree at a rational number, exactly."""
    stack = []
    for code, constant in zip(tree.op.tolist(), tree.const.tolist(), strict=True):
        if code < 2:
            stack.append(x if code else Fraction(constant))
            continue
        name = tree.primitives.by_opcode(code).name
        b = stack.pop()
        if name in ("neg", "square", "cube"):
            stack.append({"neg": -b, "square": b**2, "cube": b**3}[name])
        else:
            a = stack.pop()
            stack.append({"add": a + b, "sub": a - b, "mul": a * b}[name])
    return stack[0]


# The ring --------------------------------------------------------------------------------------------
@given(polynomials, polynomials, polynomials)
def test_polynomials_are_a_commutative_ring(p, q, r):
    assert (p + q) + r == p + (q + r)
    assert p + q == q + p
    assert p + ZERO == p
    assert p + (-p) == ZERO
    assert p - q == p + (-q)
    assert (p * q) * r == p * (q * r)
    assert p * q == q * p
    assert p * ONE == p
    assert p * (q + r) == p * q + p * r


@given(polynomials, polynomials)
def test_what_was_added_can_be_taken_away_and_what_was_multiplied_divided(p, q):
    assert (p + q) - q == p
    assert hash((p + q) - q) == hash(p)
    assert (p * Polynomial.of([Fraction(3, 7)])) / Fraction(3, 7) == p


@given(polynomials, polynomials, fractions)
def test_evaluation_is_a_ring_homomorphism(p, q, x):
    assert (p + q)(x) == p(x) + q(x)
    assert (p - q)(x) == p(x) - q(x)
    assert (p * q)(x) == p(x) * q(x)
    assert p(x) == sum(c * x**i for i, c in enumerate(p.coefficients))


@given(polynomials, st.lists(st.floats(-3, 3), min_size=1, max_size=5))
def test_values_at_many_points_are_the_exact_ones_rounded(p, points):
    exact = [p(x) for x in points]
    size = [float(sum(abs(c * Fraction(x) ** i) for i, c in enumerate(p.coefficients))) for x in points]
    error = np.abs(p.values(np.array(points)) - np.array([float(v) for v in exact]))
    assert (error <= 2e-15 * np.array(size)).all()


@given(polynomials, polynomials)
def test_degrees_add_up_and_the_last_coefficient_is_never_zero(p, q):
    for r in (p, q, p + q, p - q, p * q):
        assert r.degree == len(r.coefficients) - 1
        assert r == ZERO or r.coefficients[-1] != 0
        assert r.span_size == sum(c != 0 for c in r.coefficients)
    assert (p * q).degree == (p.degree + q.degree if p != ZERO and q != ZERO else -1)


@given(st.lists(fractions, max_size=6))
def test_coefficients_come_back(coefficients):
    found = list(Polynomial.of(coefficients).coefficients)
    assert found + [0] * (len(coefficients) - len(found)) == coefficients


@given(st.lists(st.floats(-1e6, 1e6), max_size=5))
def test_floats_are_taken_exactly(coefficients):
    p = Polynomial.of(coefficients)
    assert [p.coefficients[i] if i <= p.degree else 0 for i in range(len(coefficients))] == coefficients


@given(polynomials, polynomials, fractions, fractions, fractions)
def test_the_integral_is_linear_additive_and_inverts_the_derivative(p, q, a, b, c):
    assert (p + q).integral(a, b) == p.integral(a, b) + q.integral(a, b)
    assert p.integral(a, b) + p.integral(b, c) == p.integral(a, c)
    antiderivative = [Fraction(0), *(k / (i + 1) for i, k in enumerate(p.coefficients))]
    value = sum(k * (b**i - a**i) for i, k in enumerate(antiderivative))
    assert p.integral(a, b) == value


@pytest.mark.parametrize(
    ("coefficients", "text"),
    [([], "0"), ([1], "1"), ([0, 1], "x"), ([Fraction(1, 2), 0, -2], "1/2 + -2*x^2"), ([0, 0, 0, 1], "x^3")],
)
def test_polynomials_print_as_sums(coefficients, text):
    assert str(Polynomial.of(coefficients)) == text


# Trees -----------------------------------------------------------------------------------------------
@given(polynomial_trees(), fractions)
def test_the_normal_form_has_the_values_of_the_tree_exactly(tree, x):
    if degree_bound(tree) <= 60:
        assert normal_form(tree)(x) == at(tree, x)


@few
@given(small_trees)
def test_the_normal_form_is_sympys(tree):
    x = sympy.Symbol("x0")
    exact = tree.sympy().replace(lambda e: e.is_Float, lambda e: sympy.Rational(Fraction(float(e))))
    expected = sympy.Poly(exact, x).all_coeffs()[::-1]
    found = [sympy.Rational(c.numerator, c.denominator) for c in normal_form(tree).coefficients]
    assert found == (expected if expected != [0] else [])


@few
@given(small_trees, small_trees)
def test_the_normal_form_of_an_operator_is_the_operator_on_normal_forms(f, g):
    p, q = normal_form(f), normal_form(g)
    assert normal_form(f + g) == p + q
    assert normal_form(f - g) == p - q
    assert normal_form(f * g) == p * q
    assert normal_form(-f) == -p
    assert normal_form(f**2) == p * p
    assert normal_form(f**3) == p * p * p
    assert normal_form(f / 4) == p / 4


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7])
def test_whole_powers_are_products(n):
    base = parse("x0 - 2")
    product = ONE
    for _ in range(n):
        product = product * normal_form(base)
    assert normal_form(Expression.apply("pow", base, float(n))) == product
    assert normal_form(parse(f"(x0 - 2)^{n}")) == product


def test_different_trees_of_one_function_have_one_normal_form():
    forms = [
        "(x0 + 1)^2",
        "x0^2 + 2*x0 + 1",
        "(1 + x0)*(x0 + 1)",
        "x0*(x0 + 2) + 1",
        "((x0 + 1)*2)^2/4",
        "(x0 + 1)^2.0",
    ]
    assert len({normal_form(parse(text)) for text in forms}) == 1


def test_the_span_size_counts_terms_that_did_not_cancel():
    assert normal_form(parse("(x0 + 1)*(x0 - 1)")).span_size == 2
    assert normal_form(parse("x0 - x0")).span_size == 0
    assert normal_form(parse("(x0 + 1)^3")).span_size == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sin(x0)", "'sin' does not make polynomials"),
        ("x0 + exp(1)", "'exp' does not make polynomials"),
        ("pdiv(x0, 2)", "'pdiv' does not make polynomials"),
        ("x0/x0", "divisor is a constant"),
        ("x0/0", "divisor is a constant other than zero"),
        ("x0/(x0 - x0)", "divisor is a constant other than zero"),
        ("x1 + 1", "one variable, x0; the expression uses x1"),
        ("x0 + inf", "not finite"),
        ("x0*nan", "not finite"),
        ("x0^0.5", "a power is a polynomial only"),
        ("x0^(-1)", "a power is a polynomial only"),
        ("2^x0", "a power is a polynomial only"),
        (f"x0^{LARGEST_EXPONENT + 1}", "at most"),
    ],
)
def test_trees_that_are_no_polynomials_are_refused_with_the_reason(text, message):
    with pytest.raises(ValueError, match=message):
        normal_form(parse(text))


def test_a_users_operator_is_named_in_the_refusal():
    operators = PrimitiveSet(["add"])
    operators.add("wave", lambda a: a * 2.0)
    with pytest.raises(ValueError, match="'wave' does not make polynomials"):
        normal_form(parse("wave(x0)", primitives=operators))


# The Legendre basis ----------------------------------------------------------------------------------
def legendre(k):
    """P_k by Bonnet's recursion, exactly."""
    before, now = ZERO, ONE
    for i in range(k):
        before, now = now, (X * now * Polynomial.of([2 * i + 1]) - before * Polynomial.of([i])) / (i + 1)
    return now


@given(st.lists(fractions, max_size=9))
def test_legendre_coefficients_put_the_polynomial_together_again(coefficients):
    p = Polynomial.of(coefficients)
    total = ZERO
    for k, c in enumerate(legendre_coefficients(p.coefficients)):
        total = total + legendre(k) * Polynomial.of([c])
    assert total == p


@given(st.lists(fractions, min_size=1, max_size=9))
def test_legendre_coefficients_are_numpys(coefficients):
    expected = np.polynomial.legendre.poly2leg([float(c) for c in coefficients])
    series = [float(c) for c in legendre_coefficients(coefficients)]
    found = np.pad(series, (0, len(coefficients) - len(series)))
    np.testing.assert_allclose(found[: len(expected)], expected, rtol=1e-12, atol=1e-12)
    assert not found[len(expected) :].any()


@pytest.mark.parametrize("k", range(6))
def test_a_legendre_polynomial_has_one_coefficient(k):
    assert legendre_coefficients(legendre(k).coefficients) == [0] * k + [1]


@given(polynomials, fractions, fractions, fractions)
def test_substitution_of_a_linear_polynomial_is_composition(p, slope, offset, x):
    assert compose_affine(p, slope, offset)(x) == p(slope * x + offset)
