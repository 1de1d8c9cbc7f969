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
    """Columns of X (n, p), each the one that explains most of what a constant and those before it leave of y (n,).

    A Cholesky factorisation of the correlations that takes the best column next: p² numbers instead of n·p each time.
    """
    unit, target = standardised(X, weights), weighted_differences(y, weights)
    correlations = unit.T @ unit
    along = unit.T @ target
    left: Floats = np.where(unit.any(axis=0), 1.0, 0.0)  # squared length of what is outside of the span
    factor = np.zeros((0, X.shape[1]))
    chosen: list[int] = []
    while len(chosen) < most:
        fresh = np.flatnonzero(left > NOVELTY**2)
        if not len(fresh):
            break
        best = int(fresh[np.argmax(np.square(along[fresh]) / left[fresh])])
        row = (correlations[best] - factor[:, best] @ factor) / np.sqrt(left[best])
        along = along - row * (along[best] / np.sqrt(left[best]))
        left = left - np.square(row)
        left[best] = 0.0
        factor = np.vstack([factor, row])
        chosen.append(best)
    return chosen


def standardised(X: Floats, weights: Floats) -> Floats:
    """Columns of X (n, p), weighted, without their means and of unit length; zeros for those that do not vary."""
    roots = np.sqrt(weights / weights.sum())[:, None]
    scaled = X / largest(X)
    centred = roots * (scaled - np.average(scaled, axis=0, weights=weights))
    lengths = np.linalg.norm(centred, axis=0)
    varies = lengths > NOVELTY * np.linalg.norm(roots * scaled, axis=0)
    found: Floats = np.divide(centred, lengths, out=np.zeros_like(centred), where=varies)
    return found


def weighted_differences(y: Floats, weights: Floats) -> Floats:
    """√w·(y − mean), whose squares add up to the variance."""
    found: Floats = np.sqrt(weights / weights.sum()) * (y - np.average(y, weights=weights))
    return found


def largest(X: Floats) -> Floats:
    """Largest absolute values of columns, by which they are divided before they are squared; 1 for zeros."""
    sizes: Floats = np.abs(X).max(axis=0)
    return np.where(sizes > 0.0, sizes, 1.0)
