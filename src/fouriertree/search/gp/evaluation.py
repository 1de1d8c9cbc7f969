"""Compiled losses: Σ w·(v − y)² of a program on weighted points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.compiling import kernel
from fouriertree.engine.compiled import CompiledEngine, CompiledRows, aligned
from fouriertree.engine.drivers import BLOCK_ROWS
from fouriertree.engine.interpreter import LEVEL_BYTES, interpreter_address
from fouriertree.engine.memory import VECTOR_BYTES, call_interpreter
from fouriertree.engine.sums import squared_error
from fouriertree.expr._span import degree_of

Sample = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]  #: X, y, weights
LANES = VECTOR_BYTES // 8


@dataclass(frozen=True)
class Points:
    """Weighted points with target values, as the compiled loops read them.

    Several samples are rungs of a ladder: a polynomial of degree d is compared with the target on the first rung of
    more than d points.  A single sample serves all programs.
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

    def packed(self) -> tuple[Any, ...]:
        """Addresses and sizes, one row per rung; the object must outlive their use."""
        table = np.array(
            [
                [r.n_rows, r.columns.ctypes.data, r.columns.strides[0], y.ctypes.data, r.weights.ctypes.data]
                for r, y in zip(self.rungs, self.targets, strict=True)
            ],
            np.int64,
        )
        return interpreter_address("float64"), table, self.users.address


@kernel
def scratch_for(height: int, n_rows: int) -> Any:
    """Memory for a stack of this height; a vector longer, so that it can be aligned."""
    vectors = -(-min(n_rows, BLOCK_ROWS) // LANES)
    levels = -(-height // 8) * 8
    return np.empty(levels * (LEVEL_BYTES + VECTOR_BYTES * vectors) + VECTOR_BYTES, np.uint8)


@kernel
def rung_for(table: Any, op: Any, first: int, last: int, height: int) -> int:
    """The first rung with more points than the program has degrees, or the last one."""
    if table.shape[0] == 1:
        return 0
    degree = degree_of(op, first, last, np.empty(height, np.int64))
    for rung in range(table.shape[0]):
        if table[rung, 0] > degree:
            return rung
    return int(table.shape[0] - 1)


@kernel
def loss_of(points: Any, tokens: Any, first: int, last: int, scratch: Any, height: int) -> float:
    """Σ w·(v − y)² of the program of tokens first…last−1; infinite if a value is not finite."""
    interpreter, table, users = points
    op, arg, const = tokens
    n_rows, data, stride, y, weights = table[rung_for(table, op, first, last, height)]
    at = -(-scratch.ctypes.data // VECTOR_BYTES) * VECTOR_BYTES
    program = (
        op.ctypes.data + 4 * first,
        arg.ctypes.data + 4 * first,
        const.ctypes.data + 8 * first,
        last - first,
    )
    levels = -(-height // 8) * 8
    total = 0.0
    for block in range(-(-n_rows // BLOCK_ROWS)):
        offset = block * BLOCK_ROWS * 8
        n = -(-min(BLOCK_ROWS, n_rows - block * BLOCK_ROWS) // LANES)
        v = call_interpreter(interpreter, 1.0, (*program, data + offset, stride, n, at, levels, users))
        step = v & 1
        total += squared_error(1.0, v - step, step, y + offset, weights + offset, n)
    return total if total - total == 0.0 else np.inf
