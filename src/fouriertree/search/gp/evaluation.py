"""Compiled losses: Σ w·(v − y)² of a tree on weighted points."""

from typing import Any, NamedTuple

import numpy as np

from fouriertree.compiling import kernel
from fouriertree.engine.compiled import BLOCK_ROWS
from fouriertree.engine.interpreter import LEVEL_BYTES
from fouriertree.engine.intrinsics import VECTOR_BYTES, call_interpreter, squared_error

from .nodes import flatten, values_at

LANES = VECTOR_BYTES // 8


class PackedPoints(NamedTuple):
    """Samples of weighted points with target values as addresses and sizes, for compiled code.

    A polynomial of degree d is compared with the target on the first sample of more than d points.
    """

    interpreter: int
    operators: int
    users: int
    columns: int  #: of the first sample, as are the next three
    stride: int
    target: int
    weights: int
    samples: Any  #: rows, columns, stride, target and weights of every sample


@kernel
def loss_of_tree(points: Any, store: Any, root: int, arity: Any) -> Any:
    """Σ w·(v − y)²; infinite if a value is not finite."""
    if store.width:
        n = store.width // VECTOR_BYTES
        total = squared_error(1.0, values_at(store, root), 1, points.target, points.weights, n)
        return total if total - total == 0.0 else np.inf
    tokens = flatten(store, root)
    return loss_of_tokens(points, tokens, stack_height(tokens[0], arity), store.nodes[root].degree)


@kernel
def loss_of_tokens(points: Any, tokens: Any, height: int, degree: int) -> float:
    """Σ w·(v − y)² of a program, block by block, on the first sample of more than `degree` points, or the last."""
    op, arg, const = tokens
    i = 0
    while i < points.samples.shape[0] - 1 and points.samples[i, 0] <= degree:
        i += 1
    n_rows, data, stride, y, weights = points.samples[i]
    levels = -(-height // 8) * 8
    vectors = -(-min(n_rows, BLOCK_ROWS) // LANES)
    scratch = np.empty(levels * (LEVEL_BYTES + VECTOR_BYTES * vectors) + VECTOR_BYTES, np.uint8)
    at = -(-scratch.ctypes.data // VECTOR_BYTES) * VECTOR_BYTES
    total = 0.0
    for block in range(-(-n_rows // BLOCK_ROWS)):
        offset = block * BLOCK_ROWS * 8
        n = -(-min(BLOCK_ROWS, n_rows - block * BLOCK_ROWS) // LANES)
        program = (op.ctypes.data, arg.ctypes.data, const.ctypes.data, op.shape[0])
        memory = (data + offset, stride, n, at, levels, points.users)
        v = call_interpreter(points.interpreter, 1.0, program + memory)
        step = v & 1
        total += squared_error(1.0, v - step, step, y + offset, weights + offset, n)
    # The interpreter has only the address of the scratch memory; this last use keeps it alive until here.
    if scratch.size == 0 or total - total != 0.0:
        return np.inf
    return total


@kernel
def stack_height(op: Any, arity: Any) -> int:
    """Maximum number of values on the stack while a program runs."""
    height, highest = 0, 0
    for code in op:
        height += 1 - arity[code]
        highest = max(highest, height)
    return highest
