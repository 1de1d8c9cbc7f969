"""From the table's columns and units to the problem's, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.canonical import rescaled, split_number
from fouriertree.expr.opcodes import VAR
from fouriertree.model import addends
from fouriertree.problems import Problem
from fouriertree.search.hybrid.archive import Entry
from fouriertree.search.hybrid.table import Table

Floats = NDArray[np.float64]


def original(
    problem: Problem, table: Table, entry: Entry
) -> tuple[Floats, tuple[Expression, ...], float] | None:
    """The entry in the problem's columns and units, with the best coefficients over all of its points."""
    expressions = tuple(in_units(term, table, problem) for term in entry.terms)
    vectors = problem.space.coordinates(expressions)
    if not np.isfinite(vectors).all():
        return None
    # Of unit size, so that neither units nor squares that overflow matter.
    lengths = np.abs(vectors).max(axis=1)
    lengths[lengths == 0.0] = 1.0
    target = problem.space.target
    coefficients = np.linalg.lstsq((vectors / lengths[:, None]).T, target, rcond=None)[0] / lengths
    residual = target - coefficients @ vectors
    return coefficients, expressions, float(residual @ residual)


def loss_on_all_rows(
    problem: Problem, coefficients: Floats, expressions: Sequence[Expression], loss: float
) -> float:
    """The squared error of a sum on all rows, those held back among them, scaled to the weight of the others.

    So that it can be compared with `loss`, the squared error on the others.
    """
    if problem.holdout is None:
        return loss
    with np.errstate(all="ignore"):
        residual = problem.holdout.target - coefficients @ problem.holdout.coordinates(expressions)
        both = loss + float(residual @ residual)
    seen, held = (float(np.sum(space.samples()[-1][2])) for space in (problem.space, problem.holdout))
    return both * seen / (seen + held) if np.isfinite(both) else np.inf


def in_units(term: Expression, table: Table, problem: Problem) -> Expression:
    """A term over the table's columns as one over the problem's, without a number in front."""
    scales = np.ones(problem.space.n_columns)
    scales[table.columns] = table.scales
    positive = frozenset(table.columns[(table.X > 0.0).all(axis=0)].tolist())
    primitives = problem.grammar.primitives
    moved = rescaled(renamed(term, table.columns), scales.tolist(), primitives, positive)
    return split_number(moved, primitives, positive)[1]


def in_table(guess: Expression, table: Table) -> tuple[Expression, ...]:
    """The addends of a formula over the problem's columns as terms over the table's."""
    places = np.zeros(int(table.columns.max(initial=0)) + 1, np.intp)
    places[table.columns] = np.arange(table.n_columns)
    moved = rescaled(renamed(guess, places), (1.0 / table.scales).tolist())
    return tuple(split_number(part)[1] for _, part in addends(moved))


def renamed(expression: Expression, columns: NDArray[np.intp]) -> Expression:
    """With columns[i] in place of column i."""
    arg = expression.arg.copy()
    leaves = expression.op == VAR
    arg[leaves] = columns[arg[leaves]]
    return Expression.unchecked(expression.op, arg, expression.const, expression.primitives)
