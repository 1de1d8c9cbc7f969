"""Lines through all rows: what every other formula of a table has to beat, and seldom does where there is no law."""

from __future__ import annotations

import numpy as np

from fouriertree.expr import Expression
from fouriertree.front import least_squares
from fouriertree.observers import Terms
from fouriertree.rows import Rows
from fouriertree.search.hybrid.linear import best_columns


def lines(rows: Rows, most_terms: int) -> list[Terms]:
    """c + a·x_i, c + a·x_i + b·x_j, … with the best next column each time, fitted to the rows that the search saw.

    The columns are chosen with all rows.  Where rows are few, those that a search sees tell too little of weak effects.
    """
    space = rows.space
    order = best_columns(space.X, space.y, space.weights, most_terms - 1)
    seen = rows.part(rows.seen).space
    columns = [Expression.variable(j) for j in order]
    values = np.vstack([np.ones(len(seen.y)), seen.X.T[order]])
    found: list[Terms] = []
    for k in range(1, len(order) + 1):
        coefficients = least_squares(seen, values[: k + 1])
        found.append((tuple(coefficients.tolist()), (Expression.constant(1.0), *columns[:k])))
    return found
