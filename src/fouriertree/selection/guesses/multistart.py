"""Fits of a formula from thousands of initial values: short compiled fits to some rows, then long ones of the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, MUL
from fouriertree.projection.batches import SumBatch
from fouriertree.projection.variable import FitData, fit_batch
from fouriertree.selection.guesses.fitter import ParametricFitter
from fouriertree.selection.guesses.parametric import Integers, ParametricSum
from fouriertree.selection.guesses.starts import initial_values

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: rows that initial values are compared on
ROWS = 200
#: steps from every choice of initial values, and from the best so many
FIRST_STEPS, SECOND_STEPS, SECOND = 8, 40, 150
#: the same where a parameter occurs more than once: those fits are not compiled
FEW_STEPS, FEW = 15, 40
#: tokens of all sums at most, and initial values with custom operators, which are evaluated one by one
MOST_TOKENS, MOST_UNCOMPILED = 100_000, 200
#: logarithms of losses that differ by less are those of one minimum
SAME_MINIMUM = 1e-4


def promising(
    found: ParametricSum,
    X: Floats,
    y: Floats,
    weights: Floats,
    count: int,
    kept: int,
    rng: np.random.Generator,
) -> Floats:
    """The parameters with the smallest losses after short fits, of different minima: (at most `kept`, n_parameters).

    X (n_rows, n_features), y (n_rows,).  Parameters with initial values of their own keep these.
    """
    rows = np.sort(rng.permutation(len(y))[:ROWS])
    X, y, weights = X[rows], y[rows], weights[rows]
    count = min(count, MOST_TOKENS // sum(map(len, found.terms)))
    if found.has_user_operators:
        count = min(count, MOST_UNCOMPILED)
    starts = initial_values(found, X, count if found.named.any() else 1, rng)
    scaled, data = ScaledSum.of(found), FitData.prepare(X, y, weights)
    if found.repeated.any():
        return _distinct(*_with_repeated(found, scaled, starts, data, (X, y, weights)), kept)
    theta, losses = scaled.fitted(starts, data, FIRST_STEPS)
    best = np.argsort(losses, kind="stable")[:SECOND]
    return _distinct(*scaled.fitted(theta[best], data, SECOND_STEPS), kept)


def _with_repeated(
    found: ParametricSum,
    scaled: ScaledSum,
    starts: Floats,
    data: FitData,
    rows: tuple[Floats, Floats, Floats],
) -> tuple[Floats, Floats]:
    """Parameters and losses after short fits of the best initial values."""
    _, losses = scaled.fitted(starts, data, 0)
    fitter = ParametricFitter(found, *rows)
    best = [i for i in np.argsort(losses, kind="stable")[:FEW].tolist() if np.isfinite(losses[i])]
    fits = [fitter.fit(starts[i], found.named, FEW_STEPS) for i in best]
    return (
        np.array([fit.theta for fit in fits]).reshape(-1, found.n_parameters),
        np.array([fit.loss for fit in fits]),
    )


def _distinct(theta: Floats, losses: Floats, kept: int) -> Floats:
    """The parameters of the smallest finite losses that differ."""
    chosen: list[int] = []
    logs = np.log(np.maximum(losses, np.finfo(float).tiny))
    for i in np.argsort(losses, kind="stable").tolist():
        if len(chosen) == kept or not np.isfinite(losses[i]):
            break
        if not chosen or logs[i] - logs[chosen[-1]] > SAME_MINIMUM:
            chosen.append(i)
    return theta[chosen]


@dataclass(frozen=True, eq=False)
class ScaledSum:
    """A sum with σ·q in place of every parameter: σ is its initial value, and q is fitted from 1 on.

    Steps of the compiled fit are limited relative to 1; in q, the units of the parameters do not matter.
    """

    sum: ParametricSum
    template: SumBatch
    sigma: Integers  #: tokens with the initial values
    parameter: Integers  #: the parameters of these tokens

    @classmethod
    def of(cls, found: ParametricSum) -> ScaledSum:
        terms, sigma, parameter, first = [], [], [], 0
        for term, places in zip(found.terms, found.places, strict=True):
            scaled, positions = _scaled_term(term, np.append(found.named, False)[places])
            terms.append(Expression.unchecked(*scaled, term.primitives))
            sigma += [first + int(position) for position in positions[places >= 0]]
            parameter += places[places >= 0].tolist()
            first += len(scaled[0])
        return cls(found, SumBatch.pack([terms]), np.array(sigma, np.intp), np.array(parameter, np.intp))

    def fitted(self, theta: Floats, data: FitData, steps: int) -> tuple[Floats, Floats]:
        """Parameters and losses after some steps from `theta` (n, n_parameters); q is the token after σ."""
        batch = self.template.take(np.zeros(len(theta), np.intp))
        const = batch.programs.const.reshape(len(theta), -1).copy()
        const[:, self.sigma] = theta[:, self.parameter]
        free, named = np.zeros(const.shape, np.bool_), self.sum.named[self.parameter]
        free[:, self.sigma[named] + 1] = True
        fits = fit_batch(batch.with_constants(const.ravel()), data, steps, free=free.ravel())
        found, values = theta.copy(), fits.batch.programs.const.reshape(const.shape)
        found[:, self.parameter[named]] = values[:, self.sigma[named]] * values[:, self.sigma[named] + 1]
        return found, fits.losses


def _scaled_term(
    term: Expression, named: Mask
) -> tuple[tuple[NDArray[np.int32], NDArray[np.int32], Floats], Integers]:
    """The arrays of a term with σ·1 for every token that is `named`, and where its tokens are now."""
    width = np.where(named, 3, 1)
    positions = np.cumsum(width) - width
    op, arg = np.repeat(term.op, width), np.repeat(term.arg, width)
    const = np.repeat(term.const, width)
    at = positions[named]
    op[at + 1], op[at + 2] = CONST, MUL
    const[at + 1], const[at + 2] = 1.0, 0.0
    return (op, arg, const), positions
