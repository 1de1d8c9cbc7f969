"""Snapping: constants such as 2, 1/2, π or 9.81 replace fitted ones where that shortens the description."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite, log

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria import code_lengths
from fouriertree.criteria.code_lengths import ShortConstant
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import USER_OPCODE_START
from fouriertree.projection.refit import ConstantFit, free_constants
from fouriertree.tolerances import EXACT_SQUARES

Floats = NDArray[np.float64]

#: standard errors that a constant may be moved by, or relative amount where the fit is exact
STANDARD_ERRORS, EXACT_MOVE = 4.0, 1e-7
#: rows that snapping is tried on
ROWS = 1000


def never() -> bool:
    return False


def snapped(
    expression: Expression, X: Floats, y: Floats, weights: Floats, out_of_time: Callable[[], bool] = never
) -> Expression:
    """The expression with short constants where its description gets shorter, and the others refitted.

    The description is that of `criteria.code_lengths`: ½·n·log(loss) + Σ code lengths of the constants.
    When `out_of_time`, the constants that have not been tried yet stay as they are.
    """
    if (expression.op >= USER_OPCODE_START).any():
        return expression
    rows = np.linspace(0, len(y) - 1, min(len(y), ROWS)).astype(int)
    X, y, roots = X[rows], y[rows], np.sqrt(weights[rows])
    free = free_constants(expression)
    length2 = float(np.sum(np.square(roots * y))) or 1.0
    with np.errstate(all="ignore"):
        fit, loss = ConstantFit(expression, X, y, roots, free, length2).refitted()
        if not isfinite(loss):
            return expression
        variance = float(np.sum(np.square(roots * (y - np.average(y, weights=roots**2))))) or 1.0
        unexplained = loss * length2 / variance
        weight = 1.0 if unexplained <= code_lengths.NOISY else code_lengths.NOISY_WEIGHT
        explained = max(0.0, -log(max(unexplained, EXACT_SQUARES)))
        fitted = code_lengths.constant_code_length(len(y), explained)
        # What the coefficient zero saves: a feature, or at least the shortest term that is not linear.
        feature = code_lengths.feature_code_length(len(y), explained)
        term = code_lengths.SCALED_FEATURE * code_lengths.NATS_PER_COMPLEXITY + fitted
        linear = code_lengths.constants_of_linear_terms(fit.expression)
        zero = [feature if i in linear else term for i in range(expression.size)]
        tried: set[int] = set()
        while not out_of_time() and (choice := _choice(fit, loss, tried, fitted, zero)) is not None:
            i, short, saving = choice
            tried.add(i)
            new, new_loss = _fixed(fit, i, short.value).refitted()
            # The weight is about short constants; a term that is dropped saves all of its length.
            if _length_of_errors(len(y), loss, new_loss) < (weight * saving if short.value else saving):
                fit, loss = new, new_loss
    return fit.expression


def _fixed(fit: ConstantFit, i: int, value: float) -> ConstantFit:
    """The fit with one constant fixed at a value."""
    const, free = fit.expression.const.copy(), fit.free.copy()
    const[i], free[i] = value, False
    return replace(fit.with_constants(const), free=free)


def _length_of_errors(n: int, before: float, after: float) -> float:
    """Nats by which the description of the errors gets longer."""
    if not isfinite(after):
        return np.inf
    return 0.5 * n * (log(max(after, EXACT_SQUARES)) - log(max(before, EXACT_SQUARES)))


def _choice(
    fit: ConstantFit, loss: float, tried: set[int], fitted: float, zero: Sequence[float]
) -> tuple[int, ShortConstant, float] | None:
    """The constant with the largest saving, the short one for it, and the nats that it saves.

    `fitted` is the code length of a fitted constant, `zero` what a zero in place of each token saves.
    """
    positions = np.flatnonzero(fit.free)
    if not len(positions):
        return None
    best: tuple[int, ShortConstant, float] | None = None
    for i, error in zip(positions.tolist(), fit.errors().tolist(), strict=True):
        value = float(fit.expression.const[i])
        if i in tried or value == 0.0:
            continue
        tolerance = max(STANDARD_ERRORS * error, EXACT_MOVE * abs(value) if loss < EXACT_SQUARES else 0.0)
        if not isfinite(tolerance):
            continue
        if abs(value) <= tolerance and i not in fit.exponents:
            return i, ShortConstant(0.0, 0.0), zero[i]
        for short in code_lengths.short_constants(value, tolerance):
            saving = fitted - short.length
            if saving > 0.0 and (best is None or saving > best[2]):
                best = i, short, saving
    return best
