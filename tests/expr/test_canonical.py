"""The canonical form is the same function, is not more complex, and is idempotent."""

import random
from itertools import product

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.canonical import canonical, rescaled, simplify, split_number
from fouriertree.expr.opcodes import CONST
from fouriertree.expr.simplify import LARGEST_SIZE

RNG = np.random.default_rng(0)
# Both signs, zeros, ones, equal features, and ordinary points.
SPECIAL = [[0, 0], [0, 1], [1, 0], [-1, 0], [0, -1], [1, 1], [2, 2], [-1, -1], [-1, 1], [-2, 0.5], [0.5, -2]]
X = np.vstack([RNG.uniform(-3, 3, (12, 2)), RNG.uniform(0.2, 2, (12, 2)), SPECIAL])
SETS = {
    "everything": PrimitiveSet(PrimitiveSet.catalogue().names),
    "default": PrimitiveSet.default(),
    "paper": PrimitiveSet.paper(),
    "polynomial": PrimitiveSet.polynomial(),
    "no division": PrimitiveSet(["mul", "pow", "add", "neg"]),
    "no subtraction": PrimitiveSet(["add", "mul", "inv", "cube", "exp", "log"]),
    "signs": PrimitiveSet(["sub", "neg", "mul", "sin", "cos", "div", "square"]),
    "roots": PrimitiveSet(["mul", "div", "sqrt", "square", "exp", "log", "abs"]),
    "roots without abs": PrimitiveSet(["mul", "div", "sqrt", "square", "neg", "sub"]),
    "powers": PrimitiveSet(["mul", "div", "pow", "sqrt", "sub", "abs"]),
}
NUMBERS = [1.0, 2.0, -1.0, 3.0, 0.5, -2.0, 4.0, 0.25, 1.5, -0.5, 0.0, 10.0, 0.1, -0.3]


def grown(draw: random.Random, operators: list, depth: int) -> Expression:
    """A tree in which much cancels: few features and constants, and constant exponents."""
    if depth == 0 or draw.random() < 0.15:
        is_feature = draw.random() < 0.65
        return (
            Expression.variable(draw.randrange(2))
            if is_feature
            else Expression.constant(draw.choice(NUMBERS))
        )
    row = draw.choice(operators)
    if row.name == "pow":
        return Expression.apply(row, grown(draw, operators, depth - 1), draw.choice(NUMBERS))
    return Expression.apply(row, *[grown(draw, operators, depth - 1) for _ in range(row.arity)])


@st.composite
def cases(draw):
    """A tree, the allowed operators, and its positive features."""
    operators = SETS[draw(st.sampled_from(sorted(SETS)))]
    tree = grown(random.Random(draw(st.integers(0, 10**9))), list(operators), draw(st.integers(2, 5)))
    return tree, draw(st.sampled_from([None, operators])), draw(st.sampled_from([(), (0,), (0, 1)]))


def points(positive=()):
    rows = X.copy()
    for column in positive:
        rows[:, column] = np.abs(rows[:, column]) + 0.7 * (rows[:, column] == 0)
    return rows


def parts_are_finite(e, rows):
    """At the rows and near them: at the edge of a domain, rounding determines whether a value is defined."""
    places = np.vstack([rows * (1 + np.array(step)) for step in product((-1e-9, 0.0, 1e-9), repeat=2)])
    finite = np.all([np.isfinite(e.subtree(i).evaluate(places)) for i in range(e.size)], axis=0)
    return finite.reshape(-1, len(rows)).all(axis=0)


def rounding(e, rows):
    """The change of values for relative changes of 1e-12 of features and constants."""
    rng = np.random.default_rng(1)
    values, moved = e.evaluate(rows), np.zeros(len(rows))
    with np.errstate(all="ignore"):
        for _ in range(4):
            const = e.const * (1 + 1e-12 * rng.uniform(-1, 1, e.size))
            other = Expression(e.op, e.arg, const, e.primitives)
            near = rows * (1 + 1e-12 * rng.uniform(-1, 1, rows.shape))
            moved = np.fmax(moved, np.abs(other.evaluate(rows) - values))
            moved = np.fmax(moved, np.abs(e.evaluate(near) - values))
    return moved


def assert_same(found, original, rows, factor=1.0):
    ok = parts_are_finite(original, rows)
    with np.errstate(all="ignore"):
        y, z = original.evaluate(rows), factor * found.evaluate(rows)
        distance, tolerance = np.abs(y - z), 1e-9 * (1 + np.abs(y))
        if (same := distance <= tolerance)[ok].all():
            return
        moved = rounding(original, rows) + abs(factor) * rounding(found, rows)
        same |= distance <= tolerance + 10 * moved
    # Rounding in float64, as in log(exp(1e-11)), is no failure: the values are compared with forty digits.
    for row in rows[ok & ~same]:
        left, right = precisely(original, row), factor * precisely(found, row)
        assert abs(left - right) <= 1e-9 * (1 + abs(left)), f"{original} is not {factor}*({found})"


def precisely(e, row):
    """The value on one row, with forty digits."""
    formula = e.sympy()
    at = {symbol: sympy.Float(float(row[int(symbol.name[1:])]), 40) for symbol in formula.free_symbols}
    return sympy.N(formula.subs(at), 40)


@pytest.mark.parametrize(
    "text", ["sqrt(x1)/sqrt(abs(x0)/exp(x1))", "x1/(abs(x0)*exp(-x1))^2", "exp(-x1)/sqrt(exp(-x0))"]
)
def test_exponentials_keep_their_powers_in_numerators_and_denominators(text):
    original, rows = parse(text), np.random.default_rng(0).uniform(0.3, 2.0, (20, 2))
    assert np.allclose(canonical(original).evaluate(rows), original.evaluate(rows), rtol=1e-12)


@given(cases())
@settings(max_examples=500)
def test_simplify_preserves_values_adds_no_token_and_is_idempotent(case):
    tree, allowed, positive = case
    found = simplify(tree, allowed, positive)
    assert found.size <= tree.size
    assert simplify(found, allowed, positive) == found
    assert_same(found, tree, points(positive))


@given(cases())
@settings(max_examples=1500)
def test_values_are_preserved_wherever_the_expression_and_its_subtrees_are_finite(case):
    tree, allowed, positive = case
    assert_same(canonical(tree, allowed, positive), tree, points(positive))


def test_a_root_moved_out_of_a_logarithm_gives_the_canonical_form():
    found = canonical(parse("log(sqrt((x0^2 + sqrt(x1))/exp(x0^2)))"))
    assert canonical(found) == found


def test_a_logarithm_that_leaves_an_exponential_leaves_no_constant_to_compute():
    assert settled("exp(log(x1) + exp(4))") == "5.148435562634557e+23*x1"


def test_powers_of_roots_of_opposite_numbers_become_one_power():
    assert settled("(sqrt(x0 - x1)*sqrt(x1 - x0))^10.0") == "-(x0 - x1)^10.0"


@given(cases())
@settings(max_examples=1500)
def test_canonical_is_idempotent(case):
    tree, allowed, positive = case
    found = canonical(tree, allowed, positive)
    assert canonical(found, allowed, positive) == found


@given(cases())
@settings(max_examples=1500)
def test_canonical_does_not_increase_the_complexity(case):
    tree, allowed, positive = case
    assert canonical(tree, allowed, positive).complexity <= tree.complexity


@pytest.mark.slow
@given(cases())
@settings(max_examples=6000)
def test_the_same_holds_in_thousands_of_cases(case):
    test_simplify_preserves_values_adds_no_token_and_is_idempotent.hypothesis.inner_test(case)
    test_values_are_preserved_wherever_the_expression_and_its_subtrees_are_finite.hypothesis.inner_test(case)
    test_canonical_is_idempotent.hypothesis.inner_test(case)
    test_canonical_does_not_increase_the_complexity.hypothesis.inner_test(case)


@given(cases())
def test_only_allowed_operators_are_used(case):
    tree, allowed, positive = case
    found = canonical(tree, allowed, positive)
    if allowed is not None:
        assert {allowed.by_opcode(code).name for code in found.op.tolist() if code > 1} <= set(allowed.names)


@given(cases(), st.tuples(*[st.sampled_from([0.5, 1.0, 3.0, 1e3, 1e-4])] * 2))
def test_rescaled_expressions_have_the_same_values(case, scales):
    tree, allowed, positive = case
    rows, scaled_rows = points(positive), points(positive) * np.array(scales)
    found = rescaled(tree, scales, allowed, positive)
    ok = parts_are_finite(tree, rows)
    with np.errstate(all="ignore"):
        y, z = tree.evaluate(rows), found.evaluate(scaled_rows)
        tolerance = rounding(tree, rows) + rounding(found, scaled_rows)
        same = np.abs(y - z) <= 1e-9 * (1 + np.abs(y)) + 10 * tolerance
    assert same[ok].all()


@given(cases())
def test_the_split_coefficient_times_the_rest_is_the_expression(case):
    tree, allowed, positive = case
    number, rest = split_number(tree, allowed, positive)
    assert_same(rest, tree, points(positive), number)


def settled(text, **options):
    return str(canonical(parse(text), **options))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x0 + 2*x0", "3.0*x0"),
        ("x0 - x0", "0.0"),
        ("0.1*x0 + 0.2*x0 - 0.3*x0", "0.0"),
        ("((x0 + 1)*2 + 4)*3", "6.0*x0 + 18.0"),
        ("3*(2*x0 + 4*x1)", "6.0*x0 + 12.0*x1"),
        ("2*x0 - 2*x1", "2.0*(x0 - x1)"),
        ("x1*x0*3 + x0*x1", "4.0*x1*x0"),
        ("-x0 + x1", "x1 - x0"),
        ("-x0 - 2*x1", "-2.0*x1 - x0"),
        ("-(x0 + 3)", "-3.0 - x0"),
        ("-(x0 - x1)*x2", "(x1 - x0)*x2"),
        ("0*sin(x0)", "0.0"),
    ],
)
def test_like_terms_are_collected(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x0*x0^2/x0^3", "1.0"),
        ("1/(1/x0)", "x0"),
        ("inv(inv(x0))*inv(x1)", "x0/x1"),
        ("x0/x1/x2*x1", "x0/x2"),
        ("2*x0*(x1/4)/x2", "0.5*x0*x1/x2"),
        ("(-x0)^2", "x0^2"),
        ("(2*x0)^3*x1", "8.0*x0^3*x1"),
        ("x0^2*x1^2", "(x0*x1)^2"),
        ("x0^2/x1^2", "(x0/x1)^2"),
        ("(x0^3)^5.0", "x0^15.0"),
        ("(x0 + x1)*(x1 + x0)", "(x0 + x1)*(x0 + x1)"),
        ("(x0 + x1)*(x1 + x0)^2", "(x1 + x0)*(x1 + x0)^2"),
        ("(3 - x0)^2*x1/(x0 - 3)", "(x0 - 3.0)*x1"),
        ("(2*x0 + 4*x1)^2", "4.0*(x0 + 2.0*x1)^2"),
        ("(2*x0 + x1)^2", "(2.0*x0 + x1)^2"),
        ("3*(2*x0 + 4*x1)/x2", "6.0*(x0 + 2.0*x1)/x2"),
    ],
)
def test_equal_factors_are_collected(text, expected):
    assert settled(text) == expected


@pytest.mark.parametrize(
    ("text", "positive", "expected"),
    [
        ("sqrt(x0)^2", (), "x0"),
        ("sqrt(x0)*sqrt(x0)", (), "x0"),
        ("sqrt(4*x0)", (), "2.0*sqrt(x0)"),
        ("sqrt(2*x0 + x1)", (), "sqrt(2.0*x0 + x1)"),
        ("sqrt(x0^2)", (), "sqrt(x0^2)"),
        ("sqrt(x0^2)", (0,), "x0"),
        ("sqrt(x0^2)*abs(x1)", (), "abs(x0)*abs(x1)"),
        ("sqrt(x0^4.0)", (), "x0^2"),
        ("sqrt(x0^3)", (0,), "x0*sqrt(x0)"),
        ("sqrt(x0*x1)*sqrt(x0)", (), "sqrt(x0*x0*x1)"),
        ("sqrt(x0*x1)*sqrt(x0)", (0,), "x0*sqrt(x1)"),
        ("sqrt(x0*x1)^2", (), "x0*x1"),
        ("sqrt(-2*x0)", (), "sqrt(-2.0*x0)"),
        ("sqrt(-x0)^2", (), "-x0"),
        ("sqrt(exp(x0))", (), "exp(0.5*x0)"),
        ("(x0^2.0)^0.25", (0,), "sqrt(x0)"),
        ("abs(x0)*abs(x0)", (), "x0*x0"),
        ("abs(-2*x0)", (), "2.0*abs(x0)"),
        ("abs(x0^2 + 1)", (), "x0^2 + 1.0"),
        ("sqrt(sqrt(x0))", (), "sqrt(sqrt(x0))"),
    ],
)
def test_roots_are_taken_only_where_that_is_valid_for_real_numbers(text, positive, expected):
    assert settled(text, positive=positive) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exp(x0)*exp(x1)", "exp(x0 + x1)"),
        ("exp(x0)/exp(x0)", "1.0"),
        ("exp(x0)^2", "exp(2.0*x0)"),
        ("exp(log(x0))", "x0"),
        ("exp(3*log(x0))", "x0*x0*x0"),
        ("exp(0.3*log(x0))", "x0^0.3"),
        ("log(exp(x0))", "x0"),
        ("log(exp(x0)*x1)", "x0 + log(x1)"),
        ("log(x0^3)", "3.0*log(x0)"),
        ("log(x0^2)", "log(x0^2)"),
        ("log(2*x0)", "log(2.0*x0)"),
        ("log(2*x0) - log(2)", "log(x0)"),
        ("x0/exp(x1)", "x0*exp(-x1)"),
        ("x0/(x2*exp(x1))", "x0/(x2*exp(x1))"),
        ("sin(-x0)", "-sin(x0)"),
        ("-sin(x1 - x0)", "sin(x0 - x1)"),
        ("cos(x1 - x0) - cos(x0 - x1)", "0.0"),
        ("tanh(x1 - x0) + tanh(x0 - x1)", "0.0"),
        ("max(x0, x1) - max(x1, x0)", "0.0"),
        ("sin(0)*x0 + cos(0)*x1", "x1"),
    ],
)
def test_functions_follow_their_identities(text, expected):
    assert settled(text) == expected


def test_a_constant_in_an_exponent_becomes_a_factor_unless_the_other_factor_could_overflow():
    assert canonical(parse("exp(x0 + 2)")) == np.exp(2.0) * parse("exp(x0)")
    assert settled("exp(x0 - 600)") == "exp(x0 - 600.0)"


@pytest.mark.parametrize(
    "text",
    ["pdiv(x0, x1)*x1", "plog(x0) + plog(x1)", "exp(plog(x0))", "plog(exp(x0))", "pdiv(x0, x1)/pdiv(x1, x0)"],
)
def test_protected_operators_are_kept_apart_from_plain_ones(text):
    assert settled(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pdiv(x0, 2)", "0.5*x0"),
        ("pdiv(x0, 2*x1)", "pdiv(0.5*x0, x1)"),
        ("pdiv(x0, x0)", "1.0"),
        ("plog(-x0)", "plog(x0)"),
        ("plog(1)*x0 + x1", "x1"),
    ],
)
def test_constant_factors_and_signs_are_moved_out_of_protected_operators(text, expected):
    assert settled(text) == expected


def test_custom_operators_are_opaque():
    operators = PrimitiveSet(["add", "sub", "mul"])
    operators.add("twist", lambda a, b: a - 2.0 * b, arity=2, complexity=5)
    e = parse("twist(x0 + x0, x1) + twist(2*x0, x1)", primitives=operators)
    assert str(canonical(e)) == "2.0*twist(2.0*x0, x1)"
    assert str(canonical(e, operators)) == "2.0*twist(2.0*x0, x1)"


def test_infinite_subtrees_give_the_same_values():
    rows = np.array([[0.0, 2.0], [0.0, -2.0]])
    for text in ("1/(1/x0)", "exp(-1/x0^2)", "atan(1/x0)", "x1/(x1/x0)", "1/(1/x0 + 1/x1)"):
        e = parse(text)
        np.testing.assert_array_equal(canonical(e).evaluate(rows), e.evaluate(rows))


@pytest.mark.parametrize(
    "text", ["x0*1e200*1e200", "(1e-200*x0)^2", "1/(x0*0)", "sqrt(-1)*x0", "log(0) + x0"]
)
def test_constants_out_of_range_are_not_combined(text):
    assert settled(text) == str(parse(text))


def test_without_a_canonical_form_constant_subtrees_are_evaluated():
    assert settled("x0*1e200*1e200 + cos(0)*2") == "x0*1e+200*1e+200 + 2.0"


def test_minus_signs_and_powers_use_allowed_operators():
    e = parse("-x0 - x1*x1*x1")
    assert settled("-x0 - x1*x1*x1") == "-x0 - x1*x1*x1"
    assert str(canonical(e, PrimitiveSet(["add", "sub", "mul", "neg", "cube"]))) == "-x0 - x1^3"
    assert str(canonical(parse("x0 - 2*x1"), PrimitiveSet(["add", "mul"]))) == "x0 + -2.0*x1"
    assert str(canonical(parse("inv(x0)*x1"), PrimitiveSet(["mul", "inv"]))) == "x1*inv(x0)"
    assert str(canonical(parse("x0^0.5*x1"), PrimitiveSet(["mul", "sqrt"]))) == "sqrt(x0)*x1"


def test_rescaling_adds_as_few_constants_as_possible():
    assert str(rescaled(parse("2*x0/x1 + x1"), [4.0, 0.5])) == "0.25*x0/x1 + 2.0*x1"
    assert str(rescaled(parse("exp(-x0^2/2)"), [0.5, 1.0])) == "exp(-2.0*x0^2)"


@pytest.mark.parametrize(
    ("text", "number", "rest"),
    [
        ("2*x0*(3*x1)", 6.0, "x0*x1"),
        ("5/x0", 5.0, "1.0/x0"),
        ("7", 7.0, "1.0"),
        ("0*x0", 1.0, "0.0"),
        ("sin(2*x0)", 1.0, "sin(2.0*x0)"),
        ("-x0 - x1", -1.0, "x0 + x1"),
        ("(2*x0 + 4*x1)/x2", 2.0, "(x0 + 2.0*x1)/x2"),
        ("3*x0 + 6", 3.0, "x0 + 2.0"),
    ],
)
def test_examples_of_splitting(text, number, rest):
    found = split_number(parse(text))
    assert (found[0], str(found[1])) == (number, rest)


def test_large_trees_are_not_changed():
    chain = Expression.variable(0)
    while chain.size <= LARGEST_SIZE:
        chain = chain + Expression.constant(-1.0)
    assert canonical(chain) is chain
    assert split_number(chain) == (1.0, chain)
    assert rescaled(chain, [1.0]) == chain
    assert chain.op[-2] == CONST


def test_deep_trees_do_not_exhaust_the_stack():
    deep = Expression.variable(0)
    for _ in range(LARGEST_SIZE // 6):
        deep = Expression.apply("sqrt", 1.0 + deep * deep.variable(1))
    assert canonical(deep).size == deep.size


def test_a_large_power_of_a_sum_with_large_coefficients_is_no_error():
    whole = parse("3*(1e60*x0 + x1)^7.5")
    assert canonical(whole, positive=(0, 1)).evaluate([[1e-60, 1.0]]) == pytest.approx(3.0 * 2.0**7.5)
