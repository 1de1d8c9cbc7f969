"""Addends of rounding size, anywhere in an expression: 6e16·x²/(6e16 − z) is x²."""

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.opcodes import ADD, SUB
from fouriertree.expr.postfix import fold

Floats = NDArray[np.float64]
#: an expression with its values
Valued = tuple[Expression, Floats]

#: an addend is negligible if its root mean square is below this share of that of the other one
NEGLIGIBLE = 1e-9
#: rows that sizes are taken from
MOST_ROWS = 1000


def without_negligible(expression: Expression, X: Floats) -> Expression:
    """The expression without addends that are negligible on the rows; itself if there are none.

    Its loss may depend on them all the same, where a difference follows.

    >>> from fouriertree.expr import parse
    >>> x = np.linspace(1.0, 2.0, 9)[:, None]
    >>> print(without_negligible(parse("3e15*x0/(3e15 - x0) + sin(1e12*x0 + x0)"), x))
    3000000000000000.0*x0/3000000000000000.0 + sin(1000000000000.0*x0)
    """
    X = X[:: 1 + len(X) // MOST_ROWS]

    def leaf(i: int) -> Valued:
        e = expression.subtree(i)
        return e, e.evaluate(X)

    with np.errstate(all="ignore"):
        found, _ = fold(expression, leaf, _applied)
    return found if found.size < expression.size else expression


def _applied(row: Primitive, *arguments: Valued) -> Valued:
    """An operator on expressions with their values; of a sum, only the addend that matters."""
    values = row.reference(*(v for _, v in arguments))
    if row.opcode in (ADD, SUB):
        (a, x), (b, y) = arguments
        sizes = _size(x), _size(y)
        if sizes[1] < NEGLIGIBLE * sizes[0]:
            return a, values
        if sizes[0] < NEGLIGIBLE * sizes[1]:
            return (b if row.opcode == ADD else Expression.constant(-1.0) * b), values
    return Expression.apply(row, *(e for e, _ in arguments)), values


def _size(values: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
