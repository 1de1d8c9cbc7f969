"""The interpreter: one postfix program on one block of rows, compiled once for float64 and once for float32."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import cfunc

from fouriertree.compiling import announced, with_cache

from fouriertree.engine.kernels import (
    BINARY_KERNELS,
    UNARY_KERNELS,
    VECTOR_BYTES,
    call_user_operator,
    read_float64,
    read_int32,
    read_int64,
    splat,
    write_int64,
)

from fouriertree.expr.opcodes import (
    ABS, ACOS, ADD, ASIN, ATAN, CONST, COS, CUBE, DIV, EXP, INV, LOG, MAX, MIN, MUL, NEG, PDIV, PLOG, POW, SIN,
    SQRT, SQUARE, SUB, TAN, TANH, VAR,
)  # fmt: skip
from fouriertree.expr.opcodes import USER_OPCODE_START as USER

_add, _sub, _mul, _div = (BINARY_KERNELS[name] for name in ("add", "sub", "mul", "div"))
_pdiv, _pow, _min, _max = (BINARY_KERNELS[name] for name in ("pdiv", "pow", "min", "max"))
_sin, _cos, _tan, _exp = (UNARY_KERNELS[name] for name in ("sin", "cos", "tan", "exp"))
_log, _plog, _sqrt, _square = (UNARY_KERNELS[name] for name in ("log", "plog", "sqrt", "square"))
_cube, _inv, _neg, _abs = (UNARY_KERNELS[name] for name in ("cube", "inv", "neg", "abs"))
_tanh, _asin, _acos, _atan = (UNARY_KERNELS[name] for name in ("tanh", "asin", "acos", "atan"))

BINARY_MASK = sum(1 << o for o in (ADD, SUB, MUL, DIV, PDIV, POW, MIN, MAX))

#: bytes of scratch memory per level of the stack beside its buffer: address, step and a constant's vector
LEVEL_BYTES = 16 + VECTOR_BYTES


def interpret(
    kind: Any, op: int, arg: int, const: int, count: int, columns: int, stride: int, vectors: int,
    scratch: int, height: int, users: int,
) -> int:  # fmt: skip
    """Run `count` tokens on `vectors` vectors of rows; the address of the values, plus 1 if a column.

    op, arg, const: addresses of the tokens.  columns, stride: address of column 0's block and bytes from a
    column to the next.  scratch: room for `height` levels.  users: table of (address, arity) of operators
    added by the user.  All values live in aligned vectors, so the lowest bit of an address is free.
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
        binary = (BINARY_MASK >> o) & 1 if o < USER else read_int64(users, 2 * (o - USER) + 1)
        b, sb = read_int64(scratch, top), read_int64(steps, top)
        top -= binary
        a, sa = read_int64(scratch, top), read_int64(steps, top)
        step = sa | sb
        # An operator of constants only is one vector long, and stays where later results do not overwrite it.
        n = vectors if step else 1
        out = buffers + buffer_bytes * top if step else splats + VECTOR_BYTES * top
        write_int64(scratch, top, out)
        write_int64(steps, top, step)
        if o == ADD:
            _add(kind, out, a, sa, b, sb, n)
        elif o == SUB:
            _sub(kind, out, a, sa, b, sb, n)
        elif o == MUL:
            _mul(kind, out, a, sa, b, sb, n)
        elif o == DIV:
            _div(kind, out, a, sa, b, sb, n)
        elif o == PDIV:
            _pdiv(kind, out, a, sa, b, sb, n)
        elif o == SIN:
            _sin(kind, out, a, n)
        elif o == COS:
            _cos(kind, out, a, n)
        elif o == TAN:
            _tan(kind, out, a, n)
        elif o == EXP:
            _exp(kind, out, a, n)
        elif o == LOG:
            _log(kind, out, a, n)
        elif o == PLOG:
            _plog(kind, out, a, n)
        elif o == SQRT:
            _sqrt(kind, out, a, n)
        elif o == SQUARE:
            _square(kind, out, a, n)
        elif o == CUBE:
            _cube(kind, out, a, n)
        elif o == INV:
            _inv(kind, out, a, n)
        elif o == NEG:
            _neg(kind, out, a, n)
        elif o == ABS:
            _abs(kind, out, a, n)
        elif o == TANH:
            _tanh(kind, out, a, n)
        elif o == ASIN:
            _asin(kind, out, a, n)
        elif o == ACOS:
            _acos(kind, out, a, n)
        elif o == ATAN:
            _atan(kind, out, a, n)
        elif o == POW:
            _pow(kind, out, a, sa, b, sb, n)
        elif o == MIN:
            _min(kind, out, a, sa, b, sb, n)
        elif o == MAX:
            _max(kind, out, a, sa, b, sb, n)
        else:
            call_user_operator(read_int64(users, 2 * (o - USER)), kind, (out, a, sa, b, sb, n))
    return read_int64(scratch, 0) + read_int64(steps, 0)


_OPERANDS = ", ".join(["int64"] * 10)


@cache
def interpreter_address(dtype: str) -> int:
    """Address of the interpreter compiled for "float64" or "float32"."""
    with announced(f"compiling the {dtype} interpreter for this processor"):
        compiled = with_cache(cfunc, f"int64({dtype}, {_OPERANDS})", error_model="numpy")(interpret)
    _keep_alive.append(compiled)
    return int(compiled.address)


# A cfunc's machine code lives as long as the object that owns it.
_keep_alive: list[Any] = []
