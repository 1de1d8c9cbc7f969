"""Neighbours of a sum: each differs from it in one function of one variable, and the best of them are fitted."""

import numpy as np
import pytest

from fouriertree.expr import Expression, parse
from fouriertree.search.hybrid.evaluation import Fronts
from fouriertree.search.hybrid.replacement import (
    MOST_FUNCTIONS,
    Functions,
    functions_of,
    neighbours,
    replaced_candidates,
)
from tests.search.hybrid.contexts import context_of

FUNCTIONS = Functions(tuple(map(parse, ("sin(2*x0)", "exp(3*x0)", "x1^2"))), np.array([0, 0, 1]))
ROWS = np.random.default_rng(0).uniform(0.5, 3.0, (200, 3))


def texts(terms):
    """The neighbours of a sum as texts of their terms."""
    batch = neighbours([parse(term) for term in terms], FUNCTIONS, {0, 1})
    return [tuple(str(e) for e in batch.expressions(i)) for i in range(len(batch))]


def test_a_factor_is_replaced_or_left_out_and_functions_of_other_variables_are_multiplied_in():
    assert sorted(texts(["x0"])) == sorted([("sin(2.0*x0)",), ("exp(3.0*x0)",), ("x0*x1^2",)])
    assert sorted(texts(["cos(x1)/x0"])) == sorted(
        [
            ("cos(x1)/sin(2.0*x0)",), ("cos(x1)/exp(3.0*x0)",), ("cos(x1)",), ("x1^2/x0",), ("1.0/x0",),
        ]
    )  # fmt: skip


def test_only_one_term_changes_and_factors_of_several_variables_stay():
    found = texts(["sin(x0 + x1)", "x0*x1"])
    changed = [sum(a != b for a, b in zip(sum_, ("sin(x0 + x1)", "x0*x1"), strict=True)) for sum_ in found]
    assert changed == [1] * len(found)
    # Of x0·x1: two functions in place of x0, one in place of x1, and each left out.
    assert len(found) == 2 + 1 + 2


def test_functions_are_of_one_variable_each_and_some_constants_of_every_form():
    context = context_of(ROWS[:, 0] * np.exp(-ROWS[:, 1]), ROWS)
    functions = functions_of(context)
    assert 100 < len(functions.expressions) <= 3 * MOST_FUNCTIONS
    for e, variable in zip(functions.expressions, functions.variables, strict=True):
        assert e.columns == (variable,)
    names = {str(e).partition("(")[0] for e in functions.expressions}
    assert {"sin", "cos", "exp", "tanh", "log"} <= names


@pytest.mark.parametrize(
    "given",
    ["x0*x1, exp(-0.7*x2)", "x0^0.8*exp(-0.7*x2), exp(-1.3*x1)*x0", "x0*exp(-1.3*x1)*sin(x2), exp(-0.7*x2)"],
)
def test_a_law_is_found_from_its_neighbours(given):
    a, b, c = ROWS.T
    y = 2.0 * a * np.exp(-1.1 * b) + 0.4 * np.exp(-0.6 * c)
    context = context_of(y, ROWS)
    order = context.data.features.tolist()
    places = {f"x{feature}": f"v{place}" for place, feature in enumerate(order)}
    for old, new in places.items():
        given = given.replace(old, new)
    terms = [parse(text.replace("v", "x").strip()) for text in given.split(",")]
    with np.errstate(all="ignore"):
        found = replaced_candidates(context, terms, Fronts())
    assert found.has_law
    assert found.cost.candidates > 100


def test_a_sum_without_allowed_neighbours_costs_something():
    context = context_of(ROWS[:, 0], ROWS, max_complexity=1)
    with np.errstate(all="ignore"):
        found = replaced_candidates(context, [Expression.variable(0)] * 4, Fronts())
    assert not found.found
    assert found.cost.candidates >= 1
