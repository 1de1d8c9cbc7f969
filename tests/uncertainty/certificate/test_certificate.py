"""Certificates are sound: proofs hold at every tested point, and counterexamples fail."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import PrimitiveSet, parse
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.uncertainty.certificate import certify, slopes

SAFE = [
    ("1/(x0 + 1.5)", [[-1, 1]]),
    ("sqrt(1 - x0^2)", [[-1, 1]]),
    ("asin(x0/2)", [[-2, 2]]),
    ("1/(1 + exp(-800*x0))", [[-5, 5]]),
    ("1/(x0^4 - x0^3 + x0^2 - x0 + 0.5)", [[-3, 3]]),
    ("log(x0*x1 - x0 + 1.01)", [[0, 1], [0, 1]]),
    ("1/(x0 - x0 + x1)", [[0, 3], [1, 2]]),
    ("tan(x0)", [[0, 1.57]]),
    ("x0^2.5 + sqrt(x0)", [[0, 2]]),
    ("3.0", [[0, 1]]),
]
POLES = [
    ("2 + 1/(x0 - 0.3)", [[-1, 1]], "div", 0.3),
    ("inv(x0^2 - 2)", [[0, 3]], "inv", np.sqrt(2)),
    ("1/(x0^2 - 2)^2", [[0, 3]], "div", np.sqrt(2)),
    ("1/abs(exp(x0) - 2)", [[0, 3]], "div", np.log(2)),
    ("(x0^2 - 2)^-1.5", [[1.2, 3]], "pow", None),
    ("tan(x0)", [[0, 2]], "tan", np.pi / 2),
    ("pdiv(1, x0 - 0.1)", [[-1, 1]], "pdiv", 0.1),
    ("plog(x0^3 - 2)", [[0, 2]], "plog", 2 ** (1 / 3)),
    ("log(x0)", [[0, 1]], "log", 0.0),
    ("x0/x0", [[-1, 2]], "div", 0.0),
    ("1/(x0^2 - 2.2*x0 + 1.21)", [[0, 3]], "div", 1.1),
    ("sqrt(x0 - 0.5)", [[0.499, 2]], "sqrt", None),
    ("exp(x0)", [[0, 710]], "exp", None),
]


@pytest.mark.parametrize(("formula", "box"), SAFE)
def test_a_finite_expression_is_proved_finite(formula, box):
    found = certify(parse(formula), box)
    assert found.verdict == "proved"
    assert found.operator is None
    X = np.random.default_rng(0).uniform(*np.transpose(box), (1000, len(box)))
    values = parse(formula).evaluate(X)
    assert found.range[0] <= values.min() <= values.max() <= found.range[1]


@pytest.mark.parametrize(("formula", "box"), SAFE)
def test_the_proved_range_is_close_to_that_of_the_values(formula, box):
    low, high = certify(parse(formula), box).range
    X = np.random.default_rng(0).uniform(*np.transpose(box), (20_000, len(box)))
    values = parse(formula).evaluate(X)
    assert high - low <= 1.2 * np.ptp(values) + 1e-9


@pytest.mark.parametrize(("formula", "box", "operator", "where"), POLES)
def test_an_expression_that_is_not_finite_fails_with_a_point(formula, box, operator, where):
    found = certify(parse(formula), box)
    assert (found.verdict, found.operator) == ("fails", operator)
    if where is not None:
        assert found.where["x0"] == pytest.approx(where, abs=1e-7)


def test_a_pole_of_two_features_is_found_without_a_random_point_on_it():
    found = certify(parse("1/((x0 - 0.3)^2 + (x1 - 0.7)^2)"), [[-1, 2], [-1, 3]])
    assert found.where == {"x0": 0.3, "x1": 0.7}


def test_a_curve_of_poles_fails_with_one_of_its_points():
    expression = parse("x0/(x0 + x1*x2 - 1.7)")
    found = certify(expression, [[0, 1]] * 3)
    assert found.verdict == "fails"
    x0, x1, x2 = (np.mean(found.where[name]) for name in ("x0", "x1", "x2"))
    assert x0 + x1 * x2 == pytest.approx(1.7, abs=1e-12)


def test_rounding_that_leaves_the_domain_is_a_failure():
    found = certify(parse("sqrt(x0^2 - 2*x0*x1 + x1^2)"), [[0, 1], [0, 1]])
    assert found.verdict == "fails"
    assert np.isnan(
        parse("sqrt(x0^2 - 2*x0*x1 + x1^2)").evaluate([[found.where["x0"], found.where["x1"]]])[0]
    )


def test_an_implicit_square_is_undecided_with_a_box_and_the_operator():
    # (x0 − x1)² is zero on the diagonal, and interval arithmetic does not detect that it is not negative.
    found = certify(parse("1/(x0^2 - 2*x0*x1 + x1^2 + 1e-9)"), [[0, 1], [0, 1]], max_boxes=500)
    assert (found.verdict, found.operator) == ("undecided", "div")
    (a, b), (c, d) = found.where["x0"], found.where["x1"]
    assert b - a < 0.1
    assert abs(0.5 * (a + b) - 0.5 * (c + d)) < 0.1


def test_a_custom_operator_is_undecided():
    own = PrimitiveSet(["add"])
    own.add("drag", lambda a: a * abs(a))
    found = certify(parse("1 + drag(x0)", primitives=own), [[0, 1]], max_boxes=50)
    assert (found.verdict, found.operator) == ("undecided", "drag")


GRAMMAR = Grammar(PrimitiveSet.catalogue(), n_columns=2, constants=(-3.0, 3.0))


@settings(max_examples=60)
@given(number=st.integers(0, 10**9), seed=st.integers(0, 10**6))
def test_certificates_of_random_trees_agree_with_values_at_points(number, seed):
    [expression] = RampedHalfAndHalf(1, 5).draw(GRAMMAR, seed=5, first=number, n=1)
    rng = np.random.default_rng(seed)
    low = rng.uniform(-3, 3, 2)
    box = np.column_stack([low, low + rng.uniform(0.1, 3, 2)])
    found = certify(expression, box, max_boxes=500)
    X = rng.uniform(*box.T, (2000, 2))
    values = expression.evaluate(X)
    if found.verdict == "proved":
        assert found.range[0] <= values.min() <= values.max() <= found.range[1]
    if not np.isfinite(values).all():
        assert found.verdict != "proved"
    json.dumps(found.to_json(), allow_nan=False)


def test_the_text_is_a_sentence_with_the_feature_names():
    assert certify(parse("1/(x0 - 0.3)"), [[0, 1]], names=["temperature"]).text() == (
        "Fails at temperature = 0.3: division by zero in 1/(temperature - 0.3)."
    )
    assert certify(parse("2*x0"), [[0, 1]]).text() == (
        "Proved: finite everywhere for x0 from 0 to 1. The values lie from 0 to 2."
    )


def test_features_that_do_not_occur_are_ignored():
    assert certify(parse("2*x1"), [[0, 9], [0, 1]]).box == {"x1": (0.0, 1.0)}


@pytest.mark.parametrize(
    ("box", "names"), [([[0, 1]], None), ([[0, 1], [0, 1]], ["only one"]), ([[1, 0], [0, 1]], None)]
)
def test_an_invalid_box_or_names_raise(box, names):
    with pytest.raises(ValueError, match=r"feature"):
        certify(parse("x0 + x1"), box, names)


@pytest.mark.parametrize("jump", ["sign(x0)", "2*step(x0) - 1"])
def test_a_denominator_that_jumps_over_zero_is_no_pole(jump):
    assert certify(parse(f"1/({jump} + 0.5)"), [[-1.0, 1.0]]).verdict != "fails"


def test_a_custom_operator_is_proved_by_its_interval_extension():
    own = PrimitiveSet(["add", "div"])
    own.add(
        "logistic",
        lambda a: 1.0 / (1.0 + np.exp(-a)),
        derivative="v*(1 - v)",
        interval=lambda i, a: i.inverse(
            i.add(
                i.rising(np.exp, i.negative(a), exact_at=0.0, least=0.0),
                i.Interval.between(np.ones_like(a.lower), np.ones_like(a.lower)),
            )
        ),
    )
    e = parse("1/(logistic(x0) + 1)", primitives=own)
    proof = certify(e, [[-3.0, 3.0]])
    assert proof.verdict == "proved"
    assert proof.range[0] >= 0.5
    [slope] = slopes(parse("logistic(x0)", primitives=own), [[-1.0, 1.0]])
    assert slope.direction == "increasing"
