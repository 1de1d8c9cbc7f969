"""Compositions y ≈ P·h(S) + d·m: a function of a sum S times a product of powers P, plus a multiple of another one.

With the inverse g of h, S = g((y − d·m)/P) is linear in its coefficients.  To first order in d, errors of y are those
of g times P/g′, in which m is one more column: all pairs of P and m are compared by linear least squares, the best by
Gauss–Newton steps, and terms of S that hardly matter are left out.

Where h is no power or exponential, y ≈ c·P·h(S) + d·m has a scale c, which is tried in multiples of the largest |y/P|.
The logarithm of a product is a sum of logarithms: y ≈ P·S + d·m with log x in the place of x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE, NotAllowedError, Vocabulary
from fouriertree.projection.variable import residuals_of
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.evaluation import EXACT, Cost, Evaluation, Fronts, evaluate
from fouriertree.search.hybrid.functions import Powers, power_values, products_of_powers
from fouriertree.search.hybrid.reductions import Reduction, reduced_problem
from fouriertree.search.hybrid.transforms import (
    IDENTITY,
    Transform,
    models_for_target,
    transform_named,
    weighted_sum,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: features of a problem at least and at most
FEWEST, MOST = 2, 9
#: functions of the sum, by the transforms of the target that undo them
TRANSFORMS = ("1/t", "log t", "t^2", "1/t^2", "sqrt t", "1/sqrt t", "t^(2/3)")
#: the largest |y/(c·P)| by functions h, with the inverse of h and its slope
SCALED: dict[str, tuple[Callable[[Floats], Floats], Callable[[Floats], Floats], tuple[float, ...]]] = {
    "asin": (np.sin, np.cos, (0.6, 0.8, 0.95, 1.1, 1.25, 1.4)),
    "atan": (np.tan, lambda t: 1.0 / np.square(np.cos(t)), (0.6, 0.8, 1.0, 1.15, 1.3, 1.4, 1.48)),
    "tanh": (np.arctanh, lambda t: 1.0 / (1.0 - t * t), (0.5, 0.66, 0.8, 0.9, 0.96, 0.985, 0.995)),
    "sinh": (np.arcsinh, lambda t: 1.0 / np.sqrt(1.0 + t * t), (0.7, 1.2, 2.0, 3.5, 6.0, 12.0, 18.0)),
    "log": (np.exp, np.exp, (0.4, 0.8, 1.4, 2.2, 3.2, -0.4, -0.8, -1.4, -2.2, -3.2)),
}  # fmt: skip
#: the sum of logarithms
LOGARITHMS = "logarithms"
#: all kinds of compositions
KINDS = (*TRANSFORMS, *SCALED, LOGARITHMS)
#: products that are compared as factors, and pairs that are refined, where there is a grid of scales
SCALED_FACTORS, SCALED_REFINED = 120, 200
#: exponents of the factor and of the other term, products at most, and variables of one
EXPONENTS = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
MAX_FACTORS, FACTOR_VARIABLES, MAX_TERMS, TERM_VARIABLES = 1000, 3, 250, 2
#: rows for comparisons, and factors or pairs that are compared at a time
ROWS, CHUNK = 150, 128
#: ridge of the normal equations, relative to their diagonal
RIDGE = 1e-12
#: pairs that are refined, steps, and those that are written and fitted to all rows
REFINED, STEPS, WRITTEN = 1000, 5, 6
#: coefficients of the further term: positive ones relative to the largest that leaves a positive target, negative ones
#: relative to the middle of their ratios
GRID = (-3.0, -1.5, -0.7, -0.3, -0.1, 0.0, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.995)
#: of targets of both signs, relative to their size
GRID_OF_BOTH_SIGNS = (-2.5, -1.5, -1.0, -0.6, -0.35, -0.2, 0.0, 0.2, 0.35, 0.6, 1.0, 1.5, 2.5)
#: complexity of a term of the sum
TERM_COMPLEXITY = 4.0


def composition_candidates(
    context: SearchContext, reduction: Reduction, kind: str, fronts: Fronts
) -> Evaluation:
    """Compositions of one of the KINDS for a reduced problem."""
    v, given = context.vocabulary, reduced_problem(context.data, reduction, context.data.screening[:ROWS])
    V, y, weights = given.V, given.t, given.weights
    sign = 1.0 if (y > 0.0).all() or kind not in TRANSFORMS else -1.0 if (y < 0.0).all() else 0.0
    if not (FEWEST <= len(V) <= MOST and v.complete and sign):
        return Evaluation()
    if kind == LOGARITHMS and not ("log" in v and (V > 0.0).all()):
        return Evaluation()
    models: dict[tuple[Expression, ...] | None, None] = {}
    n_compared = 0
    for transform in filter(lambda t: t.allowed(v), _transforms(kind)):
        problem = _Problem(reduction.variables, V, sign * y, weights, transform, v, kind)
        models |= dict.fromkeys(problem.written(*best) for best in problem.best_pairs())
        n_compared += len(problem.P) * (1 + len(problem.M))
    cost = Cost(n_compared, n_compared)
    return Evaluation(cost=cost) + evaluate(context, models_for_target(v, reduction, models), fronts)


def _transforms(kind: str) -> Iterator[Transform]:
    """What undoes the function of a kind, with the scales to try."""
    if kind == LOGARITHMS:
        yield IDENTITY
    elif kind in SCALED:
        function, slope, largest = SCALED[kind]
        for top in largest:
            yield _scaled(kind, function, slope, top)
    else:
        yield transform_named(kind)


def _scaled(
    name: str, function: Callable[[Floats], Floats], slope: Callable[[Floats], Floats], top: float
) -> Transform:
    """function(t/c) with c such that |t/c| is at most `top`."""

    def unit(t: Floats) -> Floats:
        largest: Floats = np.max(np.abs(t), axis=-1, keepdims=True) / top
        return largest

    return Transform(
        f"{name} {top:g}", (name,), lambda t: function(t / unit(t)), lambda t: slope(t / unit(t)) / unit(t), False,
        lambda v, e: v.apply(name, e),
    )  # fmt: skip


class _Problem:
    """Variables V (d, n), a positive target y (n,) with weights, and the products of powers that are compared."""

    def __init__(
        self, variables: tuple[Expression, ...], V: Floats, y: Floats, weights: Floats, transform: Transform,
        v: Vocabulary, kind: str,
    ) -> None:  # fmt: skip
        self.y, self.roots, self.transform, self.vocabulary = y, np.sqrt(weights), transform, v
        self.variables = variables
        scaled = kind in SCALED
        self.is_positive, self.n_refined = kind in TRANSFORMS, SCALED_REFINED if scaled else REFINED
        most = SCALED_FACTORS if scaled else MAX_FACTORS
        self.factors = products_of_powers(V, v, FACTOR_VARIABLES, most, EXPONENTS)
        self.terms = products_of_powers(V, v, TERM_VARIABLES, MAX_TERMS, EXPONENTS)[1:]
        d = len(V)
        powers: list[Powers] = [(0.0,) * d, *products_of_powers(V, v, 1, 1 + 6 * d, (1.0, 2.0))[1:]]
        self.P, self.M, self.U = (power_values(V, some) for some in (self.factors, self.terms, powers))
        self.inner = [v.monomial(self.variables, p) for p in powers]
        if kind == LOGARITHMS:
            self.inner = [ONE, *(v.apply("log", x) for x in self.variables)]
            self.U = np.vstack([np.ones_like(y), np.log(V)])
        self.length2 = float(np.sum(np.square(self.roots * y)))

    def best_pairs(self) -> list[tuple[int, int, float]]:
        """Factors, terms (−1 for none) and their coefficients, those with the shortest descriptions first."""
        parts = [self._losses(self.P[lo : lo + CHUNK]) for lo in range(0, len(self.P), CHUNK)]
        # The last column is that of no further term.
        losses = np.concatenate(parts)
        complexities = self._complexities()
        lengths = self._lengths(losses, complexities)
        order = np.argsort(lengths, axis=None, kind="stable")[: self.n_refined]
        factors, terms = np.unravel_index(order[np.isfinite(lengths.ravel()[order])], losses.shape)
        terms = np.where(terms == len(self.M), -1, terms)
        chunks = [slice(lo, lo + CHUNK) for lo in range(0, len(factors), CHUNK)]
        refined = [self._refined(factors[chunk], terms[chunk]) for chunk in chunks]
        if not refined:
            return []
        offsets, last = (np.concatenate(values) for values in zip(*refined, strict=True))
        best = np.argsort(self._lengths(last, complexities[factors, terms]), kind="stable")[:WRITTEN]
        return [(int(factors[i]), int(terms[i]), float(offsets[i])) for i in best if np.isfinite(last[i])]

    def _complexities(self) -> Floats:
        """Of factors and further terms: (n_factors, n_terms + 1), the last column that of no term."""
        of_factors = np.array([2.0 * np.count_nonzero(powers) for powers in self.factors])
        of_terms = np.array([4.0 + 2.0 * np.count_nonzero(powers) for powers in self.terms] + [0.0])
        found: Floats = np.add.outer(of_factors, of_terms)
        return found

    def _lengths(self, losses: Floats, complexities: Floats) -> Floats:
        shares = np.maximum(losses / self.length2, EXACT)
        lengths: Floats = np.array(approximate_length(len(self.y), shares, complexities))
        lengths[~np.isfinite(losses)] = np.inf
        return lengths

    def _refined(self, factors: Indices, terms: Indices) -> tuple[Floats, Floats]:
        """Coefficients of the further terms, and squared errors of y: (n_pairs,), (n_pairs,).

        The best of a grid of coefficients, and then Gauss–Newton steps between its neighbours: with a huge coefficient,
        the sum would reproduce the further term.
        """
        P, m = self.P[factors], np.where(terms[:, None] >= 0, self.M[terms], 0.0)
        grid = self._grid(m)
        tried = np.array([self._at(P, m, offsets)[1] for offsets in grid])
        best = np.argmin(tried, axis=0)
        every = np.arange(len(P))
        low, high = grid[np.maximum(best - 1, 0), every], grid[np.minimum(best + 1, len(grid) - 1), every]
        offsets = grid[best, every]
        for _ in range(STEPS):
            step, _ = self._at(P, m, offsets)
            offsets = np.clip(offsets + np.where(np.isfinite(step), step, 0.0), low, high)
        return offsets, self._at(P, m, offsets)[1]

    def _grid(self, m: Floats) -> Floats:
        """Coefficients of further terms m (n_pairs, n) in increasing order: (n_coefficients, n_pairs)."""
        if not self.is_positive:
            sizes = np.sqrt(np.mean(np.square(m), axis=1))
            units = np.sqrt(np.mean(np.square(self.y))) / np.where(sizes > 0.0, sizes, np.inf)
            found: Floats = np.multiply.outer(np.array(GRID_OF_BOTH_SIGNS), units)
            return found
        ratios = np.where(m > 0.0, self.y / np.where(m > 0.0, m, 1.0), np.inf)
        # Beyond the first one, what is left would not be positive.
        most, middle = ratios.min(axis=1), np.median(ratios, axis=1)
        units = np.where(np.isfinite(middle), np.array([most, middle]), 0.0)
        return np.array([share * units[0 if share > 0.0 else 1] for share in GRID])

    def _at(self, P: Floats, m: Floats, offsets: Floats) -> tuple[Floats, Floats]:
        """Gauss–Newton steps of the coefficients of further terms, and squared errors of y before: (n_pairs,) each."""
        t = (self.y - offsets[:, None] * m) / P
        z, scale = self.transform.function(t), P / self.transform.slope(t) * self.roots
        both = np.stack([scale * z, self.roots * m], axis=1)
        residual, column = residuals_of(self.U, scale, both).transpose(1, 0, 2)
        step = np.sum(residual * column, axis=1) / np.sum(np.square(column), axis=1)
        losses = np.sum(np.square(residual), axis=1)
        return step, np.where(np.isfinite(losses), losses, np.inf)

    def _losses(self, P: Floats) -> Floats:
        """Squared errors of y, to first order, with each further term, and without: (n_factors, n_terms + 1)."""
        t = self.y / P
        z, scale = self.transform.function(t), P / self.transform.slope(t) * self.roots
        A = scale[:, None, :] * self.U
        A, good = _unit_rows(A)
        lower = np.linalg.cholesky(A @ A.transpose(0, 2, 1) + RIDGE * np.eye(A.shape[1]))
        basis = np.linalg.solve(lower, A)  # orthonormal rows (c, k, n)
        target = np.where(good[:, None], scale * z, 0.0)
        residual = target - ((basis @ target[:, :, None]).transpose(0, 2, 1) @ basis)[:, 0]
        M = self.roots * self.M
        lengths2 = np.sum(np.square(M), axis=1)
        outside = lengths2 - np.sum(np.square(basis @ M.T), axis=1)
        alone = np.sum(np.square(residual), axis=1)[:, None]
        gains = np.square(residual @ M.T) / np.maximum(outside, 1e-6 * lengths2)
        return np.where(good[:, None], np.hstack([np.maximum(alone - gains, 0.0), alone]), np.inf)

    def written(self, factor: int, term: int, offset: float) -> tuple[Expression, ...] | None:
        """The terms of a composition, the sum with coefficients by linear least squares."""
        P = self.P[factor]
        t = (self.y - (offset * self.M[term] if term >= 0 else 0.0)) / P
        z, scale = self.transform.function(t), P / np.abs(self.transform.slope(t)) * self.roots
        if not ((t > 0.0).all() or not self.is_positive) or not (
            np.isfinite(z).all() and np.isfinite(scale).all()
        ):
            return None
        used, coefficients = pruned(self.U, z, scale)
        v, variables = self.vocabulary, self.variables
        try:
            inner = weighted_sum(v, coefficients, [self.inner[i] for i in used])
            whole = v.product([v.monomial(variables, self.factors[factor]), self.transform.inverse(v, inner)])
            other = () if term < 0 else (v.monomial(variables, self.terms[term]),)
        except NotAllowedError:
            return None
        return (whole, *other)


def _unit_rows(A: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Matrices (c, k, n) with rows of unit length, and which of them are finite; the others are zero."""
    A = A / np.linalg.norm(A, axis=2, keepdims=True)
    good: NDArray[np.bool_] = np.all(np.isfinite(A), axis=(1, 2))
    return np.where(good[:, None, None], A, 0.0), good


def pruned(U: Floats, z: Floats, scale: Floats) -> tuple[list[int], list[float]]:
    """Terms and coefficients of z ≈ Σ c·u with errors times `scale`, without terms that lengthen the description."""
    used, n = list(range(len(U))), len(z)
    length2 = float(np.sum(np.square(scale * z)))

    def fit(some: list[int]) -> tuple[Floats, float]:
        columns = (scale * U[some]).T
        lengths = np.linalg.norm(columns, axis=0)
        c = np.linalg.lstsq(columns / lengths, scale * z, rcond=None)[0] / lengths
        error = scale * z - columns @ c
        return c, max(float(error @ error) / length2, EXACT)

    c, loss = fit(used)
    while len(used) > 1:
        trials = [(fit(some), some) for k in range(len(used)) for some in [used[:k] + used[k + 1 :]]]
        (fewer, least), some = min(trials, key=lambda trial: trial[0][1])
        if approximate_length(n, least, -TERM_COMPLEXITY) > approximate_length(n, loss, 0.0):
            break
        used, c, loss = some, fewer, least
    return used, c.tolist()
