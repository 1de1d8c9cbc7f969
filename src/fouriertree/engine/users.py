"""Custom operators: each is compiled into a loop, which the interpreter calls by address."""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numba import cfunc, njit
from numpy.typing import NDArray

from fouriertree.compiling import announced
from fouriertree.expr import Primitive, Programs
from fouriertree.expr.opcodes import USER_OPCODE_START

from .intrinsics import VECTOR_BYTES, read_float32, read_float64, write_float32, write_float64


@dataclass(frozen=True)
class UserTable:
    """Row o − USER_OPCODE_START has the address of operator o's loop, and its arity − 1."""

    rows: NDArray[np.int64]
    loops: list[Any]  #: references that keep the machine code

    @property
    def address(self) -> int:
        return int(self.rows.ctypes.data)


def user_table(programs: Programs, dtype: str) -> UserTable:
    """The table of the compiled custom operators in these programs."""
    known = [programs.primitives.by_opcode(int(o)) for o in programs.user_opcodes()]
    # A subset shares its tokens with programs that NumPy evaluates, whose operators have no loop.
    loops = {primitive: operator_loop(primitive, dtype) for primitive in known if primitive.compiled}
    last = max((primitive.opcode for primitive in loops), default=USER_OPCODE_START)
    rows = np.zeros((last - USER_OPCODE_START + 1, 2), np.int64)
    for primitive, loop in loops.items():
        rows[primitive.opcode - USER_OPCODE_START] = loop.address, primitive.arity - 1
    return UserTable(rows, list(loops.values()))


#: loops are freed with their operators: rerunning a notebook cell makes new ones every time
_LOOPS: WeakKeyDictionary[Primitive, dict[str, Any]] = WeakKeyDictionary()


def operator_loop(primitive: Primitive, dtype: str) -> Any:
    """The loop of an operator, compiled once."""
    loops = _LOOPS.setdefault(primitive, {})
    if dtype not in loops:
        loops[dtype] = compiled_loop(primitive, dtype)
    return loops[dtype]


def compiled_loop(primitive: Primitive, dtype: str) -> Any:
    """A C function (kind, out, a, a_step, b, b_step, vectors) that applies the operator to every lane."""
    scalar = primitive.scalar
    lanes = VECTOR_BYTES // np.dtype(dtype).itemsize
    read, write = (read_float64, write_float64) if dtype == "float64" else (read_float32, write_float32)
    if primitive.arity == 1:

        @njit(error_model="numpy")
        def value(a: int, i: int, b: int, j: int) -> Any:
            return scalar(np.float64(read(a, i)))
    else:

        @njit(error_model="numpy")
        def value(a: int, i: int, b: int, j: int) -> Any:
            return scalar(np.float64(read(a, i)), np.float64(read(b, j)))

    def loop(kind: Any, out: int, a: int, a_step: int, b: int, b_step: int, vectors: int) -> None:
        for i in range(vectors * lanes):
            # A constant is read from lane i of its vector, not from the first, because `out` may be that vector.
            at_a, at_b = i if a_step else i % lanes, i if b_step else i % lanes
            write(out, i, np.float64(value(a, at_a, b, at_b)))

    operands = ", ".join(["int64"] * 6)
    with announced(f"compiling the custom operator {primitive.name!r}"):
        return cfunc(f"void({dtype}, {operands})", error_model="numpy")(loop)
