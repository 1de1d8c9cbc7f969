"""Monotonicity of an expression in a feature, everywhere in a box, by bounds of its partial derivatives."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fouriertree.expr import Expression, differentiate
from fouriertree.expr.opcodes import USER_OPCODE_START
from fouriertree.io.strict_json import plain
from fouriertree.uncertainty.certificate.boxes import Boxes
from fouriertree.uncertainty.certificate.certificate import certify, checked
from fouriertree.uncertainty.certificate.enclose import enclose, value_range
from fouriertree.uncertainty.certificate.faults import continuous_on, positive_and_negative
from fouriertree.uncertainty.certificate.rounding import Floats

Direction = Literal["increasing", "decreasing", "constant", "neither", "undecided"]

#: boxes narrower than this, relative to the whole, are not bisected
SMALLEST = 1e-9
DIGITS = 4


@dataclass(frozen=True)
class Slope:
    """The sign of the partial derivative by one feature over a box.

    Attributes
    ----------
    column : str
        Name of the feature.
    direction : {"increasing", "decreasing", "constant", "neither", "undecided"}
        Proved ≥ 0, ≤ 0 or = 0 everywhere; or of both signs; or undecided.
    lower, upper : float
        Bounds of the derivative; they may be infinite.
    rising, falling : dict or None
        Neither: points where the derivative is positive and negative.
    """

    column: str
    direction: Direction
    lower: float
    upper: float
    rising: dict[str, float] | None = None
    falling: dict[str, float] | None = None

    def text(self) -> str:
        between = f"the slope lies from {self.lower:.{DIGITS}g} to {self.upper:.{DIGITS}g}"
        if self.direction == "neither":
            rising, falling = _point(self.rising or {}), _point(self.falling or {})
            return f"{self.column}: rises at {rising} and falls at {falling}; {between}."
        if self.direction == "undecided":
            return f"{self.column}: neither rising nor falling could be proved; {between}."
        return f"{self.column}: proved {self.direction}; {between}."

    def __str__(self) -> str:
        return self.text()

    def to_json(self) -> dict[str, Any]:
        """JSON data; an infinite bound is None."""
        data: dict[str, Any] = plain(asdict(self))
        return data | {"text": self.text()}


@np.errstate(all="ignore")
def slopes(
    expression: Expression, box: ArrayLike, names: Sequence[str] | None = None, max_boxes: int = 4000
) -> list[Slope]:
    """Signs and bounds of the partial derivatives of an expression over a box.

    Parameters
    ----------
    expression, box, names
        As for `certify`.
    max_boxes : int, default=4000
        Limit of the bisection, per feature.

    Returns
    -------
    list of Slope
        One for every feature that occurs in the expression.

    Examples
    --------
    >>> from fouriertree.expr import parse
    >>> [slope.direction for slope in slopes(parse("x0^2 + x0*sin(x1)"), [[1.0, 2.0], [0.0, 6.0]])]
    ['increasing', 'neither']
    """
    whole, labels = checked(expression, box, names)
    if not all(_is_declared(expression, code) for code in set(expression.op.tolist())):
        return [Slope(labels[column], "undecided", -np.inf, np.inf) for column in expression.columns]
    # With a jump or a pole, a positive derivative does not imply monotonicity.
    proved = certify(expression, box, max_boxes=max_boxes).verdict == "proved"
    continuous = proved and continuous_on(expression, whole)[0]
    found = []
    for column in expression.columns:
        derivative = differentiate(expression, column)
        bounds = value_range(derivative, whole, max_boxes)
        direction, points = _direction(derivative, whole, max_boxes)
        at = [{labels[c]: float(point[c]) for c in expression.columns} for point in points]
        found.append(Slope(labels[column], direction if continuous or at else "undecided", *bounds, *at))
    return found


def _is_declared(expression: Expression, code: int) -> bool:
    """Whether an operator has an interval extension and a derivative."""
    if code < USER_OPCODE_START:
        return True
    row = expression.primitives.by_opcode(code)
    return row.interval is not None and row.derivative is not None


def _direction(function: Expression, whole: Boxes, max_boxes: int) -> tuple[Direction, list[Floats]]:
    """Bisects a box until a function has one sign on every part, or both: with a point of each sign."""
    columns, rng = list(function.columns), np.random.default_rng(0)
    boxes, n_boxes, may_rise, may_fall = whole, 0, False, False
    rising = falling = np.zeros((0, whole.lower.shape[1]))
    while len(boxes):
        above, below = positive_and_negative(function, boxes.some_probes(columns, rng, whole))
        rising, falling = np.concatenate([rising, above]), np.concatenate([falling, below])
        if len(rising) and len(falling):
            return "neither", [rising[0], falling[0]]
        found = enclose(function, boxes)
        n_boxes += len(boxes)
        open_ = found.undefined | ((found.lower < 0.0) & (found.upper > 0.0))
        may_rise |= bool((~open_ & (found.upper > 0.0)).any())
        may_fall |= bool((~open_ & (found.lower < 0.0)).any())
        boxes = boxes.take(open_)
        if not len(boxes):
            break
        widths = boxes.splittable_widths(whole)[:, columns]
        if n_boxes + 2 * len(boxes) > max_boxes or (widths.max(axis=1, initial=0.0) < SMALLEST).any():
            return "undecided", []
        boxes = boxes.halves(np.array(columns)[widths.argmax(axis=1)])
    if may_rise and may_fall:
        return "undecided", []
    return "increasing" if may_rise else "decreasing" if may_fall else "constant", []


def _point(where: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:.{DIGITS}g}" for name, value in where.items())
