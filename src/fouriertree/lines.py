"""Lines through all rows: what every other formula of a table has to beat, and seldom does where there is no law."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.front import least_squares
from fouriertree.observers import Terms
from fouriertree.rows import Rows
from fouriertree.search.hybrid.linear import best_columns

Floats = NDArray[np.float64]

#: columns that are looked at, those with the largest correlations, where there are more
MOST_COLUMNS = 300


def lines(rows: Rows, most_terms: int) -> list[Terms]:
    """c + a·x_i, c + a·x_i + b·x_j, … with the best next column each time, fitted to the rows that the search saw.

    The columns are chosen with all rows.  Where rows are few, those that a search sees tell too little of weak effects.
    """
    space = rows.space
    near = correlated(space.X, space.y, space.weights)
    order = near[best_columns(space.X[:, near], space.y, space.weights, most_terms - 1)].tolist()
    seen = rows.part(rows.seen).space
    columns = [Expression.variable(j) for j in order]
    values = np.vstack([np.ones(len(seen.y)), seen.X.T[order]])
    found: list[Terms] = []
    for k in range(1, len(order) + 1):
        coefficients = least_squares(seen, values[: k + 1])
        found.append((tuple(coefficients.tolist()), (Expression.constant(1.0), *columns[:k])))
    return found


def correlated(X: Floats, y: Floats, weights: Floats) -> NDArray[np.intp]:
    """Columns of X (n, p) to look at, in the order they have."""
    if X.shape[1] <= MOST_COLUMNS:
        return np.arange(X.shape[1])
    centred = X - np.average(X, axis=0, weights=weights)
    along = np.abs((weights * (y - np.average(y, weights=weights))) @ centred)
    lengths = np.sqrt(weights @ np.square(centred))
    sizes = np.divide(along, lengths, out=np.zeros_like(along), where=lengths > 0.0)
    return np.sort(np.argsort(-sizes, kind="stable")[:MOST_COLUMNS])
