"""One Numba intrinsic that applies any operator to whole vectors of rows.

An operand is an address and a step: 1 for a column of values, 0 for a constant in one vector.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fouriertree.engine import elementary
from fouriertree.engine.lanes import INT32, INT64, Format, Lanes
from fouriertree.engine.memory import FORMATS, call_at, load, number_at, store, vectors_at
from fouriertree.expr.catalogue import CATALOGUE, Primitive
from fouriertree.expr.opcodes import USER_OPCODE_START


def vector_value(row: Primitive, *arguments: Lanes) -> Lanes:
    """The operator on vectors of rows, by the kernel in its entry."""
    if row.kernel is None:
        raise ValueError(f"operator {row.name!r} has no kernel")
    value: Lanes = row.kernel(elementary, *arguments)
    return value


def emit_loop(builder: Any, fmt: Format, row: Primitive, operands: list[Any]) -> None:
    """out[i] = operator(a[i·a_step], b[i·b_step]) for n vectors; unary operators ignore b."""
    out, a, a_step, b, b_step, n = operands
    target, left, right = (vectors_at(builder, fmt, address) for address in (out, a, b))
    with cgutils.for_range(builder, n, intp=INT64) as loop:
        arguments = [Lanes(builder, fmt, load(builder, fmt, left, builder.mul(loop.index, a_step)))]
        if row.arity == 2:
            arguments.append(Lanes(builder, fmt, load(builder, fmt, right, builder.mul(loop.index, b_step))))
        value = vector_value(row, *arguments)
        store(builder, fmt, value.value, target, loop.index)


@intrinsic
def apply_operator(
    typingctx: Any,
    kind: Any,
    opcode: Any,
    out: Any,
    a: Any,
    a_step: Any,
    b: Any,
    b_step: Any,
    n: Any,
    users: Any,
) -> Any:
    """Apply the operator `opcode`: a jump to its loop, or a call of the custom operator by the table."""
    fmt = FORMATS[kind]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code, operands = args[1], list(args[2:8])
        user, done = builder.append_basic_block("user"), builder.append_basic_block("done")
        jump = builder.switch(code, user)
        for row in CATALOGUE.values():
            block = builder.append_basic_block(row.name)
            jump.add_case(ir.Constant(INT32, row.opcode), block)
            builder.position_at_end(block)
            emit_loop(builder, fmt, row, operands)
            builder.branch(done)
        builder.position_at_end(user)
        place = builder.sub(builder.sext(code, INT64), ir.Constant(INT64, USER_OPCODE_START))
        address = builder.load(
            number_at(builder, INT64, args[8], builder.shl(place, ir.Constant(INT64, 1))), typ=INT64
        )
        call_at(builder, address, ir.VoidType(), [args[0], *operands])
        builder.branch(done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return types.void(kind, types.int32, *[types.int64] * 7), codegen
