"""What goes wrong in a formula, and in which of its operators: on boxes by bounds, at points by evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import (
    ABS,
    CONST,
    COS,
    CUBE,
    DIV,
    INV,
    LOG,
    MUL,
    NEG,
    PDIV,
    PLOG,
    POW,
    SQRT,
    SQUARE,
    TAN,
    VAR,
)  # fmt: skip
from fouriertree.uncertainty.certificate.boxes import Boxes
from fouriertree.uncertainty.certificate.enclose import enclose, plan_of
from fouriertree.uncertainty.certificate.interval import Bools, Interval
from fouriertree.uncertainty.certificate.rounding import Floats

Tokens = NDArray[np.intp]

#: halvings of a line between two points of opposite sign
BISECTIONS = 120


def faults_on(expression: Expression, parts: Sequence[Interval]) -> Tokens:
    """The operator that is first at fault on every box, as its token, or −1: (n_boxes,)."""
    broken = np.array([part.undefined | part.pole for part in parts])
    return _first(broken, _origins(expression, np.array([part.infinite for part in parts])))


def faults_at(expression: Expression, X: Floats) -> Tokens:
    """The operator that fails when the formula is evaluated at a row, as its token, or −1: (n_rows,).

    A NaN or a division by zero fails in any part.  Overflow fails if it reaches the value of the formula.
    """
    values: list[Floats] = []
    broken = np.zeros((expression.size, len(X)), bool)
    children = plan_of(expression).children
    for i, code in enumerate(expression.op.tolist()):
        if code == CONST:
            values.append(np.full(len(X), float(expression.const[i])))
        elif code == VAR:
            values.append(X[:, int(expression.arg[i])])
        else:
            arguments = [values[k] for k in children[i]]
            values.append(expression.primitives.by_opcode(code).reference(*arguments))
            broken[i] = _divides_by_zero(code, arguments)
        broken[i] |= np.isnan(values[i])
    return _first(broken, _origins(expression, np.isinf(np.array(values))))


def _divides_by_zero(code: int, arguments: list[Floats]) -> Bools:
    if code in (DIV, INV, LOG):
        return np.asarray(arguments[-1] == 0.0)
    if code == POW:
        return np.asarray((arguments[0] == 0.0) & (arguments[1] < 0.0))
    return np.zeros(arguments[0].shape, bool)


def _first(broken: Bools, overflowing: Bools) -> Tokens:
    """The first token that is broken, else the first that overflows, else −1."""
    first = np.where(overflowing.any(axis=0), overflowing.argmax(axis=0), -1)
    return np.where(broken.any(axis=0), broken.argmax(axis=0), first)


def _origins(expression: Expression, infinite: Bools) -> Bools:
    """Where an infinity that reaches the root begins: (n_tokens, n)."""
    reaching, origin = np.zeros(infinite.shape, bool), np.zeros(infinite.shape, bool)
    reaching[-1] = infinite[-1]
    for i in range(expression.size - 1, -1, -1):
        children = plan_of(expression).children[i]
        for k in children:
            reaching[k] = reaching[i] & infinite[k]
        origin[i] = reaching[i] & ~np.any([reaching[k] for k in children], axis=0)
    return origin


def columns_of_parts(expression: Expression, n_columns: int) -> Bools:
    """Which columns stand in the subtree of every token: (n_tokens, n_columns)."""
    used = np.zeros((expression.size, n_columns), bool)
    for i, code in enumerate(expression.op.tolist()):
        if code == VAR:
            used[i, int(expression.arg[i])] = True
        for k in plan_of(expression).children[i]:
            used[i] |= used[k]
    return used


# poles between points --------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Crossing:
    """A box, as thin as numbers allow, in which something that must not be zero is zero."""

    token: int
    box: Boxes


def must_not_vanish(expression: Expression) -> Iterator[tuple[int, Expression]]:
    """(token of an operator, a part whose zeros are poles of it)."""
    for i, code in enumerate(expression.op.tolist()):
        if code == TAN:
            row = expression.primitives.by_opcode(COS)
            yield i, Expression.apply(row, expression.subtree(expression.children(i)[0]))
        elif code in (DIV, PDIV, INV, LOG, PLOG) or (code == POW and _falls(expression, i)):
            place = expression.children(i)[0 if code == POW else -1]
            yield from ((i, expression.subtree(factor)) for factor in _factors(expression, place))


def _falls(expression: Expression, i: int) -> bool:
    exponent = expression.children(i)[1]
    return bool(expression.op[exponent] == CONST and expression.const[exponent] < 0.0)


def _factors(expression: Expression, i: int) -> Iterator[int]:
    """Parts whose zeros are zeros of part i; a square has zeros, but does not change its sign there."""
    code, children = int(expression.op[i]), expression.children(i)
    if code in (SQUARE, CUBE, ABS, NEG, SQRT):
        yield from _factors(expression, children[0])
    elif code == MUL:
        for k in children:
            yield from _factors(expression, k)
    elif code == DIV:
        yield from _factors(expression, children[0])
    elif code != CONST:
        yield i


def crossing(expression: Expression, points: Floats) -> Crossing | None:
    """A pole that lies between two of the points: a denominator that is positive at one and negative at the other."""
    for token, part in must_not_vanish(expression):
        values = enclose(part, Boxes.points(points))
        known = ~(values.undefined | values.pole)
        above, below = (
            np.flatnonzero(known & (values.lower > 0.0)),
            np.flatnonzero(known & (values.upper < 0.0)),
        )
        if above.size and below.size:
            box = _bisected(part, points[above[0]], points[below[0]])
            inside = enclose(part, box)
            # A continuous function that changes its sign is zero somewhere; one with a pole need not be.
            if inside.safe[0]:
                return Crossing(token, box)
    return None


def _bisected(part: Expression, above: Floats, below: Floats) -> Boxes:
    for _ in range(BISECTIONS):
        middle = 0.5 * above + 0.5 * below
        if (middle == above).all() or (middle == below).all():
            break
        value = enclose(part, Boxes.points(middle[None]))
        if value.lower[0] > 0.0:
            above = middle
        elif value.upper[0] < 0.0:
            below = middle
        elif value.lower[0] == value.upper[0]:
            return Boxes.points(middle[None])
        else:
            break
    return Boxes(np.minimum(above, below)[None], np.maximum(above, below)[None])
