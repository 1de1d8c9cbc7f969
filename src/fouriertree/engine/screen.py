"""Gains of pairs by matrix products in float32, tile by tile: a tile is used while it is in the cache.

A product of matrices is made of tiles, of TILE_ROWS rows of the first factor and TILE_COLUMNS columns of the second,
whose sums stay in registers.  Factors are packed into panels, in which the numbers follow one another as they are used.
"""

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fouriertree.compiling import kernel

from .intrinsics import load, number_at, store
from .lanes import FLOAT32, INT64, Lanes
from .padded import in_every_lane

LANES = FLOAT32.lanes
#: with 32 registers of 512 bits, 8×3 vectors of sums; else 6×1, which fill 12 of 16 registers of 256 bits
TILE_ROWS, TILE_VECTORS = (8, 3) if binding.get_host_cpu_features().get("avx512f") else (6, 1)
TILE_COLUMNS = TILE_VECTORS * LANES
#: rows of data that are summed up at a time: panels of so many stay in the second-level cache
DEPTH = 512
LOW_BITS = 32
LOW_MASK = np.int64((1 << LOW_BITS) - 1)
#: the number of a pair fills half a key, so there are at most so many elements
MOST_ELEMENTS = 1 << LOW_BITS // 2
#: gains that are compared at once: most chunks have none that is kept
CHUNK = 128
#: an odd number whose products have well mixed bits: 2⁶⁴ divided by the golden ratio
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_ZERO, _ONE, _TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)


@intrinsic
def add_tile(typingctx: Any, rows: Any, columns: Any, out: Any, stride: Any, depth: Any) -> Any:
    """Add the product of two panels to a tile at `out`, whose rows are `stride` bytes apart; by address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows_at, columns_at, out_at, stride_bytes, n = args

        def nth(i: int) -> Any:
            return ir.Constant(INT64, i)

        tile_rows = [builder.add(out_at, builder.mul(stride_bytes, nth(r))) for r in range(TILE_ROWS)]
        places = [(at, v) for at in tile_rows for v in range(TILE_VECTORS)]
        sums = [
            cgutils.alloca_once_value(builder, load(builder, FLOAT32, at, nth(v)).value) for at, v in places
        ]
        with cgutils.for_range(builder, n, intp=INT64) as loop:
            row, column = (builder.mul(loop.index, nth(size)) for size in (TILE_ROWS, TILE_VECTORS))
            right = [
                load(builder, FLOAT32, columns_at, builder.add(column, nth(v))) for v in range(TILE_VECTORS)
            ]
            for r in range(TILE_ROWS):
                number = number_at(builder, FLOAT32.scalar, rows_at, builder.add(row, nth(r)))
                left = in_every_lane(builder, FLOAT32, builder.load(number, typ=FLOAT32.scalar))
                for x, total in zip(right, sums[r * TILE_VECTORS :], strict=False):
                    builder.store(x.fma(left, x.wrap(builder.load(total, typ=FLOAT32.vector))).value, total)
        for (at, v), total in zip(places, sums, strict=True):
            store(Lanes(builder, FLOAT32, builder.load(total, typ=FLOAT32.vector)), at, nth(v))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), codegen


@kernel
def pack(vectors: Any, panels: Any) -> None:
    """Panels (n_panels, n, width) of vectors (m, n); vectors that are missing are 0."""
    n_panels, n, width = panels.shape
    for p in range(n_panels):
        for t in range(n):
            for j in range(width):
                panels[p, t, j] = vectors[p * width + j, t] if p * width + j < len(vectors) else _ZERO


@kernel
def add_product(rows: Any, columns: Any, first: int, last: int, out: Any) -> None:
    """out += rows·columns, for the panels from `first` to `last` of the columns."""
    n, width = rows.shape[1], out.shape[1]
    for lo in range(0, n, DEPTH):
        depth = min(DEPTH, n - lo)
        for j in range(first, last):
            right = columns.ctypes.data + 4 * TILE_COLUMNS * (j * n + lo)
            for i in range(len(rows)):
                left = rows.ctypes.data + 4 * TILE_ROWS * (i * n + lo)
                at = out.ctypes.data + 4 * (i * TILE_ROWS * width + (j - first) * TILE_COLUMNS)
                add_tile(left, right, at, 4 * width, depth)


@kernel
def product_factors(rows: Any, vectors: Any, factors: Any) -> None:
    """Panels (k + 2, B/TILE_ROWS, n, TILE_ROWS) of the rows times each of the k + 1 vectors, and times themselves."""
    n_panels, n, width = rows.shape
    for s in range(len(factors)):
        for p in range(n_panels):
            for t in range(n):
                for r in range(width):
                    x = rows[p, t, r]
                    factors[s, p, t, r] = x * (vectors[s, t] if s < len(vectors) else x)


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
def sum_gains(gram: Any, i: int, cosine: Any, cosines: Any, novelty: Any, gains: Any) -> None:
    """Row i of (c_i² + c_j² − 2·g·c_i·c_j) / (1 − g²) for g = gram (B, m), and the cosines c_j (m,)."""
    for j in range(len(cosines)):
        g = gram[i, j]
        outside = _ONE - g * g
        gain = (cosine * cosine + cosines[j] * cosines[j] - _TWO * g * (cosine * cosines[j])) / outside
        gains[j] = gain if outside > novelty else _ZERO


@kernel
def keep(gains: Any, bits: Any, begin: int, end: int, number: int, least: Any, keys: Any, used: int) -> Any:
    """Append the keys of gains[begin:end] that are at least `least`; return the number of keys.

    bits: the same memory as integers.  The bits of a positive number grow with it, and the number of a pair, which
    is `number` for j = 0, is subtracted: the largest keys are the largest gains, and of equal ones the first pairs.
    """
    for lo in range(begin, end, CHUNK):
        hi = min(lo + CHUNK, end)
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
    block: Any, panel: int, start: int, n: int, novelty: Any, least: Any, out: Any, outside: Any, gains: Any, bits: Any,
    keys: Any, used: int,
) -> Any:  # fmt: skip
    """Keep pairs i ≤ j < n, i from `start` on, of columns j from a panel on while the buffer lasts: (next panel, used).

    block: factors (k + 2, B/TILE_ROWS, n_rows, TILE_ROWS), and panels of the columns and of their squares.
    out: (k + 2, B, m); outside, gains: (m,), and the bits of gains; all are scratch.
    """
    factors, columns, squares = block
    k, n_panels = len(factors) - 2, columns.shape[0]
    size, m = out.shape[1], out.shape[2]
    flat, of_vectors = out.reshape((k + 2) * size, m), factors[: k + 1]
    panels = of_vectors.reshape(-1, factors.shape[2], TILE_ROWS)
    while panel < n_panels and used + size * m <= len(keys):
        last, column = min(panel + m // TILE_COLUMNS, n_panels), panel * TILE_COLUMNS
        out[:, :, :] = _ZERO
        add_product(panels, columns, panel, last, flat)
        add_product(factors[k + 1], squares, panel, last, out[k + 1])
        for i in range(min(size, n - start)):
            product_gains(out, i, novelty, outside, gains)
            begin, end = max(0, start + i - column), min(m, n - column)
            used = keep(gains, bits, begin, end, (start + i) * n + column, least, keys, used)
        panel = last
    return panel, used


@kernel
def keep_sums(
    block: Any, panel: int, start: int, n: int, novelty: Any, least: Any, out: Any, outside: Any, gains: Any, bits: Any,
    keys: Any, used: int,
) -> Any:  # fmt: skip
    """As `keep_products`, for sums of two elements: panels of the rows and of the columns, and all cosines (n,)."""
    rows, columns, cosines = block
    gram, n_panels = out[0], columns.shape[0]
    size, m = gram.shape
    while panel < n_panels and used + size * m <= len(keys):
        last, column = min(panel + m // TILE_COLUMNS, n_panels), panel * TILE_COLUMNS
        end = min(m, n - column)
        gram[:, :] = _ZERO
        add_product(rows, columns, panel, last, gram)
        for i in range(min(size, n - start)):
            sum_gains(gram, i, cosines[start + i], cosines[column : column + end], novelty, gains)
            begin = max(0, start + i - column)
            used = keep(gains, bits, begin, end, (start + i) * n + column, least, keys, used)
        panel = last
    return panel, used


@kernel
def subtract_squares(products: Any, out: Any) -> None:
    """out −= products², for every number."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] -= products[i, j] * products[i, j]


@kernel
def best_of_blocks(
    products: Any, norms: Any, outside: Any, novelty: Any, rows: Any, columns: Any, gains: Any, places: Any
) -> None:
    """The largest gain products² / outside of every block, and its place i·m + j.

    products, norms, outside: (n, m); rows (n,) and columns (m,) are the numbers of the blocks; gains and places, by the
    numbers of blocks, are written to.
    """
    gains[:, :] = np.float32(-1.0)
    for i in range(products.shape[0]):
        block = rows[i]
        for j in range(products.shape[1]):
            gain = _ZERO
            if outside[i, j] > novelty * norms[i, j]:
                gain = products[i, j] * products[i, j] / outside[i, j]
            if gain > gains[block, columns[j]]:
                gains[block, columns[j]] = gain
                places[block, columns[j]] = i * products.shape[1] + j


@kernel
def first_of_each(keys: Any, count: int) -> Any:
    """Indices of the first occurrences of the first `count` distinct keys (n,), in the order of the keys."""
    size = 2
    while size < 2 * len(keys):
        size *= 2
    slots, found, n_found = np.full(size, -1, np.int64), np.empty(min(count, len(keys)), np.int64), 0
    for i in range(len(keys)):
        if n_found == len(found):
            break
        slot = (np.uint64(keys[i]) * _MULTIPLIER >> np.uint64(20)) % np.uint64(size)
        while slots[slot] >= 0 and keys[slots[slot]] != keys[i]:
            slot = (slot + np.uint64(1)) % np.uint64(size)
        if slots[slot] < 0:
            slots[slot] = i
            found[n_found] = i
            n_found += 1
    return found[:n_found]


@kernel
def losses_of_ratios(
    values: Any, coefficients: Any, below: Any, first: Any, n_terms: Any, z: Any, roots: Any
) -> Any:
    """Σ w·(z − Σ c·a / (1 − Σ d·b))² of sums z = Σ c·a + Σ d·z·b: (n_sums,).

    values: (n_terms, n_rows) of the terms a and z·b, of which the latter are `below`; roots: √w.
    """
    losses = np.zeros(len(first))
    above, under = np.empty(len(z)), np.empty(len(z))
    for i in range(len(first)):
        above[:], under[:] = 0.0, 0.0
        for k in range(first[i], first[i] + n_terms[i]):
            out = under if below[k] else above
            for j in range(len(z)):
                out[j] += coefficients[k] * values[k, j]
        for j in range(len(z)):
            error = roots[j] * (z[j] - above[j] / (1.0 - under[j] / z[j]))
            losses[i] += error * error
    return losses
