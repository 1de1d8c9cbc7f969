"""Losses per row, squared, absolute, Huber, quantile, relative, logistic or custom, and their mean, the objective."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.errors import Measure
from fouriertree.data.training import TrainingData
from fouriertree.engine import Engine
from fouriertree.expr import Expression
from fouriertree.space import EmpiricalSpace
from fouriertree.tolerances import EXACT_FIT, ROUNDED_TARGET

Floats = NDArray[np.float64]
LossFunction = Callable[[Floats, Floats], Floats]

#: Huber's threshold in robust standard deviations of the errors: 95 % efficiency for normal errors
HUBER = 1.345
NAMES = ("squared", "absolute", "huber", "quantile", "relative", "logistic")
#: log-odds are clipped to this in working responses
MAX_LOG_ODDS = 12.0


@dataclass(frozen=True)
class Loss:
    """ℓ(y, predicted) per row, and weights of squared errors for iteratively reweighted least squares."""

    name: str
    quantile: float = 0.5
    function: LossFunction | None = None

    @property
    def squared(self) -> bool:
        """Whether it is the squared error times a weight that y determines."""
        return self.name in ("squared", "relative")

    @property
    def relative(self) -> bool:
        """Whether errors are relative to y."""
        return self.name == "relative"

    @property
    def measure(self) -> Measure:
        """How errors are measured."""
        return "relative" if self.relative else "absolute"

    @property
    def logistic(self) -> bool:
        """Whether y are probabilities, and predictions their log-odds."""
        return self.name == "logistic"

    def cost(self, y: Floats, predicted: Floats) -> Floats:
        """Losses of the rows: (n_rows,)."""
        errors = y - predicted
        if self.function is not None:
            losses = np.asarray(self.function(y, predicted), dtype=np.float64)
            if losses.shape != y.shape:
                raise ValueError(f"loss must return the losses of {len(y)} rows; got shape {losses.shape}")
            if np.isnan(losses[np.isfinite(errors)]).any():
                raise ValueError("loss must return a number for every row with a finite prediction; got nan")
            return losses
        if self.name == "squared":
            return np.square(errors)
        if self.relative:
            return np.square(errors / y)
        if self.name == "huber":
            width = HUBER * scale(errors)
            size = np.abs(errors)
            return np.where(size <= width, np.square(errors), width * (2.0 * size - width))
        if self.name == "quantile":
            return np.where(errors >= 0.0, self.quantile * errors, (self.quantile - 1.0) * errors)
        if self.logistic:
            return np.logaddexp(0.0, predicted) - y * predicted
        return np.abs(errors)

    def row_weights(self, y: Floats) -> Floats:
        """Weights of squared errors that y determines: 1/y² for relative errors, otherwise one."""
        return 1.0 / np.square(y) if self.relative else np.ones_like(y)

    def constant(self, y: Floats, weights: Floats) -> float:
        """The constant prediction: the mean of y, for relative errors by weights 1/y², or the log-odds of the mean."""
        mean = float(np.average(y, weights=weights * self.row_weights(y)))
        return float(np.clip(log_odds(mean), -MAX_LOG_ODDS, MAX_LOG_ODDS)) if self.logistic else mean

    def working(self, y: Floats, predicted: Floats) -> tuple[Floats, Floats]:
        """Working response t and weights w: at f = predicted, w·(t − f)² has the slope of the loss, up to a factor.

        For the logistic loss it also has the curvature: a Newton step.
        """
        if not self.logistic:
            return y, self.weights(y, predicted)
        odds: Floats = np.clip(np.nan_to_num(predicted, nan=0.0), -MAX_LOG_ODDS, MAX_LOG_ODDS)
        probability = probabilities(odds)
        weights: Floats = probability * (1.0 - probability)
        return odds + (y - probability) / weights, weights

    def weights(self, y: Floats, predicted: Floats) -> Floats:
        """Weights with which squares have the slopes of the loss at these errors, up to a factor."""
        errors = y - predicted
        width = scale(errors)
        # Errors of zero would have infinite weights.
        least = 1e-4 * width + 1e-12 * float(np.abs(y).max(initial=0.0)) + 1e-300
        size: Floats = np.maximum(np.abs(errors), least)
        if self.function is not None:
            return self._weights_from_slopes(y, np.where(errors < 0.0, -size, size))
        if self.name == "huber":
            return np.minimum(1.0, HUBER * width / size)
        if self.name == "quantile":
            return np.where(errors >= 0.0, self.quantile, 1.0 - self.quantile) / size
        if self.name == "absolute":
            return 1.0 / size
        return self.row_weights(y)

    def _weights_from_slopes(self, y: Floats, errors: Floats) -> Floats:
        """ℓ′/(2·error) by central differences; equal weights if the loss is flat."""
        h = 1e-4 * errors
        slopes = (self.cost(y, y - errors - h) - self.cost(y, y - errors + h)) / (2.0 * h)
        weights: Floats = np.maximum(slopes / (2.0 * errors), 0.0)
        return weights if weights.any() else np.ones_like(y)


def probabilities(odds: Floats) -> Floats:
    """1/(1 + e^(−odds)), without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * odds))


def log_odds(probability: float) -> float:
    """log(p/(1 − p)), infinite where p is 0 or 1.

    >>> log_odds(0.5), log_odds(0.0)
    (0.0, -inf)
    """
    with np.errstate(divide="ignore"):
        return float(np.log(probability) - np.log1p(-probability))


def check_probabilities(loss: Loss, y: Floats) -> None:
    """Raise ValueError if the loss is logistic and y has other values than probabilities."""
    if loss.logistic and not ((y >= 0.0) & (y <= 1.0)).all():
        raise ValueError(
            "loss='logistic' needs values of y from 0 to 1; for other labels use SymbolicClassifier"
        )


def scale(errors: Floats) -> float:
    """Robust standard deviation of the errors; if that is zero, their mean absolute value, or one."""
    return spread(errors) or float(np.mean(np.abs(errors))) or 1.0


def spread(errors: Floats) -> float:
    """Robust standard deviation: 1.4826 times the median absolute deviation."""
    return 1.4826 * float(np.median(np.abs(errors - np.median(errors)))) if len(errors) else 0.0


def as_loss(loss: str | LossFunction, quantile: float) -> Loss:
    """The loss of that name, or of a function of the arrays (y, predicted)."""
    if callable(loss):
        return Loss("custom", function=loss)
    if not (isinstance(loss, str) and loss in NAMES):
        raise ValueError(
            f"loss must be one of {', '.join(NAMES)}, or a function of (y, predicted); got {loss!r}"
        )
    if not (isinstance(quantile, Real) and 0.0 < quantile < 1.0):
        raise ValueError(f"quantile must lie between 0 and 1; got {quantile!r}")
    return Loss(loss, quantile)


ALL_ROWS = slice(None)


@dataclass(frozen=True, eq=False)
class Objective:
    """Mean losses over rows, weighted: of the training set, of the validation set, or of both."""

    data: TrainingData
    loss: Loss
    engine: Engine

    @cached_property
    def space(self) -> EmpiricalSpace:
        """The functions on all rows; no copy of the data."""
        return self.space_of(ALL_ROWS, self.data.y, self.weights)

    @cached_property
    def weights(self) -> Floats:
        """Weights of squared errors on all rows, (n_rows,): sample weights, divided by y² for relative errors."""
        # Positive weights stay positive: a space drops rows without a weight.
        return np.maximum(self.data.weights * self.loss.row_weights(self.data.y), np.finfo(float).tiny)

    def space_of(self, rows: slice, target: Floats, weights: Floats) -> EmpiricalSpace:
        """The functions on some rows, with a target and weights of all rows."""
        return EmpiricalSpace(self.data.X[rows], target[rows], weights[rows], self.engine, copy=False)

    def values(self, expressions: Sequence[Expression]) -> Floats:
        """Values of expressions on all rows: (n_expressions, n_rows), finite or not."""
        return self.space.values(expressions)

    def mean_loss(self, predicted: Floats, rows: slice = ALL_ROWS) -> float:
        """Weighted mean of the loss over all rows, or over some; NaN over none."""
        weights = self.data.weights[rows]
        if not len(weights):
            return np.nan
        if not np.isfinite(predicted[rows]).all():
            # Log-odds of −∞ cost nothing where the class is certain, and a custom loss may be bounded.
            return np.inf
        with np.errstate(all="ignore"):
            return float(np.average(self.loss.cost(self.data.y[rows], predicted[rows]), weights=weights))

    def explained(self, predicted: Floats) -> float:
        """R², 1 for an exact equation; for log-odds McFadden's R², the explained share of the deviance.

        Squared errors have the weights of the loss: for relative errors, R² is that of weights 1/y².
        """
        if self.mean_loss(predicted) <= self.exact:
            return 1.0
        if self.loss.logistic:
            return 1.0 - self.mean_loss(predicted) / self.baseline if self.baseline > 0.0 else 0.0
        error = self.mean_square(self.data.y - predicted)
        return 1.0 - error / self.variance if self.variance > 0.0 else float(error == 0.0)

    @cached_property
    def constant(self) -> float:
        """The best constant prediction."""
        return self.loss.constant(self.data.y, self.data.weights)

    @cached_property
    def baseline(self) -> float:
        """Mean loss of the best constant prediction."""
        return self.mean_loss(np.full(self.data.n_rows, self.constant))

    @cached_property
    def variance(self) -> float:
        """Weighted variance of y."""
        return self.mean_square(self.data.y - np.average(self.data.y, weights=self.weights))

    @cached_property
    def exact(self) -> float:
        """Mean squared error below which an equation is exact: rounding, relative to the variance or to y itself."""
        return max(EXACT_FIT**2 * self.variance, ROUNDED_TARGET**2 * self.mean_square(self.data.y))

    def mean_square(self, errors: Floats) -> float:
        """Weighted mean of squares, of relative errors where the loss is of these."""
        return float(np.average(errors**2 * self.loss.row_weights(self.data.y), weights=self.data.weights))

    def training_only(self) -> Self:
        """The same loss on the training set."""
        return replace(self, data=self.data.training_only())
