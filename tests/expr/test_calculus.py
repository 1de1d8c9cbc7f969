import pickle

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings

from fouriertree.expr import Expression, PrimitiveSet, differentiate, parse
from fouriertree.expr.catalogue import CATALOGUE

from .strategies import expressions

SMOOTH = PrimitiveSet(
    ["add", "sub", "mul", "div", "sin", "cos", "exp", "log", "square", "cube", "neg", "atan", "tanh"]
)
#: operators that are defined for negative arguments
NEGATIVE = [row.name for row in CATALOGUE.values() if row.domain is None or row.domain.lower < 0.0]
# Off every kink and pole, inside every domain.
ROWS = np.array([[0.31, 0.72], [0.83, 0.24], [0.57, 0.61]])


def slope(e: Expression, X: np.ndarray, column: int, step: float = 1e-6) -> np.ndarray:
    """Central difference quotient along a feature."""
    shift = np.zeros(X.shape[1])
    shift[column] = step
    return (e(X + shift) - e(X - shift)) / (2 * step)


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_derivative_of_every_operator_matches_finite_differences(name):
    arguments = [parse("x0*x1 + 0.1*x0"), parse("0.9*x1^2 - 0.3*x0 + 0.2")][: CATALOGUE[name].arity]
    e = Expression.apply(name, *arguments)
    for column in (0, 1):
        np.testing.assert_allclose(
            differentiate(e, column)(ROWS), slope(e, ROWS, column), rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("name", NEGATIVE)
def test_derivatives_hold_for_negative_arguments_too(name):
    arguments = [parse("-x0*x1"), parse("-0.9*x1 - 0.3*x0")][: CATALOGUE[name].arity]
    e = Expression.apply(name, *arguments)
    for column in (0, 1):
        np.testing.assert_allclose(
            differentiate(e, column)(ROWS), slope(e, ROWS, column), rtol=1e-6, atol=1e-8
        )


@given(expressions(SMOOTH, n_columns=2, max_leaves=6, edges=False))
def test_derivatives_of_random_trees_match_finite_differences(e):
    # Reciprocals of smaller values overflow before a derivative of zero.
    numbers = np.abs(e.const[e.const != 0.0])
    assume(((numbers > 1e-100) & (numbers < 1e100)).all())
    for column in (0, 1):
        with np.errstate(all="ignore"):
            found, coarse, fine = (
                differentiate(e, column)(ROWS),
                slope(e, ROWS, column, 2e-5),
                slope(e, ROWS, column, 1e-5),
            )
            # Where two step sizes disagree, the quotient is inaccurate because of rounding or a nearby pole.
            usable = np.abs(coarse - fine) < 1e-6 * (1e-2 + np.abs(fine))
            usable &= np.abs(e(ROWS)) < 1e3
            # An infinite part, as in x/(x/0), has no derivative where the value is finite.
            usable &= np.isfinite([e.subtree(i)(ROWS) for i in range(e.size)]).all(axis=0)
        np.testing.assert_allclose(found[usable], fine[usable], rtol=1e-3, atol=1e-4)


@settings(max_examples=40)
@given(
    expressions(PrimitiveSet(["add", "mul", "sin", "exp", "square"]), n_columns=2, max_leaves=4, edges=False)
)
def test_derivatives_of_random_trees_match_sympys(e):
    symbols = sympy.symbols("x0 x1")
    for column in (0, 1):
        exact = sympy.diff(e.sympy(), symbols[column])
        for row in ROWS[:1]:
            expected = exact.evalf(30, subs=dict(zip(symbols, row.tolist(), strict=True)))
            found = differentiate(e, column)(row[None])[0]
            assume(np.isfinite(found) and abs(found) < 1e100)
            assert found == pytest.approx(float(expected), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "derivative"),
    [
        ("3.5", "0"),
        ("x1", "0"),
        ("x0", "1"),
        ("x0 + x1", "1"),
        ("x1 - x0", "-1"),
        ("2*x0", "2"),
        ("x0*x1", "x1"),
        ("x0^2", "2*x0"),
        ("x0^2.5", "2.5*x0^1.5"),
        ("pow(x0, 2)", "2*x0"),
        ("-x0", "-1"),
        ("-sin(x0)", "-cos(x0)"),
        ("sin(2*x0)", "cos(2*x0)*2"),
        ("exp(x1)*x0", "exp(x1)"),
    ],
)
def test_zeros_and_ones_are_folded_away(text, derivative):
    assert differentiate(parse(text), 0) == parse(derivative)


def test_kinks_get_a_one_sided_slope():
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    assert set(differentiate(parse("abs(x0)"), 0)(X)) <= {-1.0, 1.0}
    for name in ("min", "max"):
        e = parse(f"{name}(x0, x1)")
        np.testing.assert_array_equal(differentiate(e, 0)(X) + differentiate(e, 1)(X), [1.0, 1.0])


def test_max_of_equal_functions_has_their_slope():
    np.testing.assert_array_equal(differentiate(parse("max(x0, x0)"), 0)(ROWS), [1.0, 1.0, 1.0])


def test_a_deep_tree_has_a_derivative():
    e = Expression.variable(0)
    for _ in range(300):
        e = Expression.apply("sin", e)
    assert differentiate(e, 0)([[0.0]])[0] == 1.0


def test_a_derivative_survives_pickling():
    for text in ("sqrt(x0)", "x0^2.5", "asin(x0)*x1"):
        derivative = differentiate(parse(text), 0)
        assert pickle.loads(pickle.dumps(derivative)) == derivative
