"""Numba intrinsics on memory by address: read, write, call, apply operators, sum.

Addresses are plain integers, which the interpreter keeps on a stack.  An operand that is an address with a step is a
column of values if the step is 1, and a constant in one vector if it is 0.  `kind` is any float64 or float32; only its
type is used.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fouriertree.expr.catalogue import CATALOGUE, Primitive
from fouriertree.expr.opcodes import USER_OPCODE_START

from . import elementary
from .lanes import FLOAT32, FLOAT64, INT32, INT64, Format, Lanes, horizontal_sum

FORMATS = {types.float64: FLOAT64, types.float32: FLOAT32}
VECTOR_BYTES = 64


def number_at(builder: Any, llvm_type: Any, address: Any, index: Any) -> Any:
    """Pointer to the index-th number, or vector, of a type from an address on."""
    pointer = builder.inttoptr(address, llvm_type.as_pointer())
    return builder.gep(pointer, [index], source_etype=llvm_type)


def load(builder: Any, fmt: Format, address: Any, index: Any) -> Lanes:
    """The index-th vector from an address on."""
    pointer = number_at(builder, fmt.vector, address, index)
    return Lanes(builder, fmt, builder.load(pointer, align=fmt.bytes, typ=fmt.vector))


def store(vector: Lanes, address: Any, index: Any) -> None:
    builder, fmt = vector.builder, vector.format
    builder.store(vector.value, number_at(builder, fmt.vector, address, index), align=fmt.bytes)


def reader(numba_type: Any, llvm_type: Any) -> Any:
    """read(address, index): the index-th number of this type from an address on."""

    @intrinsic
    def read(typingctx: Any, address: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(number_at(builder, llvm_type, *args), typ=llvm_type)

        return numba_type(types.int64, types.int64), codegen

    return read


def writer(numba_type: Any, llvm_type: Any) -> Any:
    """write(address, index, value): store a number of this type as the index-th from an address on."""

    @intrinsic
    def write(typingctx: Any, address: Any, index: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store(args[2], number_at(builder, llvm_type, args[0], args[1]))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, numba_type), codegen

    return write


read_int32, read_int64 = reader(types.int32, INT32), reader(types.int64, INT64)
read_float32, read_float64 = reader(types.float32, FLOAT32.scalar), reader(types.float64, FLOAT64.scalar)
write_float32, write_float64 = writer(types.float32, FLOAT32.scalar), writer(types.float64, FLOAT64.scalar)
write_int64 = writer(types.int64, INT64)


@intrinsic
def splat(typingctx: Any, kind: Any, out: Any, value: Any) -> Any:
    """One vector at `out` with the float64 `value` in every lane."""
    fmt = FORMATS[kind]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        scalar = builder.fptrunc(args[2], fmt.scalar)
        vector = builder.insert_element(ir.Constant(fmt.vector, ir.Undefined), scalar, ir.Constant(INT32, 0))
        everywhere = ir.Constant(ir.VectorType(INT32, fmt.lanes), [0] * fmt.lanes)
        vector = builder.shuffle_vector(vector, vector, everywhere)
        store(Lanes(builder, fmt, vector), args[1], ir.Constant(INT64, 0))
        return context.get_dummy_value()

    return types.void(kind, types.int64, types.float64), codegen


def call_at(builder: Any, address: Any, result: Any, args: list[Any]) -> Any:
    """Call the compiled function at an address."""
    function_type = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(builder.inttoptr(address, function_type.as_pointer()), args)


@intrinsic
def call_interpreter(typingctx: Any, address: Any, kind: Any, operands: Any) -> Any:
    """Call the interpreter at its address: it is compiled once and not inlined into callers."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        numbers = cgutils.unpack_tuple(builder, args[2], operands.count)
        return call_at(builder, args[0], INT64, [args[1], *numbers])

    return types.int64(types.int64, kind, operands), codegen


@intrinsic
def call_operator(typingctx: Any, address: Any, kind: Any, opcode: Any, operands: Any) -> Any:
    """Call the function that `interpreter.operator_address` compiled."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        numbers = cgutils.unpack_tuple(builder, args[3], operands.count)
        call_at(builder, args[0], ir.VoidType(), [args[1], args[2], *numbers])
        return context.get_dummy_value()

    return types.void(types.int64, kind, types.int32, operands), codegen


@intrinsic
def next_number(typingctx: Any, address: Any) -> Any:
    """The integer at an address, atomically incremented: every call on any thread returns another value."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], INT64.as_pointer())
        return builder.atomic_rmw("add", pointer, ir.Constant(INT64, 1), "monotonic")

    return types.int64(types.int64), codegen


def emit_loop(builder: Any, fmt: Format, row: Primitive, operands: list[Any]) -> None:
    """out[i] = operator(a[i·a_step], b[i·b_step]) for n vectors; unary operators ignore b."""
    if row.kernel is None:
        raise ValueError(f"operator {row.name!r} has no kernel")
    out, a, a_step, b, b_step, n = operands
    with cgutils.for_range(builder, n, intp=INT64) as loop:
        pairs = ((a, a_step), (b, b_step))[: row.arity]
        arguments = [load(builder, fmt, address, builder.mul(loop.index, step)) for address, step in pairs]
        store(row.kernel(elementary, *arguments), out, loop.index)


@intrinsic
def apply_operator(
    typingctx: Any, kind: Any, opcode: Any, out: Any, a: Any, a_step: Any, b: Any, b_step: Any, n: Any, users: Any
) -> Any:  # fmt: skip
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
        row_start = builder.shl(place, ir.Constant(INT64, 1))
        address = builder.load(number_at(builder, INT64, args[8], row_start), typ=INT64)
        call_at(builder, address, ir.VoidType(), [args[0], *operands])
        builder.branch(done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return types.void(kind, types.int32, *[types.int64] * 7), codegen


@intrinsic
def copy_rows(typingctx: Any, kind: Any, out: Any, v: Any, step: Any, rows: Any) -> Any:
    """Copy the first `rows` values of v to out."""
    fmt = FORMATS[kind]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, out_at, v_at, v_step, n_rows = args
        lanes = ir.Constant(INT64, fmt.lanes)
        whole = builder.udiv(n_rows, lanes)
        with cgutils.for_range(builder, whole, intp=INT64) as loop:
            store(load(builder, fmt, v_at, builder.mul(loop.index, v_step)), out_at, loop.index)
        first_in, first_out = builder.mul(builder.mul(whole, v_step), lanes), builder.mul(whole, lanes)
        with cgutils.for_range(builder, builder.urem(n_rows, lanes), intp=INT64) as loop:
            last = number_at(builder, fmt.scalar, v_at, builder.add(first_in, loop.index))
            x = builder.load(last, typ=fmt.scalar)
            builder.store(x, number_at(builder, fmt.scalar, out_at, builder.add(first_out, loop.index)))
        return context.get_dummy_value()

    return types.void(kind, *[types.int64] * 4), codegen


def summation(fmt: Format, count: int, factors: Callable[..., list[tuple[Lanes, Lanes]]]) -> Any:
    """Code for `count` sums of products over n vectors: factors(v, *others) lists the two factors of each."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, v, step, *others, n = args
        zero = ir.Constant(fmt.vector, [0.0] * fmt.lanes)
        slots = [cgutils.alloca_once_value(builder, zero) for _ in range(count)]
        with cgutils.for_range(builder, n, intp=INT64) as loop:
            first = load(builder, fmt, v, builder.mul(loop.index, step))
            vectors = [first, *(load(builder, fmt, other, loop.index) for other in others)]
            for slot, (x, y) in zip(slots, factors(*vectors), strict=True):
                builder.store(x.fma(y, x.wrap(builder.load(slot, typ=fmt.vector))).value, slot)
        sums = [horizontal_sum(builder, fmt, builder.load(slot, typ=fmt.vector)) for slot in slots]
        return sums[0] if count == 1 else context.make_tuple(builder, signature.return_type, sums)

    return codegen


@intrinsic
def moments(typingctx: Any, kind: Any, v: Any, step: Any, w: Any, n: Any) -> Any:
    """(Σ w·v², Σ 0·v) over n vectors: the second is 0.0, or NaN if any value is not finite."""
    code = summation(FORMATS[kind], 2, lambda v, w: [(w * v, v), (v, v.like(0.0))])
    return types.UniTuple(types.float64, 2)(kind, *[types.int64] * 4), code


@intrinsic
def dot(typingctx: Any, kind: Any, v: Any, step: Any, u: Any, n: Any) -> Any:
    """Σ v·u over n vectors."""
    return types.float64(kind, *[types.int64] * 4), summation(FORMATS[kind], 1, lambda v, u: [(v, u)])


@intrinsic
def squared_error(typingctx: Any, kind: Any, v: Any, step: Any, y: Any, w: Any, n: Any) -> Any:
    """Σ w·(v − y)² over n vectors."""
    code = summation(FORMATS[kind], 1, lambda v, y, w: [(w * (v - y), v - y)])
    return types.float64(kind, *[types.int64] * 5), code
