"""What an error costs: squared, absolute, Huber's, a quantile's, a wrong log-odds, or a function of your own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LossFunction = Callable[[Floats, Floats], Floats]

#: Huber's threshold in units of the spread of the errors, by their median: 95 % as good as squares on normal errors
HUBER = 1.345
NAMES = ("squared", "absolute", "huber", "quantile", "logistic")
#: log-odds beyond are as good as certain; the working response there is that of these
CERTAIN = 12.0


@dataclass(frozen=True)
class Loss:
    """cost(y, predicted) per row, and weights w with cost ≈ w·(y − predicted)², for which squares stand in."""

    name: str
    quantile: float = 0.5
    function: LossFunction | None = None

    @property
    def squared(self) -> bool:
        return self.name == "squared"

    @property
    def logistic(self) -> bool:
        """Whether y is the probability, or the share, of something, and a prediction its log-odds."""
        return self.name == "logistic"

    def cost(self, y: Floats, predicted: Floats) -> Floats:
        """What every row costs: (n_rows,)."""
        errors = y - predicted
        if self.function is not None:
            costs = np.asarray(self.function(y, predicted), dtype=np.float64)
            if costs.shape != y.shape:
                raise ValueError(
                    f"loss must return what each of {len(y)} rows costs; got an array of shape {costs.shape}"
                )
            if np.isnan(costs[np.isfinite(errors)]).any():
                raise ValueError("loss must return a number for every row with a finite prediction; got nan")
            return costs
        if self.name == "squared":
            return np.square(errors)
        if self.name == "huber":
            width = HUBER * scale(errors)
            size = np.abs(errors)
            return np.where(size <= width, np.square(errors), width * (2.0 * size - width))
        if self.name == "quantile":
            return np.where(errors >= 0.0, self.quantile * errors, (self.quantile - 1.0) * errors)
        if self.logistic:
            return np.logaddexp(0.0, predicted) - y * predicted
        return np.abs(errors)

    def constant(self, y: Floats, weights: Floats) -> float:
        """The number to predict where nothing else is known: the mean, or the log-odds of the mean."""
        mean = float(np.average(y, weights=weights))
        return float(np.clip(log_odds(mean), -CERTAIN, CERTAIN)) if self.logistic else mean

    def working(self, y: Floats, predicted: Floats) -> tuple[Floats, Floats]:
        """A target t and weights w such that w·(t − f)² touches the cost at f = predicted, and bends as it does.

        For log-odds this is a step of Newton's method, the working response of logistic regression.
        """
        if not self.logistic:
            return y, self.weights(y, predicted)
        odds: Floats = np.clip(np.nan_to_num(predicted, nan=0.0), -CERTAIN, CERTAIN)
        probability = probabilities(odds)
        weights: Floats = probability * (1.0 - probability)
        return odds + (y - probability) / weights, weights

    def weights(self, y: Floats, predicted: Floats) -> Floats:
        """Weights of the squares that touch the cost at these errors (iteratively reweighted least squares)."""
        errors = y - predicted
        width = scale(errors)
        # Errors of nothing would weigh infinitely.
        least = 1e-4 * width + 1e-12 * float(np.abs(y).max(initial=0.0)) + 1e-300
        size: Floats = np.maximum(np.abs(errors), least)
        if self.function is not None:
            return self._weights_by_slope(y, np.where(errors < 0.0, -size, size))
        if self.name == "huber":
            return np.minimum(1.0, HUBER * width / size)
        if self.name == "quantile":
            return np.where(errors >= 0.0, self.quantile, 1.0 - self.quantile) / size
        if self.name == "absolute":
            return 1.0 / size
        return np.ones_like(y)

    def _weights_by_slope(self, y: Floats, errors: Floats) -> Floats:
        """cost′/(2·error), the squares of which have the slope of the cost; alike where the cost has none."""
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
    """ValueError unless the loss can judge y: the logistic one needs probabilities, or labels 0 and 1."""
    if loss.logistic and not ((y >= 0.0) & (y <= 1.0)).all():
        raise ValueError(
            "loss='logistic' needs values of y from 0 to 1; for other labels use SymbolicClassifier"
        )


def scale(errors: Floats) -> float:
    """Their spread; where most of them are zero, their mean size; one if all of them are."""
    return spread(errors) or float(np.mean(np.abs(errors))) or 1.0


def spread(errors: Floats) -> float:
    """A standard deviation that a few wild errors do not move."""
    return 1.4826 * float(np.median(np.abs(errors - np.median(errors)))) if len(errors) else 0.0


def as_loss(loss: str | LossFunction, quantile: float) -> Loss:
    """The loss of that name, or of a function cost(y, predicted) of arrays."""
    if callable(loss):
        return Loss("your function", function=loss)
    if not (isinstance(loss, str) and loss in NAMES):
        raise ValueError(
            f"loss must be one of {', '.join(NAMES)}, or a function of (y, predicted); got {loss!r}"
        )
    if not (isinstance(quantile, Real) and 0.0 < quantile < 1.0):
        raise ValueError(f"quantile must lie between 0 and 1; got {quantile!r}")
    return Loss(loss, quantile)
