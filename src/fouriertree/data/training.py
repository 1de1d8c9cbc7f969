"""`TrainingData`: the arrays of a fit, made once; equal rows are merged, and subsets are views."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]
Integers = NDArray[np.intp]

#: fraction of the rows in the validation set, minimum number of rows for a split, maximum size of the set
VALIDATION_SHARE, MIN_ROWS_TO_SPLIT, MAX_VALIDATION_ROWS = 0.2, 20, 20_000
#: maximum number of rows to which integer weights are expanded; beyond, they stay weights
MAX_ROWS = 100_000
#: rows that are hashed at once, so that they stay in the cache
BLOCK = 8192
#: larger weights are scaled down: times the square of a target, they would overflow
LARGEST_WEIGHT = 1e16
#: integers above are not exact in float64
EXACT_COUNTS = 2.0**53
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
        """Merge equal rows, and draw the validation set by `seed`.

        If rows are repeated or have different weights, all rows with the same features are in one of the two sets.
        """
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


# Duplicate rows and integer weights: a row of weight 3 equals that row three times, and one of weight 0 is dropped.
# Both are brought to one form before the fit, so that the equations are equal bit for bit. ---------------------
@dataclass(frozen=True, eq=False)
class Deduplicated:
    """Rows in a form that does not depend on how repetitions were given.

    `group` has equal numbers for rows with equal features, which are not independent: a validation set has all of them
    or none; None if all rows differ.  `distinct` are the rows without repetitions, if X and y have some.
    """

    X: Floats
    y: Floats
    weights: Floats | None = None
    group: Integers | None = None
    distinct: tuple[Floats, Floats, Floats] | None = None


def deduplicated(X: Floats, y: Floats, weights: Floats | None = None) -> Deduplicated:
    """The same rows for a row of weight k and for k such rows, X (n_rows, n_features) and y (n_rows,).

    Rows of weight zero are dropped; equal rows are merged, and their weights added.  Integer weights, divided by their
    greatest common divisor, then repeat rows; others stay weights.  In both cases the order of the rows depends on the
    rows alone.  Distinct rows with equal weights are unchanged.

    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 4.0, 9.0])
    >>> np.sort(deduplicated(X, y, np.array([2.0, 0.0, 4.0])).y)
    array([1., 9., 9.])
    >>> deduplicated(X, y, np.array([2.0, 2.0, 2.0])).weights is None
    True
    """
    if weights is not None:
        check_weights(weights)
        used = weights > 0.0
        if not used.all():
            X, y, weights = X[used], y[used], weights[used]
        weights = _rescaled(weights)
    if (weights is None or _all_equal(weights)) and _all_distinct(y):
        return Deduplicated(X, y)
    first, totals = _merged(X, y, np.ones(len(y)) if weights is None else weights)
    if _all_equal(totals):
        first.sort()
        return Deduplicated(X, y) if len(first) == len(y) else Deduplicated(X[first], y[first])
    X, y = X[first], y[first]
    group: Integers = np.unique(row_hashes(X), return_inverse=True)[1].astype(np.intp)
    counts = _counts(totals)
    if counts is None:
        return Deduplicated(X, y, totals, group)
    repeated = np.repeat(np.arange(len(y)), counts)
    return Deduplicated(X[repeated], y[repeated], None, group[repeated], (X, y, counts.astype(np.float64)))


def check_weights(weights: Floats) -> None:
    """Raise ValueError unless the weights are finite, none is negative, and some are positive."""
    if not (np.isfinite(weights).all() and (weights >= 0.0).all()):
        raise ValueError("sample_weight must be finite and not negative")
    if not weights.any():
        raise ValueError("there are no rows with a positive weight")


def _rescaled(weights: Floats) -> Floats:
    """The weights, divided by a power of two where sums of weighted squares would leave the range of float64."""
    largest = float(weights.max())
    if 1.0 / LARGEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        return weights
    scaled = np.ldexp(weights, -int(np.frexp(largest)[1]))
    # Positive weights stay positive.
    return np.maximum(scaled, np.finfo(float).tiny)


def _all_equal(weights: Floats) -> bool:
    return bool((weights == weights[0]).all())


def _all_distinct(values: NDArray[np.generic]) -> bool:
    ordered = np.sort(values)
    return not bool((ordered[1:] == ordered[:-1]).any())


def _counts(totals: Floats) -> NDArray[np.int64] | None:
    """Multiplicities of the rows, without a common factor; None if they are not integers, or too large."""
    if totals.max() > EXACT_COUNTS or (totals != np.floor(totals)).any():
        return None
    counts: NDArray[np.int64] = totals.astype(np.int64)
    counts //= np.gcd.reduce(counts)
    return counts if float(np.sum(counts, dtype=np.float64)) <= MAX_ROWS else None


def _merged(X: Floats, y: Floats, weights: Floats) -> tuple[Integers, Floats]:
    """Index of the first of equal rows, in an order that depends on the rows only, and the sums of their weights."""
    hashes = row_hashes(X, y)
    order = np.argsort(hashes, kind="stable")
    near = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    repeated = _equal_rows(X, y, order[near], order[near + 1])
    if repeated.all():
        is_first = np.ones(len(y), dtype=bool)
        is_first[near + 1] = False
    else:  # a collision: different rows have the same hash
        order = np.lexsort([*_bits(X).T, _bits(y)])
        is_first = np.append(True, ~_equal_rows(X, y, order[:-1], order[1:]))
    starts = np.flatnonzero(is_first)
    totals: Floats = np.add.reduceat(weights[order], starts)
    return order[starts], totals


def _equal_rows(X: Floats, y: Floats, left: Integers, right: Integers) -> NDArray[np.bool_]:
    same = (_bits(X[left]) == _bits(X[right])).all(axis=1)
    return np.asarray(same & (_bits(y[left]) == _bits(y[right])))


def _bits(values: Floats) -> Hashes:
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)


def row_hashes(X: Floats, y: Floats | None = None) -> Hashes:
    """Hashes of the rows: (n_rows,)."""
    rng = np.random.Generator(np.random.Philox(0))
    factors = rng.integers(2**64, size=X.shape[1] + 1, dtype=np.uint64) | np.uint64(1)
    found = np.empty(len(X), dtype=np.uint64)
    for begin in range(0, len(X), BLOCK):
        rows = slice(begin, begin + BLOCK)
        found[rows] = (_scrambled(X[rows]) * factors[1:]).sum(axis=1)
        if y is not None:
            found[rows] += _scrambled(y[rows]) * factors[0]
    return found ^ (found >> np.uint64(29))


def _scrambled(values: Floats) -> Hashes:
    """Bits whose lower half differs for small integers, too, which have zeros there."""
    bits = _bits(values)
    return bits ^ (bits >> np.uint64(43))


# Validation set -------------------------------------------------------------------------------------------------
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
