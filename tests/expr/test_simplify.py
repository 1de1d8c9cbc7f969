"""Simplified expressions are the same functions."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fouriertree.expr import Expression, parse
from fouriertree.expr.canonical import simplify
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.expr.opcodes import CONST
from fouriertree.expr.primitives import PrimitiveSet
from fouriertree.expr.simplify import LARGEST_SIZE, split_factor

from .test_canonical import assert_same, parts_are_finite

X = np.random.default_rng(0).uniform(0.5, 2.0, (20, 2))


def trees(seed, n=40):
    return RampedHalfAndHalf(1, 6).draw(Grammar(PrimitiveSet.default(), 2), seed, 0, n)


def same(a, b):
    with np.errstate(all="ignore"):
        return np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True)


@example(11761)
@given(st.integers(0, 10**6))
def test_a_simplified_tree_is_the_same_function_and_not_larger(seed):
    for tree in trees(seed, 5):
        found, before = simplify(tree), tree.evaluate(X)
        # Where a subtree is undefined, as in sqrt(u)^2 for u < 0, the simplified expression may be defined.
        there = np.isfinite(before)
        with np.errstate(all="ignore"):
            equal = np.isclose(found.evaluate(X), before, rtol=1e-9, atol=1e-12, equal_nan=True)
        # An ill-conditioned value, as sin(exp(100)), is compared by its own rounding; all others to nine digits.
        close = equal | ~there
        assert close[~parts_are_finite(tree, X)].all()
        if not close.all():
            assert_same(found, tree, X[~close])
        assert found.size <= tree.size


@given(st.integers(0, 10**6))
def test_a_split_factor_times_the_rest_is_the_tree(seed):
    for tree in trees(seed, 5):
        factor, rest = split_factor(tree)
        well_conditioned = np.isfinite(tree.evaluate(X)).all()
        if well_conditioned:
            assert same(factor * rest.evaluate(X), tree.evaluate(X))


def test_no_operator_of_numbers_is_left():
    for tree in trees(7, 300):
        found = simplify(tree)
        for i in range(found.size):
            part = found.subtree(i)
            if part.size > 1 and not part.columns:
                assert not np.isfinite(part.evaluate(X)).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x0 - -0.5", "x0 + 0.5"),
        ("x0 + -0.5", "x0 - 0.5"),
        ("cos(0)*x0", "x0"),
        ("x0/(2*4)", "0.125*x0"),
        ("log(-1)", "log(-1.0)"),
    ],
)
def test_examples_of_simplifying(text, expected):
    assert str(simplify(parse(text))) == expected


@pytest.mark.parametrize(
    ("text", "factor", "rest"),
    [
        ("2*x0*(3*x1)", 6.0, "x0*x1"),
        ("-(x0/4)", -0.25, "x0"),
        ("5/x0", 5.0, "1.0/x0"),
        ("x0*0", 1.0, "x0*0.0"),
        ("sin(2*x0)", 1.0, "sin(2.0*x0)"),
        ("7", 7.0, "1.0"),
    ],
)
def test_examples_of_splitting(text, factor, rest):
    found = split_factor(parse(text))
    assert (found[0], str(found[1])) == (factor, rest)


def test_large_trees_are_not_changed():
    chain = Expression.variable(0)
    while chain.size <= LARGEST_SIZE:
        chain = chain + Expression.constant(-1.0)
    assert simplify(chain) is chain
    assert split_factor(chain) == (1.0, chain)
    assert chain.op[-2] == CONST
