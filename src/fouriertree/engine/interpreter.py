"""The interpreter: one postfix program on one block of rows, compiled once for float64 and once for float32."""

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import cfunc

from fouriertree.compiling import announced, with_cache
from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.expr.opcodes import CONST, USER_OPCODE_START, VAR

from .intrinsics import VECTOR_BYTES, apply_operator, read_float64, read_int32, read_int64, splat, write_int64

#: bit o is set if the built-in operator o takes two arguments
BINARY_MASK = sum(1 << row.opcode for row in CATALOGUE.values() if row.arity == 2)
#: bytes of scratch memory per level of the stack beside its buffer: address, step and a constant's vector
LEVEL_BYTES = 16 + VECTOR_BYTES


def interpret(
    kind: Any, op: int, arg: int, const: int, count: int, columns: int, stride: int, vectors: int,
    scratch: int, height: int, users: int,
) -> int:  # fmt: skip
    """Run `count` tokens on `vectors` vectors of rows; return the address of the values, plus 1 if they are a column.

    op, arg, const: addresses of the tokens.  columns, stride: address of the block of feature 0, and bytes from one
    feature to the next.  scratch: memory for `height` levels.  users: table of (address, arity − 1) of custom
    operators.  All values are in aligned vectors, so the lowest bit of an address is free.
    """
    steps = scratch + 8 * height
    splats = scratch + 16 * height
    buffers = splats + VECTOR_BYTES * height
    buffer_bytes = VECTOR_BYTES * vectors
    top = -1
    for t in range(count):
        o = read_int32(op, t)
        if o == VAR:
            top += 1
            write_int64(scratch, top, columns + read_int32(arg, t) * stride)
            write_int64(steps, top, 1)
            continue
        if o == CONST:
            top += 1
            splat(kind, splats + VECTOR_BYTES * top, read_float64(const, t))
            write_int64(scratch, top, splats + VECTOR_BYTES * top)
            write_int64(steps, top, 0)
            continue
        user = o - USER_OPCODE_START
        binary = (BINARY_MASK >> o) & 1 if user < 0 else read_int64(users, 2 * user + 1)
        b, b_step = read_int64(scratch, top), read_int64(steps, top)
        top -= binary
        a, a_step = read_int64(scratch, top), read_int64(steps, top)
        step = a_step | b_step
        # The value of an operator on constants is one vector, stored where later results do not overwrite it.
        n = vectors if step else 1
        out = buffers + buffer_bytes * top if step else splats + VECTOR_BYTES * top
        write_int64(scratch, top, out)
        write_int64(steps, top, step)
        apply_operator(kind, o, out, a, a_step, b, b_step, n, users)
    return int(read_int64(scratch, 0) + read_int64(steps, 0))


def apply_to_columns(kind: Any, opcode: Any, out: int, a: int, b: int, n: int, users: int) -> None:
    """One operator on n vectors of columns; unary operators ignore b."""
    apply_operator(kind, opcode, out, a, 1, b, 1, n, users)


# The machine code of a cfunc is freed with its object, which the cache keeps.
@cache
def compiled(function: Callable[..., Any], signature: str, what: str) -> Any:
    with announced(f"compiling the {what} for this processor"):
        return with_cache(cfunc, signature, error_model="numpy")(function)


def interpreter_address(dtype: str) -> int:
    """Address of the interpreter compiled for "float64" or "float32"."""
    signature = f"int64({dtype}, {', '.join(['int64'] * 10)})"
    return int(compiled(interpret, signature, f"{dtype} interpreter").address)


def operator_address(dtype: str) -> int:
    """Address of `apply_to_columns` compiled for "float64" or "float32"."""
    signature = f"void({dtype}, int32, {', '.join(['int64'] * 5)})"
    return int(compiled(apply_to_columns, signature, f"{dtype} operators").address)
