"""Least-squares refits of the constants of one expression by Gauss–Newton steps from their current values."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine.gradients import Gradient
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, POW, USER_OPCODE_START
from fouriertree.tolerances import EXACT_SQUARES

Floats = NDArray[np.float64]

#: steps at most
GAUSS_NEWTON_STEPS = 6
#: a step that decreases the loss by less, relatively, is the last one
CONVERGED = 1e-9
#: relative cut-off for singular values of the Jacobian, and of its Gram matrix
JACOBIAN_RCOND, GRAM_RCOND = 1e-12, 1e-13
#: a row of which less than this share is free depends on itself only
LEVERAGE_ROUNDING = 1e-9


@dataclass
class ConstantFit:
    """An expression and the rows that its free constants are fitted to."""

    expression: Expression
    gradient: Gradient  #: of the expression, on the rows
    y: Floats
    roots: Floats  #: √w
    length2: float  #: Σ w·y²

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which tokens are free constants."""
        return self.gradient.free

    @cached_property
    def values(self) -> tuple[Floats, Floats]:
        """Weighted residuals (n,) and derivatives by the free constants (p, n)."""
        predicted, slopes = self.gradient.at(self.expression.const)
        return self.roots * (self.y - predicted), self.roots * slopes

    def refitted(self) -> tuple[Self, float]:
        """The fit after Gauss–Newton steps that decrease the loss, and the loss relative to Σ w·y²."""
        best, (residual, slopes) = self, self.values
        loss = float(residual @ residual)
        for _ in range(GAUSS_NEWTON_STEPS if self.free.any() else 0):
            step = _solve(slopes, residual)
            if step is None:
                break
            const = best.expression.const.copy()
            const[best.free] += step
            tried = best.with_constants(const)
            new, new_slopes = tried.values
            new_loss = float(new @ new)
            if not new_loss < loss:
                break
            converged = new_loss > (1.0 - CONVERGED) * loss
            best, residual, slopes, loss = tried, new, new_slopes, new_loss
            if converged:
                break
        return best, loss / self.length2

    @cached_property
    def exponents(self) -> set[int]:
        """Tokens of the exponents of powers, which are never snapped to zero."""
        e = self.expression
        return {int(e.children(int(i))[1]) for i in np.flatnonzero(e.op == POW)}

    def with_constants(self, const: Floats) -> Self:
        e = self.expression
        return replace(self, expression=Expression.unchecked(e.op, e.arg, const, e.primitives))

    def with_fixed(self, i: int, value: float) -> Self:
        """The fit with one constant fixed at a value."""
        const, free = self.expression.const.copy(), self.free.copy()
        const[i], free[i] = value, False
        return replace(self.with_constants(const), gradient=self.gradient.with_free(free))

    @cached_property
    def errors(self) -> Floats:
        """Standard errors of the free constants: (p,)."""
        return standard_errors(*self.values, EXACT_SQUARES * self.length2)


def standard_errors(residual: Floats, slopes: Floats, least: float = 0.0) -> Floats:
    """Standard errors of p fitted constants from residuals (n,) and derivatives (p, n), both times the root weights.

    The sum of squared residuals counts as `least` at least.
    """
    if not np.isfinite(slopes).all():
        return np.full(len(slopes), np.inf)
    degrees_of_freedom = max(1, slopes.shape[1] - len(slopes))
    variance = max(float(residual @ residual), least) / degrees_of_freedom
    norms = np.linalg.norm(slopes, axis=1)
    norms[norms == 0.0] = np.inf
    inverse = np.linalg.pinv((slopes / norms[:, None]) @ (slopes / norms[:, None]).T, rcond=GRAM_RCOND)
    return np.asarray(np.sqrt(np.maximum(variance * np.diag(inverse), 0.0)) / norms)


def _solve(slopes: Floats, residual: Floats) -> Floats | None:
    """The Gauss–Newton step (p,), or None if it is not finite."""
    norms = np.linalg.norm(slopes, axis=1)
    if not (np.isfinite(norms).all() and np.isfinite(residual).all()) or not len(slopes):
        return None
    norms[norms == 0.0] = 1.0
    step: Floats = np.linalg.lstsq((slopes / norms[:, None]).T, residual, rcond=JACOBIAN_RCOND)[0] / norms
    return step if np.isfinite(step).all() else None


def leave_one_out_ratios(
    expression: Expression, X: Floats, y: Floats, weights: Floats
) -> tuple[float, float]:
    """Squared error of predictions of rows that were left out, by the error of the fit, and by the expected one.

    By linearization, the error of a row that is left out is r/(1 − h) with its leverage h, the diagonal of the
    projection onto the span of the derivatives by the p constants.  The first value is Σ (r/(1 − h))² / Σ r².  It is
    (n/(n − p))² where all of n rows have the same leverage, and the second value is its ratio to that.  Both are
    infinite where a constant depends on one row only.
    """
    free = free_constants(expression)
    if (expression.op >= USER_OPCODE_START).any() or not free.any():
        return 1.0, 1.0
    with np.errstate(all="ignore"):
        fit = ConstantFit(expression, Gradient(expression, X, free), y, np.sqrt(weights), 1.0)
        residual, slopes = fit.values
        norms = np.linalg.norm(slopes, axis=1)
        # The derivative by the exponent of a power is undefined for negative numbers; it is a constant then.
        used = np.isfinite(norms) & (norms > 0.0)
        if not (used.any() and np.isfinite(residual).all()):
            return 1.0, 1.0
        scaled = (slopes[used] / norms[used, None]).T
        # The singular vectors by those of R: rows are many more than constants.
        basis, triangle = np.linalg.qr(scaled)
        rotation, sizes, _ = np.linalg.svd(triangle)
        directions = basis @ rotation[:, sizes > JACOBIAN_RCOND * sizes.max()]
        left = 1.0 - np.sum(np.square(directions), axis=1)
        n, p = directions.shape
        if n <= p:
            return 1.0, 1.0
        # A row of leverage one has no error at all; predicted from the others, it could have any.
        if (left < LEVERAGE_ROUNDING).any():
            return np.inf, np.inf
        ratio = float(np.sum(np.square(residual / left)) / (np.sum(np.square(residual)) or 1.0))
        return ratio, ratio * float((n - p) / n) ** 2


def free_constants(expression: Expression) -> NDArray[np.bool_]:
    """Which tokens are constants that are fitted: all but 1."""
    return np.asarray((expression.op == CONST) & (expression.const != 1.0))


def refit_constants(
    expression: Expression, X: Floats, y: Floats, weights: Floats, free: NDArray[np.bool_] | None = None
) -> Expression:
    """The expression with its constants, or those that are `free`, refitted; unchanged with a user-defined operator."""
    if (expression.op >= USER_OPCODE_START).any():
        return expression
    free, roots = free_constants(expression) if free is None else free, np.sqrt(weights)
    with np.errstate(all="ignore"):
        length2 = float(np.sum(np.square(roots * y))) or 1.0
        return (
            ConstantFit(expression, Gradient(expression, X, free), y, roots, length2).refitted()[0].expression
        )
