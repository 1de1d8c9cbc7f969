"""Snapping: constants such as 2, 1/2, π or 9.81 replace fitted ones where that shortens the description."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite, log

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.code_lengths import (
    NATS_PER_COMPLEXITY,
    NOISY,
    NOISY_WEIGHT,
    SCALED_FEATURE,
    ShortConstant,
    constant_code_length,
    constants_of_linear_terms,
    feature_code_length,
    short_constants,
)
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

    The description is that of `criteria.description_length`: ½·n·log(loss) + Σ code lengths of the constants.
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
        weight = 1.0 if unexplained <= NOISY else NOISY_WEIGHT
        explained = max(0.0, -log(max(unexplained, EXACT_SQUARES)))
        lengths = _Lengths.of(fit.expression, len(y), explained)
        tried: set[int] = set()
        while not out_of_time() and (choice := _choice(fit, loss, tried, lengths)) is not None:
            i, short, saving = choice
            tried.add(i)
            new, new_loss = _fixed(fit, i, short.value).refitted()
            # The weight is about short constants; a term that is dropped saves all of its length.
            if _length_of_errors(len(y), loss, new_loss) < (weight * saving if short.value else saving):
                fit, loss = new, new_loss
    return fit.expression


@dataclass(frozen=True)
class _Lengths:
    """Code lengths of what snapping can save: a fitted constant, and a term whose coefficient is zero."""

    fitted: float
    term: float
    feature: float
    linear: set[int]  #: positions of the intercept and of the coefficients of features

    @classmethod
    def of(cls, expression: Expression, n: int, explained: float) -> _Lengths:
        fitted, feature = constant_code_length(n, explained), feature_code_length(n, explained)
        term = SCALED_FEATURE * NATS_PER_COMPLEXITY + fitted  # the shortest one that is not linear
        return cls(fitted, term, feature, constants_of_linear_terms(expression))

    def saved_by_zero(self, i: int) -> float:
        return self.feature if i in self.linear else self.term


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
    fit: ConstantFit, loss: float, tried: set[int], lengths: _Lengths
) -> tuple[int, ShortConstant, float] | None:
    """The constant with the largest saving, the short one for it, and the nats that it saves."""
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
            return i, ShortConstant(0.0, 0.0), lengths.saved_by_zero(i)
        for short in short_constants(value, tolerance):
            saving = lengths.fitted - short.length
            if saving > 0.0 and (best is None or saving > best[2]):
                best = i, short, saving
    return best
