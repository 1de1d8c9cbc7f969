"""Compiled slopes by the constants in a program, against the symbolic derivatives and against differences."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.engine import ReferenceEngine
from fouriertree.engine.gradients import BLOCK_ROWS, Gradient, value_and_slopes
from fouriertree.engine.tape import RECIPES
from fouriertree.expr import Expression, PrimitiveSet, differentiate, parse
from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.expr.opcodes import CONST, TANH, VAR

seeds = st.integers(0, 2**32 - 1)
#: operators that are defined for negative arguments
NEGATIVE = [row.name for row in CATALOGUE.values() if row.domain is None or row.domain.lower < 0.0]


def constants_as_columns(e, n_columns):
    """The same program with its constants read from columns n_columns, n_columns + 1, … instead."""
    op, arg = e.op.copy(), e.arg.copy()
    places = np.flatnonzero(op == CONST)
    op[places], arg[places] = VAR, n_columns + np.arange(len(places))
    return Expression(op, arg, np.zeros(len(op)), e.primitives)


def with_constants(e, values):
    const = e.const.copy()
    const[e.op == CONST] = values
    return Expression(e.op, e.arg, const, e.primitives)


def symbolic_slopes(e, X):
    """Slopes by the constants, by the derivatives in the table of operators: (n_constants, n_rows)."""
    lifted = constants_as_columns(e, X.shape[1])
    table = np.column_stack([X, np.tile(e.constants, (len(X), 1))])
    columns = range(X.shape[1], table.shape[1])
    return np.array([differentiate(lifted, k).evaluate(table) for k in columns]).reshape(-1, len(X))


def difference_quotients(e, X, step=1e-6):
    constants, quotients = np.array(e.constants), []
    for shift in step * np.eye(len(constants)):
        above, below = (with_constants(e, constants + s).evaluate(X) for s in (shift, -shift))
        quotients.append((above - below) / (2 * step))
    return np.array(quotients)


def rows(n=37, n_columns=2, low=0.2, high=0.9, seed=0):
    return np.random.default_rng(seed).uniform(low, high, (n, n_columns))


def test_every_built_in_operator_has_a_recipe_for_every_argument():
    expected = {(row.opcode, k) for row in CATALOGUE.values() for k in range(row.arity)}
    assert set(RECIPES) == expected


@pytest.mark.parametrize("name", CATALOGUE)
def test_slopes_of_every_operator_are_the_symbolic_ones_and_difference_quotients(name):
    arguments = [parse("0.8*x0 + 0.1*x1"), parse("0.9*x1^2 - 0.3*x0 + 0.2")][: CATALOGUE[name].arity]
    e, X = Expression.apply(name, *arguments), rows()
    value, slopes = value_and_slopes(e, X)
    np.testing.assert_allclose(value, e.evaluate(X), rtol=1e-13)
    np.testing.assert_allclose(slopes, symbolic_slopes(e, X), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(slopes, difference_quotients(e, X), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", NEGATIVE)
def test_slopes_hold_for_negative_arguments_too(name):
    arguments = [parse("-0.8*x0 - 0.1*x1"), parse("-0.9*x1 - 0.3*x0")][: CATALOGUE[name].arity]
    e, X = Expression.apply(name, *arguments), rows()
    np.testing.assert_allclose(value_and_slopes(e, X)[1], symbolic_slopes(e, X), rtol=1e-12, atol=1e-13)


def test_slope_by_an_exponent_and_by_its_base_against_mpmath():
    X = rows(n=9, n_columns=1)
    _, slopes = value_and_slopes(parse("pow(x0 + 0.3, 1.7)"), X)
    for x, by_base, by_exponent in zip(X[:, 0], *slopes, strict=True):
        base = mpmath.mpf(float(x)) + mpmath.mpf(0.3)
        exact = [1.7 * base ** mpmath.mpf(0.7), base ** mpmath.mpf(1.7) * mpmath.log(base)]
        np.testing.assert_allclose([by_base, by_exponent], [float(v) for v in exact], rtol=1e-14)


@settings(max_examples=150, deadline=None)
@given(seed=seeds)
def test_slopes_of_random_trees_are_the_symbolic_ones(seed):
    e = RampedHalfAndHalf(1, 6).draw(Grammar(PrimitiveSet.catalogue(), n_columns=2), seed, 0, 1)[0]
    X = rows(n=11, seed=seed)
    value, slopes = value_and_slopes(e, X)
    with np.errstate(all="ignore"):
        exact, expected = e.evaluate(X), symbolic_slopes(e, X)
        moved = symbolic_slopes(e, X * (1 + 4e-16))
        # Where a change in the last digits of the data shows, the expression is ill conditioned and not compared.
        usable = (np.abs(moved - expected) <= 1e-10 * np.abs(expected)) & np.isfinite(expected + exact)
        # An infinite part, as in step(1/0), has no slope, whatever the symbolic derivative of the whole is.
        parts = np.array([e.subtree(i).evaluate(X) for i in range(e.size)])
        usable &= np.isfinite(parts).all(axis=0)
        # The slope 1 - v² of a saturated function has few digits, whatever the data are.
        usable &= (np.abs(np.abs(parts[e.op == TANH]) - 1.0) > 1e-6).all(axis=0)
    np.testing.assert_allclose(slopes[usable], expected[usable], rtol=1e-7)
    steady = np.isfinite(exact) & usable.all(axis=0)
    np.testing.assert_allclose(value[steady], exact[steady], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("n", [1, 7, 8, 9, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS + 5])
def test_every_number_of_rows_gives_the_slopes_of_each_row_alone(n):
    e, X = parse("exp(0.3*x0)*sin(x0^2) + 1.4/(x1 + 0.7)"), rows(n=n)
    value, slopes = value_and_slopes(e, X)
    assert value.shape == (n,)
    assert slopes.shape == (3, n)
    np.testing.assert_allclose(value, e.evaluate(X), rtol=1e-14)
    np.testing.assert_allclose(slopes, symbolic_slopes(e, X), rtol=1e-12)


def test_only_the_chosen_constants_have_a_slope():
    e, X = parse("sin(1.3*x0 + 0.2)*0.7"), rows()
    places = np.flatnonzero(e.op == CONST)
    everything = value_and_slopes(e, X)[1]
    for chosen in ([0], [1], [0, 2], []):
        free = np.zeros(len(e), bool)
        free[places[chosen]] = True
        np.testing.assert_array_equal(value_and_slopes(e, X, free)[1], everything[chosen])


@pytest.mark.parametrize("n", [5, BLOCK_ROWS + 3])
@pytest.mark.parametrize("chosen", [[0], [1, 2], []])
def test_a_tape_that_is_played_again_gives_the_bits_of_a_new_one(n, chosen):
    e, X = parse("sin(1.3*x0 + exp(0.2*x1))*0.7"), rows(n)
    free = np.zeros(len(e), bool)
    free[np.flatnonzero(e.op == CONST)[chosen]] = True
    gradient = Gradient(e, X).with_free(free)
    for shift in (0.0, 0.1, -0.3):
        moved = Expression(e.op, e.arg, e.const + shift * free, e.primitives)
        for found, expected in zip(gradient.at(moved.const), value_and_slopes(moved, X, free), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("text", ["x0", "2.5", "x0*x1", "sin(x0) + 1"])
def test_programs_as_small_as_a_leaf_have_values_and_slopes(text):
    e, X = parse(text), rows()
    value, slopes = value_and_slopes(e, X)
    np.testing.assert_allclose(value, ReferenceEngine().evaluate([e], X)[0], rtol=1e-14)
    np.testing.assert_array_equal(slopes, np.ones((len(e.constants), len(X))))


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("sqrt(2*x0)", 0.0),
        ("pdiv(1, 2*x0)", 0.0),
        ("plog(3*x0)", 0.0),
        ("asin(x0*1)", 1.0),
        ("pow(x0, 1.5)", 0.0),
    ],
)
def test_an_infinite_slope_at_one_row_is_zero_and_does_not_affect_other_rows(text, at):
    e, X = parse(text), np.array([[0.5], [at], [0.25]])
    _, slopes = value_and_slopes(e, X)
    np.testing.assert_array_equal(slopes[:, 1], 0.0)
    others = [0, 2]
    np.testing.assert_allclose(slopes[:, others], symbolic_slopes(e, X[others]), rtol=1e-13)


def test_the_exponent_of_a_negative_number_has_no_slope():
    _, slopes = value_and_slopes(parse("pow(x0, 2.0)"), [[-1.5], [1.5]])
    assert np.isnan(slopes[0, 0])
    assert slopes[0, 1] == pytest.approx(1.5**2 * np.log(1.5))


@pytest.mark.parametrize("name", ["step", "sign"])
def test_a_zero_derivative_is_zero_where_the_adjoint_is_nan(name):
    # The slope by the exponent of a negative number is NaN.
    _, slopes = value_and_slopes(parse(f"pow(x0, {name}(0.3))"), [[-1.5], [1.5]])
    np.testing.assert_array_equal(slopes, [[0.0, 0.0]])


def test_min_and_max_follow_one_argument_on_ties():
    for name in ("min", "max"):
        _, slopes = value_and_slopes(parse(f"{name}(x0 + 1, x0 + 1)"), rows())
        np.testing.assert_array_equal(slopes.sum(axis=0), 1.0)


def test_a_custom_operator_raises():
    known = PrimitiveSet(["add"])
    known.add("bump", lambda a: 1.0 / (1.0 + a * a), 1)
    with pytest.raises(ValueError, match="only built-in operators have compiled derivatives"):
        value_and_slopes(parse("bump(x0) + 1", primitives=known), rows())


def test_a_missing_feature_raises():
    with pytest.raises(ValueError, match="uses feature x5"):
        value_and_slopes(parse("x5*2"), rows())
