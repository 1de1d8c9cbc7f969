"""Expressions for display: the same function up to rounding, and not longer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import PrimitiveSet, parse
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.expr.readable import readable

GRAMMAR = Grammar(
    PrimitiveSet(["add", "sub", "mul", "div", "sin", "square", "cube", "pow"]), 3, constant_share=0.2
)
X = np.random.default_rng(0).uniform(0.5, 1.5, (30, 3))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x0*x0^2", "x0^3"),
        ("(x0^2)^2", "x0^4.0"),
        ("x0*(x0*x0^2)^2", "x0^7.0"),
        ("x1*x0", "x0*x1"),
        ("sin(x0)*x1", "x1*sin(x0)"),
        ("x2*x0/(x1*x1)", "x0*x2/x1^2"),
        ("1/x0", "1.0/x0"),
        ("2.5*x1*x0", "2.5*x0*x1"),
        ("sin(x1*x0) - x0*x0", "sin(x0*x1) - x0^2"),
        ("(x0 + x1)*(x0 + x1)", "(x0 + x1)^2"),
        ("x0/x0", "x0/x0"),
    ],
)
def test_equal_factors_become_powers_and_features_are_in_order(text, expected):
    assert str(readable(parse(text))) == expected


@settings(max_examples=300)
@given(seed=st.integers(0, 2**31 - 1))
def test_readable_preserves_the_function_and_is_not_longer(seed):
    [tree] = RampedHalfAndHalf(1, 5).draw(GRAMMAR, seed, 0, 1)
    found = readable(tree)
    with np.errstate(all="ignore"):
        before, after = tree.evaluate(X), found.evaluate(X)
    good = np.isfinite(before) & np.isfinite(after) & (np.abs(before) < 1e100)
    assert np.allclose(
        after[good], before[good], rtol=1e-6, atol=1e-9 * np.abs(before[good]).max(initial=0.0)
    )
    assert found.size <= tree.size
    assert readable(found) == found
