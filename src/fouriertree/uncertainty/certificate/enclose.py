"""Bounds of every subtree of an expression, on many boxes at once."""

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

    @property
    def jumps(self) -> list[tuple[int, int]]:
        """(token, its argument) where pdiv(u, |u|) jumps at the zeros of u."""
        return [(i, argument) for i, (function, argument) in self.known.items() if function is interval.side]


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
