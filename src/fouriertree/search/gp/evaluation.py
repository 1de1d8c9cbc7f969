"""Compiled losses: Σ w·(v − y)² of a tree on weighted points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fouriertree.compiling import kernel
from fouriertree.engine.compiled import CompiledEngine, CompiledRows, aligned
from fouriertree.engine.drivers import BLOCK_ROWS
from fouriertree.engine.interpreter import LEVEL_BYTES, interpreter_address, operator_address
from fouriertree.engine.memory import VECTOR_BYTES, call_interpreter
from fouriertree.engine.sums import squared_error
from fouriertree.search.gp.nodes import flatten, values_at

Sample = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]  #: X, y, weights
LANES = VECTOR_BYTES // 8


class PackedPoints(NamedTuple):
    """Addresses and sizes: what compiled code knows of `Points`."""

    interpreter: int
    operators: int
    users: int
    columns: int  #: of the first rung, as are the next three
    stride: int
    target: int
    weights: int
    rungs: Any  #: rows, columns, stride, target and weights of every rung


@dataclass(frozen=True)
class Points:
    """Weighted points with target values, and the memory behind their addresses.

    Several samples are rungs of a ladder: a polynomial of degree d is compared with the target on the first rung of
    more than d points.  A single sample serves all trees.
    """

    rungs: tuple[CompiledRows, ...]
    targets: tuple[NDArray[np.float64], ...]
    users: Any

    @classmethod
    def of(cls, samples: Sequence[Sample], users: Any) -> Points:
        rungs, targets = [], []
        for X, y, weights in samples:
            rows = CompiledEngine().prepare(X, weights)
            padded = aligned((rows.columns.shape[1],), np.float64)
            padded[: len(y)] = y
            rungs.append(rows)
            targets.append(padded)
        return cls(tuple(rungs), tuple(targets), users)

    @property
    def width(self) -> int:
        """Bytes of a node's values, where keeping them pays: on one block of rows, the same for all trees."""
        rows = self.rungs[0]
        return rows.columns.strides[0] if len(self.rungs) == 1 and rows.n_rows <= BLOCK_ROWS else 0

    def packed(self) -> PackedPoints:
        """The object must outlive their use."""
        table = np.array(
            [
                [r.n_rows, r.columns.ctypes.data, r.columns.strides[0], y.ctypes.data, r.weights.ctypes.data]
                for r, y in zip(self.rungs, self.targets, strict=True)
            ],
            np.int64,
        )
        columns, stride, target, weights = (int(number) for number in table[0, 1:])
        return PackedPoints(
            interpreter_address("float64"), operator_address("float64"), self.users.address,
            columns, stride, target, weights, table,
        )  # fmt: skip


@kernel
def loss_of_tree(points: Any, store: Any, root: int, arity: Any) -> Any:
    """Σ w·(v − y)²; infinite if a value is not finite."""
    if store.width:
        n = store.width // VECTOR_BYTES
        total = squared_error(1.0, values_at(store, root), 1, points.target, points.weights, n)
        return total if total - total == 0.0 else np.inf
    size = store.nodes[root].size
    tokens = (np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size))
    flatten(store, root, tokens)
    return loss_of_tokens(points, tokens, stack_height(tokens[0], arity), store.nodes[root].degree)


@kernel
def loss_of_tokens(points: Any, tokens: Any, height: int, degree: int) -> float:
    """Σ w·(v − y)² of a program, block by block, on the first rung of more points than degrees, or the last."""
    op, arg, const = tokens
    rung = 0
    while rung < points.rungs.shape[0] - 1 and points.rungs[rung, 0] <= degree:
        rung += 1
    n_rows, data, stride, y, weights = points.rungs[rung]
    levels = -(-height // 8) * 8
    vectors = -(-min(n_rows, BLOCK_ROWS) // LANES)
    scratch = np.empty(levels * (LEVEL_BYTES + VECTOR_BYTES * vectors) + VECTOR_BYTES, np.uint8)
    at = -(-scratch.ctypes.data // VECTOR_BYTES) * VECTOR_BYTES
    total = 0.0
    for block in range(-(-n_rows // BLOCK_ROWS)):
        offset = block * BLOCK_ROWS * 8
        n = -(-min(BLOCK_ROWS, n_rows - block * BLOCK_ROWS) // LANES)
        program = (op.ctypes.data, arg.ctypes.data, const.ctypes.data, op.shape[0])
        room = (data + offset, stride, n, at, levels, points.users)
        v = call_interpreter(points.interpreter, 1.0, program + room)
        step = v & 1
        total += squared_error(1.0, v - step, step, y + offset, weights + offset, n)
    # The interpreter knows the scratch memory by its address only; this last look at it keeps it alive until here.
    if scratch.size == 0 or total - total != 0.0:
        return np.inf
    return total


@kernel
def stack_height(op: Any, arity: Any) -> int:
    """Values on the stack at most while a program runs."""
    height, highest = 0, 0
    for code in op:
        height += 1 - arity[code]
        highest = max(highest, height)
    return highest
