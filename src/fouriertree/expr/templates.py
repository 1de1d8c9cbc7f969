"""Formulas over the arguments of an operator, as the table of operators has them: read, and filled in."""

from collections.abc import Callable, Sequence

from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.expression import Expression
from fouriertree.expr.opcodes import USER_OPCODE_START, VAR
from fouriertree.expr.parse import parse
from fouriertree.expr.postfix import fold
from fouriertree.expr.primitives import PrimitiveSet

Apply = Callable[..., Expression]

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


def substituted(template: Expression, values: Sequence[Expression], apply: Apply) -> Expression:
    """`template` with its variables replaced by `values`; apply(operator, *arguments) builds nodes."""

    def leaf(i: int) -> Expression:
        return values[template.arg[i]] if template.op[i] == VAR else Expression.constant(template.const[i])

    whole: Expression = fold(template, leaf, apply)
    return whole


def filled_in(text: str, row: Primitive, arguments: Sequence[Expression]) -> Expression:
    """A template over the arguments of an operator, such as that of its poles, with these arguments."""
    template = parse(text, names="ab"[: row.arity], primitives=arguments[0].primitives)
    return substituted(template, arguments, Expression.apply)
