"""Targets behind a logarithm: log|y − d·m| = log|c| + Σ pᵢ·log xᵢ + γ·φ(x; θ), for y ≈ c·P·exp(γ·φ) + d·m.

The exponents pᵢ of a product of powers P are coefficients, so that P need not be searched for.  Errors of the logarithm
times y − d·m are errors of y, and to first order a change of d is one more column, m/(y − d·m).  Every further term m
is compared with simple parameters θ of a shape φ, and those of the best are fitted by Levenberg–Marquardt steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.projection.variable import residuals_of
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.evaluation import EXACT
from fouriertree.search.hybrid.functions import Powers, power_values, products_of_powers
from fouriertree.search.hybrid.reductions import Reduction, reduced_problem

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: positive features of a problem at least and at most
FEWEST, MOST = 2, 9
#: rows for comparisons, and problems that are compared at a time
ROWS, CHUNK = 150, 128
#: further terms, those with which parameters are fitted, their variables at most, and their sizes relative to that of y
MAX_TERMS, OPTIMIZED, TERM_VARIABLES = 1000, 150, 2
SIZES = (-2.5, -1.6, -1.0, -0.6, -0.4, -0.25, -0.15, 0.15, 0.25, 0.4, 0.6, 1.0, 1.6, 2.5)
#: exponents of further terms
POWERS = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
#: parameters for each further term from which they are fitted, and steps of these fits
STARTS, STEPS = 3, 15
#: damping of the steps at first, its factors after a step that was worse or better, and the largest change
DAMPING, WORSE, BETTER, LARGEST_STEP = 1e-2, 8.0, 0.25, 0.7
#: ridge of normal equations, and the largest change of d in one step, relative to the size of y
RIDGE, REACH = 1e-10, 0.3
#: |y − d·m| at least, relative to the size of y, where its logarithm is taken
SMALLEST = 1e-6
#: and relative to its own size, where it is a weight; and the largest logarithm
FLOOR, HUGE = 0.005, 50.0
#: complexity of a variable with its exponent in a product, and of a further term
VARIABLE, TERM = 2.0, 4.0


class Shape(Protocol):
    """A shape φ, where its parameters may start, and their limit."""

    starts: Floats  #: (s, q)
    costs: Floats  #: (s,) complexities
    largest: float

    def __call__(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Values (c, n) and slopes (c, q, n) for parameters (c, q)."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Further terms with their coefficients, and parameters of a shape with its coefficient: (c,) and (c, q)."""

    terms: Indices
    offsets: Floats
    parameters: Floats
    factors: Floats
    lengths: Floats  #: of the descriptions of y

    def take(self, which: Indices) -> Pairs:
        return Pairs(*(getattr(self, field.name)[which] for field in fields(self)))

    def best(self, n_terms: int, of_each: int) -> Pairs:
        """The best parameters for each of the best further terms, the shortest description first."""
        order = np.argsort(self.lengths, kind="stable")
        order = order[np.isfinite(self.lengths[order])]
        _, first = np.unique(np.column_stack([self.terms, self.parameters])[order], axis=0, return_index=True)
        order = order[np.sort(first)]
        counts: Counter[int] = Counter()
        kept = []
        for i, term in zip(order.tolist(), self.terms[order].tolist(), strict=True):
            counts[term] += 1
            if counts[term] <= of_each and len(counts) <= n_terms:
                kept.append(i)
        return self.take(np.array(kept, np.intp))

    @classmethod
    def joined(cls, parts: Sequence[Pairs]) -> Pairs:
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


class LogProblem:
    """Variables V (d, n), all positive, a target y (n,) and the roots of the weights."""

    @classmethod
    def of(cls, context: SearchContext, reduction: Reduction) -> LogProblem | None:
        """A reduced problem on some rows.

        None where variables are not positive, too few or too many, or operators are missing.
        """
        given = reduced_problem(context.data, reduction, context.data.screening[:ROWS])
        V, y = given.V, given.t
        if not (context.vocabulary.complete and FEWEST <= len(V) <= MOST and (V > 0.0).all() and y.any()):
            return None
        if not all(np.isfinite(values).all() for values in (V, y, given.weights)):
            return None
        return cls(reduction.variables, V, y, np.sqrt(given.weights), context.vocabulary)

    def __init__(
        self, variables: Sequence[Expression], V: Floats, y: Floats, roots: Floats, v: Vocabulary
    ) -> None:
        self.V, self.y, self.roots, self.vocabulary = V, y, roots, v
        self.size = float(np.sqrt(np.mean(y * y)))
        self.length2 = float(np.sum(np.square(roots * y)))
        self.logs = np.log(V)
        self.linear = np.vstack([np.ones_like(y), self.logs])
        products = products_of_powers(V, v, TERM_VARIABLES, MAX_TERMS, POWERS)
        #: the first one is 0, for none
        self.terms: list[Powers | None] = [None, *products]
        self.M = np.vstack([np.zeros_like(y), power_values(V, products)])
        self.term_costs = np.array([0.0, *(TERM + VARIABLE * np.count_nonzero(p) for p in products)])
        self.variables = list(variables)
        self.n_compared = 0

    def first_pairs(self, shape: Shape) -> Pairs:
        """All further terms with all parameters that may be starts."""
        values = shape(shape.starts)[0]
        targets = [(0, 0.0), *product(range(1, len(self.M)), SIZES)]
        terms, sizes = np.array([t for t, _ in targets]), np.array([s for _, s in targets])
        offsets = sizes * self._units(terms)
        parts = []
        for lo in range(0, len(terms), CHUNK):
            some = slice(lo, lo + CHUNK)
            losses = self._losses(terms[some], offsets[some], values)
            lengths = self.lengths(losses, self.term_costs[terms[some]][:, None] + shape.costs)
            best = np.argsort(lengths, axis=1)[:, :STARTS]
            which, start = np.repeat(np.arange(len(best)), best.shape[1]), best.ravel()
            found = terms[some][which], offsets[some][which], shape.starts[start], np.ones(len(start))
            parts.append(Pairs(*found, lengths[which, start]))
        return Pairs.joined(parts).best(OPTIMIZED, STARTS)

    def optimized(self, pairs: Pairs, shape: Shape) -> Pairs:
        """With parameters, and coefficients of the further terms, that are fitted by Levenberg–Marquardt steps."""
        n = len(pairs.terms)
        chunks = [pairs.take(np.arange(lo, min(lo + CHUNK, n))) for lo in range(0, n, CHUNK)]
        return Pairs.joined([self._chunk_optimized(chunk, shape) for chunk in chunks])

    def _chunk_optimized(self, pairs: Pairs, shape: Shape) -> Pairs:
        terms, c = pairs.terms, len(pairs.terms)
        damping, best = np.full(c, DAMPING), np.full(c, np.inf)
        offsets, parameters, factors = pairs.offsets.copy(), pairs.parameters.copy(), pairs.factors.copy()
        step = np.zeros_like(parameters)
        for _ in range(STEPS):
            tried = np.clip(parameters + step, -shape.largest, shape.largest)
            losses, moved, coefficients, new_step = self._linearized(terms, offsets, tried, shape, damping)
            better = losses < best
            damping = np.clip(damping * np.where(better, BETTER, WORSE), 1e-8, 1e8)
            best = np.where(better, losses, best)
            parameters[better], step[better] = tried[better], new_step[better]
            offsets[better], factors[better] = moved[better], coefficients[better]
            step[~better] /= WORSE
        lengths = self.lengths(best, self.term_costs[terms])
        return Pairs(terms, offsets, parameters, factors, lengths)

    def _linearized(
        self, terms: Indices, offsets: Floats, parameters: Floats, shape: Shape, damping: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Squared errors of y with the best offset and coefficient of the shape, both of them, and the next step."""
        values, slopes = shape(parameters)
        z, by_offset, w = self.logarithm(terms, offsets)
        parts = [z[:, None], by_offset[:, None], values[:, None], slopes]
        residuals = residuals_of(self.linear, w, w[:, None] * np.concatenate(parts, axis=1))
        self.n_compared += len(terms)
        gram = residuals @ residuals.transpose(0, 2, 1)
        # The best offset and coefficient for these parameters.
        two = solved(gram[:, 1:3, 1:3], gram[:, 1:3, 0], 0.0)
        left = residuals[:, 0] - np.sum(two[:, :, None] * residuals[:, 1:3], axis=1)
        moved = self.moved(terms, offsets, two[:, 0])
        logs = z - left / w - two[:, :1] * by_offset
        losses = self.losses_of(
            np.abs(self.y - moved[:, None] * self.M[terms]), np.exp(np.minimum(logs, HUGE))
        )
        # Slopes by the parameters are those of the shape times its coefficient.
        factors = np.ones(gram.shape[:2])
        factors[:, 3:] = two[:, 1:2]
        scaled = gram * factors[:, :, None] * factors[:, None, :]
        moves = solved(scaled[:, 1:, 1:], scaled[:, 1:, 0], damping)[:, 2:]
        moves = np.clip(np.where(np.isfinite(moves), moves, 0.0), -LARGEST_STEP, LARGEST_STEP)
        return losses, moved, two[:, 1], moves

    def moved(self, terms: Indices, offsets: Floats, changes: Floats) -> Floats:
        """Offsets after limited changes."""
        units = self._units(terms)
        changes = np.clip(np.nan_to_num(changes), -REACH * units, REACH * units)
        most = SIZES[-1] * units
        found: Floats = np.where(terms > 0, np.clip(offsets + changes, -most, most), 0.0)
        return found

    def _units(self, terms: Indices) -> Floats:
        """Coefficients with which further terms are as large as y."""
        sizes = np.sqrt(np.mean(np.square(self.M[terms]), axis=1))
        found: Floats = self.size / np.where(sizes > 0.0, sizes, 1.0)
        return found

    def losses_of(self, targets: Floats, predicted: Floats) -> Floats:
        """Squared errors of targets by the best multiples of predictions (c, n), infinite where they are not finite."""
        weights = np.square(self.roots)
        product = np.sum(weights * targets * predicted, axis=1)
        losses = np.sum(weights * np.square(targets), axis=1)
        losses = losses - np.square(product) / np.sum(weights * np.square(predicted), axis=1)
        return np.where(np.isfinite(losses), np.maximum(losses, 0.0), np.inf)

    def _losses(self, terms: Indices, offsets: Floats, shapes: Floats) -> Floats:
        """As `_fitted`, of all shapes (s, n) with each problem, by matrix products: (c, s)."""
        z, slope, w = self.logarithm(terms, offsets)
        A = np.concatenate(
            [np.broadcast_to(self.linear, (len(w), *self.linear.shape)), slope[:, None]], axis=1
        )
        A = A * w[:, None]
        lengths = np.linalg.norm(A, axis=2, keepdims=True)
        A = A / np.where(lengths > 0.0, lengths, 1.0)
        lower = np.linalg.cholesky(A @ A.transpose(0, 2, 1) + RIDGE * np.eye(A.shape[1]))
        basis = np.linalg.solve(lower, A)
        residual = w * z
        residual = residual - ((basis @ residual[:, :, None]).transpose(0, 2, 1) @ basis)[:, 0]
        squares = np.square(w) @ np.square(shapes).T
        inside = np.sum(np.square((basis * w[:, None]) @ shapes.T), axis=1)
        outside = np.maximum(squares - inside, 1e-6 * squares)
        gains = np.square((w * residual) @ shapes.T) / outside
        self.n_compared += gains.size
        losses: Floats = np.maximum(np.sum(np.square(residual), axis=1)[:, None] - gains, 0.0)
        return losses

    def logarithm(self, terms: Indices, offsets: Floats) -> tuple[Floats, Floats, Floats]:
        """log|t| of t = y − d·m, m/t, and the roots of the weights under which its errors are those of y: (c, n)."""
        m = self.M[terms]
        t = self.y - offsets[:, None] * m
        least = SMALLEST * self.size
        t = np.where(np.abs(t) < least, least, t)
        # Where t is smaller, its logarithm is that of an error, but a large prediction would be wrong.
        sizes = np.maximum(np.abs(t), FLOOR * np.sqrt(np.mean(np.square(t), axis=1, keepdims=True)))
        return np.log(np.abs(t)), m / t, self.roots * sizes

    def lengths(self, losses: Floats, complexities: Floats) -> Floats:
        shares = np.maximum(losses / self.length2, EXACT)
        lengths: Floats = np.array(approximate_length(len(self.y), shares, complexities))
        return np.where(np.isfinite(losses), lengths, np.inf)


def solved(matrices: Floats, right: Floats, damping: Floats | float) -> Floats:
    """Solutions of normal equations (c, k, k), with Levenberg–Marquardt damping relative to the diagonal: (c, k)."""
    k = matrices.shape[1]
    diagonal = np.einsum("ijj->ij", matrices)
    roots = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scaled = np.nan_to_num(matrices / (roots[:, :, None] * roots[:, None, :]))
    scaled = scaled + (RIDGE + np.broadcast_to(damping, len(scaled)))[:, None, None] * np.eye(k)
    found: Floats = np.linalg.solve(scaled, np.nan_to_num(right / roots)[:, :, None])[:, :, 0] / roots
    return found
