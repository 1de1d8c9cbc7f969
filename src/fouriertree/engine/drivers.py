"""Compiled loops over programs and blocks of rows, calling the interpreter by its address."""

from __future__ import annotations

from typing import Any

from fouriertree.compiling import kernel
from fouriertree.engine.kernels import VECTOR_BYTES, call_interpreter, copy_rows, dot, moments

#: rows per block: the buffers of a few levels stay in the first-level cache
BLOCK_ROWS = 512


@kernel
def score_programs(
    kind: Any, interpreter: int, op: Any, arg: Any, const: Any, start: Any, count: Any, first: int, last: int,
    data: int, stride: int, weights: int, targets: int, n_targets: int, lanes: int, vectors: int,
    first_block: int, last_block: int, scratch: Any, height: int, users: int, sums: Any,
) -> None:  # fmt: skip
    """Add to sums[i] the Σ w·v², Σ 0·v and Σ v·t_j of programs first…last over the blocks of rows."""
    op_at, arg_at, const_at = op.ctypes.data, arg.ctypes.data, const.ctypes.data
    scratch_at = scratch.ctypes.data
    block_vectors = BLOCK_ROWS // lanes
    for block in range(first_block, last_block):
        offset = block * block_vectors * VECTOR_BYTES
        n = min(block_vectors, vectors - block * block_vectors)
        for i in range(first, last):
            s = start[i]
            tokens = (op_at + 4 * s, arg_at + 4 * s, const_at + 8 * s, count[i])
            room = (data + offset, stride, n, scratch_at, height, users)
            value = call_interpreter(interpreter, kind, tokens + room)
            step = value & 1
            value -= step
            square, bad = moments(kind, value, step, weights + offset, n)
            sums[i, 0] += square
            sums[i, 1] += bad
            for j in range(n_targets):
                sums[i, 2 + j] += dot(kind, value, step, targets + j * stride + offset, n)


@kernel
def evaluate_programs(
    kind: Any, interpreter: int, op: Any, arg: Any, const: Any, start: Any, count: Any, first: int, last: int,
    data: int, stride: int, rows: int, lanes: int, vectors: int, first_block: int, last_block: int,
    scratch: Any, height: int, users: int, out: int, out_stride: int,
) -> None:  # fmt: skip
    """Write the values of programs first…last on the blocks of rows to the matrix at `out`."""
    op_at, arg_at, const_at = op.ctypes.data, arg.ctypes.data, const.ctypes.data
    scratch_at = scratch.ctypes.data
    block_vectors = BLOCK_ROWS // lanes
    item = VECTOR_BYTES // lanes
    for block in range(first_block, last_block):
        offset = block * block_vectors * VECTOR_BYTES
        n = min(block_vectors, vectors - block * block_vectors)
        n_rows = min(BLOCK_ROWS, rows - block * BLOCK_ROWS)
        for i in range(first, last):
            s = start[i]
            tokens = (op_at + 4 * s, arg_at + 4 * s, const_at + 8 * s, count[i])
            room = (data + offset, stride, n, scratch_at, height, users)
            value = call_interpreter(interpreter, kind, tokens + room)
            step = value & 1
            copy_rows(kind, out + i * out_stride + block * BLOCK_ROWS * item, value - step, step, n_rows)
