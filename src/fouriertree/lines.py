"""Lines through all rows: what every other formula of a table has to beat, and seldom does where there is no law."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from fouriertree.expr import Expression
from fouriertree.observers import Terms
from fouriertree.rows import Rows, r2_on_other_rows
from fouriertree.search.hybrid.linear import (
    NOVELTY,
    best_columns,
    largest,
    standardised,
    weighted_differences,
)

Floats = NDArray[np.float64]

#: columns that are looked at, those with the largest correlations, where there are more
MOST_COLUMNS = 300
#: rows for every column that a line through all of them needs before its errors tell anything
ROWS_PER_COLUMN = 3
#: probability that columns which tell nothing of y explain that much of it, at most
BY_CHANCE = 0.01


def lines(rows: Rows, most_terms: int) -> list[Terms]:
    """c + a·x_i, c + a·x_i + b·x_j, … with the best next column each time, fitted to the rows that the search saw.

    The columns are chosen with all rows.  Where rows are few, those that a search sees tell too little of weak effects.
    """
    space = rows.space
    near = correlated(space.X, space.y, space.weights)
    order = near[best_columns(space.X[:, near], space.y, space.weights, most_terms - 1)].tolist()
    seen = rows.part(rows.seen).space
    columns = [Expression.variable(j) for j in order]
    values = np.column_stack([np.ones(len(seen.y)), seen.X[:, order]])
    return [
        (tuple(coefficients.tolist()), (Expression.constant(1.0), *columns[: len(coefficients) - 1]))
        for coefficients in nested_fits(values, seen.y, seen.weights)
    ]


def nested_fits(values: Floats, y: Floats, weights: Floats) -> list[Floats]:
    """Best coefficients of the first two columns of `values` (n, k), of the first three, …, by one factorisation."""
    roots, sizes = np.sqrt(weights), largest(values)
    Q, R = np.linalg.qr(roots[:, None] * (values / sizes))
    along = Q.T @ (roots * y)
    # On the rows that the search saw, columns may be closer to one another than on all.
    return [
        np.linalg.lstsq(R[:k, :k], along[:k], rcond=None)[0] / sizes[:k]
        for k in range(2, values.shape[1] + 1)
    ]


def correlated(X: Floats, y: Floats, weights: Floats) -> NDArray[np.intp]:
    """Columns of X (n, p) to look at, in the order they have."""
    if X.shape[1] <= MOST_COLUMNS:
        return np.arange(X.shape[1])
    scaled = X / largest(X)
    centred = scaled - np.average(scaled, axis=0, weights=weights)
    along = np.abs((weights * (y - np.average(y, weights=weights))) @ centred)
    lengths = np.sqrt(weights @ np.square(centred))
    sizes = np.divide(along, lengths, out=np.zeros_like(along), where=lengths > 0.0)
    return np.sort(np.argsort(-sizes, kind="stable")[:MOST_COLUMNS])


def expected_r2(rows: Rows) -> float:
    """R² that the line through all columns has on other rows.  No column was chosen, so that it owes nothing to luck.

    −inf where nothing can be said: where rows are few, or where columns that tell nothing would explain as much, as the
    F-test has it.
    """
    space = rows.space
    n, columns = space.X.shape
    if not rows.loss.squared or columns > min(MOST_COLUMNS, n // ROWS_PER_COLUMN):
        return -np.inf
    unit, target = standardised(space.X, space.weights), weighted_differences(space.y, space.weights)
    values, vectors = np.linalg.eigh(unit.T @ unit)
    basis = unit @ (vectors[:, values > NOVELTY**2] / np.sqrt(values[values > NOVELTY**2]))
    k, spread = basis.shape[1], float(target @ target)
    left = spread - float(np.sum(np.square(basis.T @ target)))
    if not 0 < left < spread or betainc((n - k - 1) / 2.0, k / 2.0, left / spread) > BY_CHANCE:
        return -np.inf
    return r2_on_other_rows(1.0 - left / spread, k + 1, n)
