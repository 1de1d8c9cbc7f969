"""Poles between the rows: denominators near zero, roots and logarithms at the edge of their domain."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.calculus import filled_in
from fouriertree.expr.opcodes import CONST, VAR

#: a denominator this close to zero, relative to its median, may have a zero between the rows or beside them
NEAR = 0.02
#: an equation with a pole is accepted if its error is at most this fraction of that of equations without
POLE_LOSS_RATIO = 0.5


def may_have_pole(expression: Expression, X: NDArray[np.float64]) -> bool:
    """Whether the expression may have a pole or leave its domain between the rows of X, or just beside them.

    >>> from fouriertree.expr import parse
    >>> X = np.linspace(1.0, 2.0, 11)[:, None]
    >>> [may_have_pole(parse(text), X) for text in ("1/(x0 - 1.55)", "1/(x0 + 1)", "log(x0 - 0.999)")]
    [True, False, True]
    """
    with np.errstate(all="ignore"):
        return any(_comes_near_zero(part.evaluate(X)) for part in _must_avoid_zero(expression))


def _comes_near_zero(values: NDArray[np.float64]) -> bool:
    low, high = float(values.min()), float(values.max())
    if not (low > 0.0 or high < 0.0):
        return True
    return min(abs(low), abs(high)) < NEAR * float(np.median(np.abs(values)))


def _must_avoid_zero(expression: Expression) -> Iterator[Expression]:
    """Subexpressions that must not come near zero."""
    for i, code in enumerate(expression.op.tolist()):
        if code in (CONST, VAR):
            continue
        row, children = expression.primitives.by_opcode(code), expression.children(i)
        arguments = [expression.subtree(k) for k in children]
        last = float(expression.const[children[-1]]) if expression.op[children[-1]] == CONST else None
        pole, domain = row.pole, row.domain
        # A pole at the edge of the domain, as that of log, is left to the check of the domain.
        inside = domain is None or domain.only_if is not None
        # `NEAR` is relative, so that only domains that begin at 0 can be checked.
        begins_at_zero = domain is not None and domain.lower == 0.0 and domain.may_bind(last)
        if pole is not None and inside and not pole.protected and pole.may_occur(last, unknown=True):
            yield filled_in(pole.zero, row, arguments)
        elif begins_at_zero and not _keeps_its_sign(arguments[0]):
            yield arguments[0]


def _keeps_its_sign(part: Expression) -> bool:
    """Products, quotients and powers of features change their sign only if features do."""
    operators = [part.primitives.by_opcode(code) for code in set(part.op.tolist()) - {CONST, VAR}]
    return all(row.multiplicative for row in operators)
