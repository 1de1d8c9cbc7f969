"""`TrainingData`: the arrays of a fit, made once; subsets are views."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fouriertree.data.duplicates import Deduplicated, deduplicated

Floats = NDArray[np.float64]

#: fraction of the rows in the validation set, minimum number of rows for a split, maximum size of the set
VALIDATION_SHARE, MIN_ROWS_TO_SPLIT, MAX_VALIDATION_ROWS = 0.2, 20, 20_000
#: streams of random numbers for the split and for a sample of rows
SPLIT_STREAM, SAMPLE_STREAM = 0, 7


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows without duplicates, those of the training set before those of the validation set."""

    X: Floats  #: (n_rows, n_features)
    y: Floats  #: (n_rows,)
    weights: Floats  #: (n_rows,)
    n_training: int  #: number of rows of the training set; all rows if there is no validation set
    #: X, y and weights without repetitions, if integer weights were expanded to repeated rows
    distinct: tuple[Floats, Floats, Floats] | None = None

    @classmethod
    def from_arrays(cls, X: Floats, y: Floats, weights: Floats | None = None, seed: int = 0) -> Self:
        """Merge equal rows, and draw the validation set by `seed`, never one of two rows with the same features."""
        rows = deduplicated(X, y, weights)
        mask = validation_mask(rows, seed)
        arrays = [rows.X, rows.y, np.ones(len(rows.y)) if rows.weights is None else rows.weights]
        if mask.any():
            order = np.concatenate([np.flatnonzero(~mask), np.flatnonzero(mask)])
            arrays = [array[order] for array in arrays]
        X, y, weights = arrays
        return cls(np.ascontiguousarray(X), y, weights, int(np.count_nonzero(~mask)), rows.distinct)

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def training(self) -> slice:
        """Rows of the training set."""
        return slice(0, self.n_training)

    @property
    def validation(self) -> slice:
        """Rows of the validation set."""
        return slice(self.n_training, None)

    @property
    def n_validation(self) -> int:
        return self.n_rows - self.n_training

    def training_only(self) -> Self:
        """The training set, without a validation set; no copies."""
        rows = self.training
        return replace(self, X=self.X[rows], y=self.y[rows], weights=self.weights[rows], distinct=None)

    def sample(self, most: int, seed: int) -> Self:
        """A random sample of at most `most` rows from both sets."""
        if self.n_rows <= most:
            return self
        drawn = np.sort(np.random.default_rng([seed, SAMPLE_STREAM]).permutation(self.n_rows)[:most])
        n_training = int(np.count_nonzero(drawn < self.n_training))
        X, y, weights = self.X[drawn], self.y[drawn], self.weights[drawn]
        return replace(self, X=X, y=y, weights=weights, n_training=n_training, distinct=None)

    @property
    def without_repetitions(self) -> tuple[Floats, Floats, Floats]:
        """X, y and weights, every row once."""
        return (self.X, self.y, self.weights) if self.distinct is None else self.distinct

    @cached_property
    def positive(self) -> frozenset[int]:
        """Features without zeros and negative values."""
        return frozenset(np.flatnonzero((self.X > 0.0).all(axis=0)).tolist())


def validation_mask(rows: Deduplicated, seed: int) -> NDArray[np.bool_]:
    """Which rows are the validation set: whole groups of rows with the same features, drawn at random: (n_rows,)."""
    n = len(rows.y)
    if n < MIN_ROWS_TO_SPLIT:
        return np.zeros(n, dtype=bool)
    most = min(int(VALIDATION_SHARE * n), MAX_VALIDATION_ROWS)
    group = np.arange(n) if rows.group is None else rows.group
    sizes = np.bincount(group)
    order = np.random.default_rng([seed, SPLIT_STREAM]).permutation(len(sizes))
    taken = np.zeros(len(sizes), dtype=bool)
    taken[order[np.cumsum(sizes[order]) <= most]] = True
    return np.asarray(taken[group])
