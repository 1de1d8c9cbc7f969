"""Numba intrinsics that read, write and call by address.

Addresses are plain integers, which the interpreter keeps on a stack.  `kind` is any float64 or float32; only its type
is used.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fouriertree.engine.lanes import FLOAT32, FLOAT64, INT32, INT64, Format

FORMATS = {types.float64: FLOAT64, types.float32: FLOAT32}
VECTOR_BYTES = 64


def vectors_at(builder: Any, fmt: Format, address: Any) -> Any:
    return builder.inttoptr(address, fmt.vector.as_pointer())


def load(builder: Any, fmt: Format, pointer: Any, index: Any) -> Any:
    return builder.load(
        builder.gep(pointer, [index], source_etype=fmt.vector), align=fmt.bytes, typ=fmt.vector
    )


def store(builder: Any, fmt: Format, value: Any, pointer: Any, index: Any) -> None:
    builder.store(value, builder.gep(pointer, [index], source_etype=fmt.vector), align=fmt.bytes)


def number_at(builder: Any, llvm_type: Any, address: Any, index: Any) -> Any:
    """Pointer to the index-th number of a type from an address on."""
    pointer = builder.inttoptr(address, llvm_type.as_pointer())
    return builder.gep(pointer, [index], source_etype=llvm_type)


def reader(numba_type: Any, llvm_type: Any) -> Any:
    """read(address, index): the index-th number of this type from an address on."""

    @intrinsic
    def read(typingctx: Any, address: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(number_at(builder, llvm_type, *args), typ=llvm_type)

        return numba_type(types.int64, types.int64), codegen

    return read


read_int32 = reader(types.int32, INT32)
read_int64 = reader(types.int64, INT64)
read_float64 = reader(types.float64, ir.DoubleType())


@intrinsic
def write_int64(typingctx: Any, address: Any, index: Any, value: Any) -> Any:
    """Store an integer as the index-th from an address on."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], number_at(builder, INT64, args[0], args[1]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def read_number(typingctx: Any, kind: Any, address: Any, index: Any) -> Any:
    """The index-th number of the type of `kind` from an address on."""
    fmt = FORMATS[kind]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(number_at(builder, fmt.scalar, args[1], args[2]), typ=fmt.scalar)

    return kind(kind, types.int64, types.int64), codegen


def narrowed(builder: Any, fmt: Format, double: Any) -> Any:
    return double if fmt is FLOAT64 else builder.fptrunc(double, fmt.scalar)


@intrinsic
def write_number(typingctx: Any, kind: Any, address: Any, index: Any, value: Any) -> Any:
    """Store a float64 as the index-th number of the type of `kind`."""
    fmt = FORMATS[kind]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(narrowed(builder, fmt, args[3]), number_at(builder, fmt.scalar, args[1], args[2]))
        return context.get_dummy_value()

    return types.void(kind, types.int64, types.int64, types.float64), codegen


@intrinsic
def splat(typingctx: Any, kind: Any, out: Any, value: Any) -> Any:
    """One vector at `out` with the float64 `value` in every lane."""
    fmt = FORMATS[kind]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        scalar = narrowed(builder, fmt, args[2])
        vector = builder.insert_element(ir.Constant(fmt.vector, ir.Undefined), scalar, ir.Constant(INT32, 0))
        everywhere = ir.Constant(ir.VectorType(INT32, fmt.lanes), [0] * fmt.lanes)
        vector = builder.shuffle_vector(vector, vector, everywhere)
        store(builder, fmt, vector, vectors_at(builder, fmt, args[1]), ir.Constant(INT64, 0))
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
