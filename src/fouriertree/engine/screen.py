"""Gains of pairs from blocks of matrix products, in one pass that keeps the largest."""

from typing import Any

import numpy as np

from fouriertree.compiling import kernel

LOW_BITS = 32
LOW_MASK = np.int64((1 << LOW_BITS) - 1)
#: the number of a pair fills half a key, so there are at most so many elements
MOST_ELEMENTS = 1 << LOW_BITS // 2
#: gains that are compared at once: most chunks have none that is kept
CHUNK = 128
_ZERO, _ONE, _TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)


@kernel
def product_gains(products: Any, i: int, novelty: Any, outside: Any, gains: Any) -> None:
    """Row i of ⟨r,v⟩² / (‖v‖² − Σ⟨q,v⟩²): products (1 + k + 1, B, m) are ⟨r,v⟩, every ⟨q,v⟩, and ‖v‖²."""
    k, m = products.shape[0] - 2, products.shape[2]
    for j in range(m):
        outside[j] = products[k + 1, i, j]
    for q in range(1, k + 1):
        for j in range(m):
            outside[j] -= products[q, i, j] * products[q, i, j]
    for j in range(m):
        gain = products[0, i, j] * products[0, i, j] / outside[j]
        gains[j] = gain if outside[j] > novelty * products[k + 1, i, j] else _ZERO


@kernel
def sum_gains(gram: Any, i: int, cosines: Any, novelty: Any, gains: Any) -> None:
    """Row i of (c_i² + c_j² − 2·g·c_i·c_j) / (1 − g²) for g = gram (B, m) and cosines c (m,)."""
    cosine = cosines[i]
    for j in range(gram.shape[1]):
        g = gram[i, j]
        outside = _ONE - g * g
        gain = (cosine * cosine + cosines[j] * cosines[j] - _TWO * g * (cosine * cosines[j])) / outside
        gains[j] = gain if outside > novelty else _ZERO


@kernel
def keep(gains: Any, bits: Any, begin: int, number: int, least: Any, keys: Any, used: int) -> Any:
    """Append the keys of the gains from `begin` on that are at least `least`; return the number of keys.

    bits: the same memory as integers.  The bits of a positive number grow with it, and the number of a pair, which
    is `number` for j = 0, is subtracted: the largest keys are the largest gains, and of equal ones the first pairs.
    """
    for lo in range(begin, len(gains), CHUNK):
        hi = min(lo + CHUNK, len(gains))
        hits = np.int32(0)
        for j in range(lo, hi):
            hits += np.int32(gains[j] >= least)
        if hits > 0:
            for j in range(lo, hi):
                if gains[j] >= least:
                    keys[used] = (np.int64(bits[j]) << LOW_BITS) | (LOW_MASK - (number + j))
                    used += 1
    return used


@kernel
def keep_products(
    products: Any, row: int, start: int, n: int, novelty: Any, least: Any, outside: Any, gains: Any, bits: Any,
    keys: Any, used: int,
) -> Any:  # fmt: skip
    """Keep gains on and right of the diagonal from `row` on while keys have room: (next row, number of keys).

    Row i and column i of the block belong to element start + i of n.  outside, gains (m,) are scratch, and bits are
    those of gains.
    """
    while row < products.shape[1] and used + products.shape[2] <= len(keys):
        product_gains(products, row, novelty, outside, gains)
        used = keep(gains, bits, row, (start + row) * n + start, least, keys, used)
        row += 1
    return row, used


@kernel
def keep_sums(
    block: Any, row: int, start: int, n: int, novelty: Any, least: Any, outside: Any, gains: Any, bits: Any,
    keys: Any, used: int,
) -> Any:  # fmt: skip
    """As `keep_products`, for the sums of two elements: the block is gram (B, m) and cosines (m,)."""
    gram, cosines = block
    while row < gram.shape[0] and used + gram.shape[1] <= len(keys):
        sum_gains(gram, row, cosines, novelty, gains)
        used = keep(gains, bits, row, (start + row) * n + start, least, keys, used)
        row += 1
    return row, used
