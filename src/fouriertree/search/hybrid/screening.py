"""All pairs at once: what a sum or a product of two atoms would gain, by matrix products.

For products a_i·a_j every quantity of gain(v) = ⟨r,v⟩² / (‖v‖² − ‖Qᵀv‖²) is bilinear in the columns:
⟨r, a_i a_j⟩ = [(A∘r)Aᵀ]_ij, ‖a_i a_j‖² = [(A∘A)(A∘A)ᵀ]_ij, ⟨q, a_i a_j⟩ = [(A∘q)Aᵀ]_ij.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine.screen import LOW_BITS, LOW_MASK, MOST_ELEMENTS, keep_products, keep_sums

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Keys = NDArray[np.int64]

#: an element of which less than this share (squared) lies outside the span cannot be told from rounding in float32
NOVELTY = 1e-4
#: rows of the matrix of gains that are worked on at a time
BLOCK = 64
#: pairs that are kept until the best are chosen, for every one that is asked for
ROOM = 3


@dataclass(frozen=True)
class Pairs:
    """The best pairs, best first: indices and the share of the squared residual that each would take away."""

    left: NDArray[np.intp]
    right: NDArray[np.intp]
    gain: Floats


def best_products(atoms: Singles, weighted: Singles, residual: Singles, basis: Singles, count: int) -> Pairs:
    """The products a_i·a_j, i ≤ j, of rows of `atoms` (m, n) that would gain most.

    weighted: the same rows times the roots of the weights, up to a factor per row.  The residual is of unit length,
    the basis (k, n) orthonormal, both weighted.  Products within the span of the basis gain nothing.
    """
    m, k, block = len(atoms), len(basis), min(BLOCK, len(atoms))
    best = _Best(m, count)
    # BLAS is faster with a second factor that is not transposed, and with one large product than with several.
    columns = np.ascontiguousarray(atoms.T)
    squares = columns * columns
    vectors = np.concatenate([residual[None], basis])[:, None]
    factors = np.empty((k + 2) * block * atoms.shape[1], np.float32)
    results = np.empty((k + 2) * block * m, np.float32)
    for start in range(0, m, BLOCK):
        rows = weighted[start : start + BLOCK]
        factor = _shaped(factors, (k + 2, *rows.shape))
        result = _shaped(results, (k + 2, len(rows), m - start))
        np.multiply(vectors, rows, out=factor[:-1])
        np.multiply(rows, rows, out=factor[-1])
        stacked, flat = factor[:-1].reshape(-1, rows.shape[1]), result[:-1].reshape(-1, m - start)
        np.matmul(stacked, columns[:, start:], out=flat)
        np.matmul(factor[-1], squares[:, start:], out=result[-1])
        best.add(keep_products, result, start)
    return best.pairs()


def best_sums(directions: Singles, residual: Singles, count: int) -> Pairs:
    """The pairs of rows of `directions` (m, n) that would gain most together.

    Rows and residual are of unit length and orthogonal to what is there already.
    """
    m = len(directions)
    best = _Best(m, count)
    cosines = directions @ residual
    columns = np.ascontiguousarray(directions.T)
    results = np.empty(min(BLOCK, m) * m, np.float32)
    for start in range(0, m, BLOCK):
        rows = directions[start : start + BLOCK]
        gram = _shaped(results, (len(rows), m - start))
        np.matmul(rows, columns[:, start:], out=gram)
        best.add(keep_sums, (gram, cosines[start:]), start)
    return best.pairs()


def _shaped(memory: Singles, shape: tuple[int, ...]) -> Singles:
    """The first numbers of a buffer as a contiguous array."""
    return memory[: int(np.prod(shape))].reshape(shape)


class _Best:
    """The largest gains so far, in a buffer that is cut down to `count` when it is full."""

    def __init__(self, n: int, count: int) -> None:
        if n > MOST_ELEMENTS:
            raise ValueError(f"screening compares all pairs of at most {MOST_ELEMENTS:,} atoms; got {n:,}")
        self.n, self.count, self.used = n, count, 0
        self.keys = np.empty(ROOM * count + n, np.int64)
        self.scratch = np.empty(n, np.float32), np.empty(n, np.float32)
        #: gains below it cannot be among the best; at first, all but 0
        self.least = np.finfo(np.float32).smallest_subnormal

    def add(self, keep: Callable[..., tuple[int, int]], block: Any, start: int) -> None:
        """Take in the pairs (start + i, start + j), i ≤ j, of a block of matrix products."""
        row, n_rows = 0, min(BLOCK, self.n - start)
        outside, gains = (numbers[: self.n - start] for numbers in self.scratch)
        room = outside, gains, gains.view(np.int32), self.keys
        while row < n_rows:
            row, self.used = keep(
                block, row, start, self.n, np.float32(NOVELTY), self.least, *room, self.used
            )
            if row < n_rows:
                self._cut()

    def _cut(self) -> None:
        if self.used > self.count:
            rest = self.used - self.count
            self.keys[: self.count] = np.partition(self.keys[: self.used], rest)[rest:]
            self.used = self.count
            self.least = _gains(self.keys[: self.count]).min()

    def pairs(self) -> Pairs:
        keys = np.sort(self.keys[: self.used])[::-1][: self.count]
        left, right = np.divmod(LOW_MASK - (keys & LOW_MASK), max(self.n, 1))
        return Pairs(left, right, _gains(keys).astype(np.float64))


def _gains(keys: Keys) -> Singles:
    return (keys >> LOW_BITS).astype(np.int32).view(np.float32)
