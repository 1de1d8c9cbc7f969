"""Formulas without what nobody would write: sums of numbers, minus minus, numbers scattered over a product."""

from __future__ import annotations

import math

import numpy as np

from fouriertree.expr.expression import Expression
from fouriertree.expr.opcodes import ADD, CONST, DIV, MUL, NEG, SUB, VAR

#: larger trees are left as they are: nobody reads them, and this walks them recursively
LARGEST_SIZE = 500


def tidy(expression: Expression) -> Expression:
    """The same function with subtrees of numbers computed and signs drawn together.

    >>> from fouriertree.expr import parse
    >>> str(tidy(parse("x0 - -0.5 + cos(0)*2")))
    'x0 + 0.5 + 2.0'
    """
    if expression.size > LARGEST_SIZE:
        return expression
    stack: list[Expression] = []
    for i, code in enumerate(expression.op.tolist()):
        if code <= VAR:
            stack.append(expression.subtree(i))
            continue
        row = expression.primitives.by_opcode(code)
        arguments = stack[-row.arity :]
        del stack[-row.arity :]
        stack.append(_combined(code, Expression.apply(row, *arguments), arguments))
    return stack.pop()


def _combined(code: int, whole: Expression, arguments: list[Expression]) -> Expression:
    """An operator on tidy arguments, itself tidy."""
    if all(_is_number(argument) for argument in arguments):
        value = float(whole.evaluate(np.zeros((1, 1)))[0])
        return Expression.constant(value) if math.isfinite(value) else whole
    last = arguments[-1]
    if code in (ADD, SUB) and _is_number(last) and last.const[0] < 0.0:
        opposite = -float(last.const[0])
        return arguments[0] - opposite if code == ADD else arguments[0] + opposite
    return whole


def split_factor(expression: Expression) -> tuple[float, Expression]:
    """(c, rest) with expression = c·rest and no number among the factors of rest.

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


def _is_number(e: Expression) -> bool:
    return e.size == 1 and e.op[0] == CONST
