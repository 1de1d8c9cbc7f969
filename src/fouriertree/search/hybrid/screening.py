"""All pairs at once: what a sum or a product of two atoms would gain, by matrix products.

For products a_i·a_j every quantity of gain(v) = ⟨r,v⟩² / (‖v‖² − ‖Qᵀv‖²) is bilinear in the columns:
⟨r, a_i a_j⟩ = [(A∘r)Aᵀ]_ij, ‖a_i a_j‖² = [(A∘A)(A∘A)ᵀ]_ij, ⟨q, a_i a_j⟩ = [(A∘q)Aᵀ]_ij.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.compiling import announced
from fouriertree.engine.compiled import aligned
from fouriertree.engine.screen import (
    LOW_BITS,
    LOW_MASK,
    MOST_ELEMENTS,
    TILE_COLUMNS,
    TILE_ROWS,
    keep_products,
    keep_sums,
    pack,
    product_factors,
)

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Keys = NDArray[np.int64]

#: an element of which less than this share (squared) lies outside the span cannot be told from rounding in float32
NOVELTY = 1e-4
#: rows of the matrix of gains that are worked on at a time: a multiple of all heights of tiles
BLOCK = 24
#: panels of columns that are worked on at a time
PANELS = 5
#: pairs that are kept until the best are chosen, for every one that is asked for
CAPACITY = 3


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
    m, n = atoms.shape
    best = _Best(m, count, len(basis) + 2)
    rows, columns = _panels(weighted, TILE_ROWS, BLOCK), _panels(atoms, TILE_COLUMNS)
    squares = np.multiply(columns, columns, out=_aligned(columns.shape))
    vectors = np.concatenate([residual[None], basis])
    factors = _aligned((len(vectors) + 1, BLOCK // TILE_ROWS, n, TILE_ROWS))
    for start in range(0, m, BLOCK):
        product_factors(_block(rows, start), vectors, factors)
        best.add(keep_products, (factors, columns, squares), start)
    return best.pairs()


def best_sums(directions: Singles, residual: Singles, count: int) -> Pairs:
    """The pairs of rows of `directions` (m, n) that would gain most together.

    Rows and residual are of unit length and orthogonal to what is there already.
    """
    best = _Best(len(directions), count, 1)
    cosines = directions @ residual
    rows, columns = _panels(directions, TILE_ROWS, BLOCK), _panels(directions, TILE_COLUMNS)
    for start in range(0, len(directions), BLOCK):
        best.add(keep_sums, (_block(rows, start), columns, cosines), start)
    return best.pairs()


def _aligned(shape: tuple[int, ...]) -> Singles:
    return aligned(shape, np.float32, np.empty)


def _panels(vectors: Singles, width: int, several: int = 1) -> Singles:
    """The vectors (m, n) in panels of some width, followed by zeros up to a multiple of several vectors."""
    multiple = max(width, several)
    panels = _aligned((-(-len(vectors) // multiple) * (multiple // width), vectors.shape[1], width))
    pack(vectors, panels)
    return panels


def _block(rows: Singles, start: int) -> Singles:
    """The panels of BLOCK vectors."""
    return rows[start // TILE_ROWS : (start + BLOCK) // TILE_ROWS]


class _Best:
    """The largest gains so far, in a buffer that is cut down to `count` when it is full."""

    def __init__(self, n: int, count: int, n_products: int) -> None:
        if n > MOST_ELEMENTS:
            raise ValueError(f"screening compares all pairs of at most {MOST_ELEMENTS:,} atoms; got {n:,}")
        self.n, self.count, self.used = n, count, 0
        width = PANELS * TILE_COLUMNS
        self.keys = np.empty(CAPACITY * count + BLOCK * width, np.int64)
        gains = np.empty(width, np.float32)
        self.scratch = (
            _aligned((n_products, BLOCK, width)), np.empty(width, np.float32), gains, gains.view(np.int32),
        )  # fmt: skip
        #: gains below it cannot be among the best; at first, all but 0
        self.least = np.finfo(np.float32).smallest_subnormal

    def add(self, keep: Callable[..., tuple[int, int]], block: tuple[Singles, ...], start: int) -> None:
        """Take in the pairs i ≤ j of a block of rows i from `start` on."""
        panel, n_panels = start // TILE_COLUMNS, -(-self.n // TILE_COLUMNS)
        while True:
            limits = np.float32(NOVELTY), self.least
            panel, self.used = keep(block, panel, start, self.n, *limits, *self.scratch, self.keys, self.used)
            if panel == n_panels:
                return
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


def compile_kernels() -> None:
    """Compile the screening, or load it from the cache, before time is measured."""
    one = np.ones((1, 1), np.float32)
    with announced("compiling the screening of pairs for this processor"):
        best_products(one, one, one[0], one[:0], 1)
        best_sums(one, one[0], 1)
