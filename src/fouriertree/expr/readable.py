"""Expressions for display: x0^3 instead of x0*x0^2, and features in order."""

import math
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from operator import mul

from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.expression import Expression
from fouriertree.expr.opcodes import CONST, CUBE, DIV, MUL, NEG, POW, SQUARE
from fouriertree.expr.postfix import fold
from fouriertree.expr.simplify import LARGEST_SIZE


def readable(expression: Expression) -> Expression:
    """The same function up to rounding, with equal factors collected and features before functions.

    >>> from fouriertree.expr import parse
    >>> readable(parse("sin(x0*x0^2)*x2*x1/(x1^2)^2")).text(digits=6)
    'x1*x2*sin(x0^3)/x1^4'
    >>> [readable(parse(text)).text(digits=6) for text in ("exp(-1*x0)", "-1*x0*x0", "-x1*x0/x2")]
    ['exp(-x0)', '-x0^2', '-x0*x1/x2']
    """
    if expression.size > LARGEST_SIZE:
        return expression

    def apply(row: Primitive, *arguments: Expression) -> Expression:
        whole = Expression.apply(row, *arguments)
        return _product(whole) if row.opcode in (MUL, DIV, SQUARE, CUBE, NEG) else whole

    return fold(expression, expression.subtree, apply)


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
    number = math.prod(float(c.const[0]) for c in constants)
    is_minus = bool(numerator) and number == -1.0
    own = [] if is_minus or (number == 1.0 and numerator) else [Expression.constant(number)] * bool(constants)
    top = [*own, *_powers(numerator)] or [Expression.constant(1.0)]
    if is_minus:
        top[0] = -top[0]
    bottom = _powers(denominator)
    product = reduce(mul, top) / reduce(mul, bottom) if bottom else reduce(mul, top)
    return product if product.size <= e.size else e  # (a*b)^2 is shorter than a^2*b^2


def _factors(e: Expression, power: int) -> Iterator[tuple[Expression, int]]:
    """The bases of e^power with their integer powers, negative in the denominator."""
    code, last = int(e.op[-1]), e.size - 1
    if code in (MUL, DIV):
        left, right = (e.subtree(i) for i in e.children(last))
        yield from _factors(left, power)
        yield from _factors(right, -power if code == DIV else power)
    elif code in (SQUARE, CUBE):
        yield from _factors(e.subtree(last - 1), power * (2 if code == SQUARE else 3))
    elif code == NEG:
        yield Expression.constant(-1.0 if power % 2 else 1.0), 1
        yield from _factors(e.subtree(last - 1), power)
    elif code == POW and e.op[-2] == CONST and e.const[-2] == int(e.const[-2]) and e.const[-2] > 0.0:
        yield e.subtree(last - 2), power * int(e.const[-2])
    else:
        yield e, power


def _powers(bases: Counter[Expression]) -> list[Expression]:
    """Every base with its power: features in order, then the others in their order."""

    def place(base: Expression) -> tuple[bool, int]:
        feature = base.size == 1
        return (not feature, int(base.arg[0]) if feature else 0)

    powers = [(base, bases[base]) for base in sorted(bases, key=place)]
    return [base if power == 1 else base**power for base, power in powers]
