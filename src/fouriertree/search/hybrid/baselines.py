"""Linear, polynomial and rational candidates: spans that cost little and either contain the law or are a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE, Vocabulary
from fouriertree.projection import IncrementalQR
from fouriertree.projection.forward import forward_selection
from fouriertree.projection.variable import fit_constants
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.evaluation import EXACT, SPARE_ROWS, Cost, Evaluation, Fronts, evaluate
from fouriertree.search.hybrid.reductions import Reduction, reduced_problem
from fouriertree.search.hybrid.transforms import IDENTITY, terms_for_target, transform_named, weighted_sum

Floats = NDArray[np.float64]
#: pairs of a power and its coefficient
Polynomial = list[tuple[int, float]]

#: polynomials up to this degree are written with powers, others with products of linear factors
MAX_POWER_DEGREE = 12
#: squared error of a polynomial, relative to the transformed target, below which it is evaluated for y
NEARLY = 1e-2
#: degree of polynomials of a transformed target at most
MAX_TRANSFORMED_DEGREE = 4
#: projection ends after so many elements that decreased the loss by less than this share
PATIENCE, USEFUL = 12, 1e-3
#: rank tolerance of products of linear factors
NOVELTY = 1e-11
#: degree of the numerator and of the denominator together: of an exact rational function, and of others
MAX_DEGREE, MAX_NEAR_DEGREE = 12, 4
MAX_DENOMINATOR_DEGREE = 6
#: constants of an exact rational function that counts as a law
MAX_CONSTANTS = 6
#: squared error, relative to the target, of rational functions worth a fit
NEARLY_RATIONAL = 1e-2
#: a coefficient this small beside the largest, in terms of unit length, is rounding
COEFFICIENT_ROUNDING = 1e-7
#: steps of reweighting by |Q| of the last one, which removes the bias of P − z·Q
REWEIGHTING_STEPS = 3


def linear_candidates(context: SearchContext, fronts: Fronts) -> Evaluation:
    """1 + x_a, 1 + x_a + x_b, …: the best next feature is added each time."""
    data = context.data
    order = forward_selection(data.X, data.y, data.weights, context.options.max_terms - 1)
    models = [(ONE, *(data.variables[j] for j in order[: k + 1])) for k in range(len(order))]
    return evaluate(context, models, fronts, iterations=0)


def is_univariate_polynomial_possible(context: SearchContext) -> bool:
    v = context.vocabulary
    return context.data.n_features == 1 and all(role in v for role in ("mul", "add", "sub"))


def polynomial_candidates(context: SearchContext, transform_name: str, fronts: Fronts) -> Evaluation:
    """Polynomials of the only feature for a transformed target; exact ones may have more terms than other sums."""
    data, transform = context.data, transform_named(transform_name)
    applied = transform.apply(data.y, data.weights)
    if applied is None:
        return Evaluation()
    z, weights = applied
    most = max(context.options.max_terms, context.options.exact_terms)
    terms, losses, cost = factored_polynomial(
        data.X[:, 0], z, weights, context.vocabulary, min(most, len(z) - SPARE_ROWS)
    )
    spent, degree = Evaluation(cost=cost), len(terms) - 1
    if transform is not IDENTITY:
        # The fit to y itself does the rest, so that the transformed target need not be met exactly.
        near = [d for d in range(1, min(degree, MAX_TRANSFORMED_DEGREE) + 1) if losses[d] < NEARLY]
        return spent + _powers(context, transform_name, z, weights, near, fronts)
    if degree > MAX_POWER_DEGREE:
        return spent + evaluate(context, [tuple(terms)], fronts, iterations=0)
    if degree > 0 and losses[-1] <= EXACT:
        return spent + _powers(context, transform_name, z, weights, [degree], fronts)
    return spent


def factored_polynomial(
    x: Floats, z: Floats, weights: Floats, v: Vocabulary, most: int
) -> tuple[list[Expression], list[float], Cost]:
    """Projection onto e₀ = 1, e_k = e_{k−1}·2(u − r_k): terms, relative losses after each, cost.

    Powers of u become parallel as their degree grows; with r_k at Leja points of the data the products stay apart, so
    that projection onto them is exact to rounding at degrees where powers fail.
    """
    half = 0.5 * float(x.max() - x.min()) or 1.0
    u, roots = x / half, np.sqrt(weights)
    projection = IncrementalQR(NOVELTY).start(roots * z)
    length2 = projection.loss or 1.0
    scaled = v.apply("mul", Expression.constant(2.0 / half), Expression.variable(0))
    terms: list[Expression] = []
    losses: list[float] = []
    values, expression, idle, traverses = np.ones(len(x)), ONE, 0, 0
    while len(terms) < min(most, len(u) - 1) and idle < PATIENCE:
        before = projection.loss
        traverses += 2 * projection.size + 2
        if projection.add(roots * values):
            terms.append(expression)
            losses.append(projection.loss / length2)
        if projection.loss <= EXACT * 1e-8 * length2:
            break
        idle = 0 if projection.loss < (1.0 - USEFUL) * before else idle + 1
        # The next factor vanishes where the product so far is largest: the next Leja point.
        node = float(u[int(np.argmax(np.abs(values)))])
        values = values * 2.0 * (u - node)
        expression = v.product([expression, v.apply("sub", scaled, Expression.constant(2.0 * node))])
    return terms, losses, Cost(len(terms), traverses)


def _powers(
    context: SearchContext,
    transform_name: str,
    z: Floats,
    weights: Floats,
    degrees: Sequence[int],
    fronts: Fronts,
) -> Evaluation:
    """Polynomials of some degrees written with powers, without terms of rounding size."""
    data, v = context.data, context.vocabulary
    powers = [v.power(data.variables[0], float(p)) for p in range(1, max(degrees, default=0) + 1)]
    sums = [(ONE, *powers[:d]) for d in degrees]
    models = []
    for terms, fit in zip(sums, fit_constants(sums, data.X, z, weights, iterations=0), strict=True):
        sizes = [
            abs(c) * float(np.abs(e.evaluate(data.X)).max())
            for c, e in zip(fit.coefficients, terms, strict=True)
        ]
        kept = [i for i, size in enumerate(sizes) if size > 1e-9 * max(sizes)]
        coefficients, used = [float(fit.coefficients[i]) for i in kept], [terms[i] for i in kept]
        reduction, transform = Reduction(data.variables), transform_named(transform_name)
        models.append(terms_for_target(v, reduction, transform, coefficients, used, -1))
    cost = Evaluation(cost=Cost(len(sums), sum(len(terms) + 1 for terms in sums)))
    chosen = [model for model in models if model is not None]
    return cost + evaluate(context, chosen, fronts, max_terms=context.options.exact_terms)


def rational_candidates(context: SearchContext, reduction: Reduction, fronts: Fronts) -> Evaluation:
    """Rational functions of the only variable of a reduction; a constant if it has none."""
    v, total = context.vocabulary, Evaluation()
    if not reduction.variables:
        model = terms_for_target(v, reduction, IDENTITY, (1.0,), (ONE,), -1)
        return total if model is None else evaluate(context, [model], fronts)
    if len(reduction.variables) != 1 or not v.complete:
        return total
    problem = reduced_problem(context.data, reduction, context.data.screening)
    found = rational_functions(problem.V[0], problem.t, problem.weights, SPARE_ROWS)
    for degree, good in enumerate(found, 1):
        total += Evaluation(cost=Cost(0, passes(degree)))
        for rational in good:
            written = rational.expression(v, reduction.variables[0])
            model = terms_for_target(v, reduction, IDENTITY, (1.0,), (written,), -1)
            if model is not None:
                evaluation = evaluate(context, [model], fronts, may_be_law=rational.may_be_law)
                total, fronts = total + evaluation, evaluation.lowered(fronts)
        if total.has_law:
            break
    return total


# Rational functions -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class RationalFunction:
    """P/Q as pairs of a power and its coefficient, the lowest first; the first coefficients are one."""

    above: Polynomial
    below: Polynomial
    loss: float  #: squared error of the best multiple, relative to the target

    @property
    def may_be_law(self) -> bool:
        """Whether it has few constants: with more of them, it equals any smooth function to rounding."""
        return len(self.above) + len(self.below) - 2 <= MAX_CONSTANTS

    def expression(self, v: Vocabulary, variable: Expression) -> Expression:
        return v.quotient(_written(v, variable, self.above), _written(v, variable, self.below))


def _written(v: Vocabulary, variable: Expression, polynomial: Polynomial) -> Expression:
    powers = [v.power(variable, float(p)) if p else ONE for p, _ in polynomial]
    if len(powers) == 1:
        return powers[0]
    return weighted_sum(v, [c for _, c in polynomial], powers)


def rational_functions(u: Floats, z: Floats, weights: Floats, spare: int) -> Iterator[list[RationalFunction]]:
    """For one degree after the other the rational functions that are nearly z, until one is exact.

    z = P(u)/Q(u) is linear in the coefficients of both, P(u) − z·Q(u) = 0: the last singular vector has them.
    `spare` rows more than constants are needed.
    """
    roots = np.sqrt(weights)
    reach = float(np.abs(u).max())
    s = u / reach
    for degree in range(1, min(MAX_DEGREE, len(z) - 1 - spare) + 1):
        found = [
            _fitted(s, z, roots, degree - q, q) for q in range(1, min(degree, MAX_DENOMINATOR_DEGREE) + 1)
        ]
        worst = NEARLY_RATIONAL if degree <= MAX_NEAR_DEGREE else EXACT
        good = [f for f in found if f is not None and f.loss <= worst]
        yield [_in_units(f, reach) for f in good]
        if any(f.loss <= EXACT for f in good):
            return


def passes(degree: int) -> int:
    """Passes over the rows for all rational functions of a degree: one for every coefficient each time."""
    return REWEIGHTING_STEPS * (degree + 2) * min(degree, MAX_DENOMINATOR_DEGREE)


def _in_units(f: RationalFunction, reach: float) -> RationalFunction:
    """A rational function of u/reach as one of u."""

    def rescaled(polynomial: Polynomial) -> Polynomial:
        first = polynomial[0][0]
        return [(p, c / reach ** (p - first)) for p, c in polynomial]

    return RationalFunction(rescaled(f.above), rescaled(f.below), f.loss)


def _fitted(s: Floats, z: Floats, roots: Floats, above: int, below: int) -> RationalFunction | None:
    """The best rational function with these degrees, without coefficients of rounding size."""
    powers = [*range(above + 1), *range(below + 1)]
    numerator = np.array([True] * (above + 1) + [False] * (below + 1))
    plain = np.stack([s**p for p in powers], axis=1)
    columns = np.where(numerator, plain, -z[:, None] * plain)
    weights = roots
    for _ in range(REWEIGHTING_STEPS):
        solution = _null_vector(columns * weights[:, None])
        under = plain[:, ~numerator] @ solution[~numerator]
        if not (np.abs(under) > COEFFICIENT_ROUNDING * np.abs(under).max()).all():
            return None
        weights = roots / np.abs(under)
    P, Q = _pairs(powers, solution, numerator), _pairs(powers, solution, ~numerator)
    if not P or not Q:
        return None
    return RationalFunction(P, Q, _loss(s, z, roots, P, Q))


def _null_vector(columns: Floats) -> Floats:
    """The combination nearest to zero, with coefficients that are rounding taken out."""
    lengths = np.linalg.norm(columns, axis=0)
    lengths[lengths == 0.0] = 1.0
    vector = np.linalg.svd(columns / lengths, full_matrices=False)[2][-1]
    kept = np.abs(vector) > COEFFICIENT_ROUNDING * np.abs(vector).max()
    if not kept.all():
        vector = np.zeros(len(lengths))
        vector[kept] = np.linalg.svd((columns / lengths)[:, kept], full_matrices=False)[2][-1]
    found: Floats = vector / lengths
    return found


def _pairs(powers: Sequence[int], solution: Floats, which: NDArray[np.bool_]) -> Polynomial:
    """Powers and coefficients, the first of which is one."""
    found = [(p, float(c)) for p, c, ours in zip(powers, solution, which, strict=True) if ours and c]
    return [(p, c / found[0][1]) for p, c in found]


def _loss(s: Floats, z: Floats, roots: Floats, P: Polynomial, Q: Polynomial) -> float:
    """Squared error of the best multiple of P/Q, relative to the target."""
    with np.errstate(all="ignore"):
        values = roots * sum(c * s**p for p, c in P) / sum(c * s**q for q, c in Q)
        target = roots * z
        residual = target - values * (values @ target) / (values @ values)
        loss = float(residual @ residual) / float(target @ target)
    return loss if np.isfinite(loss) else np.inf
