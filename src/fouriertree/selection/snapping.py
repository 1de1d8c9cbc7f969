"""Numbers that look like 2, 1/2, π or 9.81 are made so, where the formula gets shorter by it and not worse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite, log

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.code_lengths import (
    ShortConstant,
    constants_of_linear_terms,
    feature_code_length,
    short_constants,
)
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, USER_OPCODE_START
from fouriertree.projection.refit import EXACT, ConstantFit

Floats = NDArray[np.float64]

#: a number may be moved by this many standard errors, or by this relative amount where the fit is exact
ERRORS, ROUNDING = 4.0, 1e-7
#: where more than this share of the variance is unexplained, there is no law whose numbers could be short, and short
#: ones are worth only this part of what they save
NOISY, NOISY_WEIGHT = 0.02, 0.25
#: what a number of zero saves: itself, and what it stands in front of; in plain terms, their price
TERM_NATS = 6.0
#: rows that numbers are tried on
ROWS = 1000


def snapped(
    expression: Expression,
    X: Floats,
    y: Floats,
    weights: Floats,
    out_of_time: Callable[[], bool] = lambda: False,
) -> Expression:
    """The formula with short numbers where its description gets shorter, and the others fitted again.

    In a out_of_time, the numbers that have not been looked at yet stay as they are.

    ½·n·log(loss) + Σ cost of the numbers: a fitted number costs the digits that its standard error leaves.
    """
    if (expression.op >= USER_OPCODE_START).any():
        return expression
    rows = np.linspace(0, len(y) - 1, min(len(y), ROWS)).astype(int)
    X, y, roots = X[rows], y[rows], np.sqrt(weights[rows])
    free = (expression.op == CONST) & (expression.const != 1.0)
    length2 = float(np.sum(np.square(roots * y))) or 1.0
    with np.errstate(all="ignore"):
        fit, loss = ConstantFit(expression, X, y, roots, free, length2).refitted()
        if not isfinite(loss):
            return expression
        share = (
            loss * length2 / (float(np.sum(np.square(roots * (y - np.average(y, weights=roots**2))))) or 1.0)
        )
        worth = 1.0 if share <= NOISY else NOISY_WEIGHT
        column = feature_code_length(len(y), max(0.0, -log(max(share, EXACT)))) / worth
        zeros = {i: min(column, TERM_NATS) for i in constants_of_linear_terms(fit.expression)}
        tried: set[int] = set()
        while not out_of_time() and (choice := _choice(fit, loss, tried, zeros)) is not None:
            i, nice, saving = choice
            tried.add(i)
            const, still_free = fit.expression.const.copy(), fit.free.copy()
            const[i], still_free[i] = nice.value, False
            moved = ConstantFit(fit.with_constants(const).expression, X, y, roots, still_free, length2)
            new, new_loss = moved.refitted()
            worse = (
                0.5 * len(y) * (log(max(new_loss, EXACT)) - log(max(loss, EXACT)))
                if isfinite(new_loss)
                else np.inf
            )
            if worse < worth * saving:
                fit, loss = new, new_loss
    return fit.expression


def _choice(
    fit: ConstantFit, loss: float, tried: set[int], zeros: Mapping[int, float]
) -> tuple[int, ShortConstant, float] | None:
    """The number that is shortened most by a nice one near it, that one, and the nats that it saves.

    `zeros` says what a number of zero saves where that is not as much as elsewhere.
    """
    tokens = np.flatnonzero(fit.free)
    if not len(tokens):
        return None
    best: tuple[int, ShortConstant, float] | None = None
    for i, error in zip(tokens.tolist(), fit.errors().tolist(), strict=True):
        value = float(fit.expression.const[i])
        if i in tried or value == 0.0:
            continue
        tolerance = max(ERRORS * error, ROUNDING * abs(value) if loss < EXACT else 0.0)
        if not isfinite(tolerance):
            continue
        if abs(value) <= tolerance and i not in fit.exponents:
            return i, ShortConstant(0.0, 0.0), zeros.get(i, TERM_NATS)
        fitted_cost = 1.0 + log(1.0 + abs(value) / max(error, 1e-15 * abs(value)))
        for nice in short_constants(value, tolerance):
            saving = fitted_cost - nice.cost
            if saving > 0.0 and (best is None or saving > best[2]):
                best = i, nice, saving
    return best
