"""From a sum in an image of the target back to a formula for y."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import MUL, VAR
from fouriertree.expr.vocabulary import ONE, NotAllowedError, Vocabulary
from fouriertree.search.hybrid.links import IDENTITY, Link
from fouriertree.search.hybrid.symmetry import View


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
    view: View,
    link: Link,
    coefficients: Sequence[float],
    expressions: Sequence[Expression],
    target: int,
) -> tuple[Expression, ...] | None:
    """Terms of y ≈ Σ c·term: factor · g⁻¹(Σ c·e), or factor · Σ / (1 − Σ) if a term holds column `target`.

    None if there is no numerator, or if the operators do not suffice to write it.
    """
    try:
        factor = (
            v.monomial([base for base, _ in view.factor], [p for _, p in view.factor]) if view.factor else ONE
        )
        if any(uses(e, target) for e in expressions):
            fraction = _fraction(v, *fraction_parts(coefficients, expressions, target))
            return None if fraction is None else (v.product([factor, link.inverse(v, fraction)]),)
        if link is IDENTITY:
            return tuple(v.product([factor, e]) for e in expressions)
        return (v.product([factor, link.inverse(v, weighted_sum(v, coefficients, expressions))]),)
    except NotAllowedError:
        return None


Weighted = list[tuple[float, Expression]]


def _fraction(v: Vocabulary, above: Weighted, below: Weighted) -> Expression | None:
    """Σ c·e / (1 − Σ d·b); None without a numerator."""
    if not above:
        return None
    denominator = weighted_sum(v, (1.0, *(-d for d, _ in below)), (ONE, *(b for _, b in below)))
    # The number in front of a single term is that of the whole.
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


def uses(expression: Expression, column: int) -> bool:
    return bool(np.any((expression.op == VAR) & (expression.arg == column)))


def without(product: Expression, column: int) -> Expression:
    """A product without its factor `column`."""
    stack: list[Expression] = []
    for i, code in enumerate(product.op.tolist()):
        if code == VAR and product.arg[i] == column:
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
