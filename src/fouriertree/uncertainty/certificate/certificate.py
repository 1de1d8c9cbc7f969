"""Whether an expression is finite everywhere in a box: proved, refuted by a point, or undecided."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fouriertree.expr import Expression
from fouriertree.io.strict_json import plain
from fouriertree.uncertainty.certificate.boxes import Boxes
from fouriertree.uncertainty.certificate.enclose import enclose_parts, value_range
from fouriertree.uncertainty.certificate.faults import (
    Brackets,
    Tokens,
    columns_of_parts,
    crossing,
    faults_at,
    faults_on,
)
from fouriertree.uncertainty.certificate.interval import Bools

Verdict = Literal["proved", "fails", "undecided"]
Place = dict[str, float | tuple[float, float]]

#: boxes that are bisected further when there are too many for all, and the fraction of the budget for them
FOLLOWED, EXTRA = 16, 0.25
#: boxes that can be neither bisected nor excluded, after which the proof stops
MAX_STUCK = 64
#: a pole in a box that is narrower than this, relative to the range of the feature, is shown as a point
SAME = 1e-11
DIGITS = 6


@dataclass(frozen=True)
class Certificate:
    """The result of `certify`: whether an expression is finite everywhere in a box.

    Attributes
    ----------
    verdict : {"proved", "fails", "undecided"}
        Proved: no subtree divides by zero, leaves its domain or overflows at any point of the box.
    box : dict
        From the features of the expression to (lowest, highest).
    where : dict
        Fails: the point, or a tiny range around it. Undecided: the smallest part of the box that is left.
    operator, part, reason : str or None
        The operator that fails or could not be excluded, its subtree, and the kind of failure.
    range : tuple of float, or None
        Proved: bounds of the values.
    n_boxes : int
        Number of boxes that were examined.
    """

    verdict: Verdict
    box: dict[str, tuple[float, float]]
    where: Place
    operator: str | None
    part: str | None
    range: tuple[float, float] | None
    reason: str
    n_boxes: int

    def text(self) -> str:
        """A summary in one or two sentences."""
        if self.verdict == "proved":
            low, high = self.range or (np.nan, np.nan)
            inside = f" for {_place(self.box)}" if self.box else ""
            return f"Proved: finite everywhere{inside}. The values lie from {_short(low)} to {_short(high)}."
        if self.verdict == "fails":
            at = f" at {_place(self.where)}" if self.where else ""
            return f"Fails{at}: {self.reason} in {self.part}."
        return (
            f"Undecided after {self.n_boxes:,} boxes: {self.reason} in {self.part} could not be excluded "
            f"for {_place(self.where)}."
        )

    def __str__(self) -> str:
        return self.text()

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = plain(asdict(self))
        return data | {"text": self.text()}


@np.errstate(all="ignore")
def certify(
    expression: Expression, box: ArrayLike, names: Sequence[str] | None = None, max_boxes: int = 20_000
) -> Certificate:
    """Prove or refute that an expression is finite everywhere in a box, by interval arithmetic and bisection.

    Parameters
    ----------
    expression : Expression
    box : array_like of shape (n_features, 2)
        The lowest and highest value of every feature.
    names : sequence of str, optional
        Names of the features; x0, x1, … by default.
    max_boxes : int, default=20000
        Limit of the bisection.

    Examples
    --------
    >>> from fouriertree.expr import parse
    >>> print(certify(parse("1/(x0 + 1.5)"), [[-1.0, 1.0]]).verdict)
    proved
    >>> print(certify(parse("2 + 1/(x0 - 0.3)"), [[-1.0, 1.0]]))
    Fails at x0 = 0.3: division by zero in 1/(x0 - 0.3).
    """
    return _Proof(expression, *checked(expression, box, names), max_boxes).run()


def checked(
    expression: Expression, box: ArrayLike, names: Sequence[str] | None
) -> tuple[Boxes, tuple[str, ...]]:
    """The box, and the names of its features."""
    whole = Boxes.of(box)
    n = whole.lower.shape[1]
    if expression.columns and (last := expression.columns[-1]) >= n:
        raise ValueError(f"the expression uses feature x{last}, but the box has {n} feature(s)")
    if names is not None and len(names) != n:
        raise ValueError(f"there are {len(names)} names, but the box has {n} feature(s)")
    return whole, tuple(f"x{i}" for i in range(n)) if names is None else tuple(map(str, names))


class _Proof:
    """Branch and bound: boxes that are proved are kept, the others are bisected where they might fail."""

    def __init__(self, expression: Expression, whole: Boxes, names: tuple[str, ...], max_boxes: int) -> None:
        self.expression, self.whole, self.names, self.max_boxes = expression, whole, names, max_boxes
        self.columns = list(expression.columns)
        self.used = columns_of_parts(expression, whole.lower.shape[1])
        self.rng = np.random.default_rng(0)
        self.n_boxes = 0
        self.jumps: Brackets = set()
        self.safe: list[Boxes] = []
        self.left: list[tuple[Boxes, Tokens]] = []

    def run(self) -> Certificate:
        boxes, following = self.whole, False
        while len(boxes):
            if (failed := self._failure(boxes)) is not None:
                return failed
            faults = faults_on(self.expression, enclose_parts(self.expression, boxes))
            self.n_boxes += len(boxes)
            self.safe.append(boxes.take(faults < 0))
            boxes, faults = boxes.take(faults >= 0), faults[faults >= 0]
            stuck = np.asarray(~self._cuttable(boxes, faults).any(axis=1))
            boxes, faults = self._without(boxes, faults, stuck)
            following = following or self._too_many(boxes)
            if following:
                boxes, faults = self._followed(boxes, faults)
            if self.n_boxes > (1.0 + EXTRA) * self.max_boxes:
                self.left.append((boxes, faults))
                break
            boxes = self._cut(boxes, faults)
        return self._undecided() if self.left else self._proved()

    def _too_many(self, boxes: Boxes) -> bool:
        stuck = sum(len(kept) for kept, _ in self.left)
        return self.n_boxes + 2 * len(boxes) > self.max_boxes or stuck > MAX_STUCK

    def _followed(self, boxes: Boxes, faults: Tokens) -> tuple[Boxes, Tokens]:
        """A few of the boxes, to find a point that fails or a smaller undecided box."""
        if len(boxes) <= FOLLOWED:
            return boxes, faults
        # Values are large near a pole; but not at the edge of a domain, so half of the boxes are evenly spaced.
        values = np.nan_to_num(np.abs(self.expression.evaluate(boxes.centres)), nan=np.inf)
        chosen = np.zeros(len(boxes), bool)
        chosen[np.argsort(-values, kind="stable")[: FOLLOWED // 2]] = True
        chosen[np.linspace(0, len(boxes) - 1, FOLLOWED // 2).astype(int)] = True
        return self._without(boxes, faults, ~chosen)

    def _without(self, boxes: Boxes, faults: Tokens, left: Bools) -> tuple[Boxes, Tokens]:
        """The boxes but for those that are left undecided."""
        if left.any():
            self.left.append((boxes.take(left), faults[left]))
        return boxes.take(~left), faults[~left]

    def _cuttable(self, boxes: Boxes, faults: Tokens) -> Bools:
        return self.used[faults] & boxes.can_split()

    def _cut(self, boxes: Boxes, faults: Tokens) -> Boxes:
        widths = np.where(self._cuttable(boxes, faults), boxes.relative_widths(self.whole), -1.0)
        return boxes.halves(widths.argmax(axis=1)) if len(boxes) else boxes

    # results -----------------------------------------------------------------------------------
    def _failure(self, boxes: Boxes) -> Certificate | None:
        """A point of these boxes that fails, or a pole between two of them."""
        points = boxes.some_probes(self.columns, self.rng, self.whole)
        faults = faults_at(self.expression, points)
        if (broken := np.flatnonzero(faults >= 0)).size:
            point = points[broken[0]]
            at: Place = {self.names[c]: float(point[c]) for c in self.columns}
            return self._made("fails", at, int(faults[broken[0]]))
        pole = crossing(self.expression, points, self.jumps)
        return None if pole is None else self._made("fails", self._near(pole[1]), pole[0])

    def _undecided(self) -> Certificate:
        boxes = Boxes.join([boxes for boxes, _ in self.left])
        faults = np.concatenate([faults for _, faults in self.left])
        sizes = np.where(self.used[faults], boxes.relative_widths(self.whole), 0.0).sum(axis=1)
        i = int(sizes.argmin())
        return self._made("undecided", {**self._between(boxes.take(slice(i, i + 1)))}, int(faults[i]))

    def _proved(self) -> Certificate:
        found, ends = value_range(self.expression, Boxes.join(self.safe)), self._between(self.whole)
        return Certificate("proved", ends, {}, None, None, found, "", self.n_boxes)

    def _made(self, verdict: Verdict, where: Place, token: int) -> Certificate:
        part, ends = self.expression.subtree(token), self._between(self.whole)
        if part.size == 1:
            name, fault = "number", "a value that is not finite"
        else:
            row = part.primitives.by_opcode(int(part.op[-1]))
            name, fault = row.name, row.fault
        text = part.text(self.names, DIGITS)
        return Certificate(verdict, ends, where, name, text, None, fault, self.n_boxes)

    def _between(self, box: Boxes) -> dict[str, tuple[float, float]]:
        lows, highs = box.lower[0].tolist(), box.upper[0].tolist()
        return {self.names[c]: (lows[c], highs[c]) for c in self.columns}

    def _near(self, box: Boxes) -> Place:
        """A tiny box as a point; intervals for features in which it is wider."""
        sizes = {name: max(map(abs, ends)) for name, ends in self._between(self.whole).items()}
        ends = self._between(box).items()
        return {name: at if at[1] - at[0] > SAME * sizes[name] else _shortest(*at) for name, at in ends}


def _shortest(low: float, high: float) -> float:
    """The value with the fewest digits in a tiny interval."""
    between = 0.5 * low + 0.5 * high
    return 0.0 if low <= 0.0 <= high else min(between, low, high, key=lambda value: len(repr(value)))


def _short(value: float) -> str:
    return f"{value:.{DIGITS}g}"


def _place(where: Place | dict[str, tuple[float, float]]) -> str:
    return ", ".join(f"{name} {_written(at)}" for name, at in where.items())


def _written(at: float | tuple[float, float]) -> str:
    if not isinstance(at, tuple):
        return f"= {at!r}"
    low, high = map(_short, at)
    return f"from {low} to {high}" if low != high else f"= {low} (within {at[1] - at[0]:.2g})"
