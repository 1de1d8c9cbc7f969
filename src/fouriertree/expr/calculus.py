"""Formulas of the table of operators, filled in, and symbolic derivatives by its derivatives and the chain rule."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from fouriertree.expr.catalogue import CATALOGUE, Primitive
from fouriertree.expr.expression import Expression
from fouriertree.expr.opcodes import ADD, CONST, DIV, INV, MUL, POW, SUB, USER_OPCODE_START, VAR
from fouriertree.expr.parse import parse
from fouriertree.expr.postfix import fold
from fouriertree.expr.primitives import PrimitiveSet

#: an expression and its derivative
_WithSlope = tuple[Expression, Expression]

_ZERO, _ONE = Expression.constant(0.0), Expression.constant(1.0)
_ADD, _SUB, _MUL, _POW = (CATALOGUE[name] for name in ("add", "sub", "mul", "pow"))
#: finite(t) in a derivative: t, and in gradients 0 where t is infinite; allowed in templates only
FINITE = Primitive("finite", 1, USER_OPCODE_START - 1, lambda a: a)


def derivative_template(text: str, arity: int, known: PrimitiveSet) -> Expression:
    """A partial derivative as an expression of a, b and the value v of the operator; raises ParseError."""
    extended = known if FINITE.name in known.names else PrimitiveSet([*known, FINITE])
    return parse(text, names=[*"ab"[:arity], "v"], primitives=extended)


def partial_derivative(row: Primitive, k: int, known: PrimitiveSet) -> Expression:
    """The derivative by argument k, as an expression of a, b and v."""
    if row.derivative is None:
        raise ValueError(
            f"operator {row.name!r} has no derivative; give one to PrimitiveSet.add(derivative=...)"
        )
    return derivative_template(row.derivative[k], row.arity, known)


def substituted(
    template: Expression, values: Sequence[Expression], apply: Callable[..., Expression]
) -> Expression:
    """`template` with its variables replaced by `values`; apply(operator, *arguments) builds nodes."""

    def leaf(i: int) -> Expression:
        return values[template.arg[i]] if template.op[i] == VAR else Expression.constant(template.const[i])

    return fold(template, leaf, apply)


def filled_in(text: str, row: Primitive, arguments: Sequence[Expression]) -> Expression:
    """A template over the arguments of an operator, such as that of its poles, with these arguments."""
    template = parse(text, names="ab"[: row.arity], primitives=arguments[0].primitives)
    return substituted(template, arguments, Expression.apply)


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
    known = expression.primitives

    def leaf(i: int) -> _WithSlope:
        is_column = expression.op[i] == VAR and expression.arg[i] == column
        return expression.subtree(i), _ONE if is_column else _ZERO

    def chain_rule(row: Primitive, *arguments: _WithSlope) -> _WithSlope:
        """The value, and Σ (partial derivative) · (derivative of the argument)."""
        values, total = [value for value, _ in arguments], _ZERO
        for k, (_, slope) in enumerate(arguments):
            if not _is(slope, 0.0):
                partial = substituted(_partial(row, k, known), values, _folded)
                total = _folded(_ADD, total, _folded(_MUL, partial, slope))
        return Expression.apply(row, *values), total

    return fold(expression, leaf, chain_rule)[1]


def derivative_by_constant(expression: Expression, i: int) -> Expression:
    """The partial derivative by the constant at token i.

    >>> from fouriertree.expr.parse import parse
    >>> derivative_by_constant(parse("sin(2*x0)"), 0)
    Expression('cos(2.0*x0)*x0')
    """
    column = 1 + max(expression.columns, default=-1)
    value = float(expression.const[i])
    slope = differentiate(expression.replace(i, Expression.variable(column)), column)
    for k in np.flatnonzero((slope.op == VAR) & (slope.arg == column)).tolist():
        slope = slope.replace(k, Expression.constant(value))
    return slope


@lru_cache(maxsize=256)
def _partial(row: Primitive, k: int, known: PrimitiveSet) -> Expression:
    """The derivative by argument k as an expression of a and b: the value v is replaced by the operator itself."""

    def plain(row: Primitive, *arguments: Expression) -> Expression:
        """finite(t) is t: infinite derivatives are replaced in gradients only."""
        return arguments[0] if row is FINITE else Expression.apply(row, *arguments)

    arguments = [Expression.variable(i) for i in range(row.arity)]
    values = [*arguments, Expression.apply(row, *arguments)]
    return substituted(partial_derivative(row, k, known), values, plain)


def _folded(row: Primitive, *arguments: Expression) -> Expression:
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
    if a.op[-1] == INV and first[0] == second[0]:
        return _folded(_POW, second[0], _folded(_SUB, second[1], _ONE))
    # With a single occurrence of u, the bounds of a certificate are tighter.
    return _ONE - first[1] ** 2 if first == second and _is(first[0], 1.0) else None


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
