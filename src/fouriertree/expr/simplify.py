"""The constant factor of a product."""

import math

from fouriertree.expr.expression import Expression
from fouriertree.expr.opcodes import CONST, DIV, MUL, NEG

#: larger trees are not simplified, because recursion would be too deep
LARGEST_SIZE = 500


def split_factor(expression: Expression) -> tuple[float, Expression]:
    """(c, rest) with expression = c·rest and no constant among the factors of rest.

    >>> from fouriertree.expr import parse
    >>> factor, rest = split_factor(parse("2*x0*(-x1/4)"))
    >>> factor, str(rest)
    (-0.5, 'x0*x1')
    """
    if expression.size > LARGEST_SIZE:
        return 1.0, expression
    factor, rest = _split(expression)
    return (factor, rest) if math.isfinite(factor) and factor != 0.0 else (1.0, expression)


_ONE = Expression.constant(1.0)


def _split(e: Expression) -> tuple[float, Expression]:
    code, last = int(e.op[-1]), e.size - 1
    if code == CONST:
        return float(e.const[-1]), _ONE
    parts = [_split(e.subtree(i)) for i in e.children(last)] if code in (NEG, MUL, DIV) else []
    if code == NEG:
        return -parts[0][0], parts[0][1]
    if code == MUL:
        (a, left), (b, right) = parts
        return a * b, right if left == _ONE else left if right == _ONE else left * right
    if code == DIV and parts[1][0] != 0.0:
        (a, left), (b, right) = parts
        return a / b, left if right == _ONE else left / right
    return 1.0, e
