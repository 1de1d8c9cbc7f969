"""How far a prediction, or a number of a formula, may be off: from errors on rows not fitted, or in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fouriertree.engine.gradients import value_and_slopes
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, USER_OPCODE_START
from fouriertree.model import Model
from fouriertree.projection.refit import refit_constants

Floats = NDArray[np.float64]

#: directions in the numbers that change the values by less, relative to others, are not told by the data
RANK_TOLERANCE = 1e-10
#: a number with a share of such a direction larger than this is not told either
DETERMINED_TOLERANCE = 1e-6
DIGITS = 6
COLUMNS = ("term", "number", "value", "standard_error", "lower", "upper")


# split-conformal -------------------------------------------------------------------------------------------------
def conformal_quantile(scores: ArrayLike, level: float) -> float:
    """The ⌈(m + 1)·level⌉-th smallest of m scores; infinite if there are too few for that.

    If the scores and that of a new row are exchangeable, the new one is at most this with probability `level` or
    more, and less than 1/(m + 1) more where no two are equal: whatever their distribution, and whatever the formula.

    >>> conformal_quantile([3.0, 1.0, 2.0, 4.0], 0.8), conformal_quantile([3.0, 1.0, 2.0], 0.8)
    (4.0, inf)
    """
    _check_level(level)
    ordered = np.sort(np.asarray(scores, dtype=np.float64).ravel())
    # 0.9·10 is 9 on paper; a rounding error must not make it 10.
    rank = ceil((len(ordered) + 1) * level - 1e-9)
    if rank > len(ordered) or np.isnan(ordered[rank - 1]):
        return np.inf
    return float(ordered[rank - 1])


def prediction_bounds(values: ArrayLike, scores: ArrayLike, level: float) -> tuple[Floats, Floats]:
    """(lower, upper) around predicted values: (n_rows,) each, the same width everywhere.

    >>> prediction_bounds([1.0, 5.0], [0.5, 0.1, 0.2, 0.3], 0.8)
    (array([0.5, 4.5]), array([1.5, 5.5]))
    """
    predicted, width = np.asarray(values, dtype=np.float64), conformal_quantile(scores, level)
    return predicted - width, predicted + width


def min_scores_for(level: float) -> int:
    """Scores that are needed for bounds of this level that are finite.

    >>> [min_scores_for(level) for level in (0.8, 0.9, 0.95)]
    [4, 9, 19]
    """
    _check_level(level)
    return ceil(level / (1.0 - level) - 1e-9)


def validation_scores(
    expression: Expression, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None, seen: NDArray[np.bool_]
) -> Floats:
    """|y − predicted| on the rows that were not seen, by the formula with its numbers fitted to those that were.

    Numbers are fitted by least squares; with another loss, use the errors of the formula that was fitted with it.
    """
    table, target, given = _rows(X, y, weights)
    fitted = refit_constants(expression, table[seen], target[seen], given[seen])
    return np.abs(target[~seen] - fitted.evaluate(table[~seen]))


def cross_validation_scores(
    expression: Expression,
    X: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None = None,
    folds: int | None = None,
) -> Floats:
    """|y − predicted| on every row, by the formula with its numbers fitted to the rows of other folds: (n_rows,).

    For data too small to hold rows back; as many folds as rows, which None means, leave out one at a time.  The form
    of the formula was chosen with all rows, which these scores do not know: they are somewhat too small.
    """
    table, target, given = _rows(X, y, weights)
    if len(target) < 2:
        return np.zeros(0)  # nothing is left to fit to
    found = np.empty(len(target))
    fold_of = np.arange(len(target)) % (len(target) if folds is None else folds)
    for fold in np.unique(fold_of):
        out = fold_of == fold
        fitted = refit_constants(expression, table[~out], target[~out], given[~out])
        found[out] = np.abs(target[out] - fitted.evaluate(table[out]))
    return found


def calibration_scores(
    expression: Expression,
    X: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None,
    seen: NDArray[np.bool_],
    level: float,
) -> Floats:
    """Scores for bounds of this level: of the rows that were not seen if they are enough, else by leaving one out."""
    if np.count_nonzero(~seen) >= min_scores_for(level):
        return validation_scores(expression, X, y, weights, seen)
    return cross_validation_scores(expression, X, y, weights)


# closed form -----------------------------------------------------------------------------------------------------
def linear_intervals(
    model: Model, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None, level: float = 0.95
) -> pd.DataFrame:
    """The fitted numbers of a model with their standard errors and bounds: one row per number.

    The formula is replaced by its tangent in all of its numbers (the delta method), and the bounds are those of linear
    least squares, by Student's t.  They hold for errors that are independent and of one variance (of variance
    ∝ 1/weight with weights).  They know nothing of the search: the form was chosen with the same data, so take them
    as the least uncertainty there is.  A number that the data do not determine has infinite bounds.

    >>> from fouriertree.expr import parse
    >>> X = np.arange(6.0)[:, None]
    >>> y = 2 * X[:, 0] + 1 + 0.1 * np.array([1, -1, 1, -1, 1, -1])
    >>> table = linear_intervals(Model((1.0, 2.0), (parse("1"), parse("x0"))), X, y)
    >>> table[["term", "lower", "upper"]].round(2).values.tolist()
    [['1', 0.75, 1.25], ['x0', 1.92, 2.08]]
    """
    fit = _Tangent.of(model, *_rows(X, y, weights))
    errors = fit.standard_errors()
    reach = fit.quantile(level) * errors
    cells = [
        (term, number, value, error, value - width, value + width)
        for (term, number, value), error, width in zip(fit.numbers, errors, reach, strict=True)
    ]
    return pd.DataFrame(cells, columns=list(COLUMNS))


def linear_prediction_bounds(
    model: Model,
    X: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None,
    X_new: ArrayLike,
    level: float = 0.95,
    noise: bool = True,
) -> tuple[Floats, Floats]:
    """(lower, upper) for new rows: of what will be measured there, or without `noise` of the formula's own value.

    With the assumptions of `linear_intervals`.  The noise of a new row is that of a row of mean weight.
    """
    fit = _Tangent.of(model, *_rows(X, y, weights))
    values, slopes, _ = _slopes(model, np.asarray(X_new, dtype=np.float64))
    variance = fit.variance_along(slopes) + (fit.variance if noise else 0.0)
    reach = fit.quantile(level) * np.sqrt(variance)
    return values - reach, values + reach


Numbers = list[tuple[str, str, float]]


@dataclass(frozen=True)
class _Tangent:
    """A model as a linear function of its numbers, near those that it has."""

    numbers: Numbers  #: (term, what the number is, value)
    lengths: Floats  #: of the slopes, which are divided by them
    directions: Floats  #: combinations of numbers that the data tell: (rank, p)
    sizes: Floats  #: how strongly: (rank,)
    spare: int  #: rows that are left to tell the noise from
    variance: float  #: of the noise in a row of mean weight

    @classmethod
    def of(cls, model: Model, X: Floats, y: Floats, weights: Floats) -> _Tangent:
        counted = weights > 0.0
        X, y, weights = X[counted], y[counted], weights[counted]
        roots = np.sqrt(weights / weights.mean())
        values, slopes, numbers = _slopes(model, X)
        design = (roots * slopes).T
        lengths = np.linalg.norm(design, axis=0)
        lengths[~(lengths > 0.0)] = 1.0
        _, sizes, directions = np.linalg.svd(design / lengths, full_matrices=False)
        told = sizes > RANK_TOLERANCE * np.max(sizes, initial=0.0)
        spare = len(y) - int(np.count_nonzero(told))
        residual = roots * (y - values)
        variance = float(residual @ residual) / spare if spare > 0 else np.inf
        return cls(numbers, lengths, directions[told], sizes[told], spare, variance)

    def quantile(self, level: float) -> float:
        from scipy.stats import t

        _check_level(level)
        return float(t.ppf(0.5 + 0.5 * level, self.spare)) if self.spare > 0 else np.inf

    def standard_errors(self) -> Floats:
        return np.sqrt(self.variance_along(np.eye(len(self.numbers))))

    def variance_along(self, slopes: Floats) -> Floats:
        """Variance of Σ slopes·numbers for every column of (p, n): infinite where the data do not tell it."""
        scaled = slopes / self.lengths[:, None]
        along = self.directions @ scaled
        rest = np.linalg.norm(scaled - self.directions.T @ along, axis=0)
        found: Floats = self.variance * np.sum((along / self.sizes[:, None]) ** 2, axis=0)
        return np.where(rest > DETERMINED_TOLERANCE * np.linalg.norm(scaled, axis=0), np.inf, found)


def _slopes(model: Model, X: Floats) -> tuple[Floats, Floats, Numbers]:
    """Values (n,), slopes by the coefficients and by the numbers inside of the terms (p, n), and what they are."""
    total, slopes, numbers = np.zeros(len(X)), [], []
    for coefficient, term in zip(model.coefficients, model.expressions, strict=True):
        text = term.text(model.names, DIGITS)
        free = (term.op == CONST) & (term.const != 1.0)
        if (term.op >= USER_OPCODE_START).any():
            # Numbers inside of operators of one's own are not fitted.
            value, inner, free = term.evaluate(X), np.zeros((0, len(X))), np.zeros(len(term), bool)
        else:
            value, inner = value_and_slopes(term, X, free)
        total += coefficient * value
        slopes += [value[None], coefficient * inner]
        numbers.append((text, "coefficient", coefficient))
        numbers += [(text, "inside", float(number)) for number in term.const[free]]
    return total, np.concatenate([np.zeros((0, len(X))), *slopes]), numbers


def _rows(X: ArrayLike, y: ArrayLike, weights: ArrayLike | None) -> tuple[Floats, Floats, Floats]:
    table, target = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    given = np.ones(len(target)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not len(table) == len(target) == len(given):
        raise ValueError(f"X, y and weights have {len(table)}, {len(target)} and {len(given)} rows")
    return table, target, given


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1, such as 0.9; got {level}")
