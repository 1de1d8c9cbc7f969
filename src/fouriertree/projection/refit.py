"""The constants of one expression, fitted again by Gauss–Newton steps from where they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine.gradients import value_and_slopes
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, POW, USER_OPCODE_START
from fouriertree.tolerances import EXACT_SQUARES

Floats = NDArray[np.float64]

#: steps at most
GAUSS_NEWTON_STEPS = 6


@dataclass
class ConstantFit:
    """An expression whose free constants are fitted to rows by weighted least squares."""

    expression: Expression
    X: Floats
    y: Floats
    roots: Floats
    free: NDArray[np.bool_]
    length2: float

    def values(self) -> tuple[Floats, Floats]:
        """Weighted residuals (n,), and the Jacobian of the free constants (p, n)."""
        found, slopes = value_and_slopes(self.expression, self.X, self.free)
        return self.roots * (self.y - found), self.roots * slopes

    def refitted(self) -> tuple[ConstantFit, float]:
        """After some Gauss–Newton steps, none of which made it worse; and the loss relative to Σ w·y²."""
        best, (residual, slopes) = self, self.values()
        loss = float(residual @ residual)
        for _ in range(GAUSS_NEWTON_STEPS if self.free.any() else 0):
            step = _solve(slopes, residual)
            if step is None:
                break
            const = best.expression.const.copy()
            const[best.free] += step
            tried = best.with_constants(const)
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
        """Positions of constant exponents, which are not made zero."""
        e = self.expression
        return {int(e.children(int(i))[1]) for i in np.flatnonzero(e.op == POW)}

    def with_constants(self, const: Floats) -> ConstantFit:
        e = self.expression
        changed = Expression.unchecked(e.op, e.arg, const, e.primitives)
        return ConstantFit(changed, self.X, self.y, self.roots, self.free, self.length2)

    def errors(self) -> Floats:
        """Standard errors of the free constants."""
        residual, slopes = self.values()
        spare = max(1, len(self.y) - len(slopes))
        variance = max(float(residual @ residual), EXACT_SQUARES * self.length2) / spare
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


def refit_constants(expression: Expression, X: Floats, y: Floats, weights: Floats) -> Expression:
    """The expression with its constants refitted from their present values."""
    if (expression.op >= USER_OPCODE_START).any():
        return expression
    free = (expression.op == CONST) & (expression.const != 1.0)
    roots = np.sqrt(weights)
    with np.errstate(all="ignore"):
        length2 = float(np.sum(np.square(roots * y))) or 1.0
        return ConstantFit(expression, X, y, roots, free, length2).refitted()[0].expression
