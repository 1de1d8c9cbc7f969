"""Expressions for display: x0^3 instead of x0*x0^2, and features in order."""

from collections import Counter
from collections.abc import Iterator

from fouriertree.expr.expression import Expression
from fouriertree.expr.opcodes import CONST, CUBE, DIV, MUL, POW, SQUARE, VAR
from fouriertree.expr.simplify import LARGEST_SIZE

#: a base and its integer power, negative in the denominator
Factor = tuple[Expression, int]


def readable(expression: Expression) -> Expression:
    """The same function up to rounding, with equal factors collected and features before functions.

    >>> from fouriertree.expr import parse
    >>> readable(parse("sin(x0*x0^2)*x2*x1/(x1^2)^2")).text(digits=6)
    'x1*x2*sin(x0^3)/x1^4'
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
        whole = Expression.apply(row, *arguments)
        stack.append(_product(whole) if code in (MUL, DIV, SQUARE, CUBE) else whole)
    return stack.pop()


def _product(e: Expression) -> Expression:
    """A product of readable factors, with equal factors collected."""
    constants: list[Expression] = []
    numerator: Counter[Expression] = Counter()
    denominator: Counter[Expression] = Counter()
    for base, power in _factors(e, 1):
        if base.op[-1] == CONST:
            if power != 1:
                return e  # a constant in the denominator or with a power: not the canonical form
            constants.append(base)
        else:
            (numerator if power > 0 else denominator)[base] += abs(power)
    top = [*constants, *_powers(numerator)] or [Expression.constant(1.0)]
    bottom = _powers(denominator)
    product = _joined(top) / _joined(bottom) if bottom else _joined(top)
    return product if product.size <= e.size else e  # (a*b)^2 is shorter than a^2*b^2


def _factors(e: Expression, power: int) -> Iterator[Factor]:
    code, last = int(e.op[-1]), e.size - 1
    if code in (MUL, DIV):
        left, right = (e.subtree(i) for i in e.children(last))
        yield from _factors(left, power)
        yield from _factors(right, -power if code == DIV else power)
    elif code in (SQUARE, CUBE):
        yield from _factors(e.subtree(last - 1), power * (2 if code == SQUARE else 3))
    elif code == POW and e.op[-2] == CONST and e.const[-2] == int(e.const[-2]) and e.const[-2] > 0.0:
        yield e.subtree(last - 2), power * int(e.const[-2])
    else:
        yield e, power


def _powers(bases: Counter[Expression]) -> list[Expression]:
    """Every base with its power: features in order, then the others in their order."""

    def place(base: Expression) -> tuple[bool, int]:
        feature = base.size == 1
        return (not feature, int(base.arg[0]) if feature else 0)

    return [_raised(base, bases[base]) for base in sorted(bases, key=place)]


def _raised(base: Expression, power: int) -> Expression:
    if power == 1:
        return base
    if power in (2, 3):
        return Expression.apply("square" if power == 2 else "cube", base)
    return Expression.apply("pow", base, Expression.constant(float(power)))


def _joined(factors: list[Expression]) -> Expression:
    total = factors[0]
    for factor in factors[1:]:
        total = total * factor
    return total
