"""Textbook shapes of one feature as candidates: saturation, growth, waves and peaks with two to four parameters."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.archive import Candidate
from fouriertree.criteria.shapes import fitted_shapes
from fouriertree.data.training import TrainingData
from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.canonical import rescaled
from fouriertree.expr.opcodes import VAR

Floats = NDArray[np.float64]

#: with more features than one, shapes of single features are candidates up to so many rows: with more of them, the
#: effects of the other features show
FEW_ROWS = 60
#: rows that shapes are fitted to, and features at most
MOST_ROWS, MOST_FEATURES = 500, 30


def textbook_models(data: TrainingData, primitives: PrimitiveSet) -> list[Candidate]:
    """Every textbook shape of every feature, fitted to the training set; none of several features and many rows."""
    if data.n_features > 1 and (data.n_rows > FEW_ROWS or data.n_features > MOST_FEATURES):
        return []
    rows = np.arange(data.n_rows)[data.training]
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, MOST_ROWS).astype(int))]
    y, weights = data.y[rows], data.weights[rows]
    size = _size(y)
    found: list[Candidate] = []
    for feature in range(data.n_features):
        x = data.X[rows, feature]
        if np.ptp(x) > 0.0:
            unit = _size(x)
            for fit in fitted_shapes(x / unit, y / size, weights, primitives):
                terms = _in_units(fit.terms, feature, unit)
                found.append(Candidate(tuple(size * c for c in fit.coefficients), terms))
    return found


def _in_units(terms: Sequence[Expression], feature: int, unit: float) -> tuple[Expression, ...]:
    """Terms over x0 as terms over x_feature/unit."""
    moved = [rescaled(term, [unit]) for term in terms]
    return tuple(
        Expression.unchecked(e.op, np.where(e.op == VAR, feature, e.arg), e.const, e.primitives)
        for e in moved
    )


def _size(values: Floats) -> float:
    """Root mean square, 1 for zeros."""
    largest = float(np.abs(values).max()) or 1.0
    return largest * float(np.sqrt(np.mean(np.square(values / largest)))) or 1.0
