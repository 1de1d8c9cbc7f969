"""FitResult that run away between the rows: a denominator near zero, a root or logarithm at the edge of its domain."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.opcodes import CONST, VAR
from fouriertree.expr.templates import filled_in

#: a denominator that comes this near to zero, relative to its median, has a pole among the rows or beside them
NEAR = 0.02
#: a formula with a pole is believed if it has at most this share of the error of those without
POLE_LOSS_RATIO = 0.5


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
        if code in (CONST, VAR):
            continue
        row, children = expression.primitives.by_opcode(code), expression.children(i)
        arguments = [expression.subtree(k) for k in children]
        last = float(expression.const[children[-1]]) if expression.op[children[-1]] == CONST else None
        if row.pole is not None and _has_poles_inside(row, last):
            yield filled_in(row.pole.zero, row, arguments)
        elif _begins_at_zero(row, last) and not _keeps_its_sign(arguments[0]):
            yield arguments[0]


def _has_poles_inside(row: Primitive, last: float | None) -> bool:
    """Poles within the domain: at its edge, as that of log, a pole is met only where the domain is left."""
    if row.pole is None or row.pole.protected or (row.domain is not None and row.domain.only_if is None):
        return False
    return row.pole.may_occur(last, unknown=True)


def _begins_at_zero(row: Primitive, last: float | None) -> bool:
    """Near is relative to the size of the argument, so only domains that begin at 0 can be judged."""
    return row.domain is not None and row.domain.lower == 0.0 and row.domain.may_bind(last)


def _keeps_its_sign(part: Expression) -> bool:
    """Products, quotients and powers of columns cannot change their sign where the columns do not."""
    operators = [part.primitives.by_opcode(code) for code in set(part.op.tolist()) - {CONST, VAR}]
    return all(row.multiplicative for row in operators)
