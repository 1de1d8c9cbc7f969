"""Intervals of predictions and parameters: split conformal, or in closed form from a linearization."""

from dataclasses import dataclass
from math import ceil
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from fouriertree.criteria.errors import Measure, bounds_of_errors, errors_of, unit_of_errors
from fouriertree.engine.gradients import value_and_slopes
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import USER_OPCODE_START
from fouriertree.expr.readable import readable
from fouriertree.model import Model
from fouriertree.projection.refit import free_constants, refit_constants

Floats = NDArray[np.float64]
Rows = tuple[Floats, Floats, Floats]  #: X, y, weights

#: relative singular values of the Jacobian below this are zero
RANK_TOLERANCE = 1e-10
#: a parameter with a larger component in the null space of the Jacobian is not identified
DETERMINED_TOLERANCE = 1e-6
#: for the ceiling of a product such as 0.9·10, whose rounding error must not make it 10
CEILING_TOLERANCE = 1e-9
#: default level of confidence intervals
LEVEL = 0.95
#: maximum number of scores per equation
MAX_SCORES = 399
DIGITS = 6
COLUMNS = ("term", "number", "value", "standard_error", "lower", "upper")


def absolute_errors(errors: Floats) -> Floats:
    """Sorted |errors|, infinite where there is no value; of many, order statistics that overestimate quantiles."""
    sizes = np.sort(np.nan_to_num(np.abs(errors), nan=np.inf, posinf=np.inf))
    if len(sizes) <= MAX_SCORES:
        return sizes
    ranks = np.ceil(np.linspace(0.0, 1.0, MAX_SCORES + 1)[1:] * len(sizes)).astype(int) - 1
    kept: Floats = sizes[ranks]
    return kept


def conformal_quantile(scores: ArrayLike, level: float) -> float:
    """The ⌈(m + 1)·level⌉-th smallest of m scores; infinite if there are too few scores.

    If the scores and the score of a new row are exchangeable, the new one is at most this with a probability of at
    least `level`, and less than level + 1/(m + 1) without ties, for any distribution and any expression.

    >>> conformal_quantile([3.0, 1.0, 2.0, 4.0], 0.8), conformal_quantile([3.0, 1.0, 2.0], 0.8)
    (4.0, inf)
    """
    _check_level(level)
    ordered = np.sort(np.asarray(scores, dtype=np.float64).ravel())
    rank = ceil((len(ordered) + 1) * level - CEILING_TOLERANCE)
    if rank > len(ordered) or np.isnan(ordered[rank - 1]):
        return np.inf
    return float(ordered[rank - 1])


def prediction_bounds(
    values: ArrayLike, scores: ArrayLike, level: float, measure: Measure = "absolute"
) -> tuple[Floats, Floats]:
    """Conformal prediction intervals (lower, upper), (n_rows,) each: values ± `conformal_quantile(scores, level)`.

    Parameters
    ----------
    values, scores : array_like of shape (n_rows,) and (m,)
        Predicted values p, and sizes of errors on rows that were not fitted to (see `calibration_scores`).
    level : float
        Coverage, between 0 and 1.
    measure : {"absolute", "relative", "log"}
        Which errors the scores are of: y − p, (y − p)/|p| or log(y/p).

    Examples
    --------
    >>> prediction_bounds([1.0, 5.0], [0.5, 0.1, 0.2, 0.3], 0.8)
    (array([0.5, 4.5]), array([1.5, 5.5]))
    """
    return bounds_of_errors(np.asarray(values, dtype=np.float64), conformal_quantile(scores, level), measure)


def min_scores_for(level: float) -> int:
    """The number of scores from which bounds of this level are finite.

    >>> [min_scores_for(level) for level in (0.8, 0.9, 0.95)]
    [4, 9, 19]
    """
    _check_level(level)
    return ceil(level / (1.0 - level) - CEILING_TOLERANCE)


def cross_validation_scores(
    expression: Expression,
    X: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None = None,
    folds: int | None = None,
    measure: Measure = "absolute",
) -> Floats:
    """Sizes of the errors of a cross-validation in which the constants are refitted: (n_rows,).

    Leave-one-out by default.  The form of the expression was chosen with all rows, so these errors are optimistic.
    """
    rows = as_rows(X, y, weights)
    n = len(rows[1])
    if n < 2:
        return np.zeros(0)  # nothing is left to fit to
    errors = np.empty(n)
    fold_of = np.arange(n) % (n if folds is None else folds)
    for fold in np.unique(fold_of):
        errors[fold_of == fold] = _sizes_of_errors(expression, rows, fold_of == fold, measure)
    return errors


def _sizes_of_errors(
    expression: Expression, rows: Rows, test: NDArray[np.bool_], measure: Measure = "absolute"
) -> Floats:
    """|error| on the test rows, with the constants refitted to the others."""
    (X, y, weights), train = rows, ~test
    fitted = refit_constants(expression, X[train], y[train], weights[train])
    return np.abs(errors_of(y[test], fitted.evaluate(X[test]), measure))


def calibration_scores(
    expression: Expression,
    X: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None,
    training: NDArray[np.bool_],
    level: float,
) -> Floats:
    """Scores |y − predicted| for `prediction_bounds`, with the constants refitted by least squares.

    Parameters
    ----------
    expression, X, y, weights : Expression, (n_rows, n_features), (n_rows,), (n_rows,) or None
    training : ndarray of bool of shape (n_rows,)
        The training set; the other rows are the validation set.
    level : float
        Coverage of the bounds: a validation set too small for it gives leave-one-out scores of all rows instead.
    """
    if np.count_nonzero(~training) >= min_scores_for(level):
        return _sizes_of_errors(expression, as_rows(X, y, weights), ~training)
    return cross_validation_scores(expression, X, y, weights)


def linear_intervals(
    model: Model,
    X: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None = None,
    level: float = LEVEL,
    measure: Measure = "absolute",
) -> pd.DataFrame:
    """Confidence intervals of the parameters of a model, by linearization (delta method) and Student's t.

    They assume independent errors of equal variance (∝ 1/weight) and ignore the selection of the form on the same
    data, so they are lower bounds of the uncertainty.  A parameter that is not identified has infinite bounds.

    Parameters
    ----------
    model, X, y, weights : Model, (n_rows, n_features), (n_rows,), (n_rows,) or None
        The model, and the data that it was fitted to.
    level : float, default=0.95
    measure : {"absolute", "relative", "log"}
        The errors of equal variance: y − p, (y − p)/|p| or log(y/p), for predictions p.

    Returns
    -------
    DataFrame
        One row per parameter: term, number ("coefficient" or "inside"), value, standard_error, lower, upper.

    Examples
    --------
    >>> from fouriertree.expr import parse
    >>> X = np.arange(6.0)[:, None]
    >>> y = 2 * X[:, 0] + 1 + 0.1 * np.array([1, -1, 1, -1, 1, -1])
    >>> table = linear_intervals(Model((1.0, 2.0), (parse("1"), parse("x0"))), X, y)
    >>> table[["term", "lower", "upper"]].round(2).values.tolist()
    [['1', 0.75, 1.25], ['x0', 1.92, 2.08]]
    """
    fit = _Linearization.of(model, *as_rows(X, y, weights), measure)
    errors = np.sqrt(fit.variance_along(np.eye(len(fit.parameters))))
    half_widths = fit.quantile(level) * errors
    cells = [
        (*parameter, error, parameter[2] - half_width, parameter[2] + half_width)
        for parameter, error, half_width in zip(fit.parameters, errors, half_widths, strict=True)
    ]
    return pd.DataFrame(cells, columns=list(COLUMNS))


def linear_prediction_bounds(
    model: Model,
    X: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None,
    X_new: ArrayLike,
    level: float = LEVEL,
    noise: bool = True,
    measure: Measure = "absolute",
) -> tuple[Floats, Floats]:
    """Intervals (lower, upper) for new rows, (n_new,) each, with the assumptions of `linear_intervals`.

    Parameters
    ----------
    model, X, y, weights, level, measure
        As for `linear_intervals`.
    X_new : array_like of shape (n_new, n_features)
    noise : bool, default=True
        Prediction intervals of new observations, with the noise of a row of mean weight; otherwise confidence intervals
        of the model's value.
    """
    fit = _Linearization.of(model, *as_rows(X, y, weights), measure)
    values, slopes, _ = _slopes(model, np.asarray(X_new, dtype=np.float64))
    variance = fit.variance_along(slopes / unit_of_errors(values, measure)) + (fit.variance if noise else 0.0)
    return bounds_of_errors(values, fit.quantile(level) * np.sqrt(variance), measure)


Parameters = list[tuple[str, str, float]]  #: (term, kind, value)


@dataclass(frozen=True)
class _Linearization:
    """The SVD of the Jacobian of the errors of a model by its parameters, with columns of unit norm."""

    parameters: Parameters
    norms: Floats  #: (p,) of the columns before
    directions: Floats  #: (rank, p) right singular vectors
    singular_values: Floats  #: (rank,)
    degrees_of_freedom: int
    variance: float  #: of the noise in a row of mean weight

    @classmethod
    def of(cls, model: Model, X: Floats, y: Floats, weights: Floats, measure: Measure) -> Self:
        used = weights > 0.0
        if measure != "absolute":
            used &= model.predict(X) != 0.0  # nothing is relative to zero
        X, y, weights = X[used], y[used], weights[used]
        roots = np.sqrt(weights / weights.mean())
        values, slopes, parameters = _slopes(model, X)
        jacobian = (roots * slopes / unit_of_errors(values, measure)).T
        norms = np.linalg.norm(jacobian, axis=0)
        norms[~(norms > 0.0)] = 1.0
        _, singular_values, directions = np.linalg.svd(jacobian / norms, full_matrices=False)
        nonzero = singular_values > RANK_TOLERANCE * np.max(singular_values, initial=0.0)
        freedom = len(y) - int(np.count_nonzero(nonzero))
        residual = roots * errors_of(y, values, measure)
        variance = float(residual @ residual) / freedom if freedom > 0 else np.inf
        return cls(parameters, norms, directions[nonzero], singular_values[nonzero], freedom, variance)

    def quantile(self, level: float) -> float:
        """Of Student's t distribution, two-sided."""
        _check_level(level)
        freedom = self.degrees_of_freedom
        return float(stdtrit(freedom, 0.5 + 0.5 * level)) if freedom > 0 else np.inf

    def variance_along(self, slopes: Floats) -> Floats:
        """Variance of Σ slopes·parameters for every column of (p, n): infinite where it is not identified."""
        scaled = slopes / self.norms[:, None]
        components = self.directions @ scaled
        null = np.linalg.norm(scaled - self.directions.T @ components, axis=0)
        variance: Floats = self.variance * np.sum((components / self.singular_values[:, None]) ** 2, axis=0)
        return np.where(null > DETERMINED_TOLERANCE * np.linalg.norm(scaled, axis=0), np.inf, variance)


def _slopes(model: Model, X: Floats) -> tuple[Floats, Floats, Parameters]:
    """Values (n,), derivatives by the coefficients and by the constants inside of terms (p, n), and these."""
    total, slopes, parameters = np.zeros(len(X)), [], []
    for coefficient, term in zip(model.coefficients, model.expressions, strict=True):
        text = readable(term).text(model.names, DIGITS)
        free = free_constants(term)
        if (term.op >= USER_OPCODE_START).any():
            # Constants of terms with user-defined operators are not fitted.
            value, inner, free = term.evaluate(X), np.zeros((0, len(X))), np.zeros(len(term), bool)
        else:
            value, inner = value_and_slopes(term, X, free)
        total += coefficient * value
        slopes += [value[None], coefficient * inner]
        parameters.append((text, "coefficient", coefficient))
        parameters += [(text, "inside", float(constant)) for constant in term.const[free]]
    return total, np.concatenate([np.zeros((0, len(X))), *slopes]), parameters


def as_rows(X: ArrayLike, y: ArrayLike, weights: ArrayLike | None) -> Rows:
    """X, y and weights (1 by default) as float64, or ValueError for different numbers of rows."""
    table, target = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    weight = np.ones(len(target)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not len(table) == len(target) == len(weight):
        raise ValueError(f"X, y and weights have {len(table)}, {len(target)} and {len(weight)} rows")
    return table, target, weight


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1, such as 0.9; got {level}")
