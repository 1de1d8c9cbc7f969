"""The fast engine: programs interpreted block by block in machine code, on any number of threads.

A task is a chunk of programs on a panel of blocks.  Every thread makes one call, which takes tasks from a shared
counter until none is left, without Python in between.  Sums are taken in a fixed order (vectors within a block, blocks
within a panel, panels in sequence), for any batch and any number of threads: results are bit-identical.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from threadpoolctl import OpenBLASController, ThreadpoolController

from fouriertree.compiling import announced, kernel
from fouriertree.expr import Programs

from .base import Batch, Floats, InnerProducts, Rows, as_programs, check_data, check_targets, prepared
from .interpreter import LEVEL_BYTES, interpreter_address
from .intrinsics import VECTOR_BYTES, call_interpreter, copy_rows, dot, moments, next_number
from .reference import ReferenceEngine
from .users import user_table

#: rows per block: the buffers of a few levels stay in the first-level cache
BLOCK_ROWS = 512
#: blocks per panel: sums are taken block by block within a panel, and then panel by panel
PANEL_BLOCKS = 64
#: programs per task at most: their tokens stay in the second-level cache for all blocks of a panel
CHUNK_PROGRAMS = 256
#: tasks per thread at least, if there are enough programs: this balances the load
TASKS_PER_THREAD = 8


def aligned(
    shape: tuple[int, ...], dtype: DTypeLike, allocate: Callable[..., Any] = np.zeros
) -> NDArray[Any]:
    """An array, by default of zeros, whose first element is aligned to a vector."""
    item = np.dtype(dtype).itemsize
    size = int(np.prod(shape))
    raw: NDArray[Any] = allocate(size * item + VECTOR_BYTES, np.uint8)
    offset = -raw.ctypes.data % VECTOR_BYTES
    return raw[offset : offset + size * item].view(dtype).reshape(shape)


@dataclass(frozen=True)
class CompiledRows(Rows):
    """Features padded to whole vectors.  Padding repeats the last row with weight 0."""

    columns: Floats  #: (n_columns, padded rows)
    weights: Floats  #: (padded rows,)
    raw_weights: NDArray[np.float64]

    @property
    def matrix(self) -> Floats:
        """X without the padding: a view, (n_rows, n_columns)."""
        return self.columns[: self.n_columns, : self.n_rows].T

    @property
    def n_panels(self) -> int:
        return -(-self.n_rows // (BLOCK_ROWS * PANEL_BLOCKS))


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
        matrix, weight = check_data(X, weights)
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
        rows = prepared(self, CompiledRows, X)
        programs = as_programs(expressions, rows.n_columns)
        out = np.empty((len(programs), rows.n_rows), self.dtype)
        by_numpy = self._numpy_programs(programs)
        if by_numpy.any():
            out[by_numpy] = ReferenceEngine(self.dtype).evaluate(programs.subset(by_numpy), rows.matrix)
            out[~by_numpy] = self.evaluate(programs.subset(~by_numpy), rows)
            return out
        self._run(programs, rows, out, 0, 0, np.empty((0, 0, 0)))
        return out

    def inner_products(
        self, expressions: Batch, X: ArrayLike | Rows, R: ArrayLike, weights: ArrayLike | None = None
    ) -> InnerProducts:
        """Weighted ⟨v, v⟩ and ⟨v, r_j⟩ of every expression v and every column r_j of R (n_rows, n_targets)."""
        rows = prepared(self, CompiledRows, X, weights)
        programs = as_programs(expressions, rows.n_columns)
        targets = check_targets(R, rows.n_rows)
        by_numpy = self._numpy_programs(programs)
        if by_numpy.any():
            return self._mixed_inner_products(programs, rows, targets, by_numpy)
        weighted = aligned((targets.shape[1], rows.columns.shape[1]), self.dtype)
        weighted[:, : rows.n_rows] = (targets * rows.raw_weights[:, None]).T
        sums = np.zeros((rows.n_panels, len(programs), 2 + len(weighted)))
        none = np.empty((0, 0), self.dtype)
        self._run(programs, rows, none, rows.weights.ctypes.data, weighted.ctypes.data, sums)
        total = sums[0]
        with np.errstate(all="ignore"):
            for panel in sums[1:]:
                total += panel
        finite = total[:, 1] == 0.0
        total[~finite] = np.nan
        return InnerProducts(total[:, 0], total[:, 2:], finite)

    def _mixed_inner_products(
        self, programs: Programs, rows: CompiledRows, targets: Floats, by_numpy: NDArray[np.bool_]
    ) -> InnerProducts:
        some, others = programs.subset(by_numpy), programs.subset(~by_numpy)
        slow = ReferenceEngine(self.dtype).inner_products(some, rows.matrix, targets, rows.raw_weights)
        fast, n = self.inner_products(others, rows, targets), len(programs)
        merged = InnerProducts(np.empty(n), np.empty((n, targets.shape[1])), np.empty(n, bool))
        for whole, *parts in zip(merged, slow, fast, strict=True):
            whole[by_numpy], whole[~by_numpy] = parts
        return merged

    def _numpy_programs(self, programs: Programs) -> NDArray[np.bool_]:
        """Which programs contain an operator that Numba could not compile."""
        slow = [o for o in programs.user_opcodes() if not programs.primitives.by_opcode(int(o)).compiled]
        if not slow:
            return np.zeros(len(programs), bool)
        return np.array([np.isin(expression.op, slow).any() for expression in programs], bool)

    def _run(self, programs: Programs, rows: CompiledRows, *outputs: Any) -> None:
        """Run programs on all threads until no task is left; `outputs` are the last arguments of `run_programs`."""
        dtype, lanes, threads = np.dtype(self.dtype), self.lanes, self.n_threads
        kind, interpreter = dtype.type(1), interpreter_address(dtype.name)
        users, counter = user_table(programs, dtype.name), np.zeros(1, np.int64)
        # A multiple of 8 levels aligns the buffers after the stack to vectors.
        height = -(-programs.height // 8) * 8
        share = -(-len(programs) // (TASKS_PER_THREAD * threads))
        chunk = max(1, min(share, CHUNK_PROGRAMS))
        n_tasks = rows.n_panels * -(-len(programs) // chunk)
        vectors = -(-min(rows.n_rows, BLOCK_ROWS) // lanes)

        def work() -> None:
            scratch = aligned((height * (LEVEL_BYTES + VECTOR_BYTES * vectors),), np.uint8, np.empty)
            run_programs(
                kind, interpreter, programs.op, programs.arg, programs.const, programs.start, programs.count, chunk,
                counter, rows.columns.ctypes.data, rows.columns.strides[0], rows.n_rows, lanes, scratch, height,
                users.address, *outputs,
            )  # fmt: skip

        on_threads(work, min(threads, n_tasks), "engine")


def on_threads(work: Callable[[], None], n_threads: int, what: str) -> None:
    """Run `work` on some threads, including this one; the first call compiles `what`."""
    with announced(f"compiling the {what} for this processor"):
        futures = [thread_pool().submit(work) for _ in range(n_threads - 1)]
        try:
            work()
        finally:
            # The threads write to memory that is freed when the caller returns, also after an interrupt.
            wait(futures)
        for future in futures:
            future.result()


@cache
def thread_pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="fouriertree")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Matrix products on one thread: on matrices as small as those of a fit, more threads only wait for each other.

    The limit holds for the whole process, until the last thread in this context leaves it.
    """
    _BLAS_LIMITS.enter()
    try:
        yield
    finally:
        _BLAS_LIMITS.leave()


class _BlasLimits:
    """Counts the contexts with one thread: the first one keeps the numbers of threads that the last one restores."""

    def __init__(self) -> None:
        self._lock, self._count = threading.Lock(), 0
        self._first: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._count == 0:
                _control_openblas()
            # Not only the first time: OpenMP has a limit for every thread.
            limiter = _thread_pools().limit(limits=1)
            if self._count == 0:
                self._first = limiter
            self._count += 1

    def leave(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0:
                _control_openblas()
                self._first.restore_original_limits()
                _control_openblas()


def _control_openblas() -> None:
    """Let any thread set the limits: the last one to leave the context need not be the first one that entered it."""
    # Since version 3.8, threadpoolctl ignores all threads but the first one.
    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


_BLAS_LIMITS = _BlasLimits()


@cache
def _thread_pools() -> ThreadpoolController:
    """Those of the loaded libraries; finding them takes milliseconds."""
    return ThreadpoolController()


if hasattr(os, "register_at_fork"):
    # In a forked child, the pool has no threads and would block forever.
    os.register_at_fork(after_in_child=thread_pool.cache_clear)


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
