"""Rational functions of one variable: those of the smallest degrees that a target is, or nearly is.

z = P(u)/Q(u) is linear in the coefficients of both, P(u) − z·Q(u) = 0: the last singular vector has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE, Vocabulary
from fouriertree.search.hybrid.evaluation import EXACT
from fouriertree.search.hybrid.transforms import weighted_sum

Floats = NDArray[np.float64]
Polynomial = list[tuple[int, float]]

#: degree of the numerator and of the denominator together: of an exact rational function, and of others
MAX_DEGREE, MAX_NEAR_DEGREE = 12, 4
MAX_DENOMINATOR_DEGREE = 6
#: constants of an exact rational function that counts as a law
MAX_CONSTANTS = 6
#: squared error, relative to the target, of rational functions worth a fit
NEARLY = 1e-2
#: a coefficient this small beside the largest, in terms of unit length, is rounding
ROUNDING = 1e-7
#: steps of reweighting by |Q| of the last one, which removes the bias of P − z·Q
REWEIGHTING_STEPS = 3


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

    `spare` rows more than constants are needed.
    """
    roots = np.sqrt(weights)
    reach = float(np.abs(u).max())
    s = u / reach
    for degree in range(1, min(MAX_DEGREE, len(z) - 1 - spare) + 1):
        found = [
            _fitted(s, z, roots, degree - q, q) for q in range(1, min(degree, MAX_DENOMINATOR_DEGREE) + 1)
        ]
        worst = NEARLY if degree <= MAX_NEAR_DEGREE else EXACT
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
        if not (np.abs(under) > ROUNDING * np.abs(under).max()).all():
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
    kept = np.abs(vector) > ROUNDING * np.abs(vector).max()
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
