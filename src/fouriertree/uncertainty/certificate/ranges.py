"""Tight bounds of the values of an expression on a box, by bisection."""

import numpy as np

from fouriertree.expr import Expression
from fouriertree.uncertainty.certificate.boxes import Boxes
from fouriertree.uncertainty.certificate.enclose import enclose

#: tolerance of the bounds, relative to the range of computed values
TOLERANCE = 0.01
#: boxes narrower than this, relative to all of them, are not bisected
SMALLEST = 1e-6
#: limit of boxes
MAX_BOXES = 4000


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
