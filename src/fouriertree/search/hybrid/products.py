"""Functions of products: y ≈ c·P·f(a·Q) + d·m with products of powers P, Q and m.

Without the last term, log|y − d·m| = log|c| + Σ pᵢ·log xᵢ + log|f(a·Q)| is linear in the exponents pᵢ of P, so that P
need not be searched for.  Errors of the logarithm times y − d·m are errors of y, and to first order a change of d is
one more column, m/(y − d·m).  Two shapes stand for all functions f at first: every m is compared with simple products
Q, and the exponents of Q are fitted.  Then they are rounded, and all functions are tried with constants from a grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE, NotAllowedError, Vocabulary
from fouriertree.projection.variable import residuals_of
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.evaluation import Cost, Evaluation, Fronts, evaluate
from fouriertree.search.hybrid.functions import Powers
from fouriertree.search.hybrid.logarithms import (
    HUGE,
    LARGEST_STEP,
    POWERS,
    SMALLEST,
    VARIABLE,
    LogProblem,
    Pairs,
    solved,
)
from fouriertree.search.hybrid.reductions import Reduction
from fouriertree.search.hybrid.transforms import models_for_target

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: products Q that are tried first, beside powers of one variable: pairs with these exponents
PAIR_EXPONENTS = (1.0, -1.0)
#: exponents at most while they are fitted
LARGEST_POWER = 4.0
#: largest exponent to which fitted exponents are scaled before they are rounded to halves: their scale is not known yet
LARGEST = (1.0, 0.5, 2.0, -1.0, -0.5, -2.0)
#: further terms, and products for each of them, for which all functions are tried
FINAL = 12, 6
#: steps of their constants and offsets, and the functions that are continued after the first ones
FINAL_STEPS, FIRST_STEPS, CONTINUED = 8, 2, 30
#: relative change of a constant for its slope
DIFFERENCE = 1e-4
#: compositions that are compared as sums for y, and that are written and fitted to all rows
COMPARED, WRITTEN = 150, 6
#: reaches a·Q of functions: of smooth ones, of waves, and of those that end at 1
SMOOTH, WAVES, BOUNDED = (
    (0.35, 0.6, 0.9, 1.3, 1.9, 2.7, 3.8, 5.5, 8.0, 14.0),
    tuple(np.arange(0.6, 7.6, 0.45)),
    (0.5, 0.7, 0.8, 0.88, 0.95, 0.99),
)
#: reaches of −a·Q in powers of 1 − a·Q
BELOW_ONE = (0.1, 0.25, *BOUNDED)
#: quantiles of Q at which the logarithm of a multiple is zero
ZEROS = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)


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
    "1/(1 + u)": Function(lambda u: 1.0 / (1.0 + u), (*SMOOTH, *(-r for r in BELOW_ONE)), _power_of_sum(-1.0)),
    "sqrt(1 + u)": Function(lambda u: np.sqrt(1.0 + u), (*SMOOTH, *(-r for r in BELOW_ONE)), _power_of_sum(0.5)),
    "1/sqrt(1 + u)": Function(lambda u: (1.0 + u) ** -0.5, (*SMOOTH, *(-r for r in BELOW_ONE)), _power_of_sum(-0.5)),
}  # fmt: skip


#: functions that are seldom a factor of a sum
RARE = frozenset(("asin", "atan", "sinh", "log"))


class ProductShape:
    """φ(Q) of a product of powers Q, with the exponents and the logarithm of its scale as parameters."""

    largest = LARGEST_POWER

    def __init__(
        self, logs: Floats, value: Callable[[Floats], Floats], slope: Callable[[Floats], Floats]
    ) -> None:
        self.value, self.slope = value, slope
        self.columns = np.vstack([logs, np.ones(logs.shape[1])])
        powers = np.array(list(_simple_products(len(logs))))
        self.starts = np.column_stack([powers, -np.log(_units(powers, logs))])
        self.costs = costs_of(powers)

    def __call__(self, parameters: Floats) -> tuple[Floats, Floats]:
        u = np.exp(np.minimum(parameters @ self.columns, HUGE))
        return self.value(u), self.slope(u)[:, None] * self.columns


def shapes(logs: Floats) -> list[ProductShape]:
    """What stands for log|f|, with slopes by log u."""
    return [
        ProductShape(logs, lambda u: u, lambda u: u),
        ProductShape(logs, np.log1p, lambda u: u / (1.0 + u)),
    ]


def _simple_products(d: int) -> Iterator[tuple[float, ...]]:
    """Exponents of products of one or two of d variables."""
    for i in range(d):
        for p in POWERS:
            yield tuple(p if k == i else 0.0 for k in range(d))
    for i, j in combinations(range(d), 2):
        for p, q in product(PAIR_EXPONENTS, repeat=2):
            yield tuple(p if k == i else q if k == j else 0.0 for k in range(d))


def _units(powers: Floats, logs: Floats) -> Floats:
    """Root mean squares of products of powers (c, d)."""
    found: Floats = np.sqrt(np.mean(np.square(np.exp(powers @ logs)), axis=1))
    return found


def costs_of(powers: Floats) -> Floats:
    """Complexities of products of powers (c, d)."""
    whole = np.count_nonzero(powers, axis=1) + np.count_nonzero(np.abs(powers) % 1.0, axis=1)
    found: Floats = VARIABLE * whole
    return found


def product_candidates(context: SearchContext, reduction: Reduction, fronts: Fronts) -> Evaluation:
    """Functions of products, for a reduced problem."""
    problem = LogProblem.of(context, reduction)
    if problem is None:
        return Evaluation()
    compositions = _Compositions(problem)
    v, written = problem.vocabulary, dict.fromkeys(map(compositions.written, compositions.best()))
    cost = Cost(problem.n_compared, problem.n_compared)
    return Evaluation(cost=cost) + evaluate(context, models_for_target(v, reduction, written), fronts)


class _Composition(NamedTuple):
    """c·P·f(a·Q) + d·m, of which c and d are fitted later."""

    outer: Powers
    function: str
    constant: float
    inner: Powers
    term: int


class _Compositions:
    """Functions of products for a target behind a logarithm."""

    def __init__(self, problem: LogProblem) -> None:
        self.problem, self.vocabulary = problem, problem.vocabulary

    def best(self) -> list[_Composition]:
        """Compositions with the shortest descriptions, the shortest first."""
        problem = self.problem
        fits = [problem.optimized(problem.first_pairs(shape), shape) for shape in shapes(problem.logs)]
        return self._with_functions(Pairs.joined([self._rounded(pairs) for pairs in fits]).best(*FINAL))

    def _rounded(self, pairs: Pairs) -> Pairs:
        """With exponents of Q that are multiples of a half, for several scales of them."""
        fitted, parts = pairs.parameters[:, :-1], []
        scales = np.abs(fitted).max(axis=1, keepdims=True)
        for largest in LARGEST:
            powers = np.round(2.0 * largest * fitted / np.where(scales > 0.0, scales, 1.0)) / 2.0
            changed = replace(pairs, parameters=powers)
            parts.append(changed.take(np.flatnonzero(powers.any(axis=1))))
        return Pairs.joined(parts)

    def _with_functions(self, pairs: Pairs) -> list[_Composition]:
        """Every function with constants from its grid, as sums for y."""
        U = self._products(pairs.parameters)
        found = [entry for i in range(len(pairs.terms)) for entry in self._fits_of(pairs, i, U[i])]
        found = sorted(entry for entry in found if np.isfinite(entry[0]))[:COMPARED]
        sums = [self._as_sum(pairs, U, *entry[1:]) for entry in found]
        best: dict[_Composition, float] = {}
        for length, composition in sorted(sums, key=lambda entry: entry[0]):
            same = composition._replace(constant=0.0)
            if np.isfinite(length) and all(same != known._replace(constant=0.0) for known in best):
                best[composition] = length
        return list(best)[:WRITTEN]

    def _fits_of(self, pairs: Pairs, i: int, u: Floats) -> list[tuple[float, int, str, float, float]]:
        """Functions of one product with their description lengths, constants, and offsets of the further term."""
        tried = [
            (name, a) for name, f in allowed_functions(self.vocabulary) for a in constants_of(name, f, u)
        ]
        names, constants = np.array([name for name, _ in tried]), np.array([a for _, a in tried])
        offsets = np.full(len(tried), pairs.offsets[i])
        losses, known = np.full(len(tried), np.inf), (offsets, constants)
        for step in range(FINAL_STEPS):
            here = offsets, constants
            fitted, offsets, constants = self._fitted(int(pairs.terms[i]), *here, names, u)
            better = fitted < losses
            losses = np.where(better, fitted, losses)
            known = (np.where(better, here[0], known[0]), np.where(better, here[1], known[1]))
            if step == FIRST_STEPS - 1:
                kept = np.argsort(losses, kind="stable")[:CONTINUED]
                names, losses, offsets, constants = names[kept], losses[kept], offsets[kept], constants[kept]
                known = known[0][kept], known[1][kept]
        cost = costs_of(pairs.parameters[i : i + 1])[0] + self.problem.term_costs[pairs.terms[i]]
        lengths = self.problem.lengths(losses, np.full(len(losses), cost))
        numbers = (values.tolist() for values in (lengths, names, known[1], known[0]))
        return [(length, i, name, a, offset) for length, name, a, offset in zip(*numbers, strict=True)]

    def _as_sum(
        self, pairs: Pairs, U: Floats, i: int, name: str, a: float, offset: float
    ) -> tuple[float, _Composition]:
        """A composition with exponents of P rounded to halves, and the length of its description of y."""
        term, values = int(pairs.terms[i]), FUNCTIONS[name].values(a * U[i])
        rest = self.problem.y - offset * self.problem.M[term]
        z = np.log(np.maximum(np.abs(rest), SMALLEST * self.problem.size))
        z -= np.log(np.maximum(np.abs(values), SMALLEST))
        w = self.problem.roots * np.abs(rest)
        exponents = np.linalg.lstsq((w * self.problem.linear).T, w * z, rcond=None)[0][1:]
        outer = tuple((np.round(2.0 * exponents) / 2.0 + 0.0).tolist())
        inner = tuple(pairs.parameters[i].tolist())
        composition = _Composition(
            outer, name, float(a / _units(pairs.parameters[i : i + 1], self.problem.logs)[0]), inner, term
        )
        columns = [
            np.exp(np.array(outer) @ self.problem.logs) * values,
            *([self.problem.M[term]] if term else []),
        ]
        A = (self.problem.roots * np.array(columns)).T
        if not np.isfinite(A).all() or max(map(abs, outer)) > 2.0 * LARGEST_POWER:
            return np.inf, composition
        scales = np.linalg.norm(A, axis=0)
        solution = np.linalg.lstsq(A / scales, self.problem.roots * self.problem.y, rcond=None)[0]
        error = self.problem.roots * self.problem.y - A / scales @ solution
        cost = costs_of(np.array([outer, inner])).sum() + self.problem.term_costs[term]
        return float(self.problem.lengths(np.array(error @ error), np.array(cost))), composition

    # Linear least squares -----------------------------------------------------------------------------------------
    def _fitted(
        self, term: int, offsets: Floats, constants: Floats, names: NDArray[np.str_], u: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Squared errors of y, to first order, better offsets and constants of functions of a·u, one per problem."""
        self.problem.n_compared += len(names)
        terms = np.full(len(names), term)
        z, by_offset, w = self.problem.logarithm(terms, offsets)
        factors = (1.0, 1.0 + DIFFERENCE, 1.0 - DIFFERENCE)
        (logs, signs), (above, _), (below, _) = (
            _logs(names, factor * constants[:, None] * u) for factor in factors
        )
        slopes = (above - below) / (2.0 * DIFFERENCE)
        residuals = residuals_of(
            self.problem.linear, w, w[:, None] * np.stack([z - logs, by_offset, slopes], axis=1)
        )
        gram = residuals @ residuals.transpose(0, 2, 1)
        alone = np.where(gram[:, 1, 1] > 0.0, gram[:, 0, 1] / gram[:, 1, 1], 0.0)
        left = residuals[:, 0] - alone[:, None] * residuals[:, 1]
        moved = self.problem.moved(terms, offsets, alone)
        rest = z - left / w - alone[:, None] * by_offset
        predicted = signs * np.exp(np.minimum(rest, HUGE))
        losses = self.problem.losses_of(self.problem.y - moved[:, None] * self.problem.M[terms], predicted)
        both = solved(gram[:, 1:, 1:], gram[:, 1:, 0], 1e-6)
        change = np.clip(np.nan_to_num(both[:, 1]), -LARGEST_STEP, LARGEST_STEP)
        return losses, self.problem.moved(terms, offsets, both[:, 0]), constants * np.exp(change)

    def _products(self, powers: Floats) -> Floats:
        """Products of powers (c, n), each of mean square 1."""
        logs = self.problem.logs
        found: Floats = np.exp(powers @ logs) / _units(powers, logs)[:, None]
        return found

    # Expressions ----------------------------------------------------------------------------------------------------
    def written(self, found: _Composition) -> tuple[Expression, ...] | None:
        """The terms of a composition; None where the operators do not suffice."""
        v, variables = self.vocabulary, self.problem.variables
        term = self.problem.terms[found.term]
        try:
            inner = v.apply("mul", Expression.constant(found.constant), v.monomial(variables, found.inner))
            applied = FUNCTIONS[found.function].write(v, inner)
            whole = v.product([v.monomial(variables, found.outer), applied])
            return (whole,) if term is None else (whole, v.monomial(variables, term))
        except NotAllowedError:
            return None


def _logs(names: NDArray[np.str_], arguments: Floats) -> tuple[Floats, Floats]:
    """log|f| and the sign of f, of one function for each row of arguments."""
    values = np.empty_like(arguments)
    for name in np.unique(names).tolist():
        values[names == name] = FUNCTIONS[name].values(arguments[names == name])
    return np.log(np.maximum(np.abs(values), SMALLEST)), np.sign(values)


def allowed_functions(v: Vocabulary) -> list[tuple[str, Function]]:
    """Those that the operators suffice for."""
    return [(name, FUNCTIONS[name]) for name in FUNCTIONS if "u" in name or name in v]


def constants_of(name: str, f: Function, u: Floats) -> list[float]:
    """Constants a of f(a·u) on a grid."""
    if name == "log":
        low, high = float(u.min()), float(u.max())
        return [1.0 / zero for zero in (0.3 * low, *np.quantile(u, ZEROS).tolist(), 3.0 * high)]
    high = float(u.max() if f.reaches is BOUNDED or min(f.reaches) < 0.0 else np.quantile(u, 0.95))
    return [reach / high for reach in f.reaches]
