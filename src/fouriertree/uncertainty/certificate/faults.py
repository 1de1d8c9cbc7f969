"""Operators that are not finite: on boxes by bounds, at points by evaluation."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.calculus import filled_in
from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.opcodes import CONST, VAR
from fouriertree.uncertainty.certificate.boxes import Boxes
from fouriertree.uncertainty.certificate.enclose import enclose, plan_of
from fouriertree.uncertainty.certificate.interval import Bools, Interval, side
from fouriertree.uncertainty.certificate.rounding import Floats

Tokens = NDArray[np.intp]
#: (part, point where it is positive, point where it is negative), the points as bytes
Brackets = set[tuple[Expression, bytes, bytes]]

#: bisections of the segment between two points of opposite sign
BISECTIONS = 120


def faults_on(expression: Expression, parts: Sequence[Interval]) -> Tokens:
    """The token of the first operator that may fail on every box, or −1: (n_boxes,)."""
    broken = np.array([part.undefined | part.pole for part in parts])
    return _first(broken, _origins(expression, np.array([part.infinite for part in parts])))


def faults_at(expression: Expression, X: Floats) -> Tokens:
    """The token of the first operator that fails at every row, or −1: (n_rows,).

    NaN and division by zero fail in any subtree, overflow only if it propagates to the root.
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
            row = expression.primitives.by_opcode(code)
            values.append(row.reference(*arguments))
            broken[i] = _at_a_pole(row, arguments)
        broken[i] |= np.isnan(values[i])
    return _first(broken, _origins(expression, np.isinf(np.array(values))))


def _at_a_pole(row: Primitive, arguments: list[Floats]) -> Bools:
    """Whether an operator divides by zero, or takes the logarithm of zero."""
    pole = row.pole
    if pole is None or pole.protected:
        return np.zeros(arguments[0].shape, bool)
    if pole.argument is not None:
        vanishing = arguments[pole.argument]
    else:
        columns = [Expression.variable(k) for k in range(row.arity)]
        vanishing = filled_in(pole.zero, row, columns).evaluate(np.column_stack(arguments))
    found: Bools = np.asarray(vanishing == 0.0)
    return found if pole.only_if is None else found & np.asarray(pole.only_if(arguments[-1]))


def _first(broken: Bools, overflowing: Bools) -> Tokens:
    """The first token that is broken, else the first that overflows, else −1."""
    first = np.where(overflowing.any(axis=0), overflowing.argmax(axis=0), -1)
    return np.where(broken.any(axis=0), broken.argmax(axis=0), first)


def _origins(expression: Expression, infinite: Bools) -> Bools:
    """The tokens where an infinity arises that propagates to the root: (n_tokens, n)."""
    reaching, origin = np.zeros(infinite.shape, bool), np.zeros(infinite.shape, bool)
    reaching[-1] = infinite[-1]
    for i in range(expression.size - 1, -1, -1):
        children = plan_of(expression).children[i]
        for k in children:
            reaching[k] = reaching[i] & infinite[k]
        origin[i] = reaching[i] & ~np.any([reaching[k] for k in children], axis=0)
    return origin


def columns_of_parts(expression: Expression, n_columns: int) -> Bools:
    """Which features occur in the subtree of every token: (n_tokens, n_features)."""
    used = np.zeros((expression.size, n_columns), bool)
    for i, code in enumerate(expression.op.tolist()):
        if code == VAR:
            used[i, int(expression.arg[i])] = True
        for k in plan_of(expression).children[i]:
            used[i] |= used[k]
    return used


# poles between points --------------------------------------------------------------------------------------------
def must_not_vanish(expression: Expression) -> Iterator[tuple[int, Expression]]:
    """(token of an operator, a subtree whose zeros are its poles)."""
    for i, code in enumerate(expression.op.tolist()):
        if code in (CONST, VAR):
            continue
        row, children = expression.primitives.by_opcode(code), expression.children(i)
        last = children[-1]
        number = float(expression.const[last]) if expression.op[last] == CONST else None
        if row.pole is None or not row.pole.may_occur(number, unknown=False):
            continue
        if row.pole.argument is None:
            yield i, filled_in(row.pole.zero, row, [expression.subtree(k) for k in children])
        else:
            factors = _factors(expression, children[row.pole.argument])
            yield from ((i, expression.subtree(factor)) for factor in factors)


def _factors(expression: Expression, i: int) -> Iterator[int]:
    """Subtrees whose zeros are zeros of subtree i; a square does not change its sign at a zero, but its base may."""
    code, children = int(expression.op[i]), expression.children(i)
    zeros = expression.primitives.by_opcode(code).zeros if children else ()
    for k in zeros:
        yield from _factors(expression, children[k])
    if code != CONST and not zeros:
        yield i


def continuous_on(expression: Expression, boxes: Boxes) -> Bools:
    """Whether all operators are continuous on a box: (n_boxes,)."""
    found = np.ones(len(boxes), bool)
    children = plan_of(expression).children
    for i, code in enumerate(expression.op.tolist()):
        row = expression.primitives.by_opcode(code) if code not in (CONST, VAR) else None
        if row is not None and row.jump is not None:
            arguments = [expression.subtree(k) for k in children[i]]
            found &= ~enclose(filled_in(row.jump, row, arguments), boxes).has_zero
    for function, argument in plan_of(expression).known.values():
        if function is side:  # pdiv(u, |u|) jumps at the zeros of u
            found &= ~enclose(expression.subtree(argument), boxes).has_zero
    return found


def crossing(expression: Expression, points: Floats, jumps: Brackets) -> tuple[int, Boxes] | None:
    """A pole that lies between two of the points: a denominator that is positive at one and negative at the other.

    The token of the operator, and a box, as thin as floats allow, in which the denominator has a zero.
    Bisections of the same expression share `jumps`, the brackets that are known to end at a jump and not at a zero.
    """
    for token, part in must_not_vanish(expression):
        above, below = positive_and_negative(part, points)
        box = _bisected(part, above[0], below[0], jumps) if len(above) and len(below) else None
        # A continuous function that changes its sign has a zero; one with a pole or a jump may have none.
        if box is not None and enclose(part, box).safe[0] and continuous_on(part, box)[0]:
            return token, box
    return None


def positive_and_negative(expression: Expression, points: Floats) -> tuple[Floats, Floats]:
    """The points where the expression is proved positive, and those where it is proved negative."""
    found = enclose(expression, Boxes.points(points))
    known = ~(found.undefined | found.pole)
    return points[known & (found.lower > 0.0)], points[known & (found.upper < 0.0)]


def _bisected(part: Expression, above: Floats, below: Floats, jumps: Brackets) -> Boxes | None:
    """The bracket after halving, or None where it is one of `jumps`; the brackets on the way are added to these."""
    for _ in range(BISECTIONS):
        # Two bisections that meet in one bracket end alike.
        if (bracket := (part, above.tobytes(), below.tobytes())) in jumps:
            return None
        jumps.add(bracket)
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
