"""Powers of sums: y ≈ c·P·S^γ + d·m with products of powers P and m, and a sum S of multiples of variables and squares.

Behind the logarithm, the coefficients of S, the exponents of P, γ and d are fitted together, whatever the signs of y.
Then γ and the exponents are rounded, and S follows by linear least squares, without terms that hardly matter.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE, NotAllowedError
from fouriertree.search.hybrid.compositions import pruned
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.evaluation import Cost, Evaluation, Fronts, evaluate
from fouriertree.search.hybrid.logarithms import LogProblem, Pairs
from fouriertree.search.hybrid.reductions import Reduction
from fouriertree.search.hybrid.transforms import models_for_target, weighted_sum

Floats = NDArray[np.float64]

#: coefficients of one term of S at first, beside a constant of 1; and of the constant, all variables and all squares
FIRST, TOGETHER = (0.3, 1.0, 4.0), ((0.0, 1.0, 0.0), (1.0, 0.5, 0.0), (0.1, 0.3, 0.3))
#: coefficients of S at most while they are fitted, and values of S at least
LARGEST_COEFFICIENT, LEAST = 1e3, 1e-3
#: exponents γ, how far the fitted one may be away, and further terms for which the rest is tried
EXPONENTS, NEAR, FINAL = (-1.0, 0.5, -0.5, 2.0, -2.0, 1.5), 0.6, 30
#: complexity of a term of S
TERM_COMPLEXITY = 4.0


class SumShape:
    """log S of a sum S = Σ b·u of a constant, variables and squares, with its coefficients b as parameters."""

    largest = LARGEST_COEFFICIENT

    def __init__(self, V: Floats) -> None:
        d, n = V.shape
        self.terms = np.vstack([np.ones((1, n)), V, np.square(V)])
        units = np.eye(1 + 2 * d)
        single = [units[0] + first * unit for unit in units[1:] for first in FIRST]
        every = [np.repeat(coefficients, [1, d, d]) for coefficients in TOGETHER]
        self.starts = np.array([*single, *every])
        self.costs = TERM_COMPLEXITY * np.count_nonzero(self.starts[:, 1:], axis=1)

    def __call__(self, parameters: Floats) -> tuple[Floats, Floats]:
        sums = np.maximum(parameters @ self.terms, LEAST)
        return np.log(sums), self.terms / sums[:, None]


def log_sum_candidates(context: SearchContext, reduction: Reduction, fronts: Fronts) -> Evaluation:
    """Powers of sums, times products of powers, plus a product of powers, for a reduced problem."""
    problem = LogProblem.of(context, reduction)
    if problem is None:
        return Evaluation()
    shape = SumShape(problem.V)
    fitted = problem.optimized(problem.first_pairs(shape), shape).best(FINAL, 1)
    chosen = [fitted.take(np.array([i])) for i in range(len(fitted.terms))]
    written = dict.fromkeys(chain.from_iterable(_written(problem, shape, pair) for pair in chosen))
    models = models_for_target(problem.vocabulary, reduction, written)
    cost = Cost(problem.n_compared, problem.n_compared)
    return Evaluation(cost=cost) + evaluate(context, models, fronts)


def _written(problem: LogProblem, shape: SumShape, pair: Pairs) -> list[tuple[Expression, ...]]:
    """Terms of y for every exponent near the fitted one."""
    near = [gamma for gamma in EXPONENTS if abs(gamma - pair.factors[0]) < NEAR * abs(gamma)]
    found = (
        _with_exponent(problem, shape, pair, gamma) for gamma in near if problem.vocabulary.can_raise(gamma)
    )
    return [model for model in found if model is not None]


def _with_exponent(
    problem: LogProblem, shape: SumShape, pair: Pairs, gamma: float
) -> tuple[Expression, ...] | None:
    """The terms of y with an exponent; None where the data or the operators do not allow them."""
    v, variables = problem.vocabulary, problem.variables
    term = problem.terms[pair.terms[0]]
    t = problem.y - pair.offsets[0] * problem.M[pair.terms[0]]
    sign = 1.0 if np.sum(t) > 0.0 else -1.0
    z, _, w = problem.logarithm(pair.terms, pair.offsets)
    left = (z - gamma * shape(pair.parameters)[0])[0]
    exponents = np.linalg.lstsq((w * problem.linear).T, w[0] * left, rcond=None)[0][1:]
    outer = np.round(2.0 * exponents) / 2.0
    ratio = np.maximum(sign * t / np.exp(outer @ problem.logs), 0.0)
    target = ratio ** (1.0 / gamma)
    # Errors of y per error of the sum.
    scale = problem.roots * np.exp(outer @ problem.logs) * np.abs(gamma) * target ** (gamma - 1.0)
    good = np.isfinite(target) & np.isfinite(scale) & (target > 0.0)
    if np.count_nonzero(good) < 2 * len(shape.terms):
        return None
    used, coefficients = pruned(shape.terms[:, good], target[good], scale[good])
    try:
        inner = [ONE, *variables, *(v.power(x, 2.0) for x in variables)]
        total = weighted_sum(v, coefficients, [inner[i] for i in used])
        whole = v.product([v.monomial(variables, outer.tolist()), v.power(total, gamma)])
        return (whole,) if term is None else (whole, v.monomial(variables, term))
    except NotAllowedError:
        return None
