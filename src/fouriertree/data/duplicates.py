"""Duplicate rows and integer weights: a row of weight 3 equals that row three times, and one of weight 0 is dropped.

Both are brought to one form before the fit, so that the equations are equal bit for bit.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]
Integers = NDArray[np.intp]

#: maximum number of rows to which integer weights are expanded; beyond, they stay weights
MAX_ROWS = 100_000
#: rows that are hashed at once, so that they stay in the cache
BLOCK = 8192
#: larger weights are scaled down: times the square of a target, they would overflow
LARGEST_WEIGHT = 1e16
#: integers above are not exact in float64
EXACT_COUNTS = 2.0**53


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
