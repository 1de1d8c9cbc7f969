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
    code = int(e.op[-1])
    if code == CONST:
        return float(e.const[-1]), _ONE
    if code not in (NEG, MUL, DIV):
        return 1.0, e
    (a, left), *others = [_split(e.subtree(i)) for i in e.children(e.size - 1)]
    b, right = others[0] if others else (-1.0, _ONE)
    if code == DIV:
        return (a / b, left if right == _ONE else left / right) if b != 0.0 else (1.0, e)
    return a * b, right if left == _ONE else left if right == _ONE else left * right
