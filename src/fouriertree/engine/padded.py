"""Linear algebra on padded rows (`CompiledRows`), for kernels: projections, triangular systems, damped steps."""

from typing import Any

import numpy as np

from fouriertree.compiling import kernel

from .intrinsics import dot
from .lanes import FLOAT64

LANES = FLOAT64.lanes
#: a term whose part orthogonal to the terms before it is relatively smaller has coefficient 0
RANK_TOLERANCE = 1e-12


@kernel
def copy(out: Any, values: Any) -> None:
    """out = values, as a loop: Numba's slice assignment takes seconds to compile."""
    for i in range(len(out)):
        out[i] = values[i]


@kernel
def inner(u: Any, v: Any) -> Any:
    return dot(1.0, u.ctypes.data, 1, v.ctypes.data, len(u) // LANES)


@kernel
def add_multiple(u: Any, factor: float, v: Any) -> None:
    """u += factor·v"""
    for i in range(len(u)):
        u[i] += factor * v[i]


@kernel
def scale(u: Any, factor: float) -> None:
    """u *= factor"""
    for i in range(len(u)):
        u[i] *= factor


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
def orthonormalise(Phi: Any, Q: Any, R: Any, norms: Any) -> None:
    """Phi = diag(norms)·Rᵀ·Q with orthonormal rows in Q; rows that depend on earlier ones are 0 in Q and R_jj."""
    R[:, :] = 0.0
    for j in range(len(Phi)):
        norms[j] = np.sqrt(inner(Phi[j], Phi[j]))
        Q[j, :] = 0.0
        if norms[j] == 0.0:
            continue
        add_multiple(Q[j], 1.0 / norms[j], Phi[j])
        length = 1.0
        for _ in range(2):
            before = length
            for i in range(j):
                s = inner(Q[i], Q[j])
                R[i, j] += s
                add_multiple(Q[j], -s, Q[i])
            length = np.sqrt(inner(Q[j], Q[j]))
            # One pass is enough unless there was cancellation; two are always enough.
            if length > 0.5 * before:
                break
        if length > RANK_TOLERANCE:
            R[j, j] = length
            scale(Q[j], 1.0 / length)
        else:
            Q[j, :] = 0.0


@kernel
def project(Phi: Any, y: Any, Q: Any, R: Any, norms: Any, c: Any, r: Any) -> Any:
    """Coefficients c of the projection of y onto the rows of Phi, the residual r = y − c·Phi, and its square.

    With one step of iterative refinement.
    """
    orthonormalise(Phi, Q, R, norms)
    k = len(Phi)
    z, x = np.empty(k), np.empty(k)
    c[:] = 0.0
    copy(r, y)
    for _ in range(2):
        for j in range(k):
            z[j] = inner(Q[j], r)
        back_substitute(R, z, x)
        copy(r, y)
        for j in range(k):
            if norms[j] > 0.0:
                c[j] += x[j] / norms[j]
            add_multiple(r, -c[j], Phi[j])
    return inner(r, r)


@kernel
def triangularise(A: Any, r: Any, T: Any, z: Any) -> None:
    """A = Tᵀ·Q, z = Q·r by modified Gram–Schmidt on the unit rows of A; A and r are overwritten."""
    T[:, :] = 0.0
    for j in range(len(A)):
        length = np.sqrt(inner(A[j], A[j]))
        z[j] = 0.0
        if length <= RANK_TOLERANCE:
            continue
        T[j, j] = length
        scale(A[j], 1.0 / length)
        z[j] = inner(A[j], r)
        add_multiple(r, -z[j], A[j])
        for i in range(j + 1, len(A)):
            T[j, i] = inner(A[j], A[i])
            add_multiple(A[i], -T[j, i], A[j])


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
        row[:] = 0.0
        row[first] = np.sqrt(damping)
        h = 0.0
        for j in range(first, p):
            length = np.hypot(M[j, j], row[j])
            if length == 0.0:
                continue
            cosine, sine = M[j, j] / length, row[j] / length
            for i in range(j, p):
                M[j, i], row[i] = cosine * M[j, i] + sine * row[i], cosine * row[i] - sine * M[j, i]
            g[j], h = cosine * g[j] + sine * h, cosine * h - sine * g[j]
    back_substitute(M, g, step)
