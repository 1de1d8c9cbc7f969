"""The objective of a fit: the loss of predictions on the rows of the training data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.losses import Loss
from fouriertree.data.training import TrainingData
from fouriertree.engine import Engine
from fouriertree.expr import Expression
from fouriertree.space import EmpiricalSpace
from fouriertree.tolerances import EXACT_FIT, ROUNDED_TARGET

Floats = NDArray[np.float64]
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
        return self.space_of(ALL_ROWS, self.data.y, self.data.weights)

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
        """R²; for log-odds McFadden's R², the explained share of the deviance."""
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
        return self.mean_square(self.data.y - np.average(self.data.y, weights=self.data.weights))

    @cached_property
    def exact(self) -> float:
        """Mean squared error below which an equation is exact: rounding, relative to the variance or to y itself."""
        return max(EXACT_FIT**2 * self.variance, ROUNDED_TARGET**2 * self.mean_square(self.data.y))

    def mean_square(self, errors: Floats) -> float:
        return float(np.average(errors**2, weights=self.data.weights))

    def training_only(self) -> Self:
        """The same loss on the training set."""
        return replace(self, data=self.data.training_only())
