"""Fits of formulas by variable projection, with parameters that may occur several times.

y ≈ Σ_j c_j·e_j(x; θ): for fixed θ the optimal c is a linear projection, so that the squared error is a function of θ
alone.  It is minimized by Levenberg–Marquardt steps, as in `projection.variable`, whose compiled fits have one
parameter per constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine.gradients import Gradient
from fouriertree.expr import Expression
from fouriertree.model import sum_of_terms
from fouriertree.selection.guesses.parametric import ParametricSum, filled, tidied

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: relative cut-off for singular values of the terms, and of the derivatives by the parameters
TERMS_RCOND, SLOPES_RCOND = 1e-12, 1e-10
#: a derivative of which less than this share is orthogonal to the terms is rounding
SPAN_TOLERANCE = 1e-10
#: relative singular value below which the data do not determine a combination of parameters
UNDETERMINED = 1e-7
#: relative difference of losses that are equal
SAME_LOSS = 1e-9
#: a fit ends with a step that decreases the loss by less, relatively, or at a loss of rounding size relative to ‖y‖²
CONVERGED, ROUNDING = 1e-14, 1e-30
#: damping at first, and from which on no step helps
FIRST_DAMPING, MOST_DAMPING = 1e-4, 1e16
#: steps of a fit that is out of time
LEAST_STEPS = 10
#: a step changes no parameter by more than this share of its value and of its initial value
REACH = 0.5


@dataclass(frozen=True, eq=False)
class ParametricFit:
    """Σ c_j·e_j(x; θ) with fitted coefficients and parameters."""

    sum: ParametricSum
    theta: Floats  #: (n_parameters,)
    coefficients: Floats  #: (n_terms,); 0 for terms that depend linearly on the others
    loss: float  #: Σ w·(y − Σ c_j·e_j)²; infinite where a value is not finite

    @property
    def with_reduced_phases(self) -> ParametricFit:
        """The same function with phases from −π to π."""
        return replace(self, theta=self.sum.with_reduced_phases(self.theta))

    @property
    def terms(self) -> list[tuple[float, Expression]]:
        """Coefficients other than 0, with their terms."""
        terms = zip(self.coefficients.tolist(), self.sum.with_values(self.theta), strict=True)
        return [(c, term) for c, term in terms if c != 0.0]

    @property
    def expression(self) -> Expression:
        """The sum as one expression, in the form of the formula."""
        terms = [(c, tidied(term)) for c, term in self.terms]
        return sum_of_terms([c for c, _ in terms], [term for _, term in terms])


@dataclass(frozen=True, eq=False)
class _Point:
    """A sum at some values of its parameters, projected."""

    theta: Floats
    coefficients: Floats
    loss: float
    residual: Floats  #: (n_rows,), weighted
    slopes: Floats  #: (n_rows, n_parameters): derivatives of the sum, orthogonal to the terms


class ParametricFitter:
    """Fits of one sum to weighted rows from many initial values: X (n_rows, n_columns), y (n_rows,)."""

    def __init__(
        self, found: ParametricSum, X: Floats, y: Floats, weights: Floats,
        out_of_time: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        self.sum, self.X, self.roots, self.out_of_time = found, X, np.sqrt(weights), out_of_time
        self.y = self.roots * y
        self._length2 = float(self.y @ self.y)
        self._gradients: list[Gradient] | None = None
        if not found.has_user_operators:
            pairs = zip(found.terms, found.places, strict=True)
            self._gradients = [Gradient(term, X, places >= 0) for term, places in pairs]

    def fit(self, theta: Floats, free: Mask, iterations: int) -> ParametricFit:
        """A local minimum near `theta`, of which the parameters that are `free` change."""
        with np.errstate(all="ignore"):
            point = self._at(theta)
            if self._gradients is not None and np.isfinite(point.loss):
                point = self._descended(point, free, iterations)
        return ParametricFit(self.sum, point.theta, point.coefficients, point.loss)

    def simplified(self, fit: ParametricFit, free: Mask, iterations: int) -> tuple[ParametricFit, Mask]:
        """The same function with parameters of 0 or 1 where the data do not determine them, and which are still free.

        In c·exp(a + b·x), a is superfluous; in c/(a + b·x), one of c, a and b can be chosen at will.
        """
        for i in np.flatnonzero(free & self.sum.named):
            for value in (0.0, 1.0):
                if not free[i] or self._is_determined(fit, free):
                    continue
                theta, others = fit.theta.copy(), free.copy()
                theta[i], others[i] = value, False
                tried = self.fit(theta, others, iterations)
                if tried.loss <= (1.0 + SAME_LOSS) * fit.loss + ROUNDING * self._length2:
                    fit, free = tried, others
        return fit, free

    def _is_determined(self, fit: ParametricFit, free: Mask) -> bool:
        """Whether no combination of the free parameters leaves the function unchanged."""
        if self._gradients is None or not np.isfinite(fit.loss):
            return True
        with np.errstate(all="ignore"):
            linear = _Linear.of(self._at(fit.theta), free)
        largest = linear.singular.max(initial=0.0)
        return int(np.count_nonzero(linear.singular > UNDETERMINED * largest)) == int(np.count_nonzero(free))

    def _descended(self, point: _Point, free: Mask, iterations: int) -> _Point:
        """The last of the steps that decrease the loss."""
        size, damping, growth = np.abs(point.theta), FIRST_DAMPING, 2.0
        for i in range(iterations):
            if point.loss <= ROUNDING * self._length2 or (i >= LEAST_STEPS and self.out_of_time()):
                break
            linear = _Linear.of(point, free)
            step, damping = linear.step_within(REACH * (np.abs(point.theta) + size), damping)
            predicted = linear.decrease(step)
            if not predicted > CONVERGED * point.loss:
                break
            tried = self._at(point.theta + step)
            if tried.loss < point.loss:
                # Nielsen's rule: the closer the decrease to the prediction, the less damping.
                gain = (point.loss - tried.loss) / predicted
                damping, growth = damping * max(0.1, 1.0 - (2.0 * gain - 1.0) ** 3), 2.0
                converged = point.loss - tried.loss <= CONVERGED * point.loss
                point = tried
                if converged:
                    break
            else:
                damping, growth = damping * growth, 2.0 * growth
                if damping > MOST_DAMPING:
                    break
        return point

    def _at(self, theta: Floats) -> _Point:
        """The projection at some values of the parameters."""
        values, slopes = self._values(theta)
        if not np.isfinite(values).all():
            none = np.full(len(self.sum.terms), np.nan)
            return _Point(theta, none, np.inf, self.y, np.zeros((len(self.y), len(theta))))
        basis, coefficients, residual = project(values, self.y)
        slope = np.einsum("j,jpn->np", coefficients, slopes)
        orthogonal = slope - basis @ (basis.T @ slope)
        outside = np.linalg.norm(orthogonal, axis=0) > SPAN_TOLERANCE * np.linalg.norm(slope, axis=0)
        slope = np.where(outside, orthogonal, 0.0)
        return _Point(theta, coefficients, float(residual @ residual), residual, slope)

    def _values(self, theta: Floats) -> tuple[Floats, Floats]:
        """Weighted values of the terms (k, n), and their derivatives by the parameters (k, p, n)."""
        k, n = len(self.sum.terms), len(self.y)
        values, slopes = np.empty((k, n)), np.zeros((k, len(theta), n))
        if self._gradients is None:
            for j, term in enumerate(self.sum.with_values(theta)):
                values[j] = self.roots * term.evaluate(self.X)
            return values, slopes
        for j, (gradient, term, places) in enumerate(
            zip(self._gradients, self.sum.terms, self.sum.places, strict=True)
        ):
            value, by_token = gradient.at(filled(term, places, theta))
            values[j] = self.roots * value
            # A parameter that occurs several times has the sum of the derivatives by its tokens.
            np.add.at(slopes[j], places[places >= 0], self.roots * by_token)
        return values, slopes


def project(values: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """An orthonormal basis (n, r) of the rows of `values` (k, n), the coefficients of y (k,), and the residual (n,)."""
    # Squares of large values would overflow.
    sizes = np.abs(values).max(axis=1)
    sizes[sizes == 0.0] = 1.0
    sizes *= np.maximum(np.linalg.norm(values / sizes[:, None], axis=1), 1.0)
    basis, singular, right = np.linalg.svd((values / sizes[:, None]).T, full_matrices=False)
    kept = singular > TERMS_RCOND * singular.max(initial=0.0)
    basis, right = basis[:, kept], right[kept].T / singular[kept]
    coefficients, residual = np.zeros(len(values)), y
    for _ in range(2):  # with one step of iterative refinement
        coefficients = coefficients + (right @ (basis.T @ residual)) / sizes
        residual = y - coefficients @ values
    return basis, coefficients, residual


@dataclass(frozen=True, eq=False)
class _Linear:
    """The residual as a linear function of a step: r − J·step, by the singular values of J with columns of norm 1."""

    norms: Floats  #: (p,) of the columns; infinite for parameters that are fixed
    singular: Floats
    right: Floats  #: (p, r)
    along: Floats  #: (r,) the residual in the coordinates of the left singular vectors

    @classmethod
    def of(cls, point: _Point, free: Mask) -> _Linear:
        norms = np.linalg.norm(point.slopes, axis=0)
        usable = free & np.isfinite(norms) & (norms > 0.0)
        norms = np.where(usable, norms, np.inf)
        scaled = np.where(usable, point.slopes, 0.0) / norms
        left, singular, right = np.linalg.svd(scaled, full_matrices=False)
        kept = singular > SLOPES_RCOND * singular.max(initial=0.0)
        return cls(norms, singular[kept], right[kept].T, left[:, kept].T @ point.residual)

    def step_within(self, reach: Floats, damping: float) -> tuple[Floats, float]:
        """The damped step, and the damping, which is raised until no parameter changes by more than its reach."""
        while True:
            weights = self.singular / (self.singular**2 + damping)
            step = (self.right @ (weights * self.along)) / self.norms
            if (np.abs(step) <= reach).all() or damping > MOST_DAMPING:
                return step, damping
            damping *= 4.0

    def decrease(self, step: Floats) -> float:
        """‖r‖² − ‖r − J·step‖²."""
        coordinates = self.right.T @ (step * np.where(np.isfinite(self.norms), self.norms, 0.0))
        moved = self.singular * coordinates
        return float(moved @ (2.0 * self.along - moved))
