"""Interval arithmetic is sound: whatever point of a box is tried, its value lies within the bounds."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.engine import CompiledEngine
from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.catalogue import BY_OPCODE, CATALOGUE
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.uncertainty.certificate.boxes import Boxes
from fouriertree.uncertainty.certificate.enclose import enclose, enclose_parts
from tests.operators import EXACT

EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    0.5,
    -2.0,
    3.0,
    np.pi,
    np.pi / 2,
    5e-324,
    -1e-300,
    1e300,
    710.0,
    -745.0,
    1e-8,
]
ends = st.one_of(
    st.sampled_from(EDGES),
    st.floats(-5, 5),
    st.floats(-1e3, 1e3),
    st.floats(allow_nan=False, allow_infinity=False),
)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def boxes(draw, n_columns=2, end=ends):
    """One box, sometimes only a point."""
    pairs = [sorted([draw(end), draw(end)]) for _ in range(n_columns)]
    return Boxes.of([[low, low] if draw(st.integers(0, 4)) == 0 else [low, high] for low, high in pairs])


@np.errstate(all="ignore")
def points_inside(box, seed, n=40):
    """Rows of a box: its corners, and others at random; some of them next to the ends."""
    rng = np.random.default_rng(seed)
    share = rng.random((n, box.lower.shape[1])) ** rng.choice([1, 8], (n, 1))
    rows = np.where(rng.random(share.shape) < 0.5, box.lower + share * (box.upper - box.lower), box.centres)
    rows = np.nan_to_num(rows, nan=0.0)
    for step in (box.lower, box.upper, np.nextafter(box.lower, np.inf), np.nextafter(box.upper, -np.inf)):
        rows = np.concatenate([rows, step])
    zero = np.where((box.lower <= 0) & (box.upper >= 0), 0.0, box.lower)
    return np.clip(np.concatenate([rows, zero]), box.lower, box.upper)


def all_parts_finite(expression, X):
    parts = [expression.subtree(i).evaluate(X) for i in range(expression.size)]
    return np.isfinite(parts).all(axis=0)


def check(expression, box, X, values):
    found = enclose(expression, box)
    low, high = found.lower[0], found.upper[0]
    assert not np.isnan(low)
    assert not np.isnan(high)
    within = (values >= low) & (values <= high)
    if not (found.undefined[0] or found.pole[0]):
        assert within.all(), (str(expression), X[~within], values[~within], low, high)
    else:
        wrong = ~within & all_parts_finite(expression, X)
        assert not wrong.any(), (str(expression), X[wrong], values[wrong], low, high)


def of_columns(row):
    return Expression.apply(row, *(Expression.variable(k) for k in range(row.arity)))


# every operator ------------------------------------------------------------------------------------------------
def test_every_operator_of_the_catalogue_has_its_interval_form():
    assert all(row.interval is not None for row in BY_OPCODE.values())


@pytest.mark.parametrize("name", sorted(CATALOGUE))
@settings(max_examples=40)
@given(box=boxes(), seed=seeds)
def test_values_at_points_of_a_box_lie_within_the_bounds(name, box, seed):
    expression = of_columns(CATALOGUE[name])
    X = points_inside(box, seed)
    check(expression, box, X, expression.evaluate(X))
    check(expression, box, X, CompiledEngine().evaluate([expression], X)[0])


@pytest.mark.parametrize("exponent", [-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 7.0])
@settings(max_examples=40)
@given(box=boxes(n_columns=1), seed=seeds)
def test_powers_with_a_fixed_exponent_lie_within_the_bounds(exponent, box, seed):
    expression = Expression.apply("pow", Expression.variable(0), exponent)
    X = points_inside(box, seed)
    check(expression, box, X, expression.evaluate(X))


@pytest.mark.parametrize("name", sorted(CATALOGUE))
@settings(max_examples=40)
@given(box=boxes(end=st.one_of(st.floats(-3, 3), st.sampled_from([0.0, 1.0, 0.1, 1e-200]))), seed=seeds)
def test_exact_values_lie_within_the_bounds_too(name, box, seed):
    expression = of_columns(CATALOGUE[name])
    X = points_inside(box, seed, n=4)
    X = X[np.isfinite(expression.evaluate(X))]
    found = enclose(expression, box)
    with mpmath.workprec(400):
        for row in X.tolist():
            value = EXACT[name](*map(mpmath.mpf, row[: CATALOGUE[name].arity]))
            assert mpmath.mpf(found.lower[0]) <= value <= mpmath.mpf(found.upper[0])


@pytest.mark.parametrize("name", sorted(set(CATALOGUE) - {"pow", "plog", "pdiv", "div", "inv", "tan"}))
@settings(max_examples=40)
@given(x=st.floats(-1, 1), y=st.floats(-1, 1))
def test_the_bounds_of_a_point_are_a_few_units_in_the_last_place_apart(name, x, y):
    expression = of_columns(CATALOGUE[name])
    value = float(expression.evaluate([[x, y]])[0])
    if np.isfinite(value):
        found = enclose(expression, Boxes.points(np.array([[x, y]])))
        assert found.upper[0] - found.lower[0] <= 20 * np.spacing(abs(value))


def test_without_an_exact_argument_the_bounds_of_a_library_function_are_rounded_outward():
    operators = PrimitiveSet(["add"])
    operators.add("rounded", np.exp, interval=lambda i, a: i.rising(np.exp, a))
    operators.add("exact", np.exp, interval=lambda i, a: i.rising(np.exp, a, exact_at=0.0))
    rounded, exact = (
        enclose(parse(f"{name}(x0)", primitives=operators), Boxes.of([[0.0, 0.0]]))
        for name in ("rounded", "exact")
    )
    assert exact.lower[0] == exact.upper[0] == 1.0
    assert rounded.lower[0] < 1.0 < rounded.upper[0]


# whole trees ---------------------------------------------------------------------------------------------------
GRAMMAR = Grammar(PrimitiveSet.catalogue(), n_columns=2, constants=(-3.0, 3.0))


@given(number=st.integers(0, 10**9), box=boxes(), seed=seeds)
def test_values_of_random_trees_lie_within_the_bounds(number, box, seed):
    [expression] = RampedHalfAndHalf(1, 6).draw(GRAMMAR, seed=1, first=number, n=1)
    X = points_inside(box, seed)
    check(expression, box, X, expression.evaluate(X))


@given(number=st.integers(0, 10**9), seed=seeds)
def test_a_part_of_a_box_has_no_wider_bounds(number, seed):
    [expression] = RampedHalfAndHalf(1, 5).draw(GRAMMAR, seed=2, first=number, n=1)
    rng = np.random.default_rng(seed)
    low = rng.uniform(-3, 3, 2)
    whole = Boxes(low[None], (low + rng.uniform(0, 3, 2))[None])
    whole_bounds, halves = enclose(expression, whole), enclose(expression, whole.halves(np.array([0])))
    if whole_bounds.safe[0]:
        assert halves.safe.all()
        # A library function may round differently at a new end.
        slack = 1e-12 * max(1.0, abs(whole_bounds.lower[0]), abs(whole_bounds.upper[0]))
        assert (halves.lower >= whole_bounds.lower - slack).all()
        assert (halves.upper <= whole_bounds.upper + slack).all()


def test_many_boxes_at_once_have_the_bounds_of_each_alone():
    trees = RampedHalfAndHalf(1, 6).draw(GRAMMAR, seed=3, first=0, n=200)
    rng = np.random.default_rng(0)
    low = rng.uniform(-3, 3, (30, 2))
    many = Boxes(low, low + rng.uniform(0, 2, (30, 2)))
    for tree in trees:
        together = enclose(tree, many)
        for i in range(0, 30, 7):
            alone = enclose(tree, many.take(slice(i, i + 1)))
            for field in ("lower", "upper", "undefined", "pole"):
                assert getattr(alone, field)[0] == getattr(together, field)[i]


# tightness -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("formula", "box", "expected"),
    [
        ("x0^2", [-1, 2], (0, 4)),
        ("x0*x0", [-1, 2], (0, 4)),
        ("x0^3", [-1, 2], (-1, 8)),
        ("x0*x0^2", [-1, 2], (-1, 8)),
        ("x0^2*x0", [-1, 2], (-1, 8)),
        ("pow(x0, 4)", [-1, 1], (0, 1)),
        ("1 - x0^2", [-1, 1], (0, 1)),
        ("sqrt(1 - x0^2)", [-1, 1], (0, 1)),
        ("x0/4", [-2, 2], (-0.5, 0.5)),
        ("abs(x0)", [-3, 2], (0, 3)),
        ("max(x0, 0)", [-3, 2], (0, 2)),
        ("cos(x0)", [0, 10], (-1, 1)),
        ("sin(x0)", [0, 10], (-1, 1)),
        ("exp(x0)", [-1000, 0], (0, 1)),
        ("inv(1 + exp(x0))", [0, 1000], (0, 0.5)),
        ("pdiv(x0, abs(x0))", [-1, 1], (-1, 1)),
        ("erf(x0)", [-9, 9], (-1, 1)),
        ("cosh(x0)", [-1e-300, 1e-300], (1, np.nextafter(1, 2) + 7 * np.spacing(1.0))),
        ("sign(x0)", [-1, 2], (-1, 1)),
        ("sign(x0)", [0, 2], (0, 1)),
        ("step(x0)", [-1, 0], (0, 0)),
        ("step(x0)", [-1, 5e-324], (0, 1)),
        ("relu(x0)", [-3, 2], (0, 2)),
    ],
)
def test_bounds_of_simple_expressions_are_their_range(formula, box, expected):
    found = enclose(parse(formula), Boxes.of([box]))
    assert (found.lower[0], found.upper[0]) == expected
    assert found.safe[0]


@pytest.mark.parametrize(
    ("formula", "box", "undefined", "pole"),
    [
        ("1/x0", [-1, 1], False, True),
        ("1/x0", [0, 1], False, True),
        ("1/x0", [5e-324, 1], False, False),
        ("x0/x0", [-1, 1], True, True),
        ("log(x0)", [0, 1], False, True),
        ("log(x0)", [-1, 1], True, True),
        ("sqrt(x0)", [-1e-300, 1], True, False),
        ("sqrt(x0)", [0, 1], False, False),
        ("asin(x0)", [0, 1.0000000000000002], True, False),
        ("tan(x0)", [1.5, 1.6], False, True),
        ("tan(x0)", [-1.5, 1.5], False, False),
        ("x0^-2", [-1, 1], False, True),
        ("x0^0.5", [-1, 1], True, False),
        ("pdiv(1, x0)", [0, 0], False, False),
        ("pdiv(1, x0)", [0, 1], False, True),
        ("plog(x0)", [0, 1], False, True),
        ("exp(x0) - exp(x0)", [0, 1000], True, False),
        ("sin(exp(x0))", [0, 1000], True, False),
    ],
)
def test_flags_mark_poles_and_undefined_values(formula, box, undefined, pole):
    found = enclose(parse(formula), Boxes.of([box]))
    assert (bool(found.undefined[0]), bool(found.pole[0])) == (undefined, pole)


def test_a_custom_operator_has_unknown_bounds():
    own = PrimitiveSet(["add"])
    own.add("drag", lambda a: a * abs(a))
    found = enclose(parse("1 + drag(x0)", primitives=own), Boxes.of([[0, 1]]))
    assert not found.safe[0]


def test_every_subtree_has_bounds():
    expression = parse("sin(x0) + 2*x1")
    assert len(enclose_parts(expression, Boxes.of([[0, 1], [0, 1]]))) == expression.size


@pytest.mark.parametrize("box", [[0, 1], [[0, 1, 2]], [[1, 0]], [[0, np.inf]], [[np.nan, 1]]])
def test_an_invalid_box_raises(box):
    with pytest.raises(ValueError, match=r"box"):
        Boxes.of(box)
