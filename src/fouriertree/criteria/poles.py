"""FitResult that run away between the rows: a denominator near zero, a root or logarithm at the edge of its domain."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, COS, DIV, INV, LOG, MUL, POW, SQRT, SQUARE, TAN, VAR

#: a denominator that comes this near to zero, relative to its median, has a pole among the rows or beside them
NEAR = 0.02
#: a formula with a pole is believed if it has at most this share of the error of those without
POLE_LOSS_RATIO = 0.5
#: what is written with these alone cannot change its sign where its columns do not
PLAIN = (CONST, VAR, MUL, DIV, POW, SQRT, SQUARE, INV)


def may_have_pole(expression: Expression, X: NDArray[np.float64]) -> bool:
    """Whether a row between these, or just beside them, might meet a pole or leave the domain.

    >>> from fouriertree.expr import parse
    >>> X = np.linspace(1.0, 2.0, 11)[:, None]
    >>> [may_have_pole(parse(text), X) for text in ("1/(x0 - 1.55)", "1/(x0 + 1)", "log(x0 - 0.999)")]
    [True, False, True]
    """
    with np.errstate(all="ignore"):
        return any(_touches_zero(part.evaluate(X)) for part in _dangerous(expression))


def _touches_zero(values: NDArray[np.float64]) -> bool:
    low, high = float(values.min()), float(values.max())
    if not (low > 0.0 or high < 0.0):
        return True
    return min(abs(low), abs(high)) < NEAR * float(np.median(np.abs(values)))


def _dangerous(expression: Expression) -> Iterator[Expression]:
    """What must not come near zero."""
    for i, code in enumerate(expression.op.tolist()):
        if code == DIV:
            yield expression.subtree(expression.children(i)[1])
        elif code == INV or (code == POW and _falls(expression, i)):
            yield expression.subtree(expression.children(i)[0])
        elif code == TAN:
            yield Expression.apply(
                expression.primitives.by_opcode(COS), expression.subtree(expression.children(i)[0])
            )
        elif code in (LOG, SQRT, POW):
            argument = expression.subtree(expression.children(i)[0])
            if not np.isin(argument.op, PLAIN).all() and not (code == POW and _whole(expression, i)):
                yield argument


def _falls(expression: Expression, i: int) -> bool:
    exponent = expression.children(i)[1]
    return bool(expression.op[exponent] != CONST or expression.const[exponent] < 0.0)


def _whole(expression: Expression, i: int) -> bool:
    exponent = expression.children(i)[1]
    return bool(expression.op[exponent] == CONST and float(expression.const[exponent]).is_integer())
