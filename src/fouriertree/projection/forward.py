"""Forward selection of features for linear models, and standardized columns."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: a column is dependent if its part orthogonal to the span of the others is smaller, relative to its length
INDEPENDENT = 1e-6


def forward_selection(X: Floats, y: Floats, weights: Floats, most: int) -> list[int]:
    """At most `most` columns of X (n, p), each the one that reduces the residual of y (n,) most when it is added.

    The model contains an intercept.  A pivoted Cholesky factorization of the correlation matrix whose pivot is the
    best column: a step updates p² numbers, not n·p.
    """
    unit, target = standardised(X, weights), weighted_differences(y, weights)
    correlations = unit.T @ unit
    along = unit.T @ target
    left: Floats = np.where(unit.any(axis=0), 1.0, 0.0)  # squared length of the part orthogonal to the span
    factor = np.zeros((0, X.shape[1]))
    chosen: list[int] = []
    while len(chosen) < most:
        fresh = np.flatnonzero(left > INDEPENDENT**2)
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
    varies = lengths > INDEPENDENT * np.linalg.norm(roots * scaled, axis=0)
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
