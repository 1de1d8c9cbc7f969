"""All pairs at once: what a sum or a product of two atoms would gain, by matrix products.

For products a_i·a_j every quantity of gain(v) = ⟨r,v⟩² / (‖v‖² − ‖Qᵀv‖²) is bilinear in the columns:
⟨r, a_i a_j⟩ = [(A∘r)Aᵀ]_ij, ‖a_i a_j‖² = [(A∘A)(A∘A)ᵀ]_ij, ⟨q, a_i a_j⟩ = [(A∘q)Aᵀ]_ij.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine.compiled import thread_pool

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


def best_products(
    atoms: Singles, weighted: Singles, residual: Singles, basis: Singles, count: int, n_jobs: int = 1
) -> Pairs:
    """The products a_i·a_j, i ≤ j, of rows of `atoms` (m, n) that would gain most.

    weighted: the same rows times the roots of the weights, up to a factor per row.  The residual is of unit length,
    the basis (k, n) orthonormal, both weighted.  Products within the span of the basis gain nothing.
    """
    squares = atoms * atoms

    def gains_from(start: int) -> Singles:
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
        return gains

    return _best(gains_from, len(atoms), count, n_jobs)


def best_sums(directions: Singles, residual: Singles, count: int, n_jobs: int = 1) -> Pairs:
    """The pairs of rows of `directions` (m, n) that would gain most together.

    Rows and residual are of unit length and orthogonal to what is there already.
    """
    cosine = directions @ residual
    squares = np.square(cosine)

    def gains_from(start: int) -> Singles:
        rows = slice(start, start + BLOCK)
        gram = directions[rows] @ directions[start:].T
        gains: Singles = (
            squares[rows, None] + squares[None, start:] - 2.0 * gram * np.outer(cosine[rows], cosine[start:])
        )
        outside = 1.0 - np.square(gram)
        with np.errstate(all="ignore"):
            gains /= outside
        gains[~(outside > NOVELTY)] = 0.0
        return gains

    return _best(gains_from, len(directions), count, n_jobs)


def _best(gains_from: Callable[[int], Singles], n: int, count: int, n_jobs: int) -> Pairs:
    """The `count` largest of all entries on and above the diagonal.

    `gains_from(start)` has the entries of BLOCK rows from `start` on, in the columns from `start` on.
    """

    def best_from(start: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Singles]:
        gains = gains_from(start)
        head = gains[:, : len(gains)]
        head[np.tril_indices(len(head), -1)] = 0.0
        # The largest entries lie in the rows with the largest maxima.
        rows = np.argsort(-gains.max(axis=1), kind="stable")[:count]
        flat = gains[rows].ravel()
        size = min(count, flat.size)
        chosen = np.argpartition(flat, flat.size - size)[flat.size - size :]
        return start + rows[chosen // gains.shape[1]], start + chosen % gains.shape[1], flat[chosen]

    starts = range(0, n, BLOCK)
    found = list(thread_pool().map(best_from, starts) if n_jobs > 1 else map(best_from, starts))
    if not found:
        return Pairs(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0))
    left, right, gain = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((right, left, -gain))[:count]
    order = order[gain[order] > 0.0]
    return Pairs(left[order], right[order], gain[order].astype(np.float64))
