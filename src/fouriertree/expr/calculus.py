"""Symbolic derivatives: the chain rule with the derivatives declared in the table of operators."""

from functools import lru_cache

import numpy as np

from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.expression import Expression
from fouriertree.expr.opcodes import ADD, CONST, DIV, INV, MUL, POW, SQUARE, SUB, VAR
from fouriertree.expr.primitives import PrimitiveSet
from fouriertree.expr.templates import FINITE, partial_derivative, substituted

_ZERO, _ONE = Expression.constant(0.0), Expression.constant(1.0)


def differentiate(expression: Expression, column: int) -> Expression:
    """The partial derivative ∂e/∂x_i, with sums and products by 0 and 1 folded.

    It is exact almost everywhere: abs, min and max have a one-sided derivative at their kinks, and protected operators
    have the derivative of the plain ones.

    Parameters
    ----------
    expression : Expression
    column : int
        The index i of the feature.

    Examples
    --------
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
    """Sum over the arguments of (partial derivative) · (derivative of the argument)."""
    values = [value for value, _ in arguments]
    total = _ZERO
    for k, (_, slope) in enumerate(arguments):
        if not _is(slope, 0.0):
            partial = substituted(_partial(row, k, known), values, _fold)
            total = _fold(known.by_opcode(ADD), total, _fold(known.by_opcode(MUL), partial, slope))
    return total


@lru_cache(maxsize=256)
def _partial(row: Primitive, k: int, known: PrimitiveSet) -> Expression:
    """The derivative by argument k as an expression of a and b: the value v is replaced by the operator itself."""
    arguments = [Expression.variable(i) for i in range(row.arity)]
    return substituted(
        partial_derivative(row, k, known), [*arguments, Expression.apply(row, *arguments)], _plain
    )


def _plain(row: Primitive, *arguments: Expression) -> Expression:
    """finite(t) is t: infinite derivatives are replaced in gradients only."""
    return arguments[0] if row is FINITE else Expression.apply(row, *arguments)


def _fold(row: Primitive, *arguments: Expression) -> Expression:
    """The operator on its arguments, simplified for constants, zeros and ones."""
    if all(tree.op[-1] == CONST for tree in arguments):
        value = float(row.reference(*(tree.const for tree in arguments))[0])
        if np.isfinite(value):
            return Expression.constant(value)
    short = _identity(row.opcode, *arguments) if row.arity == 2 else None
    if short is None and row.opcode == MUL:
        short = _product(*arguments)
    return Expression.apply(row, *arguments) if short is None else short


def _product(a: Expression, b: Expression) -> Expression | None:
    """Products that derivatives contain for accuracy, simplified: inv(p)·p^q = p^(q − 1), (1 − u)(1 + u) = 1 − u²."""
    if (int(a.op[-1]), int(b.op[-1])) not in ((INV, POW), (SUB, ADD)):
        return None
    first, second = ([e.subtree(i) for i in e.children(e.size - 1)] for e in (a, b))
    known = a.primitives.union(b.primitives)
    if a.op[-1] == INV and first[0] == second[0]:
        exponent = _fold(known.by_opcode(SUB), second[1], _ONE)
        return _fold(known.by_opcode(POW), second[0], exponent)
    if first == second and _is(first[0], 1.0):
        # With a single occurrence of u, the bounds of a certificate are tighter.
        return Expression.apply(
            known.by_opcode(SUB), _ONE, Expression.apply(known.by_opcode(SQUARE), first[1])
        )
    return None


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
