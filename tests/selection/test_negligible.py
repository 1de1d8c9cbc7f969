"""Addends of rounding size are left out where the loss does not depend on them."""

import numpy as np
import pytest

from fouriertree import SymbolicRegressor
from fouriertree.expr import parse
from fouriertree.selection.negligible import NEGLIGIBLE, without_negligible

X = np.random.default_rng(0).uniform(0.5, 4.0, (300, 3))


@pytest.mark.parametrize(
    ("whole", "rest"),
    [
        ("x0 + 1e-10*x1", "x0"),
        ("1e-10*sin(x1) - x0", "-x0"),
        ("x0/(1e12 + x1)", "x0/1e12"),
        ("exp(x0*(1 + 1e-13*x2))", "exp(x0*1)"),
    ],
)
def test_addends_below_the_tolerance_are_left_out(whole, rest):
    found = without_negligible(parse(whole), X)
    assert found.size < parse(whole).size
    np.testing.assert_allclose(found.evaluate(X), parse(rest).evaluate(X), rtol=1e-12)


@pytest.mark.parametrize("size", [1e-6, 10.0 * NEGLIGIBLE])
def test_larger_addends_stay(size):
    e = parse(f"x0 + {size!r}*x1")
    assert without_negligible(e, X) == e


def test_what_a_difference_depends_on_stays():
    # Only the second addend of the root is left after the subtraction.
    y = 1e6 * (np.sqrt(1e10 + X[:, 0]) - 1e5)
    model = SymbolicRegressor(max_evaluations=20_000, random_state=0, guesses=["1e6*(sqrt(1e10 + x0) - 1e5)"])
    assert model.fit(X, y).score(X, y) > 0.99


@pytest.mark.parametrize("law", ["(x0 + 1.1*x1)^2", "(x0 - x1)^2/x2", "x0/(1.7 + x0)"])
def test_exact_laws_are_written_without_terms_of_rounding_size(law):
    y = parse(law).evaluate(X)
    model = SymbolicRegressor(time_limit=60, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.model_.expression.columns == parse(law).columns
    assert max(map(abs, model.model_.expression.constants), default=0.0) < 10.0
