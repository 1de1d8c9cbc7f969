"""Duplicate rows and whole weights: a row of weight 3 is that row three times, and one of weight 0 is none.

Both are brought to one form before anything else looks at the data, so that the same equations come out, to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]
Integers = NDArray[np.intp]

#: rows at most into which whole weights are turned; beyond, how often a row counts is a weight, which is as good
MOST_ROWS = 100_000
#: rows that are hashed at a time, so that they stay in the cache
BLOCK = 8192
#: weights are relative, and larger ones are scaled down: times the square of a target, they would overflow
LARGEST_WEIGHT = 1e16
#: weights above are not counted exactly by float64
EXACT_COUNTS = 2.0**53


@dataclass(frozen=True, eq=False)
class Deduplicated:
    """Rows in the form in which repetitions do not matter.

    `group` numbers the rows such that rows with equal features have the same number: they are not independent, and a
    validation set takes all of them or none; None if all rows differ.  `distinct` are the rows without repetitions
    where X and y have some.
    """

    X: Floats
    y: Floats
    weights: Floats | None = None
    group: Integers | None = None
    distinct: tuple[Floats, Floats, Floats] | None = None


def deduplicated(X: Floats, y: Floats, weights: Floats | None = None) -> Deduplicated:
    """The same rows for a row of weight k and for k such rows, X (n_rows, n_features) and y (n_rows,).

    Rows of weight zero are dropped; equal rows are merged, and their weights added.  Whole weights, divided by their
    greatest common divisor, then repeat rows; others stay weights.  In both cases the order of the rows depends on the
    rows alone.  Rows that are all different and have equal weights stay as they are.

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
        weights = _moderate(weights)
    if (weights is None or _alike(weights)) and _all_different(y):
        return Deduplicated(X, y)
    first, totals = _merged(X, y, np.ones(len(y)) if weights is None else weights)
    if _alike(totals):
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
    """ValueError unless the weights are finite, none is negative, and some are positive."""
    if not (np.isfinite(weights).all() and (weights >= 0.0).all()):
        raise ValueError("sample_weight must be finite and not negative")
    if not weights.any():
        raise ValueError("there are no rows with a positive weight")


def _moderate(weights: Floats) -> Floats:
    """The weights, divided by a power of two where sums of weighted squares would leave the range of float64."""
    largest = float(weights.max())
    if 1.0 / LARGEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        return weights
    scaled = np.ldexp(weights, -int(np.frexp(largest)[1]))
    # One that is too small to count beside the others still counts.
    return np.maximum(scaled, np.finfo(float).tiny)


def _alike(weights: Floats) -> bool:
    return bool((weights == weights[0]).all())


def _all_different(values: NDArray[np.generic]) -> bool:
    ordered = np.sort(values)
    return not bool((ordered[1:] == ordered[:-1]).any())


def _counts(totals: Floats) -> NDArray[np.int64] | None:
    """How often every row is there, without a common factor; None if these are no counts, or too large ones."""
    if totals.max() > EXACT_COUNTS or (totals != np.floor(totals)).any():
        return None
    counts: NDArray[np.int64] = totals.astype(np.int64)
    counts //= np.gcd.reduce(counts)
    return counts if float(np.sum(counts, dtype=np.float64)) <= MOST_ROWS else None


def _merged(X: Floats, y: Floats, weights: Floats) -> tuple[Integers, Floats]:
    """Where every row is found first, in an order that depends on the rows only, and the sum of its weights."""
    hashes = row_hashes(X, y)
    order = np.argsort(hashes, kind="stable")
    near = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    repeated = _equal_rows(X, y, order[near], order[near + 1])
    if repeated.all():
        is_first = np.ones(len(y), dtype=bool)
        is_first[near + 1] = False
    else:  # different rows with one hash lie in one another's way
        order = np.lexsort([*_bits(X).T, _bits(y)])
        is_first = np.append(True, ~_equal_rows(X, y, order[:-1], order[1:]))
    starts = np.flatnonzero(is_first)
    totals: Floats = np.add.reduceat(weights[order], starts)
    return order[starts], totals


def _equal_rows(X: Floats, y: Floats, left: Integers, right: Integers) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = (_bits(X[left]) == _bits(X[right])).all(axis=1)
    same &= _bits(y[left]) == _bits(y[right])
    return same


def _bits(values: Floats) -> Hashes:
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)


def row_hashes(X: Floats, y: Floats | None = None) -> Hashes:
    """A number for every row such that equal rows have equal ones, and others hardly ever: (n_rows,)."""
    factors = np.random.Generator(np.random.Philox(0)).integers(
        2**64, size=X.shape[1] + 1, dtype=np.uint64
    ) | np.uint64(1)
    found = np.empty(len(X), dtype=np.uint64)
    for begin in range(0, len(X), BLOCK):
        rows = slice(begin, begin + BLOCK)
        found[rows] = (_scrambled(X[rows]) * factors[1:]).sum(axis=1)
        if y is not None:
            found[rows] += _scrambled(y[rows]) * factors[0]
    return found ^ (found >> np.uint64(29))


def _scrambled(values: Floats) -> Hashes:
    """Bits in which small whole numbers, whose lower half is empty, differ at the lower end, too."""
    bits = _bits(values)
    return bits ^ (bits >> np.uint64(43))
