"""Transforms g(t) of the target in which a law may be a plain sum, t = g⁻¹(Σ c·e), and the way back to y."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import MUL, VAR
from fouriertree.expr.vocabulary import ONE, NotAllowedError, Vocabulary
from fouriertree.search.hybrid.reductions import Reduction

Floats = NDArray[np.float64]

#: weights of a transformed target differ by at most this factor from their median, either way
SPREAD = 1e3


@dataclass(frozen=True)
class Transform:
    """g with its slope, where it is defined, and how its inverse is written."""

    name: str
    needs: tuple[str, ...]  #: operators that the inverse is written with
    function: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    one_sign: bool  #: g needs t of one sign, and works on |t|
    inverse: Callable[[Vocabulary, Expression], Expression]
    power: float | None = None  #: the inverse is this power

    def __reduce__(self) -> tuple[Callable[[str], Transform], tuple[str]]:
        # Functions without names cannot be pickled; they are in the table of transforms.
        return transform_named, (self.name,)

    def allowed(self, vocabulary: Vocabulary) -> bool:
        raised = self.power is None or vocabulary.can_raise(self.power)
        return raised and all(role in vocabulary for role in self.needs)

    def apply(self, t: Floats, weights: Floats) -> tuple[Floats, Floats] | None:
        """g(|t|), and weights under which errors of g count like errors of t; None if undefined."""
        sign = 1.0
        if self.one_sign:
            if (t < 0.0).all():
                sign = -1.0
            elif not (t > 0.0).all():
                return None
        with np.errstate(all="ignore"):
            z, slope = self.function(sign * t), self.slope(sign * t)
            weight = weights / np.square(slope)
        if not (np.isfinite(z).all() and np.isfinite(weight).all()):
            return None
        middle = float(np.median(weight))
        return z, np.clip(weight, middle / SPREAD, middle * SPREAD)


def _power(name: str, p: float) -> Transform:
    """g(t) = t^p, so t = g^(1/p)."""
    return Transform(
        name, (), lambda t: t**p, lambda t: p * t ** (p - 1.0), True,
        lambda v, e: v.power(e, 1.0 / p), 1.0 / p,
    )  # fmt: skip


def _exponential(k: float) -> Transform:
    """g(t) = exp(k·t), so t = log(g)/k."""
    return Transform(
        f"exp {k:g}t", ("log",), lambda t: np.exp(k * t), lambda t: k * np.exp(k * t), False,
        lambda v, e: v.apply("log", e),
    )  # fmt: skip


IDENTITY = Transform("t", (), lambda t: t, np.ones_like, False, lambda v, e: e)
TRANSFORMS = (
    IDENTITY,
    Transform("log t", ("exp",), np.log, lambda t: 1.0 / t, True, lambda v, e: v.apply("exp", e)),
    Transform(
        "1/t", (), lambda t: 1.0 / t, lambda t: -1.0 / (t * t), False, lambda v, e: v.power(e, -1.0), -1.0
    ),
    _power("t^2", 2.0),
    _power("1/t^2", -2.0),
    _power("sqrt t", 0.5),
    _power("1/sqrt t", -0.5),
    # The law is log(Σ)/k: k depends on the unit of t, and is fitted in the end.
    _exponential(1.0),
    _exponential(3.0),
)


#: of compositions only
RARE_TRANSFORMS = (_power("t^(2/3)", 2.0 / 3.0),)


def transform_named(name: str) -> Transform:
    return next(transform for transform in (*TRANSFORMS, *RARE_TRANSFORMS) if transform.name == name)


# From a sum for a transformed target to terms for y ------------------------------------------------------------
def weighted_sum(
    v: Vocabulary, coefficients: Sequence[float], expressions: Sequence[Expression]
) -> Expression:
    """c₁·e₁ + c₂·e₂ + …"""
    total: Expression | None = None
    for c, e in zip(coefficients, expressions, strict=True):
        term = Expression.constant(c) if e == ONE else v.apply("mul", Expression.constant(c), e)
        total = term if total is None else v.apply("add", total, term)
    return Expression.constant(0.0) if total is None else total


def terms_for_target(
    v: Vocabulary,
    reduction: Reduction,
    transform: Transform,
    coefficients: Sequence[float],
    expressions: Sequence[Expression],
    target: int,
) -> tuple[Expression, ...] | None:
    """Terms of y ≈ Σ c·term: factor · g⁻¹(Σ c·e), or factor · Σ / (1 − Σ) if a term contains variable `target`.

    None if there is no numerator, or if the operators do not suffice to write it.
    """
    try:
        factor = (
            v.monomial([base for base, _ in reduction.factor], [p for _, p in reduction.factor])
            if reduction.factor
            else ONE
        )
        if any(uses(e, target) for e in expressions):
            fraction = _fraction(v, *fraction_parts(coefficients, expressions, target))
            return None if fraction is None else (v.product([factor, transform.inverse(v, fraction)]),)
        if transform is IDENTITY:
            return tuple(v.product([factor, e]) for e in expressions)
        return (v.product([factor, transform.inverse(v, weighted_sum(v, coefficients, expressions))]),)
    except NotAllowedError:
        return None


def models_for_target(
    v: Vocabulary, reduction: Reduction, models: Iterable[Sequence[Expression] | None]
) -> list[tuple[Expression, ...]]:
    """The terms of y for those of a reduced problem, for every model that the operators suffice for."""
    found = (
        terms_for_target(v, reduction, IDENTITY, (1.0,) * len(m), m, -1) for m in models if m is not None
    )
    return [terms for terms in found if terms is not None]


Weighted = list[tuple[float, Expression]]


def _fraction(v: Vocabulary, above: Weighted, below: Weighted) -> Expression | None:
    """Σ c·e / (1 − Σ d·b); None without a numerator."""
    if not above:
        return None
    denominator = weighted_sum(v, (1.0, *(-d for d, _ in below)), (ONE, *(b for _, b in below)))
    # The coefficient of a single term is that of the whole.
    single = len(above) == 1
    numerator = above[0][1] if single else weighted_sum(v, [c for c, _ in above], [e for _, e in above])
    return v.quotient(numerator, denominator)


def fraction_parts(
    coefficients: Sequence[float], expressions: Sequence[Expression], target: int
) -> tuple[Weighted, Weighted]:
    """Terms (c, e) of the numerator and (d, b) of the denominator of z = Σ c·e / (1 − Σ d·b)."""
    above, below = [], []
    for c, e in zip(coefficients, expressions, strict=True):
        if uses(e, target):
            below.append((c, without(e, target)))
        else:
            above.append((c, e))
    return above, below


def uses(expression: Expression, variable: int) -> bool:
    return bool(np.any((expression.op == VAR) & (expression.arg == variable)))


def without(product: Expression, variable: int) -> Expression:
    """A product without its factor `variable`."""
    stack: list[Expression] = []
    for i, code in enumerate(product.op.tolist()):
        if code == VAR and product.arg[i] == variable:
            stack.append(ONE)
        elif code <= VAR:
            stack.append(product.subtree(i))
        else:
            row = product.primitives.by_opcode(code)
            arguments = stack[-row.arity :]
            others = [e for e in arguments if e != ONE] or [ONE]
            whole = others[0] if code == MUL and len(others) == 1 else Expression.apply(row, *arguments)
            stack[-row.arity :] = [whole]
    return stack[0]
