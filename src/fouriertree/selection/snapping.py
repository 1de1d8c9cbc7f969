"""Snapping: constants such as 2, 1/2, π or 9.81 replace fitted ones where that shortens the description."""

from collections.abc import Callable, Container, Sequence
from math import isfinite, log

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria import code_lengths
from fouriertree.criteria.code_lengths import ShortConstant
from fouriertree.engine.gradients import Gradient
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import ADD, CONST, SUB, USER_OPCODE_START
from fouriertree.projection.refit import ConstantFit, free_constants, refit_constants
from fouriertree.tolerances import EXACT_SQUARES

Floats = NDArray[np.float64]

#: nats that snapped constants may add to the description of the errors altogether
SNAPPING_NATS = 5.0
#: the loss may grow by this share of itself, or of the variance, by snapped constants
SNAPPING_SHARE, SNAPPING_SHARE_OF_VARIANCE = 0.01, 3e-4
#: standard errors that a constant may be moved by, or relative amount where the fit is exact
STANDARD_ERRORS, EXACT_MOVE = 4.0, 1e-7
#: rows that snapping is tried on
SNAPPING_ROWS = 1000


def never() -> bool:
    return False


def snapped(
    expression: Expression,
    X: Floats,
    y: Floats,
    weights: Floats,
    out_of_time: Callable[[], bool] = never,
    long: Container[int] = (),
) -> Expression:
    """The expression with short constants where its description gets shorter, and the others refitted.

    The description is that of `criteria.code_lengths`: ½·n·log(loss) + Σ code lengths of the constants.  Of many rows,
    some decide which constants are short; the others are fitted to all rows.
    When `out_of_time`, the constants that have not been tried yet stay as they are.  Constants at the positions `long`
    may become zero only.
    """
    if (expression.op >= USER_OPCODE_START).any():
        return expression
    if len(y) > SNAPPING_ROWS:
        rows = np.linspace(0, len(y) - 1, SNAPPING_ROWS).astype(int)
        fit = _snapped(expression, X[rows], y[rows], weights[rows], out_of_time, long)
        return refit_constants(fit.expression, X, y, weights, fit.free)
    return _snapped(expression, X, y, weights, out_of_time, long).expression


def constant_addends(whole: Expression) -> set[int]:
    """Positions of the constants that are addends of a sum.

    >>> from fouriertree.expr import parse
    >>> constant_addends(parse("2.5*x0 + 3.5 - sin(x1 + 1.5)"))
    {3}
    """
    positions: set[int] = set()
    waiting = [len(whole) - 1]
    while waiting:
        top = waiting.pop()
        if whole.op[top] in (ADD, SUB):
            waiting += map(int, whole.children(top))
        elif whole.op[top] == CONST:
            positions.add(top)
    return positions


def _snapped(
    expression: Expression,
    X: Floats,
    y: Floats,
    weights: Floats,
    out_of_time: Callable[[], bool],
    long: Container[int],
) -> ConstantFit:
    """The fit with short constants fixed."""
    roots, free = np.sqrt(weights), free_constants(expression)
    length2 = float(np.sum(np.square(roots * y))) or 1.0
    with np.errstate(all="ignore"):
        start = ConstantFit(expression, Gradient(expression, X, free), y, roots, length2)
        fit, loss = start.refitted()
        if not isfinite(loss):
            return start
        variance = float(np.sum(np.square(roots * (y - np.average(y, weights=roots**2))))) or 1.0
        unexplained = loss * length2 / variance
        most = loss + max(SNAPPING_SHARE * loss, SNAPPING_SHARE_OF_VARIANCE * variance / length2)
        weight = 1.0 if unexplained <= code_lengths.NOISY else code_lengths.NOISY_WEIGHT
        explained = max(0.0, -log(max(unexplained, EXACT_SQUARES)))
        fitted = code_lengths.constant_code_length(len(y), explained)
        # What the coefficient zero saves: a feature, or at least the shortest term that is not linear.
        feature = code_lengths.feature_code_length(len(y), explained)
        term = code_lengths.SCALED_FEATURE * code_lengths.NATS_PER_COMPLEXITY + fitted
        linear = code_lengths.constants_of_linear_terms(fit.expression)
        zero = [feature if i in linear else term for i in range(expression.size)]
        tried: set[int] = set()
        options = _options(fit, loss, fitted, zero, long)
        while not out_of_time() and (choice := _choice(options, tried)) is not None:
            i, short, saving = choice
            tried.add(i)
            new, new_loss = fit.with_fixed(i, short.value).refitted()
            # The weight is about short constants; a term that is dropped saves all of its length.
            worth = weight * saving if short.value else saving
            small = not short.value or new_loss <= most
            if small and _length_of_errors(len(y), loss, new_loss) < worth:
                fit, loss = new, new_loss
                options = _options(fit, loss, fitted, zero, long)
    return fit


def _length_of_errors(n: int, before: float, after: float) -> float:
    """Nats by which the description of the errors gets longer."""
    if not isfinite(after):
        return np.inf
    return 0.5 * n * (log(max(after, EXACT_SQUARES)) - log(max(before, EXACT_SQUARES)))


#: a constant, the short one for it, and the nats that it saves
Option = tuple[int, ShortConstant, float]


def _choice(options: Sequence[Option], tried: Container[int]) -> Option | None:
    """The first zero among the options that have not been tried, or else the one with the largest saving."""
    best: Option | None = None
    for option in options:
        i, short, saving = option
        if i in tried:
            continue
        if short.value == 0.0:
            return option
        if best is None or saving > best[2]:
            best = option
    return best


def _options(
    fit: ConstantFit, loss: float, fitted: float, zero: Sequence[float], long: Container[int]
) -> list[Option]:
    """Short constants for the free ones, in their order.

    `fitted` is the code length of a fitted constant, `zero` what a zero in place of each token saves; those in `long`
    have no other short constant.
    """
    positions = np.flatnonzero(fit.free).tolist()
    options: list[Option] = []
    for i, error in zip(positions, fit.errors.tolist() if positions else (), strict=True):
        value = float(fit.expression.const[i])
        tolerance = max(STANDARD_ERRORS * error, EXACT_MOVE * abs(value) if loss < EXACT_SQUARES else 0.0)
        if value == 0.0 or not isfinite(tolerance):
            continue
        if abs(value) <= tolerance and i not in fit.exponents:
            options.append((i, ShortConstant(0.0, 0.0), zero[i]))
            continue
        shorts = () if i in long else code_lengths.short_constants(value, tolerance)
        options += [(i, short, fitted - short.length) for short in shorts if fitted - short.length > 0.0]
    return options
