"""Linear sums of columns, the best next column added each time: what every other formula has to beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE
from fouriertree.search.hybrid.table import Table

Floats = NDArray[np.float64]
#: a column whose part outside the span is smaller, relative to itself, is no news
NOVELTY = 1e-6


def linear_sums(table: Table, most: int) -> list[tuple[Expression, ...]]:
    """1 + x_a, 1 + x_a + x_b, … with up to `most` terms."""
    order = best_columns(table.X, table.y, table.weights, most - 1)
    return [(ONE, *(table.variables[j] for j in order[: k + 1])) for k in range(len(order))]


def best_columns(X: Floats, y: Floats, weights: Floats, most: int) -> list[int]:
    """Columns of X (n, p), each the one that explains most of what a constant and those before it leave of y (n,)."""
    roots = np.sqrt(weights)
    outside = np.column_stack([np.ones(len(y)), X]) * roots[:, None]
    lengths = np.linalg.norm(outside, axis=0)
    residual = roots * y
    chosen, best = [0], 0
    while len(chosen) <= most:
        direction = outside[:, best] / np.linalg.norm(outside[:, best])
        residual = residual - direction * float(direction @ residual)
        outside = outside - np.outer(direction, direction @ outside)
        left = np.linalg.norm(outside, axis=0)
        fresh = np.setdiff1d(np.flatnonzero(left > NOVELTY * lengths), chosen)
        if not len(fresh):
            break
        best = int(fresh[np.argmax(np.abs(residual @ outside[:, fresh]) / left[fresh])])
        chosen.append(best)
    return [j - 1 for j in chosen[1:]]
