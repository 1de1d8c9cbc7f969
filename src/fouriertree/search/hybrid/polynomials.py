"""Polynomials of several variables, for every transform of the target: all monomials, without those that matter least.

Squares of differences and distances are sums whose terms nearly cancel, so that no selection that adds terms one by one
finds them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.expr.vocabulary import ONE, NotAllowedError, Vocabulary
from fouriertree.search.hybrid.context import TRANSFORMED, SearchContext
from fouriertree.search.hybrid.evaluation import EXACT, Cost, Evaluation, Fronts, evaluate
from fouriertree.search.hybrid.functions import Powers, power_values
from fouriertree.search.hybrid.reductions import Reduction, reduced_problem
from fouriertree.search.hybrid.transforms import IDENTITY, TRANSFORMS, Transform, terms_for_target

Floats = NDArray[np.float64]

#: monomials at most, degree at most, and rows at least for every monomial
MOST_MONOMIALS, MOST_DEGREE, ROWS_PER_MONOMIAL = 36, 4, 2
#: polynomials that are fitted to y
EVALUATED = 6
#: complexity of a term besides that of its variables
TERM_COMPLEXITY = 3.0
#: share of its length that a monomial has outside of the span of others at least
NOVELTY = 1e-8


class Shortened(NamedTuple):
    """A polynomial for a transformed target, with the length of its description of t."""

    length: float
    transform: Transform
    chosen: tuple[int, ...]  #: monomials
    coefficients: tuple[float, ...]


def is_polynomial_possible(reduction: Reduction, v: Vocabulary) -> bool:
    """Whether there are several variables, not too many for squares, and the operators for sums and products."""
    n = len(reduction.variables)
    return n > 1 and comb(n + 2, 2) <= MOST_MONOMIALS and "mul" in v and "add" in v


def multivariate_candidates(context: SearchContext, reduction: Reduction, fronts: Fronts) -> Evaluation:
    """Polynomials of the variables of a reduced problem, for every transform of its target, that shorten most."""
    v, problem = context.vocabulary, reduced_problem(context.data, reduction)
    powers = monomials_up_to(len(problem.V), len(problem.t))
    values = power_values(problem.V, powers)
    length2 = float(np.sum(problem.weights * np.square(problem.t))) or 1.0
    transforms = TRANSFORMS if TRANSFORMED not in context.options.without else (IDENTITY,)
    found: list[Shortened] = []
    for transform in filter(lambda transform: transform.allowed(v), transforms):
        applied = transform.apply(problem.t, problem.weights) if powers else None
        if applied is not None:
            most = context.options.max_terms if transform is IDENTITY else len(powers)
            found += _shortened(transform, values, powers, *applied, length2, most)
    models = []
    for short in sorted(found, key=lambda short: short.length)[:EVALUATED]:
        try:
            terms = [
                v.monomial(reduction.variables, powers[i]) if any(powers[i]) else ONE for i in short.chosen
            ]
        except NotAllowedError:
            continue
        models.append(terms_for_target(v, reduction, short.transform, short.coefficients, terms, -1))
    tried = Evaluation(cost=Cost(1 + len(found), 1 + len(found)))
    return tried + evaluate(context, [model for model in models if model is not None], fronts)


def monomials_up_to(n_variables: int, n_rows: int) -> list[Powers]:
    """Exponents of all monomials of the largest degree that is possible, 1 among them; none if that is 1."""
    fewest = min(MOST_MONOMIALS, n_rows // ROWS_PER_MONOMIAL)
    possible = [d for d in range(2, MOST_DEGREE + 1) if comb(n_variables + d, d) <= fewest]
    if not possible:
        return []
    exponents = product(range(possible[-1] + 1), repeat=n_variables)
    return [tuple(map(float, powers)) for powers in exponents if sum(powers) <= possible[-1]]


def _shortened(
    transform: Transform, values: Floats, powers: list[Powers], z: Floats, weights: Floats, length2: float, most: int
) -> Iterator[Shortened]:  # fmt: skip
    """The polynomial without its least important monomial, without two, …, of at most so many terms."""
    roots, costs = np.sqrt(weights), TERM_COMPLEXITY + 2.0 * np.array([np.count_nonzero(p) for p in powers])
    A = (roots * values).T
    norms = np.linalg.norm(A, axis=0)
    if not (np.isfinite(norms).all() and norms.all()):
        return
    for chosen, coefficients, loss in eliminated(A / norms, roots * z):
        if len(chosen) <= most:
            cost = float(costs[chosen].sum())
            length = float(approximate_length(len(z), max(loss / length2, EXACT), cost))
            yield Shortened(
                length, transform, tuple(chosen.tolist()), tuple((coefficients / norms[chosen]).tolist())
            )


def eliminated(A: Floats, b: Floats) -> Iterator[tuple[NDArray[np.intp], Floats, float]]:
    """Least squares with the columns of A (n, p), then without the one that matters least, and so on down to one.

    Yields the columns, their coefficients and the squared error.  Columns that depend on others are left out at first.
    """
    _, r, order = qr(A, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(r))
    chosen = np.sort(order[: np.count_nonzero(diagonal > NOVELTY * diagonal[0])])
    Q, R = np.linalg.qr(A)
    b_inside = Q.T @ b
    outside = float(np.sum(np.square(b - Q @ b_inside)))
    while True:
        q, r = np.linalg.qr(R[:, chosen])
        inverse = np.linalg.inv(r)
        coefficients = inverse @ (q.T @ b_inside)
        loss = outside + float(np.sum(np.square(b_inside - R[:, chosen] @ coefficients)))
        yield chosen, coefficients, loss
        if len(chosen) == 1:
            return
        # Without column j, the squared error grows by c_j² / [(RᵀR)⁻¹]_jj.
        growth = np.square(coefficients) / np.sum(np.square(inverse), axis=1)
        chosen = np.delete(chosen, np.argmin(growth))
