"""Fits of guesses: from many initial values to the training set, and from the best one to all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.archive import Candidate
from fouriertree.criteria.losses import Objective
from fouriertree.expr import Expression
from fouriertree.model import Model
from fouriertree.selection.finalize import REWEIGHTING_TOLERANCE
from fouriertree.selection.guesses.fitter import ParametricFit, ParametricFitter
from fouriertree.selection.guesses.multistart import promising
from fouriertree.selection.guesses.parametric import ParametricSum
from fouriertree.selection.snapping import never

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
#: target and weights of least squares
Response = tuple[Floats, Floats]

#: initial values of all guesses together, and of one guess at most and at least
ALL_STARTS, STARTS, FEW_STARTS = 30_000, 3000, 300
#: initial values of all guesses per second of a time limit
STARTS_PER_SECOND = 5000
#: fits that are continued, and rows at most that they are compared on
KEPT, MOST_ROWS = 6, 2000
#: steps of these fits, of the last ones, of any, and between two changes of the weights; steps times rows at most
FEW_STEPS, STEPS, LEAST_STEPS, STEPS_PER_REWEIGHTING, MOST_ROW_STEPS = 100, 500, 20, 5, 1_000_000
#: for losses other than squares: rounds of initial values, and changes of the weights at most
ROUNDS, REWEIGHTINGS = 2, 40
#: relative decrease of the loss below which given constants are kept
GAIN = 1e-9
#: stream of random numbers for initial values
START_STREAM = 11
NOT_FINITE = "its values are not finite on all rows for any of the parameters that were tried"


@dataclass(frozen=True, eq=False)
class FittedGuess:
    """A guess with parameters that fit the training set, and all rows; None if it has no finite loss."""

    text: str
    on_training_set: Expression | None
    on_all_rows: Expression | None
    reason: str = ""  #: why there is none

    @property
    def candidate(self) -> Candidate | None:
        """The sum on the training set, as a search would report it."""
        if self.on_training_set is None:
            return None
        model = Model.from_expression(self.on_training_set)
        return Candidate(model.coefficients, model.expressions)


def starts_for(n_guesses: int, time_limit: float | None) -> int:
    """The number of initial values for each of some guesses: fewer with a short time limit, in seconds."""
    most = (
        ALL_STARTS if time_limit is None else min(ALL_STARTS, int(STARTS_PER_SECOND * min(time_limit, 1e6)))
    )
    return max(FEW_STARTS, min(STARTS, most // max(n_guesses, 1)))


@dataclass(frozen=True)
class GuessFitter:
    """How a guess is fitted: from `count` initial values; when `out_of_time`, a fit ends after a few steps."""

    found: ParametricSum
    count: int = STARTS
    out_of_time: Callable[[], bool] = never

    def __call__(self, text: str, objective: Objective, seed: Sequence[int]) -> FittedGuess:
        """The guess with the parameters of the best fit to the training set, and of the best fit to all rows.

        Given constants are fitted, too, from their values on, but kept if that does not decrease the loss.
        """
        fits = self._best_fits(objective, np.random.default_rng([*seed, START_STREAM]))
        if not fits:
            return FittedGuess(text, None, None, NOT_FINITE)
        training, named = objective.training_only(), self.found.named
        first, free = self._finished(training, fits[0])
        last = self.minimized(objective, first.theta, free, _response(objective, first))
        if objective.data.n_validation and objective.data.n_rows <= MOST_ROWS:
            # With more rows, another minimum may be the best one.
            for fit in fits[1:]:
                other = self.minimized(objective, fit.theta, named, _response(objective, fit), FEW_STEPS)
                if _loss(objective, other) < (1.0 - GAIN) * _loss(objective, last):
                    last, _ = self._finished(objective, other)
        return FittedGuess(text, first.with_reduced_phases.expression, last.with_reduced_phases.expression)

    def _best_fits(self, objective: Objective, rng: np.random.Generator) -> list[ParametricFit]:
        """Fits to rows of the training set, those that are finite on all rows, the best one first.

        The weights that approximate a loss other than squares depend on the prediction: at first a constant, then the
        best.
        """
        some = sampled(objective.training_only(), int(rng.integers(2**31)))
        response, named = _response(some, None), self.found.named
        fits: list[ParametricFit] = []
        for _ in range(1 if objective.loss.squared else ROUNDS):
            starts = promising(self.found, some.data.X, *response, self.count, KEPT, rng)
            new = [self.minimized(some, theta, named, response, FEW_STEPS) for theta in starts]
            fits += [fit for fit in new if np.isfinite(_loss(objective, fit))]
            fits.sort(key=lambda fit: _loss(some, fit))
            if not fits:
                break
            response = _response(some, fits[0])
        return fits

    def _finished(self, objective: Objective, fit: ParametricFit) -> tuple[ParametricFit, Mask]:
        """The fit with given constants fitted, too, in its simplest form, and which parameters are free."""
        free = self.found.named
        best = self.minimized(objective, fit.with_reduced_phases.theta, free, _response(objective, fit))
        if not free.all():
            everything = np.ones_like(free)
            tried = self.minimized(objective, best.theta, everything, _response(objective, best))
            if _loss(objective, tried) < (1.0 - GAIN) * _loss(objective, best):
                best, free = tried, everything
        some = sampled(objective, 0)
        fitter = ParametricFitter(self.found, some.data.X, *_response(some, best), self.out_of_time)
        simple, free = fitter.simplified(fitter.fit(best.theta, free, 0), free, FEW_STEPS)
        if simple.theta is best.theta:
            return best, free
        return self.minimized(objective, simple.theta, free, _response(objective, best)), free

    def minimized(
        self, objective: Objective, theta: Floats, free: Mask, response: Response, steps: int = STEPS
    ) -> ParametricFit:
        """A local minimum of the loss near `theta`, by iteratively reweighted least squares unless it is squared."""
        X = objective.data.X
        steps = max(LEAST_STEPS, min(steps, MOST_ROW_STEPS // len(X)))
        best = fit = ParametricFitter(self.found, X, *response, self.out_of_time).fit(theta, free, steps)
        if objective.loss.squared:
            return best
        before = least = _loss(objective, best)
        for _ in range(REWEIGHTINGS if np.isfinite(least) else 0):
            fitter = ParametricFitter(self.found, X, *_response(objective, fit), self.out_of_time)
            fit = fitter.fit(fit.theta, free, STEPS_PER_REWEIGHTING)
            loss = _loss(objective, fit)
            if loss < least:
                best, least = fit, loss
            if not abs(loss - before) > REWEIGHTING_TOLERANCE * before or self.out_of_time():
                break
            before = loss
        return best


def sampled(objective: Objective, seed: int) -> Objective:
    """The same loss on some of the rows, where they are many."""
    return replace(objective, data=objective.data.sample(MOST_ROWS, seed))


def _response(objective: Objective, fit: ParametricFit | None) -> Response:
    """Least squares that approximate the loss near a fit, or near the best constant, which is robust to outliers."""
    data, loss = objective.data, objective.loss
    if loss.squared:
        return data.y, objective.weights
    if fit is not None:
        predicted = objective.values([fit.expression])[0]
    else:
        constant = objective.constant if loss.logistic else float(np.median(data.y))
        predicted = np.full(data.n_rows, constant)
    target, weights = loss.working(data.y, predicted)
    return target, data.weights * weights


def _loss(objective: Objective, fit: ParametricFit) -> float:
    """The mean loss of a fit; infinite where a value is not finite."""
    if not np.isfinite(fit.loss):
        return np.inf
    return objective.mean_loss(objective.values([fit.expression])[0])
