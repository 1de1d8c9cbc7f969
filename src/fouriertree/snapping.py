"""Numbers that look like 2, 1/2, π or 9.81 are made so, where the formula gets shorter by it and not worse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import gcd, isfinite, log, pi

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine.gradients import value_and_slopes
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, POW, USER_OPCODE_START
from fouriertree.prices import column_price, numbers_of_plain_terms

Floats = NDArray[np.float64]

#: losses below this, relative to Σ w·y², differ by rounding only
EXACT = 1e-24
#: a number may be moved by this many standard errors, or by this relative amount where the fit is exact
ERRORS, ROUNDING = 4.0, 1e-7
#: where more than this share of the variance is unexplained, there is no law whose numbers could be short, and short
#: ones are worth only this part of what they save
LAWLESS, LAWLESS_WORTH = 0.02, 0.25
#: what a number of zero saves: itself, and what it stands in front of; in plain terms, their price
NATS_OF_A_TERM = 6.0
#: Gauss–Newton steps after a number was fixed
STEPS = 6
#: rows that numbers are tried on
ROWS = 1000


@dataclass(frozen=True)
class Nice:
    """A number that can be written shortly, and what writing it costs in nats."""

    value: float
    cost: float


def nice_numbers(value: float, tolerance: float) -> Iterator[Nice]:
    """Short numbers within `tolerance`: fractions, multiples of π and of 1/π, decimals; cheapest first in each kind."""
    yield from _fractions(value, tolerance)
    for digits in (1, 2, 3, 4):
        rounded = float(f"{value:.{digits - 1}e}")
        if rounded and abs(rounded - value) <= tolerance:
            yield Nice(rounded, 1.0 + 2.3 * digits)
            return


def _fractions(value: float, tolerance: float) -> Iterator[Nice]:
    for unit, extra in ((1.0, 0.0), (pi, 1.5), (1.0 / pi, 1.5)):
        # Multiples of π lie dense: only one that is nearly exact is more than chance.
        near = tolerance if unit == 1.0 else min(tolerance, 1e-3 * abs(value))
        for q in (1, 2, 3, 4, 5, 6, 8):
            p = round(value / unit * q)
            if p and gcd(p, q) == 1 and abs(p) <= 64 and abs(p / q * unit - value) <= near:
                yield Nice(p / q * unit, extra + log(1 + abs(p)) + log(q))


def costs_of_numbers(expression: Expression, fitted: float, decimals: bool = True) -> list[float]:
    """What writing down each number of a formula costs, in nats: `fitted`, or less for one that is short.

    Without `decimals`, only fractions are short: what was rounded has been fitted before.

    >>> from fouriertree.expr import parse
    >>> [round(cost, 1) for cost in costs_of_numbers(parse("2.71*x0^2 + sin(x0/3)"), 9.0)]
    [7.9, 1.4]
    """
    numbers = expression.const[expression.op == CONST].tolist()
    return [cost_of_number(value, fitted, decimals) for value in numbers if value != 0.0]


def cost_of_number(value: float, fitted: float, decimals: bool = True) -> float:
    short = nice_numbers if decimals else _fractions
    costs = (nice.cost for nice in short(value, 1e-14 * abs(value)) if nice.cost < fitted)
    return min(costs, default=fitted)


@dataclass
class _Fit:
    """A formula whose numbers are fitted to rows, some of them fixed."""

    expression: Expression
    X: Floats
    y: Floats
    roots: Floats
    free: NDArray[np.bool_]
    length2: float

    def values(self) -> tuple[Floats, Floats]:
        """Residuals (n,) and slopes of the free numbers (p, n), weighted."""
        found, slopes = value_and_slopes(self.expression, self.X, self.free)
        return self.roots * (self.y - found), self.roots * slopes

    def refitted(self) -> tuple[_Fit, float]:
        """After some Gauss–Newton steps, none of which made it worse; and the loss relative to Σ w·y²."""
        best, (residual, slopes) = self, self.values()
        loss = float(residual @ residual)
        for _ in range(STEPS if self.free.any() else 0):
            step = _solve(slopes, residual)
            if step is None:
                break
            const = best.expression.const.copy()
            const[best.free] += step
            tried = best.with_numbers(const)
            new, new_slopes = tried.values()
            new_loss = float(new @ new)
            if not new_loss < loss:
                break
            done = new_loss > (1.0 - 1e-9) * loss
            best, residual, slopes, loss = tried, new, new_slopes, new_loss
            if done:
                break
        return best, loss / self.length2

    @property
    def exponents(self) -> set[int]:
        """Numbers that are powers, which are not made zero."""
        e = self.expression
        return {int(e.children(int(i))[1]) for i in np.flatnonzero(e.op == POW)}

    def with_numbers(self, const: Floats) -> _Fit:
        e = self.expression
        changed = Expression.unchecked(e.op, e.arg, const, e.primitives)
        return _Fit(changed, self.X, self.y, self.roots, self.free, self.length2)

    def errors(self) -> Floats:
        """Standard errors of the free numbers."""
        residual, slopes = self.values()
        spare = max(1, len(self.y) - len(slopes))
        variance = max(float(residual @ residual), EXACT * self.length2) / spare
        lengths = np.linalg.norm(slopes, axis=1)
        if not np.isfinite(slopes).all():
            return np.full(len(slopes), np.inf)
        lengths[lengths == 0.0] = np.inf
        inverse = np.linalg.pinv((slopes / lengths[:, None]) @ (slopes / lengths[:, None]).T, rcond=1e-13)
        found: Floats = np.sqrt(np.maximum(variance * np.diag(inverse), 0.0)) / lengths
        return found


def _solve(slopes: Floats, residual: Floats) -> Floats | None:
    lengths = np.linalg.norm(slopes, axis=1)
    if not (np.isfinite(lengths).all() and np.isfinite(residual).all()) or not len(slopes):
        return None
    lengths[lengths == 0.0] = 1.0
    step: Floats = np.linalg.lstsq((slopes / lengths[:, None]).T, residual, rcond=1e-12)[0] / lengths
    return step if np.isfinite(step).all() else None


def fitted_numbers(expression: Expression, X: Floats, y: Floats, weights: Floats) -> Expression:
    """The formula with its numbers fitted again, from where they are."""
    if (expression.op >= USER_OPCODE_START).any():
        return expression
    free = (expression.op == CONST) & (expression.const != 1.0)
    roots = np.sqrt(weights)
    with np.errstate(all="ignore"):
        length2 = float(np.sum(np.square(roots * y))) or 1.0
        return _Fit(expression, X, y, roots, free, length2).refitted()[0].expression


def snapped(
    expression: Expression, X: Floats, y: Floats, weights: Floats, hurry: Callable[[], bool] = lambda: False
) -> Expression:
    """The formula with short numbers where its description gets shorter, and the others fitted again.

    In a hurry, the numbers that have not been looked at yet stay as they are.

    ½·n·log(loss) + Σ cost of the numbers: a fitted number costs the digits that its standard error leaves.
    """
    if (expression.op >= USER_OPCODE_START).any():
        return expression
    rows = np.linspace(0, len(y) - 1, min(len(y), ROWS)).astype(int)
    X, y, roots = X[rows], y[rows], np.sqrt(weights[rows])
    free = (expression.op == CONST) & (expression.const != 1.0)
    length2 = float(np.sum(np.square(roots * y))) or 1.0
    with np.errstate(all="ignore"):
        fit, loss = _Fit(expression, X, y, roots, free, length2).refitted()
        if not isfinite(loss):
            return expression
        share = (
            loss * length2 / (float(np.sum(np.square(roots * (y - np.average(y, weights=roots**2))))) or 1.0)
        )
        worth = 1.0 if share <= LAWLESS else LAWLESS_WORTH
        column = column_price(len(y), max(0.0, -log(max(share, EXACT)))) / worth
        zeros = {i: min(column, NATS_OF_A_TERM) for i in numbers_of_plain_terms(fit.expression)}
        tried: set[int] = set()
        while not hurry() and (choice := _choice(fit, loss, tried, zeros)) is not None:
            i, nice, saving = choice
            tried.add(i)
            const, still_free = fit.expression.const.copy(), fit.free.copy()
            const[i], still_free[i] = nice.value, False
            moved = _Fit(fit.with_numbers(const).expression, X, y, roots, still_free, length2)
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
    fit: _Fit, loss: float, tried: set[int], zeros: Mapping[int, float]
) -> tuple[int, Nice, float] | None:
    """The number that is shortened most by a nice one near it, that one, and the nats that it saves.

    `zeros` says what a number of zero saves where that is not as much as elsewhere.
    """
    tokens = np.flatnonzero(fit.free)
    if not len(tokens):
        return None
    best: tuple[int, Nice, float] | None = None
    for i, error in zip(tokens.tolist(), fit.errors().tolist(), strict=True):
        value = float(fit.expression.const[i])
        if i in tried or value == 0.0:
            continue
        tolerance = max(ERRORS * error, ROUNDING * abs(value) if loss < EXACT else 0.0)
        if not isfinite(tolerance):
            continue
        if abs(value) <= tolerance and i not in fit.exponents:
            return i, Nice(0.0, 0.0), zeros.get(i, NATS_OF_A_TERM)
        fitted_cost = 1.0 + log(1.0 + abs(value) / max(error, 1e-15 * abs(value)))
        for nice in nice_numbers(value, tolerance):
            saving = fitted_cost - nice.cost
            if saving > 0.0 and (best is None or saving > best[2]):
                best = i, nice, saving
    return best
