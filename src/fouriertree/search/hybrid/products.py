"""Functions of products: y ≈ c·P·f(a·Q) + d·m with products of powers P, Q and m.

Without the last term, log|y − d·m| = log|c| + Σ pᵢ·log xᵢ + log|f(a·Q)| is linear in the exponents pᵢ of P, so that P
need not be searched for.  Errors of the logarithm times y − d·m are errors of y, and to first order a change of d is
one more column, m/(y − d·m).  Two shapes stand for all functions f at first: every m is compared with simple products
Q, and the exponents of Q are fitted.  Then they are rounded, and all functions are tried with constants from a grid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE, NotAllowedError, Vocabulary
from fouriertree.projection.variable import residuals_of
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.evaluation import EXACT, Cost, Evaluation, Fronts, evaluate
from fouriertree.search.hybrid.functions import Powers, power_values, products_of_powers

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: positive features of a problem at least and at most
FEWEST, MOST = 2, 9
#: rows for comparisons, and problems that are compared at a time
ROWS, CHUNK = 150, 128
#: further terms, those with which exponents are fitted, their variables at most, and their sizes relative to that of y
MAX_TERMS, OPTIMIZED, TERM_VARIABLES = 1000, 150, 2
SIZES = (-2.5, -1.6, -1.0, -0.6, -0.4, -0.25, -0.15, 0.15, 0.25, 0.4, 0.6, 1.0, 1.6, 2.5)
#: products Q that are tried first, beside powers of one variable: pairs with these exponents
PAIR_EXPONENTS = (1.0, -1.0)
POWERS = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
#: products for each further term from which exponents are fitted, steps of these fits, and exponents at most
STARTS, STEPS, LARGEST_POWER = 3, 10, 4.0
#: damping of the steps at first, its factors after a step that was worse or better, and the largest change
DAMPING, WORSE, BETTER, LARGEST_STEP = 1e-2, 8.0, 0.25, 0.7
#: largest exponent to which fitted exponents are scaled before they are rounded to halves: their scale is not known yet
LARGEST = (1.0, 0.5, 2.0, -1.0, -0.5, -2.0)
#: further terms, and products for each of them, for which all functions are tried, and steps of their offsets
FINAL, FINAL_STEPS = (12, 6), 8
#: relative change of a constant for its slope
DIFFERENCE = 1e-4
#: compositions that are compared as sums for y, and that are written and fitted to all rows
COMPARED, WRITTEN = 150, 6
#: ridge of normal equations, and the largest change of d in one step, relative to the size of y
RIDGE, REACH = 1e-10, 0.3
#: |y − d·m| at least, relative to the size of y, where its logarithm is taken
SMALLEST = 1e-6
#: and relative to its own size, where it is a weight; and the largest logarithm
FLOOR, HUGE = 0.005, 50.0
#: reaches a·Q of functions: of smooth ones, of waves, and of those that end at 1
SMOOTH, WAVES, BOUNDED = (
    (0.35, 0.6, 0.9, 1.3, 1.9, 2.7, 3.8, 5.5, 8.0, 14.0),
    tuple(np.arange(0.6, 7.6, 0.45)),
    (0.5, 0.7, 0.8, 0.88, 0.95, 0.99),
)
#: quantiles of Q at which the logarithm of a multiple is zero
ZEROS = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
#: complexity of a variable with its exponent in a product, and of a further term
VARIABLE, TERM = 2.0, 4.0


class Function(NamedTuple):
    """f with the values of a·Q that it takes at the upper end of Q, and how f(a·Q) is written."""

    values: Callable[[Floats], Floats]
    reaches: Sequence[float]
    write: Callable[[Vocabulary, Expression], Expression]


def _named(name: str) -> Callable[[Vocabulary, Expression], Expression]:
    return lambda v, u: v.apply(name, u)


def _power_of_sum(power: float) -> Callable[[Vocabulary, Expression], Expression]:
    return lambda v, u: v.power(v.apply("add", ONE, u), power)


FUNCTIONS = {
    "exp": Function(np.exp, (*SMOOTH, *(-reach for reach in SMOOTH)), _named("exp")),
    "sin": Function(np.sin, WAVES, _named("sin")),
    "cos": Function(np.cos, WAVES, _named("cos")),
    "tanh": Function(np.tanh, SMOOTH, _named("tanh")),
    "sinh": Function(np.sinh, SMOOTH, _named("sinh")),
    "atan": Function(np.arctan, SMOOTH, _named("atan")),
    "asin": Function(np.arcsin, BOUNDED, _named("asin")),
    "log": Function(np.log, (), _named("log")),
    "1/(1 + u)": Function(lambda u: 1.0 / (1.0 + u), (*SMOOTH, *(-r for r in BOUNDED)), _power_of_sum(-1.0)),
    "sqrt(1 + u)": Function(lambda u: np.sqrt(1.0 + u), (*SMOOTH, *(-r for r in BOUNDED)), _power_of_sum(0.5)),
    "1/sqrt(1 + u)": Function(lambda u: (1.0 + u) ** -0.5, (*SMOOTH, *(-r for r in BOUNDED)), _power_of_sum(-0.5)),
}  # fmt: skip


#: what stands for log|f| while exponents are fitted, and the slope by log u
SHAPES: tuple[tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]], ...] = (
    (lambda u: u, lambda u: u), (np.log1p, lambda u: u / (1.0 + u)),
)  # fmt: skip


def product_candidates(context: SearchContext, fronts: Fronts) -> Evaluation:
    """Functions of products."""
    v, data = context.vocabulary, context.data
    rows = data.screening[:ROWS]
    V, y, roots = data.X[rows].T, data.y[rows], np.sqrt(data.weights[rows])
    if not (v.complete and FEWEST <= len(V) <= MOST and (V > 0.0).all() and y.any()):
        return Evaluation()
    problem = _Problem(V, y, roots, v)
    models = dict.fromkeys(filter(None, map(problem.written, problem.best())))
    return Evaluation(cost=Cost(problem.n_compared, problem.n_compared)) + evaluate(
        context, list(models), fronts
    )


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Further terms with their coefficients, and products Q, (c,) and (c, d)."""

    terms: Indices
    offsets: Floats
    powers: Floats
    lengths: Floats  #: of the descriptions of y

    def take(self, which: Indices) -> _Pairs:
        return _Pairs(self.terms[which], self.offsets[which], self.powers[which], self.lengths[which])

    def best(self, n_terms: int, of_each: int) -> _Pairs:
        """The best products for each of the best further terms, the shortest description first."""
        order = np.argsort(self.lengths, kind="stable")
        order = order[np.isfinite(self.lengths[order])]
        _, first = np.unique(np.column_stack([self.terms, self.powers])[order], axis=0, return_index=True)
        order = order[np.sort(first)]
        counts: Counter[int] = Counter()
        kept = []
        for i, term in zip(order.tolist(), self.terms[order].tolist(), strict=True):
            counts[term] += 1
            if counts[term] <= of_each and len(counts) <= n_terms:
                kept.append(i)
        return self.take(np.array(kept, np.intp))

    @classmethod
    def joined(cls, parts: Sequence[_Pairs]) -> _Pairs:
        names = ("terms", "offsets", "powers", "lengths")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class _Composition(NamedTuple):
    """c·P·f(a·Q) + d·m, of which c and d are fitted later."""

    outer: Powers
    function: str
    constant: float
    inner: Powers
    term: int


class _Problem:
    """Variables V (d, n), all positive, a target y (n,) and the roots of the weights."""

    def __init__(self, V: Floats, y: Floats, roots: Floats, v: Vocabulary) -> None:
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
        self.n_compared = 0

    # Comparisons ------------------------------------------------------------------------------------------------
    def best(self) -> list[_Composition]:
        """Compositions with the shortest descriptions, the shortest first."""
        parts = [
            self._rounded(self._optimized(self._first_pairs(shape), shape)) for shape in range(len(SHAPES))
        ]
        return self._with_functions(_Pairs.joined(parts).best(*FINAL))

    def _first_pairs(self, shape: int) -> _Pairs:
        """All further terms with all simple products."""
        powers = np.array(list(self._simple_products()))
        values, costs = SHAPES[shape][0](self._products(powers)), self._costs(powers)
        targets = [(0, 0.0), *product(range(1, len(self.M)), SIZES)]
        terms, sizes = np.array([t for t, _ in targets]), np.array([s for _, s in targets])
        scales = np.sqrt(np.mean(np.square(self.M), axis=1))
        scales[0] = 1.0
        offsets = sizes * self.size / scales[terms]
        parts = []
        for lo in range(0, len(terms), CHUNK):
            some = slice(lo, lo + CHUNK)
            losses = self._losses(terms[some], offsets[some], values)
            lengths = self._lengths(losses, self.term_costs[terms[some]][:, None] + costs)
            best = np.argsort(lengths, axis=1)[:, :STARTS]
            which = np.repeat(np.arange(len(best)), best.shape[1])
            parts.append(
                _Pairs(
                    terms[some][which],
                    offsets[some][which],
                    powers[best.ravel()],
                    lengths[which, best.ravel()],
                )
            )
        return _Pairs.joined(parts).best(OPTIMIZED, STARTS)

    def _simple_products(self) -> Iterator[tuple[float, ...]]:
        d = len(self.V)
        for i in range(d):
            for p in POWERS:
                yield tuple(p if k == i else 0.0 for k in range(d))
        for i, j in combinations(range(d), 2):
            for p, q in product(PAIR_EXPONENTS, repeat=2):
                yield tuple(p if k == i else q if k == j else 0.0 for k in range(d))

    def _optimized(self, pairs: _Pairs, shape: int) -> _Pairs:
        """With exponents of Q, and coefficients of the further terms, that are fitted by Levenberg–Marquardt steps."""
        parts = [
            self._chunk_optimized(pairs.take(np.arange(lo, min(lo + CHUNK, len(pairs.terms)))), shape)
            for lo in range(0, len(pairs.terms), CHUNK)
        ]
        return _Pairs.joined(parts)

    def _chunk_optimized(self, pairs: _Pairs, shape: int) -> _Pairs:
        c, d = pairs.powers.shape
        terms, damping, best = pairs.terms, np.full(c, DAMPING), np.full(c, np.inf)
        # The logarithm of the scale of Q is one more parameter.
        at = np.column_stack([pairs.offsets, pairs.powers, -np.log(self._units(pairs.powers))])
        known, step = at.copy(), np.zeros_like(at)
        for _ in range(STEPS):
            losses, offsets, new_step = self._linearized(terms, at, shape, damping)
            better = losses < best
            damping = np.clip(damping * np.where(better, BETTER, WORSE), 1e-8, 1e8)
            best = np.where(better, losses, best)
            known[better], step[better] = at[better], new_step[better]
            known[better, 0] = offsets[better]
            step[~better] /= WORSE
            at = known + step
            at[:, 1 : 1 + d] = np.clip(at[:, 1 : 1 + d], -LARGEST_POWER, LARGEST_POWER)
        return _Pairs(terms, known[:, 0], known[:, 1 : 1 + d], self._lengths(best, self.term_costs[terms]))

    def _linearized(
        self, terms: Indices, at: Floats, shape: int, damping: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Squared errors of y with the best offset and coefficient of the shape, that offset, and the next step."""
        value, slope = SHAPES[shape]
        u = np.exp(np.minimum(at[:, 1:-1] @ self.logs + at[:, -1:], 50.0))
        columns = np.concatenate(
            [np.broadcast_to(self.logs, (len(u), *self.logs.shape)), np.ones_like(u)[:, None]], 1
        )
        z, by_offset, w = self._logarithm(terms, at[:, 0])
        parts = [z[:, None], by_offset[:, None], value(u)[:, None], slope(u)[:, None] * columns]
        residuals = residuals_of(self.linear, w, w[:, None] * np.concatenate(parts, axis=1))
        self.n_compared += len(u)
        gram = residuals @ residuals.transpose(0, 2, 1)
        # The best offset and coefficient for these exponents.
        two = _solved(gram[:, 1:3, 1:3], gram[:, 1:3, 0], 0.0)
        left = residuals[:, 0] - np.sum(two[:, :, None] * residuals[:, 1:3], axis=1)
        offsets = self._moved(terms, at[:, 0], two[:, 0])
        logs = z - left / w - two[:, :1] * by_offset
        losses = self._losses_of(
            np.abs(self.y - offsets[:, None] * self.M[terms]), np.exp(np.minimum(logs, HUGE))
        )
        # Slopes by the exponents are those of the shape times its coefficient.
        factors = np.ones(gram.shape[:2])
        factors[:, 3:] = two[:, 1:2]
        scaled = gram * factors[:, :, None] * factors[:, None, :]
        moves = _solved(scaled[:, 1:, 1:], scaled[:, 1:, 0], damping)[:, 2:]
        moves = np.clip(np.where(np.isfinite(moves), moves, 0.0), -LARGEST_STEP, LARGEST_STEP)
        return losses, offsets, np.column_stack([np.zeros(len(moves)), moves])

    def _moved(self, terms: Indices, offsets: Floats, changes: Floats) -> Floats:
        """Offsets after limited changes."""
        units = self.size / np.maximum(np.sqrt(np.mean(np.square(self.M[terms]), axis=1)), SMALLEST)
        changes = np.clip(np.nan_to_num(changes), -REACH * units, REACH * units)
        most = SIZES[-1] * units
        found: Floats = np.where(terms > 0, np.clip(offsets + changes, -most, most), 0.0)
        return found

    def _rounded(self, pairs: _Pairs) -> _Pairs:
        """With exponents of Q that are multiples of a half, for several scales of them."""
        parts = []
        scales = np.abs(pairs.powers).max(axis=1, keepdims=True)
        for largest in LARGEST:
            powers = np.round(2.0 * largest * pairs.powers / np.where(scales > 0.0, scales, 1.0)) / 2.0
            proper = powers.any(axis=1)
            changed = _Pairs(pairs.terms, pairs.offsets, powers, pairs.lengths)
            parts.append(changed.take(np.flatnonzero(proper)))
        return _Pairs.joined(parts)

    def _with_functions(self, pairs: _Pairs) -> list[_Composition]:
        """Every function with constants from its grid, as sums for y."""
        found: list[tuple[float, int, str, float, float]] = []
        U = self._products(pairs.powers)
        for i in range(len(pairs.terms)):
            tried = [(name, a) for name, f in self._allowed() for a in _constants(name, f, U[i])]
            names, constants = [name for name, _ in tried], np.array([a for _, a in tried])
            terms, offsets = np.full(len(tried), pairs.terms[i]), np.full(len(tried), pairs.offsets[i])
            losses, known = np.full(len(tried), np.inf), (offsets, constants)
            for _ in range(FINAL_STEPS):
                here = offsets, constants
                fitted, offsets, constants = self._fitted(terms, *here, names, U[i])
                better = fitted < losses
                losses = np.where(better, fitted, losses)
                known = (np.where(better, here[0], known[0]), np.where(better, here[1], known[1]))
            lengths = self._lengths(losses, self._costs(pairs.powers[i : i + 1]) + self.term_costs[terms])
            found += zip(
                lengths.tolist(), [i] * len(tried), names, *(k.tolist() for k in known[::-1]), strict=True
            )
        found = sorted(entry for entry in found if np.isfinite(entry[0]))[:COMPARED]
        sums = [self._as_sum(pairs, U, *entry[1:]) for entry in found]
        best: dict[_Composition, float] = {}
        for length, composition in sorted(sums, key=lambda entry: entry[0]):
            same = composition._replace(constant=0.0)
            if np.isfinite(length) and all(same != known._replace(constant=0.0) for known in best):
                best[composition] = length
        return list(best)[:WRITTEN]

    def _as_sum(
        self, pairs: _Pairs, U: Floats, i: int, name: str, a: float, offset: float
    ) -> tuple[float, _Composition]:
        """A composition with exponents of P rounded to halves, and the length of its description of y."""
        term, values = int(pairs.terms[i]), FUNCTIONS[name].values(a * U[i])
        rest = self.y - offset * self.M[term]
        z = np.log(np.maximum(np.abs(rest), SMALLEST * self.size))
        z -= np.log(np.maximum(np.abs(values), SMALLEST))
        w = self.roots * np.abs(rest)
        exponents = np.linalg.lstsq((w * self.linear).T, w * z, rcond=None)[0][1:]
        outer = tuple((np.round(2.0 * exponents) / 2.0 + 0.0).tolist())
        inner = tuple(pairs.powers[i].tolist())
        composition = _Composition(
            outer, name, float(a / self._units(pairs.powers[i : i + 1])[0]), inner, term
        )
        columns = [np.exp(np.array(outer) @ self.logs) * values, *([self.M[term]] if term else [])]
        A = (self.roots * np.array(columns)).T
        if not np.isfinite(A).all() or max(map(abs, outer)) > 2.0 * LARGEST_POWER:
            return np.inf, composition
        scales = np.linalg.norm(A, axis=0)
        solution = np.linalg.lstsq(A / scales, self.roots * self.y, rcond=None)[0]
        error = self.roots * self.y - A / scales @ solution
        cost = self._costs(np.array([outer, inner])).sum() + self.term_costs[term]
        return float(self._lengths(np.array(error @ error), np.array(cost))), composition

    def _allowed(self) -> list[tuple[str, Function]]:
        v = self.vocabulary
        named = [name for name in FUNCTIONS if "u" in name or name in v]
        return [(name, FUNCTIONS[name]) for name in named]

    # Linear least squares -----------------------------------------------------------------------------------------
    def _fitted(
        self, terms: Indices, offsets: Floats, constants: Floats, names: Sequence[str], u: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Squared errors of y, to first order, better offsets and constants of functions of a·u, one per problem."""
        self.n_compared += len(names)
        z, by_offset, w = self._logarithm(terms, offsets)
        factors = (1.0, 1.0 + DIFFERENCE, 1.0 - DIFFERENCE)
        (logs, signs), (above, _), (below, _) = (
            _logs(names, factor * constants[:, None] * u) for factor in factors
        )
        slopes = (above - below) / (2.0 * DIFFERENCE)
        residuals = residuals_of(self.linear, w, w[:, None] * np.stack([z - logs, by_offset, slopes], axis=1))
        gram = residuals @ residuals.transpose(0, 2, 1)
        alone = np.where(gram[:, 1, 1] > 0.0, gram[:, 0, 1] / gram[:, 1, 1], 0.0)
        left = residuals[:, 0] - alone[:, None] * residuals[:, 1]
        moved = self._moved(terms, offsets, alone)
        rest = z - left / w - alone[:, None] * by_offset
        predicted = signs * np.exp(np.minimum(rest, HUGE))
        losses = self._losses_of(self.y - moved[:, None] * self.M[terms], predicted)
        both = _solved(gram[:, 1:, 1:], gram[:, 1:, 0], 1e-6)
        change = np.clip(np.nan_to_num(both[:, 1]), -LARGEST_STEP, LARGEST_STEP)
        return losses, self._moved(terms, offsets, both[:, 0]), constants * np.exp(change)

    def _losses_of(self, targets: Floats, predicted: Floats) -> Floats:
        """Squared errors of targets by the best multiples of predictions (c, n), infinite where they are not finite."""
        weights = np.square(self.roots)
        product = np.sum(weights * targets * predicted, axis=1)
        losses = np.sum(weights * np.square(targets), axis=1)
        losses = losses - np.square(product) / np.sum(weights * np.square(predicted), axis=1)
        return np.where(np.isfinite(losses), np.maximum(losses, 0.0), np.inf)

    def _losses(self, terms: Indices, offsets: Floats, shapes: Floats) -> Floats:
        """As `_fitted`, of all shapes (s, n) with each problem, by matrix products: (c, s)."""
        z, slope, w = self._logarithm(terms, offsets)
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

    def _logarithm(self, terms: Indices, offsets: Floats) -> tuple[Floats, Floats, Floats]:
        """log|t| of t = y − d·m, m/t, and the roots of the weights under which its errors are those of y: (c, n)."""
        m = self.M[terms]
        t = self.y - offsets[:, None] * m
        least = SMALLEST * self.size
        t = np.where(np.abs(t) < least, least, t)
        # Where t is smaller, its logarithm is that of an error, but a large prediction would be wrong.
        sizes = np.maximum(np.abs(t), FLOOR * np.sqrt(np.mean(np.square(t), axis=1, keepdims=True)))
        return np.log(np.abs(t)), m / t, self.roots * sizes

    def _products(self, powers: Floats) -> Floats:
        """Products of powers (c, n), each of mean square 1."""
        found: Floats = np.exp(powers @ self.logs) / self._units(powers)[:, None]
        return found

    def _units(self, powers: Floats) -> Floats:
        found: Floats = np.sqrt(np.mean(np.square(np.exp(powers @ self.logs)), axis=1))
        return found

    def _costs(self, powers: Floats) -> Floats:
        """Complexities of products: (c,)."""
        whole = np.count_nonzero(powers, axis=1) + np.count_nonzero(np.abs(powers) % 1.0, axis=1)
        found: Floats = VARIABLE * whole
        return found

    def _lengths(self, losses: Floats, complexities: Floats) -> Floats:
        shares = np.maximum(losses / self.length2, EXACT)
        lengths: Floats = np.array(approximate_length(len(self.y), shares, complexities))
        return np.where(np.isfinite(losses), lengths, np.inf)

    # Expressions ----------------------------------------------------------------------------------------------------
    def written(self, found: _Composition) -> tuple[Expression, ...] | None:
        """The terms of a composition; None where the operators do not suffice."""
        v, variables = self.vocabulary, [Expression.variable(i) for i in range(len(self.V))]
        term = self.terms[found.term]
        try:
            inner = v.apply("mul", Expression.constant(found.constant), v.monomial(variables, found.inner))
            applied = FUNCTIONS[found.function].write(v, inner)
            whole = v.product([v.monomial(variables, found.outer), applied])
            return (whole,) if term is None else (whole, v.monomial(variables, term))
        except NotAllowedError:
            return None


def _solved(matrices: Floats, right: Floats, damping: Floats | float) -> Floats:
    """Solutions of normal equations (c, k, k), with Levenberg–Marquardt damping relative to the diagonal: (c, k)."""
    k = matrices.shape[1]
    diagonal = np.einsum("ijj->ij", matrices)
    roots = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scaled = np.nan_to_num(matrices / (roots[:, :, None] * roots[:, None, :]))
    scaled = scaled + (RIDGE + np.broadcast_to(damping, len(scaled)))[:, None, None] * np.eye(k)
    found: Floats = np.linalg.solve(scaled, np.nan_to_num(right / roots)[:, :, None])[:, :, 0] / roots
    return found


def _logs(names: Sequence[str], arguments: Floats) -> tuple[Floats, Floats]:
    """log|f| and the sign of f, of one function for each row of arguments."""
    values = np.array([FUNCTIONS[name].values(u) for name, u in zip(names, arguments, strict=True)])
    return np.log(np.maximum(np.abs(values), SMALLEST)), np.sign(values)


def _constants(name: str, f: Function, u: Floats) -> list[float]:
    """Constants a of f(a·u) on a grid."""
    if name == "log":
        low, high = float(u.min()), float(u.max())
        return [1.0 / zero for zero in (0.3 * low, *np.quantile(u, ZEROS).tolist(), 3.0 * high)]
    high = float(u.max() if f.reaches is BOUNDED or min(f.reaches) < 0.0 else np.quantile(u, 0.95))
    return [reach / high for reach in f.reaches]
