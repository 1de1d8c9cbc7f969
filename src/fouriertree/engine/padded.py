"""Linear algebra on padded rows (`CompiledRows`), for kernels: projections, triangular systems, damped steps.

Several rows are worked on at a time: a single sum waits for its last addition, and a vector from which several rows
are subtracted is loaded and stored once.  How rows are grouped changes no bit of a result.
"""

from functools import reduce
from operator import add
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fouriertree.compiling import kernel

from .intrinsics import VECTOR_BYTES, load, number_at, store
from .lanes import FLOAT64, INT32, INT64, Format, Lanes, horizontal_sum

LANES = FLOAT64.lanes
#: a term whose part orthogonal to the terms before it is relatively smaller has coefficient 0
RANK_TOLERANCE = 1e-12
#: a vector that keeps less of its length when its projection is subtracted is not orthogonal yet
CANCELLATION = 1 / 16


@kernel
def aligned_rows(n: int, m: int) -> Any:
    """An array (n, m) that begins with a whole vector: one that crosses lines of the cache is read twice."""
    raw = np.empty(n * m + LANES)
    skipped = (-raw.ctypes.data % VECTOR_BYTES) // 8
    return raw[skipped : skipped + n * m].reshape((n, m))


@kernel
def copy(out: Any, values: Any) -> None:
    """out = values, as a loop: Numba's slice assignment takes seconds to compile."""
    for i in range(len(out)):
        out[i] = values[i]


@kernel
def fill(out: Any, value: float) -> None:
    for i in range(len(out)):
        out[i] = value


@kernel
def scale(u: Any, factor: float) -> None:
    """u *= factor"""
    for i in range(len(u)):
        u[i] *= factor


@kernel
def multiple(out: Any, factor: float, values: Any) -> None:
    """out = factor·values"""
    for i in range(len(out)):
        out[i] = factor * values[i]


def in_every_lane(builder: Any, fmt: Format, number: Any) -> Lanes:
    vector = builder.insert_element(ir.Constant(fmt.vector, ir.Undefined), number, ir.Constant(INT32, 0))
    everywhere = ir.Constant(ir.VectorType(INT32, fmt.lanes), [0] * fmt.lanes)
    return Lanes(builder, fmt, builder.shuffle_vector(vector, vector, everywhere))


def _rows(builder: Any, first: Any, stride: Any, count: int) -> list[Any]:
    """Addresses of rows that are `stride` bytes apart."""
    return [builder.add(first, builder.mul(stride, ir.Constant(INT64, i))) for i in range(count)]


def _products(builder: Any, v: Any, rows: list[Any], n: Any) -> list[Any]:
    """⟨v, row⟩ for rows of n vectors, by address.

    Every sum has as many parts as keep the processor busy, which would wait for one addition after the other.
    """
    parts = max(1, 8 // len(rows))
    zero, several = ir.Constant(FLOAT64.vector, [0.0] * LANES), ir.Constant(INT64, parts)
    slots = [[cgutils.alloca_once_value(builder, zero) for _ in range(parts)] for _ in rows]

    def accumulate(index: Any, part: int) -> None:
        x = load(builder, FLOAT64, v, index)
        for row, slot in zip(rows, slots, strict=True):
            so_far = x.wrap(builder.load(slot[part], typ=FLOAT64.vector))
            builder.store(load(builder, FLOAT64, row, index).fma(x, so_far).value, slot[part])

    rounds = builder.udiv(n, several)
    done = builder.mul(rounds, several)
    with cgutils.for_range(builder, rounds, intp=INT64) as loop:
        for part in range(parts):
            accumulate(builder.add(builder.mul(loop.index, several), ir.Constant(INT64, part)), part)
    with cgutils.for_range(builder, builder.sub(n, done), intp=INT64) as loop:
        accumulate(builder.add(done, loop.index), 0)
    sums = [
        [Lanes(builder, FLOAT64, builder.load(part, typ=FLOAT64.vector)) for part in slot] for slot in slots
    ]
    return [horizontal_sum(builder, FLOAT64, reduce(add, of_row).value) for of_row in sums]


@intrinsic
def dot(typingctx: Any, u: Any, v: Any, n: Any) -> Any:
    """⟨u, v⟩ of n vectors, by address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _products(builder, args[0], [args[1]], args[2])[0]

    return types.float64(*[types.int64] * 3), codegen


def dots_of(count: int) -> Any:
    """dots(v, rows, stride, out, n): out[i] = ⟨v, row i⟩ for `count` rows of n vectors, by address."""

    @intrinsic
    def dots(typingctx: Any, v: Any, rows: Any, stride: Any, out: Any, n: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            v_at, first, step, out_at, n_vectors = args
            sums = _products(builder, v_at, _rows(builder, first, step, count), n_vectors)
            for i, total in enumerate(sums):
                builder.store(total, number_at(builder, FLOAT64.scalar, out_at, ir.Constant(INT64, i)))
            return context.get_dummy_value()

        return types.void(*[types.int64] * 5), codegen

    return dots


def subtract_of(count: int) -> Any:
    """subtract(v, rows, stride, factors, n): v −= Σ factors[i]·row i for `count` rows, by address; returns ‖v‖²."""

    @intrinsic
    def subtract(typingctx: Any, v: Any, rows: Any, stride: Any, factors: Any, n: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            v_at, first, step, factors_at, n_vectors = args
            zero = ir.Constant(FLOAT64.vector, [0.0] * LANES)
            square = cgutils.alloca_once_value(builder, zero)
            numbers = [
                number_at(builder, FLOAT64.scalar, factors_at, ir.Constant(INT64, i)) for i in range(count)
            ]
            weights = [
                -in_every_lane(builder, FLOAT64, builder.load(number, typ=FLOAT64.scalar))
                for number in numbers
            ]
            addresses = _rows(builder, first, step, count)
            with cgutils.for_range(builder, n_vectors, intp=INT64) as loop:
                x = load(builder, FLOAT64, v_at, loop.index)
                for weight, address in zip(weights, addresses, strict=True):
                    x = load(builder, FLOAT64, address, loop.index).fma(weight, x)
                store(x, v_at, loop.index)
                builder.store(x.fma(x, x.wrap(builder.load(square, typ=FLOAT64.vector))).value, square)
            return horizontal_sum(builder, FLOAT64, builder.load(square, typ=FLOAT64.vector))

        return types.float64(*[types.int64] * 5), codegen

    return subtract


_dots_8, _dots_4, _dots_3, _dots_2, _dots_1 = map(dots_of, (8, 4, 3, 2, 1))
_subtract_8, _subtract_4, _subtract_3, _subtract_2, _subtract_1 = map(subtract_of, (8, 4, 3, 2, 1))


@kernel
def dots(rows: Any, count: int, v: Any, out: Any) -> None:
    """out[i] = ⟨rows[i], v⟩ for the first `count` rows."""
    at, row, stride, to, n = (
        v.ctypes.data,
        rows.ctypes.data,
        rows.strides[0],
        out.ctypes.data,
        len(v) // LANES,
    )
    while count >= 8:
        _dots_8(at, row, stride, to, n)
        row, to, count = row + 8 * stride, to + 64, count - 8
    if count >= 4:
        _dots_4(at, row, stride, to, n)
        row, to, count = row + 4 * stride, to + 32, count - 4
    if count == 3:
        _dots_3(at, row, stride, to, n)
    elif count == 2:
        _dots_2(at, row, stride, to, n)
    elif count == 1:
        _dots_1(at, row, stride, to, n)


@kernel
def subtract(rows: Any, count: int, factors: Any, v: Any) -> Any:
    """v −= Σ factors[i]·rows[i] over the first `count` rows; return ‖v‖², or 0 if there are none."""
    at, row, stride, by, n = (
        v.ctypes.data,
        rows.ctypes.data,
        rows.strides[0],
        factors.ctypes.data,
        len(v) // LANES,
    )
    square = 0.0
    while count >= 8:
        square = _subtract_8(at, row, stride, by, n)
        row, by, count = row + 8 * stride, by + 64, count - 8
    if count >= 4:
        square = _subtract_4(at, row, stride, by, n)
        row, by, count = row + 4 * stride, by + 32, count - 4
    if count == 3:
        square = _subtract_3(at, row, stride, by, n)
    elif count == 2:
        square = _subtract_2(at, row, stride, by, n)
    elif count == 1:
        square = _subtract_1(at, row, stride, by, n)
    return square


@kernel
def inner(u: Any, v: Any) -> Any:
    return dot(u.ctypes.data, v.ctypes.data, len(u) // LANES)


@kernel
def orthogonalise(rows: Any, j: int, length: float, along: Any, part: Any) -> Any:
    """Subtract from row j, of this length, its projection onto the orthonormal rows before; return what is left.

    along[i] = ⟨row i, row j⟩ for i < j; `part` (j,) is overwritten.
    """
    for i in range(j):
        along[i] = 0.0
    if j == 0:
        return length
    for _ in range(2):
        before = length
        dots(rows, j, rows[j], part)
        length = np.sqrt(subtract(rows, j, part, rows[j]))
        for i in range(j):
            along[i] += part[i]
        # One pass is enough unless there was cancellation; two are always enough.
        if length > CANCELLATION * before:
            break
    return length


@kernel
def back_substitute(R: Any, z: Any, x: Any) -> None:
    """R·x = z for an upper triangular R; x_j = 0 where R_jj = 0."""
    for j in range(len(x) - 1, -1, -1):
        x[j] = 0.0
        if R[j, j] != 0.0:
            s = z[j]
            for i in range(j + 1, len(x)):
                s -= R[j, i] * x[i]
            x[j] = s / R[j, j]


@kernel
def orthonormalise(Phi: Any, first: int, Q: Any, R: Any, norms: Any, part: Any) -> None:
    """Phi = diag(norms)·R·Q with orthonormal rows in Q; rows that depend on earlier ones are 0 in Q and R_jj.

    R is lower triangular.  The rows before `first` are done already.
    """
    for j in range(first, len(Phi)):
        norms[j] = np.sqrt(inner(Phi[j], Phi[j]))
        length = 0.0
        fill(R[j], 0.0)
        if norms[j] != 0.0:
            multiple(Q[j], 1.0 / norms[j], Phi[j])
            length = orthogonalise(Q, j, 1.0, R[j], part)
        if length <= RANK_TOLERANCE:
            fill(Q[j], 0.0)
            length = 0.0
        elif j > 0:
            scale(Q[j], 1.0 / length)
        R[j, j] = length


@kernel
def project(Phi: Any, first: int, y: Any, Q: Any, R: Any, norms: Any, c: Any, r: Any, z: Any, x: Any) -> Any:
    """Coefficients c of the projection of y onto the rows of Phi, the residual r = y − c·Phi, and its square.

    With one step of iterative refinement.  Q, R, norms are kept for another call with the same rows before `first`.
    """
    k = len(Phi)
    orthonormalise(Phi, first, Q, R, norms, z)
    fill(c, 0.0)
    copy(r, y)
    loss = inner(y, y)
    for _ in range(2):
        dots(Q, k, r, z)
        back_substitute(R.T, z, x)
        copy(r, y)
        for j in range(k):
            if norms[j] > 0.0:
                c[j] += x[j] / norms[j]
        if k > 0:
            loss = subtract(Phi, k, c, r)
    return loss


@kernel
def damped_step(T: Any, z: Any, damping: float, M: Any, g: Any, row: Any, step: Any) -> None:
    """The minimum of ‖T·step − z‖² + damping·‖step‖²: the rows √damping·e_i are rotated into T one by one.

    cond(TᵀT) = cond(T)², so the normal equations are not formed.
    """
    p = len(z)
    for i in range(p):
        copy(M[i], T[i])
    copy(g, z)
    for first in range(p):
        fill(row, 0.0)
        row[first] = np.sqrt(damping)
        h = 0.0
        for j in range(first, p):
            length = np.sqrt(M[j, j] * M[j, j] + row[j] * row[j])
            if length == 0.0:
                continue
            cosine, sine = M[j, j] / length, row[j] / length
            for i in range(j, p):
                M[j, i], row[i] = cosine * M[j, i] + sine * row[i], cosine * row[i] - sine * M[j, i]
            g[j], h = cosine * g[j] + sine * h, cosine * h - sine * g[j]
    back_substitute(M, g, step)
