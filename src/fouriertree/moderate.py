"""Numbers of moderate size: √(1.2e4·u + 3e-10·v) for 1e-5·√(1e14·u + 3·v)."""

from __future__ import annotations

from math import log10

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import ABS, CONST, CUBE, SQRT, SQUARE
from fouriertree.model import Model, sum_of_terms

#: f(k·u) = kᵈ·f(u) for k > 0
DEGREES = {SQRT: 0.5, ABS: 1.0, SQUARE: 2.0, CUBE: 3.0}
#: powers of ten that numbers must have less of, together, to be moved
DECADES = 5.0


def moderate(whole: Expression) -> Expression:
    """The same function up to rounding, with numbers in front of roots and powers of sums inside where they fit better.

    >>> from fouriertree.expr import parse
    >>> moderate(parse("0.00001*sqrt(1e14*x0 + 3*x1)")).text(digits=6)
    'sqrt(10000*x0 + 3e-10*x1)'
    >>> moderate(parse("2*sqrt(x0 + 1)")).text(digits=6)
    '2*sqrt(x0 + 1)'
    """
    model = Model.from_expression(whole)
    terms = [_inside(c, e) for c, e in zip(model.coefficients, model.expressions, strict=True)]
    if all(term is None for term in terms):
        return whole
    kept = zip(terms, model.coefficients, model.expressions, strict=True)
    coefficients, expressions = zip(*((c, e) if term is None else term for term, c, e in kept), strict=True)
    return sum_of_terms(coefficients, expressions)


def _inside(c: float, e: Expression) -> tuple[float, Expression] | None:
    """±f(k·sum) for c·f(sum), if it is no longer and its numbers are more moderate; None otherwise."""
    degree = DEGREES.get(int(e.op[-1]))
    if degree is None or c == 0.0:
        return None
    inner = Model.from_expression(e.subtree(e.size - 2))
    if inner.n_terms < 2:
        return None
    k = abs(c) ** (1.0 / degree)
    function = e.primitives.by_opcode(int(e.op[-1]))
    moved = Expression.apply(function, sum_of_terms([k * a for a in inner.coefficients], inner.expressions))
    sign = 1.0 if c > 0.0 else -1.0
    before, after = sum_of_terms([c], [e]), sum_of_terms([sign], [moved])
    if after.size > before.size or decades(after) > decades(before) - DECADES:
        return None
    return sign, moved


def decades(expression: Expression) -> float:
    """Σ |log₁₀| of the numbers; infinite where one is zero or infinite."""
    numbers = [abs(value) for value in expression.const[expression.op == CONST].tolist()]
    if any(value in (0.0, float("inf")) for value in numbers):
        return float("inf")
    return sum(abs(log10(value)) for value in numbers)
