"""Vocabularies: expressions have the right values and use only allowed operators; others raise."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.vocabulary import ONE, Vocabulary, nice_ratio, with_rare_operators

SETS = {
    "default": PrimitiveSet.default(),
    "catalogue": PrimitiveSet.catalogue(),
    "paper": PrimitiveSet.paper(),
    "polynomial": PrimitiveSet.polynomial(),
    "inv": PrimitiveSet(["add", "mul", "inv"]),
    "exp and log": PrimitiveSet(["mul", "div", "exp", "log"]),
    "pow": PrimitiveSet(["mul", "pow"]),
    "sine": PrimitiveSet(["sin"]),
}
vocabularies = pytest.mark.parametrize("operators", SETS.values(), ids=SETS)
POWERS = [1.0, 2.0, 3.0, 4.0, 7.0, 12.0, 13.0, 0.5, 1.5, 2.5, -1.0, -2.0, -0.5, -1.5, 1 / 3, -0.7, 100.0]
X = np.random.default_rng(0).uniform(0.5, 2.0, (40, 3))
BASES = tuple(Expression.variable(i) for i in range(3))


def used(expression):
    return {expression.primitives.by_opcode(code).name for code in expression.op.tolist() if code > 1}


@vocabularies
@pytest.mark.parametrize("power", POWERS)
def test_a_power_has_its_values_or_raises_if_it_cannot_be_written(operators, power):
    v = Vocabulary(operators)
    if v.can_raise(power):
        written = v.power(BASES[0], power)
        np.testing.assert_allclose(written.evaluate(X), X[:, 0] ** power, rtol=1e-12)
        assert used(written) <= set(with_rare_operators(operators).names)
    else:
        with pytest.raises(ValueError, match="the search may not use"):
            v.power(BASES[0], power)


def test_powers_are_written_short():
    v = Vocabulary(SETS["default"])
    written = {p: str(v.power(BASES[0], p)) for p in (2.0, 4.0, 0.5, 1.5, -1.0, -2.0)}
    assert written == {
        2.0: "x0^2", 4.0: "(x0^2)^2", 0.5: "sqrt(x0)", 1.5: "x0*sqrt(x0)", -1.0: "1.0/x0", -2.0: "1.0/x0^2",
    }  # fmt: skip
    assert str(Vocabulary(SETS["polynomial"]).power(BASES[0], 3.0)) == "x0*x0*x0"


@settings(max_examples=60, deadline=None)
@given(
    powers=st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, -1.5]), min_size=3, max_size=3),
    name=st.sampled_from(["default", "catalogue", "exp and log"]),
)
def test_a_monomial_is_the_product_of_its_powers(powers, name):
    written = Vocabulary(SETS[name]).monomial(BASES, powers)
    slow = np.prod([X[:, i] ** p for i, p in enumerate(powers)], axis=0)
    np.testing.assert_allclose(written.evaluate(X) * np.ones(len(X)), slow, rtol=1e-12)
    assert used(written) <= set(with_rare_operators(SETS[name]).names)
    # One fraction: numerators and denominators are not divided one by one.
    if name == "default":
        assert sum(code == parse("x0/x1").op[-1] for code in written.op) <= 1


@pytest.mark.parametrize("name", ["default", "inv", "paper"])
def test_quotients_use_the_allowed_division(name):
    v = Vocabulary(SETS[name])
    assert v.divides
    np.testing.assert_allclose(v.quotient(BASES[0], BASES[1]).evaluate(X), X[:, 0] / X[:, 1], rtol=1e-15)
    np.testing.assert_allclose(v.quotient(ONE, BASES[1]).evaluate(X), 1.0 / X[:, 1], rtol=1e-15)
    assert v.quotient(BASES[0], ONE) == BASES[0]


def test_factors_of_one_are_not_written():
    v = Vocabulary(SETS["default"])
    assert v.product([ONE, BASES[0], ONE, BASES[1]]) == parse("x0*x1")
    assert v.product([ONE, ONE]) == v.product([]) == ONE
    assert v.monomial(BASES, (0.0, 0.0, 0.0)) == ONE


def test_protected_operators_replace_plain_ones_only_if_those_are_not_allowed():
    paper, default = Vocabulary(SETS["paper"]), Vocabulary(SETS["default"])
    assert "div" in paper
    assert used(paper.apply("div", *BASES[:2])) == {"pdiv"}
    assert used(paper.apply("log", BASES[0])) == {"plog"}
    assert used(default.apply("div", *BASES[:2])) == {"div"}
    both = Vocabulary(PrimitiveSet(["pdiv", "div"]))
    assert used(both.apply("div", *BASES[:2])) == {"div"}


def test_a_role_that_is_not_allowed_raises():
    v = Vocabulary(SETS["sine"])
    assert "mul" not in v
    with pytest.raises(ValueError, match="the search may not use 'mul'"):
        v.apply("mul", *BASES[:2])


# Simple fractions -------------------------------------------------------------------------------------------
@settings(max_examples=100, deadline=None)
@given(value=st.floats(-8.0, 8.0), tolerance=st.floats(0.0, 0.12))
def test_a_nice_ratio_is_near_and_has_the_smallest_denominator(value, tolerance):
    # Less than half of the distance between fourths, so that at most one of each kind is near.
    found = nice_ratio(value, tolerance)
    near = [
        Fraction(p, q)
        for q in (1, 2, 3, 4)
        for p in range(-6 * q, 6 * q + 1)
        if p and abs(value - p / q) <= tolerance
    ]
    assert (found is None) == (not near)
    if found is not None:
        assert found in near
        assert found.denominator == min(ratio.denominator for ratio in near)


RATIOS = [(0.51, "1/2"), (-1.98, "-2"), (0.334, "1/3"), (0.02, None), (0.43, None), (7.0, None)]


@pytest.mark.parametrize(("value", "ratio"), RATIOS)
def test_examples_of_nice_ratios(value, ratio):
    assert nice_ratio(value, 0.03) == (None if ratio is None else Fraction(ratio))
