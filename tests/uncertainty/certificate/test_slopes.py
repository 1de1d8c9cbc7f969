"""Slopes over a box: a proved direction holds between any two points, and `neither` has a witness for each side."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import PrimitiveSet, differentiate, parse
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.uncertainty.certificate import slopes

DIRECTIONS = [
    ("x0^2", [[0, 1]], ["increasing"]),
    ("x0^2", [[-1, 0]], ["decreasing"]),
    ("x0^2", [[-1, 1]], ["neither"]),
    ("sqrt(x0)", [[0, 1]], ["increasing"]),
    ("x0 - sin(x0)", [[-5, 5]], ["increasing"]),
    ("x0^3 + exp(x1) - x0*x1", [[1, 2], [0, 0.5]], ["increasing", "neither"]),
    ("x0 + abs(x0)", [[-1, 1]], ["increasing"]),
    ("max(x0, 0)", [[-2, -1]], ["constant"]),
    ("max(x0, x1)", [[0, 1], [0, 1]], ["increasing", "increasing"]),
    ("tan(x0)", [[0, 1.5]], ["increasing"]),
    ("1/x0", [[1, 2]], ["decreasing"]),
    # Falling on both sides of a pole is not falling.
    ("1/x0", [[-1, 1]], ["undecided"]),
    ("plog(x0)", [[0, 1]], ["undecided"]),
    ("tan(x0)", [[1, 2]], ["undecided"]),
]


@pytest.mark.parametrize(("formula", "box", "expected"), DIRECTIONS)
def test_directions_of_known_expressions(formula, box, expected):
    assert [slope.direction for slope in slopes(parse(formula), box)] == expected


GRAMMAR = Grammar(
    PrimitiveSet(
        ["add", "mul", "sub", "div", "sin", "exp", "sqrt", "square", "abs", "max", "tanh", "pdiv", "plog"]
    ),
    n_columns=2,
    constants=(-3.0, 3.0),
)


@settings(max_examples=60)
@given(number=st.integers(0, 10**9), seed=st.integers(0, 10**6))
def test_a_proved_direction_holds_between_any_two_points(number, seed):
    [expression] = RampedHalfAndHalf(2, 5).draw(GRAMMAR, seed=6, first=number, n=1)
    rng = np.random.default_rng(seed)
    low = rng.uniform(-3, 3, 2)
    box = np.column_stack([low, low + rng.uniform(0.1, 3, 2)])
    for column, slope in zip(expression.columns, slopes(expression, box, max_boxes=300), strict=True):
        json.dumps(slope.to_json(), allow_nan=False)
        X = rng.uniform(*box.T, (500, 2))
        Z = X.copy()
        Z[:, column] = rng.uniform(*box[column], 500)
        with np.errstate(all="ignore"):
            gain = (expression.evaluate(Z) - expression.evaluate(X)) * np.sign(Z[:, column] - X[:, column])
        rounding = 1e-9 * np.abs(expression.evaluate(X)).max()
        if slope.direction in ("increasing", "constant"):
            assert gain.min() >= -rounding
        if slope.direction in ("decreasing", "constant"):
            assert gain.max() <= rounding


@settings(max_examples=60)
@given(number=st.integers(0, 10**9), seed=st.integers(0, 10**6))
def test_derivatives_lie_within_their_bounds(number, seed):
    [expression] = RampedHalfAndHalf(2, 5).draw(GRAMMAR, seed=7, first=number, n=1)
    rng = np.random.default_rng(seed)
    low = rng.uniform(-3, 3, 2)
    box = np.column_stack([low, low + rng.uniform(0.1, 3, 2)])
    X = rng.uniform(*box.T, (500, 2))
    for column, slope in zip(expression.columns, slopes(expression, box, max_boxes=300), strict=True):
        values = differentiate(expression, column).evaluate(X)
        finite = np.isfinite(values)
        assert (slope.lower <= values[finite]).all()
        assert (values[finite] <= slope.upper).all()


def test_neither_has_a_point_for_each_side():
    [slope] = slopes(parse("sin(x0)"), [[0, 3]], names=["t"])
    derivative = differentiate(parse("sin(x0)"), 0)
    assert derivative.evaluate([[slope.rising["t"]]])[0] > 0 > derivative.evaluate([[slope.falling["t"]]])[0]
    assert "t: rises at t = " in slope.text()


def test_slopes_of_a_custom_operator_are_undecided():
    own = PrimitiveSet(["add"])
    own.add("drag", lambda a: a * abs(a), derivative="2*abs(a)")
    [slope] = slopes(parse("1 + drag(x0)", primitives=own), [[0, 1]])
    assert slope.direction == "undecided"


@pytest.mark.parametrize("formula", ["x0 - 5*step(x0)", "x0 - sign(x0)", "x0 - pdiv(x0, abs(x0))"])
def test_an_expression_with_a_downward_jump_is_not_proved_increasing(formula):
    [slope] = slopes(parse(formula), [[-1.0, 1.0]])
    assert slope.direction == "undecided"
    [slope] = slopes(parse(formula), [[0.1, 1.0]])
    assert slope.direction == "increasing"


@pytest.mark.parametrize(
    ("formula", "direction"),
    [("erf(x0)", "increasing"), ("sinh(x0)", "increasing"), ("relu(x0)", "increasing"), ("-relu(x0)", "decreasing"),
     ("cosh(x0)", "neither"), ("max(x0, 2*x0)", "increasing")],
)  # fmt: skip
def test_smooth_operators_and_kinks_have_a_direction(formula, direction):
    [slope] = slopes(parse(formula), [[-1.0, 2.0]])
    assert slope.direction == direction
