"""The fit of the constants inside of sums to a target, for many sums at once.

It is variable projection (Golub and Pereyra 1973, in Kaufman's form of 1975).  For y ≈ Σ c_j·e_j(x; θ) the best
coefficients are c(θ) = Φ(θ)⁺y, so that only θ is searched: with P⊥ = I − ΦΦ⁺ the residual r(θ) = P⊥y has the
Jacobian −P⊥·(∂Φ/∂θ)·c, up to a part that vanishes with the residual, and Levenberg–Marquardt steps follow from it.
Everything is weighted by √w throughout.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fouriertree.compiling import kernel
from fouriertree.engine.gradients import expand, record, workspace
from fouriertree.engine.memory import next_number
from fouriertree.engine.padded import (
    add_multiple,
    copy,
    damped_step,
    inner,
    project,
    put,
    scale,
    triangularise,
)

#: a constant whose slope lies in the span of the terms, up to this part, moves nothing that c does not move
SPAN_TOLERANCE = 1e-10
#: parts of ‖y‖² below which a loss is rounding, and below which a step that fails is the last
ROUNDING, NEAR_ROUNDING = 1e-30, 1e-24
#: damping relative to columns of length 1: nearly Gauss–Newton at first, because REACH bounds the steps
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-4, 1e-20, 1e20
#: a step moves no constant by more than REACH·(1 + |θ|)
REACH = 0.5


class Slopes(NamedTuple):
    """The model linearised in its p free constants."""

    A: Any  #: (p, m) rows √w·∂e/∂θ_i, then the Jacobian's columns
    scales: Any  #: (p,) lengths of the Jacobian's columns, 0 for constants that stay
    T: Any  #: (p, p) triangle of the columns at length 1
    z: Any  #: (p,) the residual in their coordinates
    step: Any  #: (p,) in units of 1/scales
    old: Any  #: (p,) the constants before the step


@kernel
def linearise(owner: Any, Q: Any, c: Any, r: Any, slopes: Any) -> None:
    """T, z of the columns of P⊥·(∂Φ/∂θ)·c at length 1, so that r(θ + step/scales) ≈ r − T·step in coordinates.

    A constant stays where it is if its slope is not finite, or lies in the span of the terms: what P⊥ leaves of
    it then is rounding.
    """
    for i in range(len(owner)):
        column, factor = slopes.A[i], c[owner[i]]
        before = np.sqrt(inner(column, column))
        for j in range(len(Q)):
            add_multiple(column, -inner(Q[j], column), Q[j])
        after = np.sqrt(inner(column, column))
        slopes.scales[i] = 0.0
        if after > SPAN_TOLERANCE * before and 0.0 < abs(factor) * after < np.inf:
            slopes.scales[i] = abs(factor) * after
            scale(column, np.sign(factor) / after)
        else:
            column[:] = 0.0
    triangularise(slopes.A, r, slopes.T, slopes.z)


@kernel
def within_reach(slopes: Any) -> Any:
    """No constant moves so far that it might leap over a pole or a period."""
    for i in range(len(slopes.step)):
        if abs(slopes.step[i]) > REACH * (1.0 + abs(slopes.old[i])) * slopes.scales[i]:
            return False
    return True


@kernel
def propose(slopes: Any, damping: float) -> Any:
    """Write the damped step; the damping, raised until the step is within reach."""
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
    """‖z‖² − ‖z − T·step‖²: by how much the loss would fall if the model were linear in θ."""
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
    """(loss, steps tried): one model's constants are moved in place to a minimum, its coefficients written.

    The loss is infinite, and nothing moves, if a value at the first constants is not finite.  The last step is one
    that promises, or brings, no more than `tolerance` of the loss.
    """
    tape = record(op, arg, free, start, count)
    slot, k, p, m = tape.slot, len(start), len(tape.slot), len(y)
    W = workspace(tape.n_places, m)
    Phi, Q, R, norms, c, r = (
        np.empty((k, m)), np.empty((k, m)), np.empty((k, k)), np.empty(k), np.empty(k), np.empty(m),
    )  # fmt: skip
    slopes = Slopes(np.empty((p, m)), np.empty(p), np.empty((p, p)), np.empty(p), np.empty(p), np.empty(p))
    rounding, near_rounding = ROUNDING * inner(y, y), NEAR_ROUNDING * inner(y, y)
    loss, tried, promised = np.inf, 0, np.inf
    damping, growth = FIRST_DAMPING, 2.0
    coefficients[:] = np.nan
    while True:
        expand(operator, tape, tried > 0, const, columns, root_weights, W, Phi, slopes.A)
        trial = project(Phi, y, Q, R, norms, c, r)
        better = trial < loss
        if better:
            done = trial <= rounding or loss - trial <= tolerance * loss < np.inf
            if tried > 0:
                # Nielsen's rule: the better a promise was kept, the less damping.
                gain = (loss - trial) / promised
                damping = max(LEAST_DAMPING, damping * max(0.1, 1.0 - (2.0 * gain - 1.0) ** 3))
                growth = 2.0
            loss = trial
            copy(coefficients, c)
        else:
            done = loss == np.inf or loss <= near_rounding
            if tried > 0:
                put(const, slot, slopes.old)
            damping *= growth
            growth *= 2.0
        if done or p == 0 or tried == iterations:
            return loss, tried
        if better:
            linearise(tape.owner, Q, c, r, slopes)
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
    """Fit the models that this thread gets from the shared counter; every model is fitted on its own."""
    i = next_number(counter.ctypes.data)
    while i < len(first):
        lo, hi = first[i], first[i] + terms[i]
        losses[i], steps[i] = fit_model(
            operator, op, arg, const, free, start[lo:hi], count[lo:hi], columns, root_weights, y, iterations,
            tolerance, coefficients[lo:hi],
        )  # fmt: skip
        i = next_number(counter.ctypes.data)
