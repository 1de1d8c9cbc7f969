"""Numbers of moderate size: the same function, never longer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fouriertree import parse
from fouriertree.moderate import DECADES, decades, moderate

X = np.random.default_rng(0).uniform(0.5, 2.0, (30, 3))
numbers = st.floats(-12.0, 12.0).map(lambda power: 10.0**power)
functions = st.sampled_from(["sqrt({})", "({})^2", "({})^3", "abs({})"])
rests = st.sampled_from(["", " - sin(x0)", " + x1^2"])


@given(functions, numbers, numbers, numbers, st.sampled_from(["", "-"]), rests)
def test_it_is_the_same_function_no_longer_and_changed_only_for_more_moderate_numbers(f, c, a, b, sign, rest):
    inner = f"{a!r}*x0 + x1*x2 + {b!r}"
    whole = parse(f"{sign}{c!r}*{f.format(inner)}{rest}")
    found = moderate(whole)
    scale = np.abs(whole.evaluate(X)) + 2.0 + X[:, 1] ** 2
    assert (np.abs(found.evaluate(X) - whole.evaluate(X)) <= 1e-11 * scale).all()
    assert found.size <= whole.size
    assert found == whole or decades(found) < decades(whole) - DECADES + 1e-6


@pytest.mark.parametrize(
    "text",
    ["2*sqrt(x0 + 1)", "1e-9*sqrt(x0)", "1e-9*sin(1e9*x0 + 2)", "3.5", "x0 + x1", "1e-200*sqrt(1e14*x0 + 1)"],
)
def test_others_stay_as_they_are(text):
    assert moderate(parse(text)) == parse(text)


def test_a_formula_of_a_table_has_its_numbers_where_they_are_moderate():
    whole = moderate(parse("1.28e-5*sqrt(7.43e13*x0/x1 + x0*x1^2*x2 + 2.03e12) + 0.006*x1"))
    assert whole.text(digits=3) == "sqrt(1.22e+04*x0/x1 + 1.64e-10*x0*x1^2*x2 + 333) + 0.006*x1"
