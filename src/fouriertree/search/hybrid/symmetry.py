"""Symmetries of the data, read off the gradient of a surrogate: fewer variables, and a factor taken out.

With e_i = x_i·∂f/∂x_i and g_i = ∂f/∂x_i, for every point of the data:
e_i = p·f         ⇔  f = x_i^p · (something without x_i),
e_i = (p/q)·e_j   ⇔  f depends on x_i and x_j through x_i^p·x_j^q only,
g_i = c·g_j       ⇔  f depends on x_i and x_j through c·x_i + x_j only.
All are proportions of vectors, so neither units nor order matter.  A symmetry is a proposal: doubtful ones are kept
only if a surrogate in fewer variables predicts better, and every law is fitted and checked on the data.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import Vocabulary, nice_ratio
from fouriertree.search.hybrid.surrogate import fit_surrogate

Floats = NDArray[np.float64]
Map = Callable[[Floats], Floats]

#: rows without which there is no telling how good a surrogate is
FEWEST_ROWS = 5
#: squared sines up to which two vectors are proportional beyond doubt: at best, and per squared error of the surrogate
SINE2, SINE2_PER_ERROR2, CERTAIN = 3e-6, 30.0, 3e-3
#: rows without which there is no telling how good a surrogate is
FEWEST_ROWS = 5
#: squared sines up to which a proposal is worth a surrogate of its own, and how many get one
DOUBTFUL, TRIALS = 0.15, 3
#: a doubtful symmetry is kept if it leaves at most this share of the error
BETTER = 0.65
#: how far an exponent may be from a simple fraction, beyond doubt and in doubt
EXPONENT, LOOSE_EXPONENT = 0.06, 0.3
#: a surrogate with a larger relative error than this has nothing to say
USELESS = 0.6
#: below this relative error no other surrogate is tried
GOOD = 0.03


@dataclass(frozen=True)
class View:
    """y = factor · t(variables): what is left to explain after symmetries were used."""

    variables: tuple[Expression, ...]
    V: Floats  #: (n_variables, n_rows)
    t: Floats
    weights: Floats  #: under which errors of t count like errors of y
    factor: tuple[tuple[Expression, float], ...] = ()  #: bases and exponents
    scale: Floats | None = None  #: values of the factor

    def with_factor(self, taken: list[tuple[int, float]]) -> View:
        """Without the variables that act as a power only."""
        scale = np.ones(len(self.t)) if self.scale is None else self.scale
        t, weights = self.t, self.weights
        for i, p in taken:
            power = self.V[i] ** p
            t, weights, scale = t / power, weights * power**2, scale * power
        gone = {i for i, _ in taken}
        kept = [i for i in range(len(self.V)) if i not in gone]
        factor = (*self.factor, *((self.variables[i], p) for i, p in taken))
        return View(tuple(self.variables[i] for i in kept), self.V[kept], t, weights, factor, scale)

    def merged(self, gone: tuple[int, ...], variable: Expression, values: Floats) -> View:
        """With one variable in place of several."""
        kept = [k for k in range(len(self.V)) if k not in gone]
        variables = (*(self.variables[k] for k in kept), variable)
        return replace(self, variables=variables, V=np.vstack([self.V[kept], values]))


@dataclass(frozen=True)
class Slopes:
    """Gradient of a surrogate on the rows: f (n,), e_i = x_i·g_i and g_i (d, n)."""

    f: Floats
    e: Floats
    g: Floats
    error: float  #: relative error on rows that the surrogate was not made of, in the signed logarithm of y


POWER, PRODUCT, SUM = 0, 1, 2


@dataclass(frozen=True)
class Proposal:
    """A symmetry: x_i^p factors out; x_i^p·x_j^q; or p·x_i + x_j. How far from exact, and whether beyond doubt."""

    kind: int
    variables: tuple[int, ...]
    numbers: tuple[float, ...]
    sine2: float
    certain: bool


TRANSFORMS = ("log", "signed", "plain")


# The surrogate of a view ------------------------------------------------------------------------------------
def slopes(view: View, rng: np.random.Generator) -> Generator[None, None, Slopes | None]:
    """The gradient by the surrogate that predicts best: of log t, of the signed logarithm of t, or of t.

    A surrogate takes a good part of a second, so that a run can be ended after each.
    """
    if not len(view.V):
        return None
    seed = int(rng.integers(2**31))
    useful: list[Slopes] = []
    for transform in TRANSFORMS:
        found = _slopes(view, transform, seed)
        yield
        if found is not None:
            useful.append(found)
            if found.error < GOOD:
                break
    return min(useful, key=lambda s: s.error) if useful else None


def _slopes(view: View, transform: str, seed: int) -> Slopes | None:
    rng = np.random.default_rng(seed)
    V, t = view.V, view.t
    positive = np.all(V > 0.0, axis=1)
    inputs = np.where(positive[:, None], np.log(np.where(V > 0.0, V, 1.0)), V)
    middle = float(np.median(np.abs(t))) or 1.0
    order = rng.permutation(len(t))
    forward: Map
    back: Map
    slope: Map
    if transform == "log":
        sign = 1.0 if np.median(t) > 0.0 else -1.0
        order = order[sign * t[order] > 0.02 * middle]
        if len(order) < 0.97 * len(t):
            return None
        forward, back = lambda a: np.log(np.maximum(sign * a, 1e-300)), lambda u: sign * np.exp(u)
        slope = back
    elif transform == "signed":
        unit = 0.3 * middle
        forward, back = lambda a: np.arcsinh(a / unit), lambda u: unit * np.sinh(u)
        slope = lambda u: unit * np.cosh(u)  # noqa: E731 - the three belong together
    else:
        forward, back, slope = lambda a: a, lambda u: u, np.ones_like
    u = forward(t)
    if len(order) < FEWEST_ROWS:
        return None
    check, train = order[: len(order) // 5], order[len(order) // 5 :]
    surrogate = fit_surrogate(inputs[:, train].T, u[train], rng)
    if surrogate is None:
        return None
    predicted, gradient = surrogate.values_and_gradient(inputs[:, order].T)
    scale = 1.0 if view.scale is None else view.scale[order[: len(check)]]
    with np.errstate(all="ignore"):
        error = signed_error(view.t[check] * scale, back(predicted[: len(check)]) * scale)
        if transform == "log":
            # Relative slopes: every row counts alike, and f is one.
            f, steep = np.ones(len(order)), np.ones(len(order))
        else:
            f, steep = back(predicted), slope(predicted)
        x = V[:, order]
        e = np.where(positive[:, None], gradient, x * gradient) * steep
        g = np.where(positive[:, None], gradient / x, gradient) * steep
    if not (np.isfinite(f).all() and np.isfinite(e).all() and np.isfinite(g).all() and np.isfinite(error)):
        return None
    return Slopes(f, e, g, error)


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
def reduced_views(
    view: View, v: Vocabulary, rng: np.random.Generator, rounds: int = 10
) -> Iterator[View | None]:
    """The view after one symmetry after the other, the given one first; None where a run may be ended in between."""
    yield view
    found = yield from slopes(view, rng)
    for _ in range(rounds):
        if found is None or found.error > USELESS or not len(view.V):
            return
        step = yield from _next(view, found, v, rng)
        if step is None:
            return
        view, found = step
        yield view


def _next(
    view: View, s: Slopes, v: Vocabulary, rng: np.random.Generator
) -> Generator[None, None, tuple[View, Slopes | None] | None]:
    """The view after the symmetries beyond doubt, or after the best doubtful one, and its slopes; None for none."""
    proposals = sorted(_proposals(view, s, v), key=lambda p: (not p.certain, p.kind, p.sine2))
    if chosen := _certain(proposals):
        smaller = used(view, chosen, v)
        return smaller, (yield from slopes(smaller, rng))
    for proposal in sorted(proposals, key=lambda p: p.sine2)[:TRIALS]:
        tried = used(view, [proposal], v)
        found = yield from slopes(tried, rng)
        if found is None and not len(tried.V):
            return tried, None
        if found is not None and found.error < BETTER * s.error:
            return tried, found
    return None


def _certain(proposals: list[Proposal]) -> list[Proposal]:
    """All powers beyond doubt at once; else all products of different variables; else one sum."""
    certain = [p for p in proposals if p.certain]
    chosen: list[Proposal] = []
    taken: set[int] = set()
    for proposal in certain:
        if proposal.kind == certain[0].kind and not taken & set(proposal.variables):
            chosen.append(proposal)
            taken |= set(proposal.variables)
    return chosen[:1] if chosen and chosen[0].kind == SUM else chosen


def used(view: View, proposals: list[Proposal], v: Vocabulary) -> View:
    """The view after symmetries of different variables."""
    gone = {i for p in proposals for i in p.variables}
    kept = [i for i in range(len(view.V)) if i not in gone]
    variables, rows = [view.variables[i] for i in kept], [view.V[i] for i in kept]
    for proposal in proposals:
        if proposal.kind == POWER:
            continue
        (i, j), (p, *rest) = proposal.variables, proposal.numbers
        a, b = view.variables[i], view.variables[j]
        if proposal.kind == PRODUCT:
            variables.append(v.monomial((a, b), (p, rest[0])))
            rows.append(view.V[i] ** p * view.V[j] ** rest[0])
        else:
            variables.append(v.apply("add", v.apply("mul", Expression.constant(p), a), b))
            rows.append(p * view.V[i] + view.V[j])
    powers = [(p.variables[0], p.numbers[0]) for p in proposals if p.kind == POWER]
    smaller = view.with_factor(powers) if powers else view
    return replace(smaller, variables=tuple(variables), V=np.array(rows).reshape(len(rows), len(view.t)))


def _proposals(view: View, s: Slopes, v: Vocabulary) -> Iterator[Proposal]:
    tolerance = min(CERTAIN, SINE2 + SINE2_PER_ERROR2 * s.error**2)
    d = len(view.V)
    if not v.complete:
        return
    for i in range(d):
        p, sine2 = proportion(s.e[i], s.f)
        certain = sine2 < tolerance
        ratio = nice_ratio(p, EXPONENT if certain else LOOSE_EXPONENT)
        # What acts as a power is divided by, so it may be zero nowhere.
        possible = (
            bool((view.V[i] != 0.0).all()) and ratio is not None and _can_raise(view.V[i], float(ratio), v)
        )
        if sine2 < DOUBTFUL and ratio is not None and possible:
            yield Proposal(POWER, (i,), (float(ratio),), sine2, certain)
    for i, j in combinations(range(d), 2):
        c, sine2 = proportion(s.e[i], s.e[j])
        certain = sine2 < tolerance
        ratio = nice_ratio(c, (EXPONENT if certain else LOOSE_EXPONENT) * max(1.0, abs(c)), largest=4)
        if sine2 < DOUBTFUL and ratio is not None:
            p, q = float(ratio.numerator), float(ratio.denominator)
            if _can_raise(view.V[i], p, v) and _can_raise(view.V[j], q, v):
                yield Proposal(PRODUCT, (i, j), (p, q), sine2, certain)
        c, sine2 = proportion(s.g[i], s.g[j])
        if "add" in v and sine2 < DOUBTFUL and c != 0.0:
            yield Proposal(SUM, (i, j), (c,), sine2, sine2 < tolerance)


def _can_raise(values: Floats, power: float, v: Vocabulary) -> bool:
    fits = power == int(power) or bool((values > 0.0).all())
    return fits and v.can_raise(power) and (power > 0.0 or bool((values != 0.0).all()))


# One variable for all ---------------------------------------------------------------------------------------
INDEX_POWERS = (1.0, -1.0, 2.0, -2.0)
#: share of the variance that may be left between neighbours
ROUGHEST = 0.03


def single_index(view: View, v: Vocabulary) -> View | None:
    """y = x_j^q·f(Π x_i^p_i) found by sorting: along the right product, neighbours have neighbouring values."""
    d = len(view.V)
    if not 2 <= d <= 5 or not v.complete or not (view.V > 0.0).all():
        return None
    logs = np.log(view.V)
    best: tuple[float, int | None, float, tuple[float, ...]] | None = None
    for j in (None, *range(d)):
        rest = [i for i in range(d) if i != j]
        for q in (0.0,) if j is None else INDEX_POWERS:
            t = view.t if j is None else view.t / view.V[j] ** q
            roughest = 2.0 * len(t) * float(np.var(t))
            if len(rest) < 2 or roughest == 0.0:
                continue
            for powers in product((1.0,), *[INDEX_POWERS] * (len(rest) - 1)):
                order = np.argsort(np.asarray(powers) @ logs[rest])
                rough = float(np.square(np.diff(t[order])).sum()) / roughest
                if best is None or rough < best[0]:
                    best = rough, j, q, powers
    if best is None or best[0] > ROUGHEST:
        return None
    _, j, q, powers = best
    smaller = view if j is None else view.with_factor([(j, q)])
    variable = v.monomial(smaller.variables, powers)
    return smaller.merged(
        tuple(range(len(smaller.V))), variable, np.exp(np.asarray(powers) @ np.log(smaller.V))
    )
