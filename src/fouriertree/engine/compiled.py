"""The fast engine: programs interpreted block by block in machine code, on any number of threads.

Sums are taken in a fixed order (vectors within a block, blocks within a panel, panels in sequence), and
neither the batch nor the number of threads has a part in it: results are the same to the last bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fouriertree.compiling import announced
from fouriertree.engine.base import (
    Batch,
    Floats,
    InnerProducts,
    as_programs,
    check_columns,
    check_matrix,
    check_targets,
    check_weights,
)
from fouriertree.engine.drivers import BLOCK_ROWS, evaluate_programs, score_programs
from fouriertree.engine.interpreter import LEVEL_BYTES, interpreter_address
from fouriertree.engine.kernels import VECTOR_BYTES
from fouriertree.engine.reference import ReferenceEngine
from fouriertree.engine.users import UserTable, user_table
from fouriertree.expr import Programs

PANEL_BLOCKS = 64
#: programs per piece of work where rows fill several blocks: their tokens stay in the second-level cache
CHUNK_PROGRAMS = 256


def aligned(
    shape: tuple[int, ...], dtype: DTypeLike, allocate: Callable[..., NDArray[Any]] = np.zeros
) -> NDArray[Any]:
    """An array, of zeros unless allocated otherwise, whose first element lies on a vector boundary."""
    item = np.dtype(dtype).itemsize
    size = int(np.prod(shape))
    raw = allocate(size * item + VECTOR_BYTES, np.uint8)
    offset = -raw.ctypes.data % VECTOR_BYTES
    return raw[offset : offset + size * item].view(dtype).reshape(shape)


@dataclass(frozen=True)
class CompiledRows:
    """Columns padded to whole vectors.  Padding repeats the last row, and weighs nothing."""

    columns: Floats  #: (n_columns, padded rows)
    weights: Floats  #: (padded rows,)
    n_rows: int
    raw_X: NDArray[np.float64]
    raw_weights: NDArray[np.float64]

    @property
    def n_columns(self) -> int:
        return int(self.columns.shape[0])

    @property
    def vectors(self) -> int:
        return int(self.columns.shape[1] * self.columns.itemsize // VECTOR_BYTES)

    @property
    def n_blocks(self) -> int:
        return -(-self.n_rows // BLOCK_ROWS)


@dataclass(frozen=True)
class CompiledEngine:
    """Expressions by compiled kernels.

    >>> from fouriertree.expr import parse
    >>> engine = CompiledEngine()
    >>> engine.evaluate([parse("x0^2"), parse("x0 + 1")], [[1.0], [2.0]])
    array([[1., 4.],
           [2., 3.]])
    >>> engine.inner_products([parse("x0^2")], [[1.0], [2.0]], [1.0, -1.0])
    InnerProducts(norms=array([17.]), products=array([[-3.]]), finite=array([ True]))
    """

    dtype: DTypeLike = np.float64
    n_jobs: int = 1  #: threads; −1 for one per processor

    @property
    def n_threads(self) -> int:
        if self.n_jobs == 0 or self.n_jobs < -1:
            raise ValueError(f"n_jobs must be a positive number of threads, or -1 for all; got {self.n_jobs}")
        return (os.cpu_count() or 1) if self.n_jobs == -1 else self.n_jobs

    @property
    def lanes(self) -> int:
        return VECTOR_BYTES // np.dtype(self.dtype).itemsize

    def prepare(self, X: ArrayLike, weights: ArrayLike | None = None) -> CompiledRows:
        matrix = check_matrix(X)
        weight = check_weights(weights, len(matrix))
        n_rows, n_columns = matrix.shape
        padded = -(-n_rows // self.lanes) * self.lanes
        # One column at least, so that programs of constants have an address to ignore.
        columns = aligned((max(n_columns, 1), padded), self.dtype)
        columns[:n_columns, :n_rows] = matrix.T
        columns[:, n_rows:] = columns[:, n_rows - 1 : n_rows]
        padded_weights = aligned((padded,), self.dtype)
        padded_weights[:n_rows] = weight
        return CompiledRows(columns, padded_weights, n_rows, matrix, weight)

    def evaluate(self, expressions: Batch, X: ArrayLike | CompiledRows) -> Floats:
        rows = X if isinstance(X, CompiledRows) else self.prepare(X)
        programs = as_programs(expressions)
        check_columns(programs, rows.n_columns)
        out = np.empty((len(programs), rows.n_rows), self.dtype)
        by_numpy = self._numpy_programs(programs)
        if by_numpy.any():
            reference = ReferenceEngine(self.dtype)
            out[by_numpy] = reference.evaluate(programs.subset(by_numpy), rows.raw_X)
            out[~by_numpy] = self.evaluate(programs.subset(~by_numpy), rows)
            return out
        call = _Call(self, programs, rows)

        def work(piece: _Piece) -> None:
            evaluate_programs(
                *call.programs(piece), *call.data, rows.n_rows, *call.layout(piece), *call.room(),
                out.ctypes.data, out.strides[0],
            )  # fmt: skip

        self._each(work, call.pieces())
        return out

    def inner_products(
        self,
        expressions: Batch,
        X: ArrayLike | CompiledRows,
        R: ArrayLike,
        weights: ArrayLike | None = None,
    ) -> InnerProducts:
        rows = X if isinstance(X, CompiledRows) else self.prepare(X, weights)
        programs = as_programs(expressions)
        check_columns(programs, rows.n_columns)
        targets = check_targets(R, rows.n_rows)
        by_numpy = self._numpy_programs(programs)
        if by_numpy.any():
            return self._mixed_inner_products(programs, rows, targets, by_numpy)
        weighted = aligned((targets.shape[1], rows.columns.shape[1]), self.dtype)
        weighted[:, : rows.n_rows] = (targets * rows.raw_weights[:, None]).T
        call = _Call(self, programs, rows)
        panels = -(-rows.n_blocks // PANEL_BLOCKS)
        sums = np.zeros((panels, len(programs), 2 + len(weighted)))

        def work(piece: _Piece) -> None:
            score_programs(
                *call.programs(piece), *call.data, rows.weights.ctypes.data, weighted.ctypes.data,
                len(weighted), *call.layout(piece), *call.room(), sums[piece.first_block // PANEL_BLOCKS],
            )  # fmt: skip

        self._each(work, call.pieces())
        total = sums[0]
        for panel in sums[1:]:
            total += panel
        finite = total[:, 1] == 0.0
        total[~finite] = np.nan
        return InnerProducts(total[:, 0], total[:, 2:], finite)

    def _mixed_inner_products(
        self, programs: Programs, rows: CompiledRows, targets: NDArray[np.float64], by_numpy: NDArray[np.bool_]
    ) -> InnerProducts:
        reference = ReferenceEngine(self.dtype)
        parts = [
            (by_numpy, reference.inner_products(programs.subset(by_numpy), rows.raw_X, targets, rows.raw_weights)),
            (~by_numpy, self.inner_products(programs.subset(~by_numpy), rows, targets)),
        ]
        n = len(programs)
        merged = InnerProducts(np.empty(n), np.empty((n, targets.shape[1])), np.empty(n, bool))
        for which, part in parts:
            for whole, piece in zip(merged, part, strict=True):
                whole[which] = piece
        return merged

    def _numpy_programs(self, programs: Programs) -> NDArray[np.bool_]:
        """Which programs hold an operator that Numba could not compile."""
        slow = [o for o in programs.user_opcodes() if not programs.primitives.by_opcode(int(o)).compiled]
        mask = np.zeros(len(programs), bool)
        if slow:
            for i in range(len(programs)):
                tokens = programs.op[programs.start[i] : programs.start[i] + programs.count[i]]
                mask[i] = np.isin(tokens, slow).any()
        return mask

    def _each(self, work: Callable[[_Piece], None], pieces: list[_Piece]) -> None:
        with announced("compiling the engine for this processor"):
            if self.n_threads == 1 or len(pieces) == 1:
                for piece in pieces:
                    work(piece)
            else:
                list(thread_pool(self.n_threads).map(work, pieces))


@cache
def thread_pool(n_jobs: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_jobs, thread_name_prefix="fouriertree")


@dataclass(frozen=True)
class _Piece:
    """What one call into compiled code does: some programs on some blocks of rows."""

    first: int
    last: int
    first_block: int
    last_block: int


class _Call:
    """The arguments that all pieces of one call share."""

    def __init__(self, engine: CompiledEngine, programs: Programs, rows: CompiledRows) -> None:
        self.batch, self.rows, self.n_threads, self.lanes = programs, rows, engine.n_threads, engine.lanes
        dtype = np.dtype(engine.dtype)
        self.kind = dtype.type(1)
        self.interpreter = interpreter_address(dtype.name)
        self.users: UserTable = user_table(programs, dtype.name)
        self.data = (rows.columns.ctypes.data, rows.columns.strides[0])
        # A multiple of 8 levels keeps the buffers behind the stack on vector boundaries.
        self.height = -(-programs.height // 8) * 8

    def programs(self, piece: _Piece) -> tuple[Any, ...]:
        b = self.batch
        return (
            self.kind, self.interpreter, b.op, b.arg, b.const, b.start, b.count, piece.first, piece.last
        )  # fmt: skip

    def layout(self, piece: _Piece) -> tuple[int, ...]:
        return self.lanes, self.rows.vectors, piece.first_block, piece.last_block

    def room(self) -> tuple[Any, ...]:
        """Scratch memory of its own for each piece."""
        vectors = min(self.rows.vectors, BLOCK_ROWS // self.lanes)
        scratch = aligned((self.height * (LEVEL_BYTES + VECTOR_BYTES * vectors),), np.uint8, np.empty)
        return scratch, self.height, self.users.address

    def pieces(self) -> list[_Piece]:
        n, blocks = len(self.batch), self.rows.n_blocks
        size = max(1, -(-n // (4 * self.n_threads))) if self.n_threads > 1 else max(1, n)
        if blocks > 1:
            size = min(size, CHUNK_PROGRAMS)
        return list(_grid(n, size, blocks))


def _grid(n: int, size: int, blocks: int) -> Iterator[_Piece]:
    for first_block in range(0, blocks, PANEL_BLOCKS):
        last_block = min(blocks, first_block + PANEL_BLOCKS)
        for first in range(0, n, size):
            yield _Piece(first, min(n, first + size), first_block, last_block)
