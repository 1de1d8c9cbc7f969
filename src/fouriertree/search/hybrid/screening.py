"""All pairs at once: what a sum or a product of two atoms would gain, by matrix products.

For products a_i·a_j every quantity of gain(v) = ⟨r,v⟩² / (‖v‖² − ‖Qᵀv‖²) is bilinear in the columns:
⟨r, a_i a_j⟩ = [(A∘r)Aᵀ]_ij, ‖a_i a_j‖² = [(A∘A)(A∘A)ᵀ]_ij, ⟨q, a_i a_j⟩ = [(A∘q)Aᵀ]_ij.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

#: an element of which less than this share (squared) lies outside the span cannot be told from rounding in float32
NOVELTY = 1e-4
#: rows of the matrix of gains that are worked on at a time: they stay in the second-level cache
BLOCK = 128


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
    return _best(_product_gains(atoms, weighted, residual, basis), count)


def _product_gains(
    atoms: Singles, weighted: Singles, residual: Singles, basis: Singles
) -> Iterator[tuple[int, int, Singles]]:
    squares = atoms * atoms
    for start in range(0, len(atoms), BLOCK):
        rows = weighted[start : start + BLOCK]
        right = atoms[start:].T
        norms = (rows * rows) @ squares[start:].T
        gains = np.square((rows * residual) @ right)
        outside = norms.copy()
        for q in basis:
            outside -= np.square((rows * q) @ right)
        with np.errstate(all="ignore"):
            gains /= outside
        gains[~(outside > NOVELTY * norms)] = 0.0
        yield start, start, gains


def best_sums(directions: Singles, residual: Singles, count: int) -> Pairs:
    """The pairs of rows of `directions` (m, n) that would gain most together.

    Rows and residual are of unit length and orthogonal to what is there already.
    """
    return _best(_sum_gains(directions, residual), count)


def _sum_gains(directions: Singles, residual: Singles) -> Iterator[tuple[int, int, Singles]]:
    cosine = directions @ residual
    squares = np.square(cosine)
    for start in range(0, len(directions), BLOCK):
        rows = slice(start, start + BLOCK)
        gram = directions[rows] @ directions[start:].T
        gains = (
            squares[rows, None] + squares[None, start:] - 2.0 * gram * np.outer(cosine[rows], cosine[start:])
        )
        outside = 1.0 - np.square(gram)
        with np.errstate(all="ignore"):
            gains /= outside
        gains[~(outside > NOVELTY)] = 0.0
        yield start, start, gains


def _best(blocks: Iterator[tuple[int, int, Singles]], count: int) -> Pairs:
    """The `count` largest of all entries (first row, first column, gains) on and above the diagonal."""
    left, right, gain = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)], [np.zeros(0, np.float32)]
    for row, column, gains in blocks:
        head = gains[:, : len(gains)]
        head[np.tril_indices(len(head), -1)] = 0.0
        # The largest entries lie in the rows with the largest maxima.
        highest = gains.max(axis=1)
        rows = np.argsort(-highest, kind="stable")[:count]
        flat = gains[rows].ravel()
        size = min(count, flat.size)
        chosen = np.argpartition(flat, flat.size - size)[flat.size - size :]
        left.append(row + rows[chosen // gains.shape[1]])
        right.append(column + chosen % gains.shape[1])
        gain.append(flat[chosen])
    lefts, rights, gains_ = np.concatenate(left), np.concatenate(right), np.concatenate(gain)
    order = np.lexsort((rights, lefts, -gains_))[:count]
    order = order[gains_[order] > 0.0]
    return Pairs(lefts[order], rights[order], gains_[order].astype(np.float64))
