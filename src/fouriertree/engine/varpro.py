"""Least-squares fits of the constants of many models to one target.

Variable projection (Golub and Pereyra 1973, in the variant of Kaufman 1975): for y ≈ Σ c_j·e_j(x; θ) the best
coefficients are c(θ) = Φ(θ)⁺y, so the loss depends on θ only: with P⊥ = I − ΦΦ⁺ the residual r(θ) = P⊥y has the
Jacobian −P⊥·(∂Φ/∂θ)·c, up to a part that vanishes with the residual.  It gives Levenberg–Marquardt steps.
All rows are weighted by √w.
"""

from typing import Any, NamedTuple

import numpy as np

from fouriertree.compiling import kernel

from .gradients import expand, workspace
from .intrinsics import next_number
from .padded import (
    RANK_TOLERANCE,
    aligned_rows,
    copy,
    damped_step,
    fill,
    inner,
    orthogonalise,
    project,
    scale,
)
from .tape import record

#: a constant is fixed if its derivative is in the span of the terms, up to this relative part
SPAN_TOLERANCE = 1e-10
#: losses relative to ‖y‖²: below the first, a loss is rounding; below the second, a failed step is the last
ROUNDING, NEAR_ROUNDING = 1e-30, 1e-24
#: damping relative to columns of norm 1: nearly Gauss–Newton at first, because REACH bounds the steps
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-4, 1e-20, 1e20
#: a step changes no constant by more than REACH·(1 + |θ|)
REACH = 0.5


class Slopes(NamedTuple):
    """The model linearised in its p free constants."""

    scales: Any  #: (p,) norms of the Jacobian's columns, 0 for fixed constants
    T: Any  #: (p, p) triangular factor of the normalized columns
    z: Any  #: (p,) the residual in their coordinates
    step: Any  #: (p,) in units of 1/scales
    old: Any  #: (p,) the constants before the step


@kernel
def linearise(owner: Any, rows: Any, k: int, c: Any, r: Any, slopes: Any, along: Any, part: Any) -> None:
    """T, z of the normalized columns of P⊥·(∂Φ/∂θ)·c, so that r(θ + step/scales) ≈ r − T·step in coordinates.

    rows: an orthonormal basis of the k terms, and then √w·∂e/∂θ_i, which become a basis of these columns.  A constant
    is fixed if its derivative is not finite, or is in the span of the terms, where P⊥ leaves only rounding errors.
    """
    for i in range(len(owner)):
        fill(slopes.T[i], 0.0)
    for i in range(len(owner)):
        column, factor = rows[k + i], c[owner[i]]
        before = np.sqrt(inner(column, column))
        length = orthogonalise(rows, k + i, before, along, part)
        square = length * length
        for j in range(k, k + i):
            square += along[j] * along[j]
        after = np.sqrt(square)
        slopes.scales[i], slopes.z[i] = 0.0, 0.0
        if after > SPAN_TOLERANCE * before and 0.0 < abs(factor) * after < np.inf:
            sign = np.sign(factor)
            slopes.scales[i] = abs(factor) * after
            for j in range(i):
                slopes.T[j, i] = sign * along[k + j] / after
            if length > RANK_TOLERANCE * after:
                slopes.T[i, i] = length / after
                scale(column, sign / length)
                slopes.z[i] = inner(column, r)
                continue
        fill(column, 0.0)


@kernel
def within_reach(slopes: Any) -> Any:
    """Whether all changes are small enough not to jump over a pole or a period."""
    for i in range(len(slopes.step)):
        if abs(slopes.step[i]) > REACH * (1.0 + abs(slopes.old[i])) * slopes.scales[i]:
            return False
    return True


@kernel
def propose(slopes: Any, damping: float) -> Any:
    """Write the damped step; return the damping, raised until the step is within reach."""
    p = len(slopes.z)
    M, g, row = np.empty((p, p)), np.empty(p), np.empty(p)
    damping *= 0.25
    while True:
        damping *= 4.0
        damped_step(slopes.T, slopes.z, damping, M, g, row, slopes.step)
        if damping > MOST_DAMPING or within_reach(slopes):
            return damping


@kernel
def promised_decrease(slopes: Any) -> Any:
    """‖z‖² − ‖z − T·step‖²: the predicted decrease of the loss, for a model that is linear in θ."""
    total = 0.0
    for j in range(len(slopes.z)):
        moved = 0.0
        for i in range(j, len(slopes.z)):
            moved += slopes.T[j, i] * slopes.step[i]
        total += moved * (2.0 * slopes.z[j] - moved)
    return total


@kernel
def fit_model(
    operator: int, op: Any, arg: Any, const: Any, free: Any, start: Any, count: Any, columns: Any, root_weights: Any,
    y: Any, iterations: int, tolerance: float, coefficients: Any,
) -> Any:  # fmt: skip
    """Fit the constants of one model in place and write its coefficients; return (loss, number of steps).

    The loss is infinite, and the constants are unchanged, if a value at the initial constants is not finite.  The
    last step has a predicted or actual relative decrease of the loss of at most `tolerance`.
    """
    tape = record(op, arg, free, start, count)
    slot, k, p, m = tape.slot, len(start), len(tape.slot), len(y)
    W, Phi = workspace(tape.n_places, m), aligned_rows(k, m)
    # An orthonormal basis of the terms, then the slopes.
    rows, r = aligned_rows(k + p, m), aligned_rows(1, m)[0]
    R, norms, c, z, x = np.empty((k, k)), np.empty(k), np.empty(k), np.empty(k + p), np.empty(k + p)
    slopes = Slopes(np.empty(p), np.empty((p, p)), np.empty(p), np.empty(p), np.empty(p))
    # With one block of rows, the workspace keeps the values: slopes are computed from them, if they are needed.
    one_block = m <= W.shape[1]
    n_still = tape.owner[0] if p > 0 else k
    rounding, near_rounding = ROUNDING * inner(y, y), NEAR_ROUNDING * inner(y, y)
    loss, tried, promised = np.inf, 0, np.inf
    damping, growth = FIRST_DAMPING, 2.0
    fill(coefficients, np.nan)
    while True:
        again = one_block and tried > 0
        first = tape.n_fixed if again else 0
        last = tape.n_values if one_block or tried == iterations else len(tape.operations)
        expand(operator, tape.operations[first:last], const, columns, root_weights, W, Phi, rows[k:])
        trial = project(Phi, n_still if tried > 0 else 0, y, rows[:k], R, norms, c, r, z[:k], x[:k])
        better = trial < loss
        if better:
            done = trial <= rounding or loss - trial <= tolerance * loss < np.inf
            if tried > 0:
                # Nielsen's rule: the closer the decrease to the prediction, the less damping.
                gain = (loss - trial) / promised
                damping = max(LEAST_DAMPING, damping * max(0.1, 1.0 - (2.0 * gain - 1.0) ** 3))
                growth = 2.0
            loss = trial
            copy(coefficients, c)
        else:
            done = loss == np.inf or loss <= near_rounding
            if tried > 0:
                for i in range(p):
                    const[slot[i]] = slopes.old[i]
            damping *= growth
            growth *= 2.0
        if done or p == 0 or tried == iterations:
            return loss, tried
        if better:
            if one_block:
                expand(
                    operator, tape.operations[tape.n_values :], const, columns, root_weights, W, Phi, rows[k:]
                )
            linearise(tape.owner, rows, k, c, r, slopes, z, x)
            for i in range(p):
                slopes.old[i] = const[slot[i]]
        damping = propose(slopes, damping)
        promised = promised_decrease(slopes)
        if not promised > tolerance * loss:
            return loss, tried
        for i in range(p):
            if slopes.scales[i] > 0.0:
                const[slot[i]] = slopes.old[i] + slopes.step[i] / slopes.scales[i]
        tried += 1


@kernel
def fit_models(
    operator: int, op: Any, arg: Any, const: Any, free: Any, start: Any, count: Any, first: Any, terms: Any,
    columns: Any, root_weights: Any, y: Any, iterations: int, tolerance: float, counter: Any, coefficients: Any,
    losses: Any, steps: Any,
) -> None:  # fmt: skip
    """Fit models, taken from the shared counter, independently of each other."""
    i = next_number(counter.ctypes.data)
    while i < len(first):
        lo, hi = first[i], first[i] + terms[i]
        losses[i], steps[i] = fit_model(
            operator, op, arg, const, free, start[lo:hi], count[lo:hi], columns, root_weights, y, iterations,
            tolerance, coefficients[lo:hi],
        )  # fmt: skip
        i = next_number(counter.ctypes.data)
