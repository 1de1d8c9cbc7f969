"""The fast engine: programs interpreted block by block in machine code, on any number of threads.

Sums are taken in a fixed order (vectors within a block, blocks within a panel, panels in sequence), for any batch and
any number of threads: results are bit-identical.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fouriertree.compiling import announced
from fouriertree.engine.base import (
    Batch,
    Floats,
    InnerProducts,
    Rows,
    as_programs,
    check_columns,
    check_matrix,
    check_rows,
    check_targets,
    check_weights,
)
from fouriertree.engine.drivers import BLOCK_ROWS, PANEL_BLOCKS, run_programs
from fouriertree.engine.interpreter import LEVEL_BYTES, interpreter_address
from fouriertree.engine.memory import VECTOR_BYTES
from fouriertree.engine.reference import ReferenceEngine
from fouriertree.engine.users import UserTable, user_table
from fouriertree.expr import Programs

#: programs per task at most: their tokens stay in the second-level cache for all blocks of a panel
CHUNK_PROGRAMS = 256
#: tasks per thread at least, if there are enough programs: this balances the load
TASKS_PER_THREAD = 8


def aligned(
    shape: tuple[int, ...], dtype: DTypeLike, allocate: Callable[..., NDArray[Any]] = np.zeros
) -> NDArray[Any]:
    """An array, by default of zeros, whose first element is aligned to a vector."""
    item = np.dtype(dtype).itemsize
    size = int(np.prod(shape))
    raw = allocate(size * item + VECTOR_BYTES, np.uint8)
    offset = -raw.ctypes.data % VECTOR_BYTES
    return raw[offset : offset + size * item].view(dtype).reshape(shape)


@dataclass(frozen=True)
class CompiledRows(Rows):
    """Features padded to whole vectors.  Padding repeats the last row with weight 0."""

    n_rows: int
    n_columns: int
    dtype: np.dtype[np.floating]
    columns: Floats  #: (n_columns, padded rows)
    weights: Floats  #: (padded rows,)
    raw_weights: NDArray[np.float64]

    @property
    def matrix(self) -> Floats:
        """X without the padding: a view, (n_rows, n_columns)."""
        return self.columns[: self.n_columns, : self.n_rows].T


@dataclass(frozen=True)
class CompiledEngine:
    """Evaluates expressions by compiled kernels, in parallel.

    Parameters
    ----------
    dtype : float64 or float32
    n_jobs : int, default=1
        Number of threads; −1 for one per processor.

    Examples
    --------
    >>> from fouriertree.expr import parse
    >>> engine = CompiledEngine()
    >>> engine.evaluate([parse("x0^2"), parse("x0 + 1")], [[1.0], [2.0]])
    array([[1., 4.],
           [2., 3.]])
    >>> engine.inner_products([parse("x0^2")], [[1.0], [2.0]], [1.0, -1.0])
    InnerProducts(norms=array([17.]), products=array([[-3.]]), finite=array([ True]))
    """

    dtype: DTypeLike = np.float64
    n_jobs: int = 1

    @property
    def n_threads(self) -> int:
        if self.n_jobs == 0 or self.n_jobs < -1:
            raise ValueError(f"n_jobs must be a positive number of threads, or -1 for all; got {self.n_jobs}")
        return (os.cpu_count() or 1) if self.n_jobs == -1 else self.n_jobs

    @property
    def lanes(self) -> int:
        return VECTOR_BYTES // np.dtype(self.dtype).itemsize

    def prepare(self, X: ArrayLike, weights: ArrayLike | None = None) -> CompiledRows:
        """X and weights in the layout of this engine, for many calls on the same data."""
        matrix = check_matrix(X)
        weight = check_weights(weights, len(matrix))
        n_rows, n_columns = matrix.shape
        padded = -(-n_rows // self.lanes) * self.lanes
        # One column at least, so that programs of constants have a valid address.
        columns = aligned((max(n_columns, 1), padded), self.dtype)
        with np.errstate(over="ignore"):  # values too large for float32 are infinite
            columns[:n_columns, :n_rows] = matrix.T
        columns[:, n_rows:] = columns[:, n_rows - 1 : n_rows]
        padded_weights = aligned((padded,), self.dtype)
        padded_weights[:n_rows] = weight
        return CompiledRows(n_rows, n_columns, columns.dtype, columns, padded_weights, weight)

    def evaluate(self, expressions: Batch, X: ArrayLike | Rows) -> Floats:
        """Values of every expression on every row: (n_expressions, n_rows)."""
        rows = check_rows(X, CompiledRows, self.dtype) or self.prepare(cast(ArrayLike, X))
        programs = as_programs(expressions)
        check_columns(programs, rows.n_columns)
        out = np.empty((len(programs), rows.n_rows), self.dtype)
        by_numpy = self._numpy_programs(programs)
        if by_numpy.any():
            reference = ReferenceEngine(self.dtype)
            out[by_numpy] = reference.evaluate(programs.subset(by_numpy), rows.matrix)
            out[~by_numpy] = self.evaluate(programs.subset(~by_numpy), rows)
            return out
        call = _Call(self, programs, rows)
        self._on_threads(call, lambda: run_programs(*call.arguments(), out, 0, 0, np.empty((0, 0, 0))))
        return out

    def inner_products(
        self, expressions: Batch, X: ArrayLike | Rows, R: ArrayLike, weights: ArrayLike | None = None
    ) -> InnerProducts:
        """Weighted ⟨v, v⟩ and ⟨v, r_j⟩ of every expression v and every column r_j of R (n_rows, n_targets)."""
        rows = check_rows(X, CompiledRows, self.dtype, weights)
        rows = rows or self.prepare(cast(ArrayLike, X), weights)
        programs = as_programs(expressions)
        check_columns(programs, rows.n_columns)
        targets = check_targets(R, rows.n_rows)
        by_numpy = self._numpy_programs(programs)
        if by_numpy.any():
            return self._mixed_inner_products(programs, rows, targets, by_numpy)
        weighted = aligned((targets.shape[1], rows.columns.shape[1]), self.dtype)
        weighted[:, : rows.n_rows] = (targets * rows.raw_weights[:, None]).T
        call = _Call(self, programs, rows)
        sums = np.zeros((call.n_panels, len(programs), 2 + len(weighted)))
        extra = (np.empty((0, 0), self.dtype), rows.weights.ctypes.data, weighted.ctypes.data, sums)
        self._on_threads(call, lambda: run_programs(*call.arguments(), *extra))
        total = sums[0]
        with np.errstate(all="ignore"):
            for panel in sums[1:]:
                total += panel
        finite = total[:, 1] == 0.0
        total[~finite] = np.nan
        return InnerProducts(total[:, 0], total[:, 2:], finite)

    def _mixed_inner_products(
        self,
        programs: Programs,
        rows: CompiledRows,
        targets: NDArray[np.float64],
        by_numpy: NDArray[np.bool_],
    ) -> InnerProducts:
        reference = ReferenceEngine(self.dtype)
        parts = [
            (
                by_numpy,
                reference.inner_products(programs.subset(by_numpy), rows.matrix, targets, rows.raw_weights),
            ),
            (~by_numpy, self.inner_products(programs.subset(~by_numpy), rows, targets)),
        ]
        n = len(programs)
        merged = InnerProducts(np.empty(n), np.empty((n, targets.shape[1])), np.empty(n, bool))
        for which, part in parts:
            for whole, piece in zip(merged, part, strict=True):
                whole[which] = piece
        return merged

    def _numpy_programs(self, programs: Programs) -> NDArray[np.bool_]:
        """Which programs contain an operator that Numba could not compile."""
        slow = [o for o in programs.user_opcodes() if not programs.primitives.by_opcode(int(o)).compiled]
        mask = np.zeros(len(programs), bool)
        if slow:
            for i in range(len(programs)):
                tokens = programs.op[programs.start[i] : programs.start[i] + programs.count[i]]
                mask[i] = np.isin(tokens, slow).any()
        return mask

    def _on_threads(self, call: _Call, work: Callable[[], None]) -> None:
        """Run `work` on every thread, including this one, until no task is left."""
        with announced("compiling the engine for this processor"):
            futures = [thread_pool().submit(work) for _ in range(min(self.n_threads, call.n_tasks) - 1)]
            try:
                work()
            finally:
                # The threads write to memory that is freed when this function returns, also after an interrupt.
                wait(futures)
            for future in futures:
                future.result()


@cache
def thread_pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="fouriertree")


if hasattr(os, "register_at_fork"):
    # In a forked child, the pool has no threads and would block forever.
    os.register_at_fork(after_in_child=thread_pool.cache_clear)


class _Call:
    """One batch of programs on one set of rows, divided into tasks."""

    def __init__(self, engine: CompiledEngine, programs: Programs, rows: CompiledRows) -> None:
        dtype = np.dtype(engine.dtype)
        self.programs, self.rows, self.lanes = programs, rows, engine.lanes
        self.kind, self.interpreter = dtype.type(1), interpreter_address(dtype.name)
        self.users: UserTable = user_table(programs, dtype.name)
        self.counter = np.zeros(1, np.int64)
        # A multiple of 8 levels aligns the buffers after the stack to vectors.
        self.height = -(-programs.height // 8) * 8
        share = -(-len(programs) // (TASKS_PER_THREAD * engine.n_threads))
        self.chunk = max(1, min(share, CHUNK_PROGRAMS))
        self.n_panels = -(-rows.n_rows // (BLOCK_ROWS * PANEL_BLOCKS))
        self.n_tasks = self.n_panels * -(-len(programs) // self.chunk)

    def arguments(self) -> tuple[Any, ...]:
        """Arguments for one thread, with separate scratch memory."""
        p, rows = self.programs, self.rows
        vectors = -(-min(rows.n_rows, BLOCK_ROWS) // self.lanes)
        scratch = aligned((self.height * (LEVEL_BYTES + VECTOR_BYTES * vectors),), np.uint8, np.empty)
        return (
            self.kind, self.interpreter, p.op, p.arg, p.const, p.start, p.count, self.chunk, self.counter,
            rows.columns.ctypes.data, rows.columns.strides[0], rows.n_rows, self.lanes, scratch, self.height,
            self.users.address,
        )  # fmt: skip
