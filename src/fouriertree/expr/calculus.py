"""Symbolic derivatives: the chain rule over the derivative formulas in the table of operators."""

from functools import lru_cache

import numpy as np

from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.expression import Expression
from fouriertree.expr.opcodes import ADD, CONST, DIV, MUL, POW, SUB, VAR
from fouriertree.expr.parse import parse
from fouriertree.expr.primitives import PrimitiveSet

_ZERO, _ONE = Expression.constant(0.0), Expression.constant(1.0)


def differentiate(expression: Expression, column: int) -> Expression:
    """The derivative of `expression` with respect to a column, with sums and products by 0 and 1 folded away.

    It is right almost everywhere: abs, min and max get a one-sided slope at their kinks, and the protected
    operators the slope of the plain ones.

    >>> from fouriertree.expr.parse import parse
    >>> differentiate(parse("sin(x0^2)*x1 - 1"), 0)
    Expression('x1*(cos(x0^2)*(2.0*x0))')
    >>> differentiate(parse("x0^2.5"), 0)
    Expression('2.5*x0^1.5')
    """
    stack: list[tuple[Expression, Expression]] = []
    for i, (code, arg) in enumerate(zip(expression.op.tolist(), expression.arg.tolist(), strict=True)):
        if code in (CONST, VAR):
            slope = _ONE if code == VAR and arg == column else _ZERO
            stack.append((expression.subtree(i), slope))
        else:
            row = expression.primitives.by_opcode(code)
            arguments = stack[-row.arity :]
            value = Expression.apply(row, *(tree for tree, _ in arguments))
            stack[-row.arity :] = [(value, _chain_rule(row, arguments, expression.primitives))]
    return stack[0][1]


def _chain_rule(
    row: Primitive, arguments: list[tuple[Expression, Expression]], known: PrimitiveSet
) -> Expression:
    """Sum over the arguments of (partial derivative) * (slope of the argument)."""
    values = [value for value, _ in arguments]
    total = _ZERO
    for k, (_, slope) in enumerate(arguments):
        if not _is(slope, 0.0):
            partial = _substitute(_partial(row, k, known), values)
            total = _fold(known.by_opcode(ADD), total, _fold(known.by_opcode(MUL), partial, slope))
    return total


@lru_cache(maxsize=256)
def _partial(row: Primitive, k: int, known: PrimitiveSet) -> Expression:
    if row.derivative is None:
        raise ValueError(
            f"operator {row.name!r} has no derivative; give one to PrimitiveSet.add(derivative=...)"
        )
    return parse(row.derivative[k], names=("a", "b")[: row.arity], primitives=known)


def _substitute(template: Expression, values: list[Expression]) -> Expression:
    """`template` with its columns a and b replaced by `values`, folded on the way."""
    stack: list[Expression] = []
    for i, (code, arg) in enumerate(zip(template.op.tolist(), template.arg.tolist(), strict=True)):
        if code in (CONST, VAR):
            stack.append(template.subtree(i) if code == CONST else values[arg])
        else:
            row = template.primitives.by_opcode(code)
            stack[-row.arity :] = [_fold(row, *stack[-row.arity :])]
    return stack[0]


def _fold(row: Primitive, *arguments: Expression) -> Expression:
    """The operator on its arguments, or what it equals for constants, zeros and ones."""
    if all(tree.op[-1] == CONST for tree in arguments):
        value = float(row.reference(*(tree.const for tree in arguments))[0])
        if np.isfinite(value):
            return Expression.constant(value)
    short = _identity(row.opcode, *arguments) if row.arity == 2 else None
    return Expression.apply(row, *arguments) if short is None else short


def _identity(opcode: int, a: Expression, b: Expression) -> Expression | None:
    if opcode == MUL and (_is(a, 0.0) or _is(b, 0.0)):
        return _ZERO
    if (opcode == ADD and _is(a, 0.0)) or (opcode == MUL and _is(a, 1.0)):
        return b
    if opcode in (ADD, SUB) and _is(b, 0.0):
        return a
    if opcode in (MUL, DIV, POW) and _is(b, 1.0):
        return a
    if opcode == MUL and (_is(a, -1.0) or _is(b, -1.0)):
        return -(b if _is(a, -1.0) else a)
    return None


def _is(tree: Expression, value: float) -> bool:
    return tree.size == 1 and bool(tree.op[0] == CONST) and bool(tree.const[0] == value)
