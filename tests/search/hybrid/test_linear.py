"""The linear path: one column more each time, the one that helps most."""

import numpy as np

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.generate import Grammar
from fouriertree.expr.vocabulary import ONE
from fouriertree.problems import Problem
from fouriertree.search.hybrid.linear import linear_sums
from fouriertree.search.hybrid.table import Table, make_table
from fouriertree.space import EmpiricalSpace


def table_of(X: np.ndarray, y: np.ndarray) -> Table:
    return make_table(Problem(EmpiricalSpace(X, y), Grammar(PrimitiveSet.default(), X.shape[1])), 0)


def loss(table: Table, terms: tuple[Expression, ...]) -> float:
    columns = np.column_stack([e.evaluate(table.X) * np.ones(len(table.y)) for e in terms])
    residual = table.y - columns @ np.linalg.lstsq(columns, table.y, rcond=None)[0]
    return float(residual @ residual)


def test_every_sum_adds_the_column_that_helps_most():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    table = table_of(X, X @ [3.0, -2.0, 1.0, 0.5, 0.0] + rng.normal(0.0, 0.3, 80))
    before: tuple[Expression, ...] = (ONE,)
    for terms in linear_sums(table, 6):
        candidates = [(*before, x) for x in table.variables if x not in before]
        assert loss(table, terms) <= min(loss(table, c) for c in candidates) * (1.0 + 1e-9)
        before = terms
    assert len(before) == 6


def test_columns_that_say_nothing_new_are_left_out():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 40))
    table = table_of(np.column_stack([a, b, a + b, 2.0 * a]), a - b)
    assert max(map(len, linear_sums(table, 10))) == 3


def test_there_are_no_more_terms_than_asked_for():
    X = np.random.default_rng(2).normal(size=(50, 6))
    sums = linear_sums(table_of(X, X.sum(axis=1)), 3)
    assert [len(terms) for terms in sums] == [2, 3]
