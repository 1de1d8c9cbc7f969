"""The data of a fit, and what predictions cost on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.losses import Loss
from fouriertree.data.duplicates import Table
from fouriertree.engine import Engine
from fouriertree.space import EmpiricalSpace

#: a sum is exact if its errors are this small, relative to y: an exact law loses some digits where terms cancel
EXACT = 1e-11
#: the stream that a sample of rows is drawn from: another one than that of the rows held back
SAMPLE = 7
#: share of the rows that are held back to verify formulas with, where there are enough of them
VALIDATION_SHARE, MIN_ROWS_TO_SPLIT, MAX_VALIDATION_ROWS = 0.2, 20, 20_000


@dataclass(frozen=True)
class Rows:
    """The data of a fit: all rows, and which of them the search saw; it was checked on the others."""

    space: EmpiricalSpace
    seen: NDArray[np.bool_]
    loss: Loss

    def cost(self, predicted: NDArray[np.float64], which: NDArray[np.bool_] | None = None) -> float:
        """Mean cost of the errors over all rows, or over some; NaN over none."""
        rows = slice(None) if which is None else which
        weights = self.space.weights[rows]
        if not len(weights):
            return np.nan
        with np.errstate(all="ignore"):
            return float(np.average(self.loss.cost(self.space.y[rows], predicted[rows]), weights=weights))

    def explained(self, predicted: NDArray[np.float64]) -> float:
        """R², or for log-odds the share of the deviance that is explained, by McFadden's rule."""
        if not self.loss.logistic:
            return r_squared(self.space, predicted)
        nothing = self.baseline_loss()
        return 1.0 - self.cost(predicted) / nothing if nothing > 0.0 else 0.0

    def baseline_loss(self) -> float:
        space = self.space
        return self.cost(np.full(len(space.y), self.loss.constant(space.y, space.weights)))

    def part(self, which: NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        space = self.space
        return Rows(
            EmpiricalSpace(space.X[which], space.y[which], space.weights[which], space.engine),
            self.seen[which],
            self.loss,
        )

    def with_engine(self, engine: Engine) -> Rows:
        space = self.space
        return Rows(EmpiricalSpace(space.X, space.y, space.weights, engine), self.seen, self.loss)

    def sample(self, most: int, seed: int) -> Rows:
        """At most so many of the rows: of those that the search saw and of the others alike."""
        n = len(self.seen)
        if n <= most:
            return self
        kept = np.zeros(n, dtype=bool)
        kept[np.random.default_rng([seed, SAMPLE]).permutation(n)[:most]] = True
        return self.part(kept)

    @cached_property
    def positive(self) -> frozenset[int]:
        """Columns without zeros and negative values."""
        return frozenset(np.flatnonzero((self.space.X > 0.0).all(axis=0)).tolist())


def split(table: Table, engine: Engine, loss: Loss, seed: int) -> Rows:
    """All rows, and which of them the search may see: all where they are few."""
    space = EmpiricalSpace(table.X, table.y, table.weights, engine)
    n = len(space.y)
    if n < MIN_ROWS_TO_SPLIT:
        return Rows(space, np.ones(n, dtype=bool), loss)
    held = min(int(VALIDATION_SHARE * n), MAX_VALIDATION_ROWS)
    return Rows(space, ~table.validation_mask(held, np.random.default_rng([seed, 0])), loss)


def r_squared(space: EmpiricalSpace, predicted: NDArray[np.float64]) -> float:
    """1 − Σ w·error² / Σ w·(y − mean)²; of a constant y, 1 if it is exact and 0 otherwise."""
    spread = mean_square(space, space.y - np.average(space.y, weights=space.weights))
    error = mean_square(space, space.y - predicted)
    return 1.0 - error / spread if spread > 0.0 else float(error == 0.0)


def exact_loss(space: EmpiricalSpace) -> float:
    """The loss below which a formula is exact: rounding, relative to the spread of y or to y itself."""
    spread = mean_square(space, space.y - np.average(space.y, weights=space.weights))
    return max(EXACT**2 * spread, (8.0 * np.finfo(float).eps) ** 2 * mean_square(space, space.y))


def mean_square(space: EmpiricalSpace, errors: NDArray[np.float64]) -> float:
    return float(np.average(errors**2, weights=space.weights))
