"""Numba intrinsics on the values of a program: inner products, and copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fouriertree.engine.lanes import INT64, Format, Lanes, horizontal_sum
from fouriertree.engine.memory import FORMATS, load, store, vectors_at

Factors = tuple[Any, Any]


def sum_products(
    builder: Any, fmt: Format, n: Any, factors: Callable[[Any], list[Factors]], count: int
) -> list[Any]:
    """Sums over n vectors of `count` products; factors(i) lists the two factors of each for vector i."""
    zero = ir.Constant(fmt.vector, [0.0] * fmt.lanes)
    slots = [cgutils.alloca_once(builder, fmt.vector) for _ in range(count)]
    for slot in slots:
        builder.store(zero, slot)
    with cgutils.for_range(builder, n, intp=INT64) as loop:
        for slot, (x, y) in zip(slots, factors(loop.index), strict=True):
            total = Lanes(builder, fmt, builder.load(slot, typ=fmt.vector))
            builder.store(Lanes(builder, fmt, x).fma(Lanes(builder, fmt, y), total).value, slot)
    return [horizontal_sum(builder, fmt, builder.load(slot, typ=fmt.vector)) for slot in slots]


@intrinsic
def moments(typingctx: Any, kind: Any, v: Any, step: Any, w: Any, n: Any) -> Any:
    """(Σ w·v², Σ 0·v) over n vectors: the second is 0.0, or NaN if any value is not finite."""
    fmt = FORMATS[kind]
    pair = types.UniTuple(types.float64, 2)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values, weights = vectors_at(builder, fmt, args[1]), vectors_at(builder, fmt, args[3])
        zero = ir.Constant(fmt.vector, [0.0] * fmt.lanes)

        def factors(i: Any) -> list[Factors]:
            x = load(builder, fmt, values, builder.mul(i, args[2]))
            return [(builder.fmul(load(builder, fmt, weights, i), x), x), (x, zero)]

        return context.make_tuple(builder, pair, sum_products(builder, fmt, args[4], factors, 2))

    return pair(kind, *[types.int64] * 4), codegen


@intrinsic
def dot(typingctx: Any, kind: Any, v: Any, step: Any, u: Any, n: Any) -> Any:
    """Σ v·u over n vectors."""
    fmt = FORMATS[kind]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values, others = vectors_at(builder, fmt, args[1]), vectors_at(builder, fmt, args[3])

        def factors(i: Any) -> list[Factors]:
            return [(load(builder, fmt, values, builder.mul(i, args[2])), load(builder, fmt, others, i))]

        return sum_products(builder, fmt, args[4], factors, 1)[0]

    return types.float64(kind, *[types.int64] * 4), codegen


@intrinsic
def copy_rows(typingctx: Any, kind: Any, out: Any, v: Any, step: Any, rows: Any) -> Any:
    """Copy the first `rows` values of v to out."""
    fmt = FORMATS[kind]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, out_at, v_at, v_step, n_rows = args
        lanes = ir.Constant(INT64, fmt.lanes)
        target, values = vectors_at(builder, fmt, out_at), vectors_at(builder, fmt, v_at)
        whole = builder.udiv(n_rows, lanes)
        with cgutils.for_range(builder, whole, intp=INT64) as loop:
            x = load(builder, fmt, values, builder.mul(loop.index, v_step))
            store(builder, fmt, x, target, loop.index)
        last_in = scalars(builder, fmt, values, builder.mul(whole, v_step))
        last_out = scalars(builder, fmt, target, whole)
        with cgutils.for_range(builder, builder.urem(n_rows, lanes), intp=INT64) as loop:
            x = builder.load(builder.gep(last_in, [loop.index], source_etype=fmt.scalar), typ=fmt.scalar)
            builder.store(x, builder.gep(last_out, [loop.index], source_etype=fmt.scalar))
        return context.get_dummy_value()

    return types.void(kind, *[types.int64] * 4), codegen


def scalars(builder: Any, fmt: Format, pointer: Any, index: Any) -> Any:
    """Pointer to the first number of the index-th vector."""
    vector = builder.gep(pointer, [index], source_etype=fmt.vector)
    return builder.bitcast(vector, fmt.scalar.as_pointer())


@intrinsic
def squared_error(typingctx: Any, kind: Any, v: Any, step: Any, y: Any, w: Any, n: Any) -> Any:
    """Σ w·(v − y)² over n vectors."""
    fmt = FORMATS[kind]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values, targets, weights = (vectors_at(builder, fmt, args[i]) for i in (1, 3, 4))

        def factors(i: Any) -> list[Factors]:
            x = load(builder, fmt, values, builder.mul(i, args[2]))
            error = builder.fsub(x, load(builder, fmt, targets, i))
            return [(builder.fmul(load(builder, fmt, weights, i), error), error)]

        return sum_products(builder, fmt, args[5], factors, 1)[0]

    return types.float64(kind, *[types.int64] * 5), codegen
