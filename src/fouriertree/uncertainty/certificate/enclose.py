"""Bounds of an expression and of all its subtrees, on many boxes at once or on all of them together."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import ABS, CONST, MUL, PDIV, SQUARE, VAR
from fouriertree.uncertainty.certificate import interval
from fouriertree.uncertainty.certificate.boxes import Boxes
from fouriertree.uncertainty.certificate.interval import Interval

Known = tuple[Callable[[Interval], Interval], int]

#: tolerance of the bounds of all values, relative to the range of computed values
TOLERANCE = 0.01
#: boxes narrower than this, relative to all of them, are not bisected, and limit of boxes
SMALLEST, MAX_BOXES = 1e-6, 4000


def enclose(expression: Expression, boxes: Boxes) -> Interval:
    """Bounds of the expression on every box: (n_boxes,).

    >>> from fouriertree.expr import parse
    >>> found = enclose(parse("x0^2 - 1"), Boxes.of([[-2.0, 3.0]]))
    >>> found.lower, found.upper
    (array([-1.]), array([8.]))
    """
    return enclose_parts(expression, boxes)[-1]


def enclose_parts(expression: Expression, boxes: Boxes) -> list[Interval]:
    """Bounds of the subtree of every token, in postfix order."""
    parts: list[Interval] = []
    plan, n = plan_of(expression), len(boxes)
    with np.errstate(all="ignore"):
        for i, code in enumerate(expression.op.tolist()):
            if code == CONST:
                value = np.full(n, float(expression.const[i]))
                parts.append(Interval.between(value, value))
            elif code == VAR:
                column = int(expression.arg[i])
                parts.append(Interval.between(boxes.lower[:, column], boxes.upper[:, column]))
            elif i in plan.known:
                function, argument = plan.known[i]
                parts.append(function(parts[argument]))
            else:
                extension = expression.primitives.by_opcode(code).interval
                arguments = [parts[k] for k in plan.children[i]]
                # A custom operator without an interval extension has unknown bounds.
                parts.append(extension(interval, *arguments) if extension else Interval.unknown(n))
    return parts


@dataclass(frozen=True)
class Plan:
    """The arguments of every token, and the tokens with tighter bounds as functions of one argument."""

    children: tuple[tuple[int, ...], ...]
    known: dict[int, Known]


@lru_cache(maxsize=64)
def plan_of(expression: Expression) -> Plan:
    children = tuple(expression.children(i) for i in range(expression.size))
    found = ((i, _known(expression, i, *pair)) for i, pair in enumerate(children) if len(pair) == 2)
    return Plan(children, {i: known for i, known in found if known is not None})


def _known(expression: Expression, i: int, left: int, right: int) -> Known | None:
    """A token as a function of one argument: u·u = u², u·u² = u³ bit for bit, and pdiv(u, |u|), the sign of u."""
    code = int(expression.op[i])

    def same(one: int, other: int) -> bool:
        return expression.subtree(one) == expression.subtree(other)

    if code == MUL and same(left, right):
        return interval.square, left
    if code == MUL and expression.op[right] == SQUARE and same(left, right - 1):
        return interval.cube, left
    if code == MUL and expression.op[left] == SQUARE and same(left - 1, right):
        return interval.cube, right
    if code == PDIV and expression.op[right] == ABS and same(left, right - 1):
        return interval.side, left
    return None


@np.errstate(all="ignore")
def value_range(expression: Expression, boxes: Boxes, max_boxes: int = MAX_BOXES) -> tuple[float, float]:
    """Bounds of the values on all of the boxes together.

    >>> from fouriertree.expr import parse
    >>> low, high = value_range(parse("x0*(1 - x0)"), Boxes.of([[0.0, 1.0]]))
    >>> -0.01 < low <= 0.0, 0.25 <= high < 0.26
    (True, True)
    """
    columns = list(expression.columns)
    whole = Boxes(boxes.lower.min(axis=0, keepdims=True), boxes.upper.max(axis=0, keepdims=True))
    rng = np.random.default_rng(0)
    outer_low, outer_high, inner_low, inner_high = np.inf, -np.inf, np.inf, -np.inf
    n_boxes = 0
    while len(boxes):
        widths = boxes.splittable_widths(whole)[:, columns]
        found = enclose(expression, boxes)
        n_boxes += len(boxes)
        values = expression.evaluate(boxes.probes(columns, rng) if len(boxes) < 100 else boxes.centres)
        if (values := values[np.isfinite(values)]).size:
            inner_low, inner_high = min(inner_low, float(values.min())), max(inner_high, float(values.max()))
        slack = TOLERANCE * max(inner_high - inner_low, 0.0)
        loose = (found.lower < inner_low - slack) | (found.upper > inner_high + slack) | found.undefined
        loose &= (widths > SMALLEST).any(axis=1)
        if n_boxes + 2 * np.count_nonzero(loose) > max_boxes:
            loose[:] = False
        tight = ~loose
        outer_low = float(np.min(found.lower[tight], initial=outer_low))
        outer_high = float(np.max(found.upper[tight], initial=outer_high))
        boxes = boxes.take(loose)
        if len(boxes):
            boxes = boxes.halves(np.array(columns)[widths[loose].argmax(axis=1)])
    return outer_low, outer_high
