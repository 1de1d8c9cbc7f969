"""Functions that have become straight: 2e7·sin(4e-4·x) is a line, and a fit goes there when the law is one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.canonical import canonical, split_number
from fouriertree.expr.opcodes import CONST, VAR
from fouriertree.expr.simplify import LARGEST_SIZE
from fouriertree.model import addends, sum_of_terms

Floats = NDArray[np.float64]

#: a function is straight if it is off a line by less than this share of its own spread
STRAIGHT = 1e-3


def straightened(
    coefficients: Sequence[float], terms: Sequence[Expression], X: Floats
) -> tuple[Expression, ...] | None:
    """The terms of the sum with straight functions replaced by lines; None if there are none.

    >>> from fouriertree.expr import parse
    >>> x = np.linspace(0.0, 3.0, 20)[:, None]
    >>> [str(term) for term in straightened([1e6, 2.0], [parse("sin(0.001*x0)*x0"), parse("sin(x0)")], x)]
    ['x0*x0', 'sin(x0)']
    """
    whole = sum_of_terms(coefficients, terms)
    if whole.size > LARGEST_SIZE:
        return None
    stack: list[tuple[Expression, Floats]] = []
    found = False
    with np.errstate(all="ignore"):
        for i, code in enumerate(whole.op.tolist()):
            if code <= VAR:
                leaf = whole.subtree(i)
                stack.append((leaf, leaf.evaluate(X)))
                continue
            row = whole.primitives.by_opcode(code)
            arguments = stack[-row.arity :]
            del stack[-row.arity :]
            values = row.reference(*(values for _, values in arguments))
            line = _line(*arguments[0], values) if row.arity == 1 else None
            found |= line is not None
            stack.append((line or Expression.apply(row, *(e for e, _ in arguments)), values))
    if not found:
        return None
    # An addend more than there was before is the constant of a line.
    return tuple(split_number(part)[1] for _, part in addends(canonical(stack[0][0])))


def _line(argument: Expression, x: Floats, y: Floats) -> Expression | None:
    """a + b·argument, if y is that."""
    low, high = int(np.argmin(x)), int(np.argmax(x))
    if (
        not (np.isfinite(x).all() and np.isfinite(y).all())
        or x[low] == x[high]
        or (argument.op == CONST).all()
    ):
        return None
    slope = (y[high] - y[low]) / (x[high] - x[low])
    start = y[low] - slope * x[low]
    if slope == 0.0 or np.abs(y - start - slope * x).max() > STRAIGHT * float(np.ptp(y)):
        return None
    return Expression.constant(float(start)) + Expression.constant(float(slope)) * argument
