"""Lines through all rows: what every other formula of a table has to beat, and seldom does where there is no law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from fouriertree.criteria.archive import Candidate
from fouriertree.criteria.rows import Rows
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST
from fouriertree.search.hybrid.linear import (
    NOVELTY,
    best_columns,
    largest,
    standardised,
    weighted_differences,
)
from fouriertree.selection.table import Equation

Floats = NDArray[np.float64]

#: columns that are looked at, those with the largest correlations, where there are more
MAX_FEATURES = 300
#: rows for every column that a line through all of them needs before its errors tell anything
ROWS_PER_FEATURE = 3
#: R² that a formula may have less than a line, and the probability that a line is as much better by chance
R2_TOLERANCE, SIGNIFICANCE = 0.01, 0.02


def linear_models(rows: Rows, most_terms: int) -> list[Candidate]:
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
    if X.shape[1] <= MAX_FEATURES:
        return np.arange(X.shape[1])
    scaled = X / largest(X)
    centred = scaled - np.average(scaled, axis=0, weights=weights)
    along = np.abs((weights * (y - np.average(y, weights=weights))) @ centred)
    lengths = np.sqrt(weights @ np.square(centred))
    sizes = np.divide(along, lengths, out=np.zeros_like(along), where=lengths > 0.0)
    return np.sort(np.argsort(-sizes, kind="stable")[:MAX_FEATURES])


@dataclass(frozen=True)
class FullLinearModel:
    """The line through all columns.  None of them was chosen, so that it owes nothing to tolerance."""

    left: float  #: share of the variance that it leaves unexplained
    numbers: int
    rows: float

    def beats(self, left: float, numbers: int) -> bool:
        """Whether a formula that leaves this share, with so many fitted numbers, is worse.

        By more than 0.01 in R² on other rows, and by more than chance explains, by the F-test for the numbers that the
        line has more.
        """
        if self._elsewhere(left, numbers) <= self._elsewhere(self.left, self.numbers) + R2_TOLERANCE:
            return False
        more = max(self.numbers - numbers, 1)
        return bool(betainc((self.rows - self.numbers) / 2.0, more / 2.0, self.left / left) < SIGNIFICANCE)

    def _elsewhere(self, left: float, numbers: int) -> float:
        """The share that is left on other rows: every fitted number takes away a row, and errs itself."""
        return left * (self.rows + numbers) / max(self.rows - numbers, 1.0)


def full_linear_model(rows: Rows) -> FullLinearModel | None:
    """None where rows are too few to tell anything of it, and where errors are not squared."""
    space = rows.space
    n, columns = effective_rows(space.X, space.y, space.weights), space.n_columns
    if not rows.loss.squared or columns > min(MAX_FEATURES, n / ROWS_PER_FEATURE):
        return None
    unit, target = standardised(space.X, space.weights), weighted_differences(space.y, space.weights)
    spread = float(target @ target)
    if spread == 0.0:
        return None
    values, vectors = np.linalg.eigh(unit.T @ unit)
    fresh = values > NOVELTY**2
    basis = unit @ (vectors[:, fresh] / np.sqrt(values[fresh]))
    errors = target - basis @ (basis.T @ target)
    return FullLinearModel(float(errors @ errors) / spread, 1 + basis.shape[1], n)


def compared_with_linear_model(found: Sequence[Equation], line: FullLinearModel) -> list[Equation]:
    """The same formulas, with a mark where the line through all columns is better."""

    def is_below(row: Equation) -> bool:
        numbers = int(np.count_nonzero(row.model.expression.op == CONST))
        return line.beats(1.0 - row.r2, numbers)

    return [replace(row, worse_than_linear=is_below(row)) for row in found]


def effective_rows(X: Floats, y: Floats, weights: Floats) -> float:
    """(Σ w)² / Σ w²: rows of one weight that would tell as much.  Copies of a row are one row of more weight."""
    if len(np.unique(y)) < len(y):
        _, copies = np.unique(np.column_stack([y, X]), axis=0, return_inverse=True)
        weights = np.asarray(np.bincount(copies.ravel(), weights), np.float64)
    return float(weights.sum() ** 2 / (weights @ weights))
