"""The compiled loop over programs and blocks of rows, which calls the interpreter by its address.

A task is a chunk of programs on a panel of blocks.  Every thread makes one call, which takes tasks from a shared
counter until none is left, without Python in between.
"""

from __future__ import annotations

from typing import Any

from fouriertree.compiling import kernel
from fouriertree.engine.memory import VECTOR_BYTES, call_interpreter, next_number
from fouriertree.engine.sums import copy_rows, dot, moments

#: rows per block: the buffers of a few levels stay in the first-level cache
BLOCK_ROWS = 512
#: blocks per panel: sums are taken block by block within a panel, and then panel by panel
PANEL_BLOCKS = 64


@kernel
def run_programs(
    kind: Any, interpreter: int, op: Any, arg: Any, const: Any, start: Any, count: Any, chunk: int, counter: Any,
    data: int, stride: int, n_rows: int, lanes: int, scratch: Any, height: int, users: int,
    values: Any, weights: int, targets: int, sums: Any,
) -> None:  # fmt: skip
    """Run every program on every block of rows, for the tasks of this thread.

    values: (n_programs, n_rows), output of the values; may be empty.
    sums: (n_panels, n_programs, 2 + n_targets), output of Σ w·v², Σ 0·v and Σ v·t_j; may be empty.
    """
    op_at, arg_at, const_at = op.ctypes.data, arg.ctypes.data, const.ctypes.data
    n_programs = start.shape[0]
    chunks, blocks = -(-n_programs // chunk), -(-n_rows // BLOCK_ROWS)
    n_tasks = chunks * -(-blocks // PANEL_BLOCKS)
    task = next_number(counter.ctypes.data)
    while task < n_tasks:
        panel, first = task // chunks, task % chunks * chunk
        for block in range(panel * PANEL_BLOCKS, min(blocks, (panel + 1) * PANEL_BLOCKS)):
            offset = block * BLOCK_ROWS // lanes * VECTOR_BYTES
            rows = min(BLOCK_ROWS, n_rows - block * BLOCK_ROWS)
            n = -(-rows // lanes)
            for i in range(first, min(n_programs, first + chunk)):
                s = start[i]
                tokens = (op_at + 4 * s, arg_at + 4 * s, const_at + 8 * s, count[i])
                room = (data + offset, stride, n, scratch.ctypes.data, height, users)
                v = call_interpreter(interpreter, kind, tokens + room)
                step = v & 1
                v -= step
                if values.size:
                    at = values.ctypes.data + i * values.strides[0] + block * BLOCK_ROWS * values.itemsize
                    copy_rows(kind, at, v, step, rows)
                if sums.size:
                    square, bad = moments(kind, v, step, weights + offset, n)
                    sums[panel, i, 0] += square
                    sums[panel, i, 1] += bad
                    for j in range(sums.shape[2] - 2):
                        sums[panel, i, 2 + j] += dot(kind, v, step, targets + j * stride + offset, n)
        task = next_number(counter.ctypes.data)
