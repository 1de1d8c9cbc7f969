"""Detection of poles and edges of the domain between the rows, or just beside them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fouriertree import SymbolicRegressor
from fouriertree.criteria.poles import NEAR, may_have_pole
from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.calculus import filled_in
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.expr.opcodes import CONST, VAR

X = np.random.default_rng(0).uniform(1.0, 3.0, (200, 2))


@pytest.mark.parametrize(
    "text",
    [
        "1/(x0 - 2)", "x1/(x0 - x1)", "tan(x0)", "(x0 - 2)^-2", "inv(x0 - 0.999)", "log(x0 - 0.99)",
        "sqrt(3.001 - x0)", "1/sin(2*x0)",
    ],
)  # fmt: skip
def test_poles_and_domain_edges_between_the_rows_are_detected(text):
    assert may_have_pole(parse(text), X)


@pytest.mark.parametrize(
    "text",
    [
        "1/(x0 + x1)",
        "x0/x1^2",
        "log(x0*x1)",
        "sqrt(x0/x1)",
        "(x0 - 2)^2",
        "exp(x0)/x1",
        "1/(x0 - 9)",
        "tan(x0/4)",
    ],
)
def test_expressions_far_from_poles_are_not_flagged(text):
    assert not may_have_pole(parse(text), X)


@given(st.floats(1.02, 2.98))
def test_a_pole_anywhere_between_the_rows_is_detected(pole):
    assert may_have_pole(parse(f"1/(x0 - {pole!r})"), X)


def slow_may_have_pole(expression: Expression) -> bool:
    """Every part that must avoid zero as an expression of its own."""
    parts = []
    for i in np.flatnonzero(expression.op > VAR).tolist():
        row = expression.primitives.by_opcode(int(expression.op[i]))
        arguments = [expression.subtree(k) for k in expression.children(i)]
        last = float(expression.const[i - 1]) if expression.op[i - 1] == CONST else None
        pole, domain = row.pole, row.domain
        if pole and (domain is None or domain.only_if) and not pole.protected and pole.may_occur(last, True):
            parts.append(filled_in(pole.zero, row, arguments))
        elif domain and domain.lower == 0.0 and domain.may_bind(last):
            known = arguments[0].primitives
            if not all(
                known.by_opcode(code).multiplicative for code in arguments[0].op.tolist() if code > VAR
            ):
                parts.append(arguments[0])
    sizes = [np.abs(part.evaluate(X)) for part in parts]
    changes = [not (np.all(v > 0.0) or np.all(v < 0.0)) for v in (part.evaluate(X) for part in parts)]
    return any(changes) or any(size.min() < NEAR * np.median(size) for size in sizes)


def test_values_of_all_subtrees_in_one_pass_give_the_same_answer():
    operators = PrimitiveSet(
        ["add", "sub", "mul", "div", "inv", "log", "sqrt", "tan", "pow", "square", "exp", "plog"]
    )
    drawn = list(RampedHalfAndHalf(3, 7).draw(Grammar(operators, 2), 0, 0, 400))
    answers = [may_have_pole(e, X) for e in drawn]
    assert answers == [slow_may_have_pole(e) for e in drawn]
    assert 50 < sum(answers) < 350


def test_units_do_not_matter():
    for text in ("1/(x0 - 2)", "1/(x0 + x1)", "log(x0 - 0.99)"):
        scaled = text.replace("x0", "(1e9*x0)").replace("x1", "(1e9*x1)")
        assert may_have_pole(parse(scaled), X / 1e9) == may_have_pole(parse(text), X)


def test_a_law_with_a_pole_is_recovered_and_an_outlier_is_not_fitted_by_a_pole():
    rng = np.random.default_rng(1)
    law = SymbolicRegressor(random_state=0, max_evaluations=300_000).fit(X, 1.0 / (X[:, 0] - X[:, 1]))
    assert may_have_pole(law.model_.expression, X)
    y = 2.0 * X[:, 0] + rng.normal(0.0, 0.1, len(X))
    y[7] += 5.0
    line = SymbolicRegressor(random_state=0, max_evaluations=300_000).fit(X, y)
    assert not may_have_pole(line.model_.expression, X)
