"""Numba intrinsics: loops over whole vectors, addressed by plain integers.

An operand is an address and a step: 1 for a column of values, 0 for a constant that one vector holds.
Addresses are integers because the interpreter keeps them on a stack of its own.  The first argument of each
kernel, `kind`, is any number of the type to compute in: float64 or float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fouriertree.engine.elementary import BINARY, UNARY
from fouriertree.engine.lanes import FLOAT32, FLOAT64, INT32, INT64, Format, Lanes, horizontal_sum

FORMATS = {types.float64: FLOAT64, types.float32: FLOAT32}
VECTOR_BYTES = 64


def address_kernel(body: Callable[..., Any], result: Any, operands: int) -> Callable[..., Any]:
    """The typing half of an intrinsic: (kind, int64 × operands) -> result, emitted by `body`."""

    def typed(kind: Any) -> Any:
        fmt = FORMATS[kind]

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            emitted = body(context, builder, fmt, *args[1:])
            return context.get_dummy_value() if emitted is None else emitted

        return result(kind, *[types.int64] * operands), codegen

    return typed


def vectors_at(builder: Any, fmt: Format, address: Any) -> Any:
    return builder.inttoptr(address, fmt.vector.as_pointer())


def load(builder: Any, fmt: Format, pointer: Any, index: Any) -> Any:
    return builder.load(builder.gep(pointer, [index], source_etype=fmt.vector), align=fmt.bytes, typ=fmt.vector)


def store(builder: Any, fmt: Format, value: Any, pointer: Any, index: Any) -> None:
    builder.store(value, builder.gep(pointer, [index], source_etype=fmt.vector), align=fmt.bytes)


def unary_kernel(body: Callable[[Lanes], Lanes]) -> Any:
    """kernel(kind, out, a, n): out[i] = body(a[i]) for n vectors."""

    def emit(context: Any, builder: Any, fmt: Format, out: Any, a: Any, n: Any) -> None:
        target, source = vectors_at(builder, fmt, out), vectors_at(builder, fmt, a)
        with cgutils.for_range(builder, n, intp=INT64) as loop:
            x = Lanes(builder, fmt, load(builder, fmt, source, loop.index))
            store(builder, fmt, body(x).value, target, loop.index)

    typed = address_kernel(emit, types.void, 3)

    @intrinsic  # type: ignore[untyped-decorator]
    def kernel(typingctx: Any, kind: Any, out: Any, a: Any, n: Any) -> Any:
        return typed(kind)

    return kernel


def binary_kernel(body: Callable[[Lanes, Lanes], Lanes]) -> Any:
    """kernel(kind, out, a, a_step, b, b_step, n): out[i] = body(a[i·a_step], b[i·b_step])."""

    def emit(
        context: Any, builder: Any, fmt: Format, out: Any, a: Any, a_step: Any, b: Any, b_step: Any, n: Any
    ) -> None:
        target, left, right = (vectors_at(builder, fmt, x) for x in (out, a, b))
        with cgutils.for_range(builder, n, intp=INT64) as loop:
            x = Lanes(builder, fmt, load(builder, fmt, left, builder.mul(loop.index, a_step)))
            y = Lanes(builder, fmt, load(builder, fmt, right, builder.mul(loop.index, b_step)))
            store(builder, fmt, body(x, y).value, target, loop.index)

    typed = address_kernel(emit, types.void, 6)

    @intrinsic  # type: ignore[untyped-decorator]
    def kernel(typingctx: Any, kind: Any, out: Any, a: Any, a_step: Any, b: Any, b_step: Any, n: Any) -> Any:
        return typed(kind)

    return kernel


@intrinsic  # type: ignore[untyped-decorator]
def splat(typingctx: Any, kind: Any, out: Any, value: Any) -> Any:
    """One vector at `out` with the float64 `value` in every lane."""
    fmt = FORMATS[kind]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        scalar = args[2] if fmt is FLOAT64 else builder.fptrunc(args[2], fmt.scalar)
        vector = builder.insert_element(ir.Constant(fmt.vector, ir.Undefined), scalar, ir.Constant(INT32, 0))
        everywhere = ir.Constant(ir.VectorType(INT32, fmt.lanes), [0] * fmt.lanes)
        vector = builder.shuffle_vector(vector, vector, everywhere)
        store(builder, fmt, vector, vectors_at(builder, fmt, args[1]), ir.Constant(INT64, 0))
        return context.get_dummy_value()

    return types.void(kind, types.int64, types.float64), codegen


def sum_products(builder: Any, fmt: Format, n: Any, terms: Callable[[Any], list[Any]], count: int) -> list[Any]:
    """Sums over n vectors of `count` products; terms(i) lists the factors of each for vector i."""
    zero = ir.Constant(fmt.vector, [0.0] * fmt.lanes)
    slots = [cgutils.alloca_once(builder, fmt.vector) for _ in range(count)]
    for slot in slots:
        builder.store(zero, slot)
    with cgutils.for_range(builder, n, intp=INT64) as loop:
        for slot, (x, y) in zip(slots, terms(loop.index), strict=True):
            total = Lanes(builder, fmt, builder.load(slot, typ=fmt.vector))
            builder.store(Lanes(builder, fmt, x).fma(Lanes(builder, fmt, y), total).value, slot)
    return [horizontal_sum(builder, fmt, builder.load(slot, typ=fmt.vector)) for slot in slots]


def emit_moments(context: Any, builder: Any, fmt: Format, v: Any, step: Any, w: Any, n: Any) -> Any:
    values, weights = vectors_at(builder, fmt, v), vectors_at(builder, fmt, w)
    zero = ir.Constant(fmt.vector, [0.0] * fmt.lanes)

    def terms(i: Any) -> list[Any]:
        x = load(builder, fmt, values, builder.mul(i, step))
        return [(builder.fmul(load(builder, fmt, weights, i), x), x), (x, zero)]

    pair = types.UniTuple(types.float64, 2)
    return context.make_tuple(builder, pair, sum_products(builder, fmt, n, terms, 2))


def emit_dot(context: Any, builder: Any, fmt: Format, v: Any, step: Any, u: Any, n: Any) -> Any:
    values, others = vectors_at(builder, fmt, v), vectors_at(builder, fmt, u)

    def terms(i: Any) -> list[Any]:
        return [(load(builder, fmt, values, builder.mul(i, step)), load(builder, fmt, others, i))]

    return sum_products(builder, fmt, n, terms, 1)[0]


def emit_copy(context: Any, builder: Any, fmt: Format, out: Any, v: Any, step: Any, rows: Any) -> None:
    lanes = ir.Constant(INT64, fmt.lanes)
    target, values = vectors_at(builder, fmt, out), vectors_at(builder, fmt, v)
    whole = builder.udiv(rows, lanes)
    with cgutils.for_range(builder, whole, intp=INT64) as loop:
        x = load(builder, fmt, values, builder.mul(loop.index, step))
        store(builder, fmt, x, target, loop.index)
    scalar = fmt.scalar.as_pointer()
    last_in = builder.bitcast(
        builder.gep(values, [builder.mul(whole, step)], source_etype=fmt.vector), scalar
    )
    last_out = builder.bitcast(builder.gep(target, [whole], source_etype=fmt.vector), scalar)
    with cgutils.for_range(builder, builder.urem(rows, lanes), intp=INT64) as loop:
        x = builder.load(builder.gep(last_in, [loop.index], source_etype=fmt.scalar), typ=fmt.scalar)
        builder.store(x, builder.gep(last_out, [loop.index], source_etype=fmt.scalar))


@intrinsic  # type: ignore[untyped-decorator]
def moments(typingctx: Any, kind: Any, v: Any, step: Any, w: Any, n: Any) -> Any:
    """(Σ w·v², Σ 0·v) over n vectors: the second is 0.0, or NaN if any value is not finite."""
    return address_kernel(emit_moments, types.UniTuple(types.float64, 2), 4)(kind)


@intrinsic  # type: ignore[untyped-decorator]
def dot(typingctx: Any, kind: Any, v: Any, step: Any, u: Any, n: Any) -> Any:
    """Σ v·u over n vectors."""
    return address_kernel(emit_dot, types.float64, 4)(kind)


@intrinsic  # type: ignore[untyped-decorator]
def copy_rows(typingctx: Any, kind: Any, out: Any, v: Any, step: Any, rows: Any) -> Any:
    """Copy the first `rows` values of v to out, and none beyond."""
    return address_kernel(emit_copy, types.void, 4)(kind)


def memory_reader(numba_type: Any, llvm_type: Any) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def read(typingctx: Any, address: Any, index: Any) -> Any:
        """The index-th number of this type from an address on."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = builder.inttoptr(args[0], llvm_type.as_pointer())
            return builder.load(builder.gep(pointer, [args[1]], source_etype=llvm_type), typ=llvm_type)

        return numba_type(types.int64, types.int64), codegen

    return read


read_int32 = memory_reader(types.int32, INT32)
read_int64 = memory_reader(types.int64, INT64)
read_float64 = memory_reader(types.float64, ir.DoubleType())


@intrinsic  # type: ignore[untyped-decorator]
def write_int64(typingctx: Any, address: Any, index: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], INT64.as_pointer())
        builder.store(args[2], builder.gep(pointer, [args[1]], source_etype=INT64))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def read_number(typingctx: Any, kind: Any, address: Any, index: Any) -> Any:
    """The index-th number of the type of `kind` from an address on."""
    fmt = FORMATS[kind]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[1], fmt.scalar.as_pointer())
        return builder.load(builder.gep(pointer, [args[2]], source_etype=fmt.scalar), typ=fmt.scalar)

    return kind(kind, types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def write_number(typingctx: Any, kind: Any, address: Any, index: Any, value: Any) -> Any:
    """Store a float64 as the index-th number of the type of `kind`."""
    fmt = FORMATS[kind]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[1], fmt.scalar.as_pointer())
        scalar = args[3] if fmt is FLOAT64 else builder.fptrunc(args[3], fmt.scalar)
        builder.store(scalar, builder.gep(pointer, [args[2]], source_etype=fmt.scalar))
        return context.get_dummy_value()

    return types.void(kind, types.int64, types.int64, types.float64), codegen


def function_caller(operands: int, numba_result: Any, llvm_result: Any) -> Any:
    """call(address, kind, operands…): a compiled function called by its address.

    The callee is then compiled once, and not again into every caller.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def call(typingctx: Any, address: Any, kind: Any, operands_: Any) -> Any:
        fmt = FORMATS[kind]

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            function_type = ir.FunctionType(llvm_result, [fmt.scalar] + [INT64] * operands)
            function = builder.inttoptr(args[0], function_type.as_pointer())
            numbers = cgutils.unpack_tuple(builder, args[2], operands)
            result = builder.call(function, [args[1], *numbers])
            return context.get_dummy_value() if numba_result == types.void else result

        return numba_result(types.int64, kind, types.UniTuple(types.int64, operands)), codegen

    return call


call_interpreter = function_caller(10, types.int64, INT64)
call_user_operator = function_caller(6, types.void, ir.VoidType())

UNARY_KERNELS = {name: unary_kernel(body) for name, body in UNARY.items()}
BINARY_KERNELS = {name: binary_kernel(body) for name, body in BINARY.items()}
