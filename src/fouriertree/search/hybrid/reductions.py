"""Reduced problems from symmetries of the data, read off the gradient of a surrogate: fewer variables, and a factor.

With e_i = x_i·∂f/∂x_i and g_i = ∂f/∂x_i, for every point of the data:
e_i = p·f         ⇔  f = x_i^p · (something without x_i),
e_i = (p/q)·e_j   ⇔  f depends on x_i and x_j through x_i^p·x_j^q only,
g_i = c·g_j       ⇔  f depends on x_i and x_j through c·x_i + x_j only.
All are proportions of vectors, so neither units nor order matter.  A symmetry is a proposal: uncertain ones are kept
only if a surrogate in fewer variables predicts better, and every law is fitted and checked on the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CUBE, DIV, INV, MUL, SQRT, SQUARE, VAR
from fouriertree.expr.vocabulary import Vocabulary, nice_ratio
from fouriertree.search.hybrid.data import SearchData
from fouriertree.search.hybrid.surrogate import fit_surrogate

Floats = NDArray[np.float64]
Map = Callable[[Floats], Floats]

#: rows without which the error of a surrogate cannot be estimated
MIN_ROWS = 5
#: squared sines up to which two vectors count as proportional: at best, per squared error of the surrogate, at most
SINE2, SINE2_PER_ERROR2, MAX_SINE2 = 3e-6, 30.0, 3e-3
#: squared sines up to which a proposal is tested by a surrogate, and how many are tested
UNCERTAIN_SINE2, MAX_TRIALS = 0.15, 3
#: an uncertain symmetry is kept if the error of its surrogate is at most this share of the error without it
KEPT_ERROR = 0.65
#: largest distance of an exponent from a simple fraction, for certain and for uncertain proposals
EXPONENT, LOOSE_EXPONENT = 0.06, 0.3
#: a surrogate with a larger relative error than this is not used
MAX_ERROR = 0.6
#: below this relative error no other surrogate is tried
GOOD_ERROR = 0.03
#: reductions one after the other at most
MAX_REDUCTIONS = 10


@dataclass(frozen=True)
class Reduction:
    """y = Π base^power · t(variables)."""

    variables: tuple[Expression, ...]
    factor: tuple[tuple[Expression, float], ...] = ()  #: bases and powers


#: operators of products of powers
_PRODUCTS = frozenset((VAR, MUL, DIV, SQUARE, CUBE, SQRT, INV))


def _is_product(e: Expression) -> bool:
    return _PRODUCTS.issuperset(e.op.tolist())


def _exponents(e: Expression, n_features: int) -> Floats:
    """The exponents (n_features,) of the features in a product of powers."""
    # With x_i = e and all others 1, the logarithm of a product is the exponent of x_i.
    logs = np.log(e.evaluate(np.exp(np.eye(n_features))))
    found: Floats = np.round(12.0 * logs) / 12.0
    return found


def with_inverse(data: SearchData, reduction: Reduction, v: Vocabulary) -> tuple[Reduction, ...]:
    """A reduction to a product, and another one to its reciprocal; the one with more positive exponents comes first.

    Waves and powers may be simple in one of them only.
    """
    [variable] = reduction.variables
    values = variable.evaluate(data.X)
    if variable.size == 1 or not (v.divides and _is_product(variable) and (values != 0.0).all()):
        return (reduction,)
    both = reduction, Reduction((v.monomial([variable], (-1.0,)),), reduction.factor)
    return both if np.sign(_exponents(variable, data.n_features)).sum() >= 0.0 else both[::-1]


@dataclass(frozen=True, eq=False)
class ReducedProblem:
    """The rows of a reduction: t over the variables, to be explained."""

    reduction: Reduction
    V: Floats  #: (n_variables, n_rows)
    t: Floats
    weights: Floats  #: under which errors of t count like errors of y
    scale: Floats  #: values of the factor


def reduced_problem(
    data: SearchData, reduction: Reduction, rows: NDArray[np.intp] | None = None
) -> ReducedProblem:
    """A reduction of all rows of the data, or of some."""
    chosen = slice(None) if rows is None else rows
    X, y, weights = data.X[chosen], data.y[chosen], data.weights[chosen]
    with np.errstate(all="ignore"):
        V = np.array([e.evaluate(X) for e in reduction.variables]).reshape(len(reduction.variables), len(y))
        scale = np.ones(len(y))
        for base, power in reduction.factor:
            scale = scale * base.evaluate(X) ** power
    return ReducedProblem(reduction, V, y / scale, weights * scale**2, scale)


@dataclass(frozen=True, eq=False)
class Slopes:
    """Gradient of a surrogate on the rows: f (n,), e_i = x_i·g_i and g_i (d, n)."""

    f: Floats
    e: Floats
    g: Floats
    error: float  #: relative error on rows that the surrogate was not fitted to, in the signed logarithm of y
    target: str  #: which one of SURROGATE_TARGETS it was fitted to


POWER, PRODUCT, SUM = 0, 1, 2


@dataclass(frozen=True)
class Proposal:
    """A symmetry: x_i^p factors out; x_i^p·x_j^q; or p·x_i + x_j; how far from exact, and whether certain."""

    kind: int
    variables: tuple[int, ...]
    parameters: tuple[float, ...]
    sine2: float
    certain: bool


# Surrogates -------------------------------------------------------------------------------------------------
#: of which functions of t a surrogate is tried: the logarithm, the signed logarithm, t itself
SURROGATE_TARGETS = ("log", "signed", "plain")


def slopes_of(problem: ReducedProblem, target: str, seed: int) -> Slopes | None:
    """The gradient by a surrogate of one of SURROGATE_TARGETS; None where there is none."""
    if not len(problem.V):
        return None
    rng = np.random.default_rng(seed)
    V, t = problem.V, problem.t
    middle = float(np.median(np.abs(t))) or 1.0
    order = rng.permutation(len(t))
    forward: Map
    back: Map
    slope: Map
    if target == "log":
        sign = 1.0 if np.median(t) > 0.0 else -1.0
        order = order[sign * t[order] > 0.02 * middle]
        if len(order) < 0.97 * len(t):
            return None
        forward, back = lambda a: np.log(np.maximum(sign * a, 1e-300)), lambda u: sign * np.exp(u)
        slope = back
    elif target == "signed":
        unit = 0.3 * middle
        forward, back = lambda a: np.arcsinh(a / unit), lambda u: unit * np.sinh(u)
        slope = lambda u: unit * np.cosh(u)  # noqa: E731 - the three belong together
    else:
        forward, back, slope = lambda a: a, lambda u: u, np.ones_like
    u = forward(t)
    if len(order) < MIN_ROWS:
        return None
    check, train = order[: len(order) // 5], order[len(order) // 5 :]
    surrogate = fit_surrogate(V[:, train].T, u[train], rng, np.all(V > 0.0, axis=1))
    if surrogate is None:
        return None
    predicted, gradient = surrogate.values_and_gradient(V[:, order].T)
    scale = problem.scale[check]
    with np.errstate(all="ignore"):
        error = signed_error(t[check] * scale, back(predicted[: len(check)]) * scale)
        if target == "log":
            # Relative slopes: every row counts alike, and f is one.
            f, steep = np.ones(len(order)), np.ones(len(order))
        else:
            f, steep = back(predicted), slope(predicted)
        x, logged = V[:, order], surrogate.logged[:, None]
        e = np.where(logged, gradient, x * gradient) * steep
        g = np.where(logged, gradient / x, gradient) * steep
    if not (np.isfinite(f).all() and np.isfinite(e).all() and np.isfinite(g).all() and np.isfinite(error)):
        return None
    return Slopes(f, e, g, error, target)


def signed_error(y: Floats, predicted: Floats) -> float:
    """Relative rms error in the signed logarithm of y, in which large and small values count."""
    unit = 0.3 * float(np.median(np.abs(y))) or 1.0
    truth = np.arcsinh(y / unit)
    return float(np.sqrt(np.mean(np.square(np.arcsinh(predicted / unit) - truth))) / (np.std(truth) or 1.0))


def proportion(a: Floats, b: Floats) -> tuple[float, float]:
    """(c, squared sine) of the best a ≈ c·b."""
    aa, bb, ab = float(a @ a), float(b @ b), float(a @ b)
    if not (aa > 0.0 and bb > 0.0 and np.isfinite(ab)):
        return 0.0, 1.0
    return ab / bb, max(0.0, 1.0 - ab * ab / (aa * bb))


# Using symmetries -------------------------------------------------------------------------------------------
def certain_proposals(proposals: Sequence[Proposal]) -> list[Proposal]:
    """All certain powers at once; else all products of different variables; else one sum."""
    certain = sorted((p for p in proposals if p.certain), key=lambda p: (p.kind, p.sine2))
    chosen: list[Proposal] = []
    taken: set[int] = set()
    for proposal in certain:
        if proposal.kind == certain[0].kind and not taken & set(proposal.variables):
            chosen.append(proposal)
            taken |= set(proposal.variables)
    return chosen[:1] if chosen and chosen[0].kind == SUM else chosen


def trials(proposals: Sequence[Proposal]) -> list[Proposal]:
    """The uncertain proposals that are worth a surrogate, the best first."""
    return sorted(proposals, key=lambda p: p.sine2)[:MAX_TRIALS]


def reduced(reduction: Reduction, proposals: Sequence[Proposal], v: Vocabulary) -> Reduction:
    """A reduction after symmetries of different variables."""
    gone = {i for p in proposals for i in p.variables}
    variables = [e for i, e in enumerate(reduction.variables) if i not in gone]
    factor = list(reduction.factor)
    for proposal in proposals:
        bases, (p, *rest) = [reduction.variables[i] for i in proposal.variables], proposal.parameters
        if proposal.kind == POWER:
            factor.append((bases[0], p))
        elif proposal.kind == PRODUCT:
            variables.append(v.monomial(bases, (p, rest[0])))
        else:
            variables.append(v.apply("add", v.apply("mul", Expression.constant(p), bases[0]), bases[1]))
    return Reduction(tuple(variables), tuple(factor))


def proposals_of(problem: ReducedProblem, s: Slopes, v: Vocabulary) -> Iterator[Proposal]:
    """Symmetries that the gradient of a surrogate suggests."""
    tolerance = min(MAX_SINE2, SINE2 + SINE2_PER_ERROR2 * s.error**2)
    V, d = problem.V, len(problem.V)
    if not v.complete:
        return
    for i in range(d):
        p, sine2 = proportion(s.e[i], s.f)
        certain = sine2 < tolerance
        ratio = nice_ratio(p, EXPONENT if certain else LOOSE_EXPONENT)
        # t is divided by what acts as a power, so it may be zero nowhere.
        possible = bool((V[i] != 0.0).all()) and ratio is not None and _can_raise(V[i], float(ratio), v)
        if sine2 < UNCERTAIN_SINE2 and ratio is not None and possible:
            yield Proposal(POWER, (i,), (float(ratio),), sine2, certain)
    for i, j in combinations(range(d), 2):
        c, sine2 = proportion(s.e[i], s.e[j])
        certain = sine2 < tolerance
        ratio = nice_ratio(c, (EXPONENT if certain else LOOSE_EXPONENT) * max(1.0, abs(c)), largest=4)
        if sine2 < UNCERTAIN_SINE2 and ratio is not None:
            p, q = float(ratio.numerator), float(ratio.denominator)
            if _can_raise(V[i], p, v) and _can_raise(V[j], q, v):
                yield Proposal(PRODUCT, (i, j), (p, q), sine2, certain)
        c, sine2 = proportion(s.g[i], s.g[j])
        if "add" in v and sine2 < UNCERTAIN_SINE2 and c != 0.0:
            yield Proposal(SUM, (i, j), (c,), sine2, sine2 < tolerance)


def _can_raise(values: Floats, power: float, v: Vocabulary) -> bool:
    defined = power == int(power) or bool((values > 0.0).all())
    return defined and v.can_raise(power) and (power > 0.0 or bool((values != 0.0).all()))


# Single-index models ----------------------------------------------------------------------------------------
INDEX_POWERS = (1.0, -1.0, 2.0, -2.0)
#: share of the variance that may be left between neighbours
MAX_ROUGHNESS = 0.03


def single_index(problem: ReducedProblem, v: Vocabulary) -> Reduction | None:
    """y = x_j^q·f(Π x_i^p_i) found by sorting: along the right product, neighbours have similar values."""
    d = len(problem.V)
    if not 2 <= d <= 5 or not v.complete or not (problem.V > 0.0).all():
        return None
    logs = np.log(problem.V)
    best: tuple[float, int | None, float, tuple[float, ...]] | None = None
    for j in (None, *range(d)):
        rest = [i for i in range(d) if i != j]
        for q in (0.0,) if j is None else INDEX_POWERS:
            t = problem.t if j is None else problem.t / problem.V[j] ** q
            roughest = 2.0 * len(t) * float(np.var(t))
            if len(rest) < 2 or roughest == 0.0:
                continue
            for powers in product((1.0,), *[INDEX_POWERS] * (len(rest) - 1)):
                order = np.argsort(np.asarray(powers) @ logs[rest])
                rough = float(np.square(np.diff(t[order])).sum()) / roughest
                if best is None or rough < best[0]:
                    best = rough, j, q, powers
    if best is None or best[0] > MAX_ROUGHNESS:
        return None
    _, j, q, powers = best
    variables, factor = problem.reduction.variables, problem.reduction.factor
    others = [e for i, e in enumerate(variables) if i != j]
    taken = () if j is None else ((variables[j], q),)
    return Reduction((v.monomial(others, powers),), (*factor, *taken))
