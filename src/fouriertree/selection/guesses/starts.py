"""Initial values of the parameters of a formula: many, relative to the data.

A parameter in a product is drawn relative to what it multiplies, so that the argument of the function around it has one
of several orders of magnitude; an addend is drawn relative to what it is added to, often as minus one of its values, so
that zeros and inflections are among the rows.  The units of features do not matter: in other units, the same random
numbers give the same functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.opcodes import (
    ADD,
    COS,
    CUBE,
    DIV,
    EXP,
    INV,
    LOG,
    MAX,
    MIN,
    MUL,
    NEG,
    POW,
    SIN,
    SQRT,
    SQUARE,
    SUB,
    TAN,
    USER_OPCODE_START,
    VAR,
)
from fouriertree.expr.postfix import fold
from fouriertree.selection.guesses.parametric import ParametricSum

Floats = NDArray[np.float64]

#: rows that the sizes of arguments are taken from
ROWS = 64
#: orders of magnitude of arguments of functions, of those of exp, and of addends relative to each other
ARGUMENT_DECADES, EXP_DECADES, RATIO_DECADES = (-2.0, 2.0), (-2.0, 2.5), (-2.0, 2.0)
#: a position is drawn from the range of the values, extended by this share of it on both sides
BEYOND = 0.5
#: free exponents are drawn from this interval
EXPONENTS = (-3.0, 3.0)
#: fewest periods of a wave over the range of the rows, as a decimal logarithm
LEAST_PERIODS = -1.3
_WAVES = (SIN, COS, TAN)
#: operators f with f(s·a) = s^k·f(a) for s > 0
_POWERS = {SQUARE: 2.0, CUBE: 3.0, SQRT: 0.5, INV: -1.0}
_EXTREMES = (MIN, MAX)


def initial_values(found: ParametricSum, X: Floats, count: int, rng: np.random.Generator) -> Floats:
    """`count` choices of the parameters for the rows X (n_rows, n_features): (count, n_parameters).

    Parameters with initial values of their own keep these.
    """
    rows = np.sort(rng.permutation(len(X))[:ROWS])
    walk = _Walk(found, X[rows], len(X), count, rng)
    walk.run()
    if found.repeated[found.named].any():
        # Once more, since the first occurrence was evaluated before a later one decided on the value.
        walk.keep(found.repeated)
        walk.run()
    return walk.theta


@dataclass(frozen=True, eq=False)
class _Part:
    """Values of a subtree, (count, n_rows) or (count, 1) if it has no feature.

    The values are s times as large if parameter i is s^scales[i] times as large for all i in `scales`; without any, the
    parameters in it have been drawn.
    """

    values: Floats
    scales: Mapping[int, float | Floats] = field(default_factory=dict)
    signed: bool = True  #: whether s may be negative

    @property
    def is_open(self) -> bool:
        return bool(self.scales)

    @property
    def is_constant(self) -> bool:
        return int(self.values.shape[1]) == 1


class _Walk:
    """Draws the parameters of a sum, from the leaves of its terms to their roots."""

    def __init__(
        self, found: ParametricSum, X: Floats, n_rows: int, count: int, rng: np.random.Generator
    ) -> None:
        self.sum, self.columns, self.n_rows, self.count, self.rng = found, X.T, n_rows, count, rng
        self.theta = np.where(found.named, 1.0, found.given) * np.ones((count, 1))
        self.drawn = ~found.named

    def keep(self, some: NDArray[np.bool_]) -> None:
        """Draw the others again, but keep these."""
        self.theta[:, ~some & self.sum.named] = 1.0
        self.drawn = some | ~self.sum.named

    def run(self) -> None:
        with np.errstate(all="ignore"):
            for term, places in zip(self.sum.terms, self.sum.places, strict=True):
                fold(term, lambda i, t=term, p=places: self._leaf(t, int(p[i]), i), self._applied)  # type: ignore[misc]

    def _leaf(self, term: Expression, place: int, i: int) -> _Part:
        if place >= 0:
            return _Part(self.theta[:, [place]], {} if self.drawn[place] else {place: 1.0})
        if term.op[i] == VAR:
            return _Part(np.broadcast_to(self.columns[term.arg[i]], (self.count, self.columns.shape[1])))
        return _Part(np.full((self.count, 1), term.const[i]))

    def _applied(self, row: Primitive, *parts: _Part) -> _Part:
        """An operator on its arguments."""
        code = row.opcode
        if code in (MUL, DIV):
            return self._product(row, *parts)
        if code == POW:
            return self._power(row, *parts)
        if code in (ADD, SUB, *_EXTREMES):
            return self._sum(row, *parts)
        if code == NEG:
            return replace(parts[0], values=-parts[0].values)
        if code in _POWERS:
            return self._to_the(row, parts[0], _POWERS[code])
        return _Part(self._values(row, *(self._argument(code, part) for part in parts)))

    def _values(self, row: Primitive, *parts: _Part) -> Floats:
        values = [part.values for part in parts]
        if row.opcode < USER_OPCODE_START:
            return np.asarray(row.reference(*values), np.float64)
        # Custom operators take arrays of one dimension.
        shape = np.broadcast_shapes(*(v.shape for v in values))
        flat = (np.broadcast_to(v, shape).ravel() for v in values)
        return np.asarray(row.reference(*flat), np.float64).reshape(shape)

    # Operators --------------------------------------------------------------------------------------------------
    def _product(self, row: Primitive, a: _Part, b: _Part) -> _Part:
        if a.is_open and b.is_open:
            # One of the two factors can be chosen at will.
            b = self._drawn(b, 1.0 / size(b.values))
        scales = a.scales
        if b.is_open:
            sign = 1.0 if row.opcode == MUL else -1.0
            scales = {i: sign * power for i, power in b.scales.items()}
        return _Part(self._values(row, a, b), scales, a.signed and b.signed)

    def _to_the(self, row: Primitive, a: _Part, power: float) -> _Part:
        scales = {i: p / power for i, p in a.scales.items()}
        return _Part(self._values(row, a), scales, a.signed and power == -1.0)

    def _power(self, row: Primitive, a: _Part, b: _Part) -> _Part:
        if not b.is_constant:
            b = self._drawn(b, self._decades(-1.0, 0.7) / size(b.values)) if b.is_open else b
            if a.is_open:
                a = self._drawn(a, np.exp(self._decades(*RATIO_DECADES) / size(b.values)) / size(a.values))
            return _Part(self._values(row, a, b))
        if b.is_open:
            b = self._drawn(b, self.rng.uniform(*EXPONENTS, self.count) / b.values[:, 0])
        scales = {i: p / b.values[:, 0] for i, p in a.scales.items()}
        return _Part(self._values(row, a, b), scales, signed=False)

    def _sum(self, row: Primitive, a: _Part, b: _Part) -> _Part:
        """a + b, and other operators with f(s·a, s·b) = s·f(a, b)."""
        scales: Mapping[int, float | Floats] = {}
        if a.is_open and b.is_open:
            b = self._scaled(b, self._relative(row, b, a))
            scales = {**a.scales, **b.scales}
        elif b.is_open:
            b = self._drawn(b, self._relative(row, b, a))
        elif a.is_open:
            a = self._drawn(a, self._relative(row, a, b))
        signed = a.signed and b.signed and row.opcode in (ADD, SUB)
        return _Part(self._values(row, a, b), scales, signed)

    def _argument(self, code: int, part: _Part) -> _Part:
        """The argument of a function, drawn if it is open."""
        if not part.is_open:
            return part
        if code in _WAVES:
            few = self._decades(LEAST_PERIODS, np.log10(0.5 * self.n_rows + 1.0))
            many = self.rng.uniform(0.0, 0.5 * self.n_rows, self.count)
            periods = np.where(self.rng.random(self.count) < 0.5, np.abs(few), many)
            return self._drawn(part, 2.0 * np.pi * periods / extent(part.values))
        factor = self._decades(*(EXP_DECADES if code == EXP else ARGUMENT_DECADES))
        if code == LOG:
            factor = np.abs(factor)
        near = np.where(self.rng.random(self.count) < 0.5, size(part.values), extent(part.values))
        return self._drawn(part, factor / near)

    # Draws ------------------------------------------------------------------------------------------------------
    def _decades(self, low: float, high: float) -> Floats:
        """Numbers of both signs and of several orders of magnitude: (count,)."""
        return np.asarray(
            10.0 ** self.rng.uniform(low, high, self.count) * self.rng.choice((-1.0, 1.0), self.count)
        )

    def _relative(self, row: Primitive, part: _Part, other: _Part) -> Floats:
        """A factor for a part relative to the other argument: (count,)."""
        ratio = self._decades(*RATIO_DECADES) * size(other.values) / size(part.values)
        if not part.is_constant:
            return ratio
        low, high = other.values.min(axis=1), other.values.max(axis=1)
        position = low + (high - low) * self.rng.uniform(-BEYOND, 1.0 + BEYOND, self.count)
        position = (-position if row.opcode == ADD else position) / part.values[:, 0]
        use = (self.rng.random(self.count) < 0.5) & np.isfinite(position) & (position != 0.0)
        return np.where(use, position, ratio)

    def _scaled(self, part: _Part, factor: Floats) -> _Part:
        """factor·part, by its parameters."""
        factor = np.where(np.isfinite(factor) & (factor != 0.0), factor, 1.0)
        if not part.signed:
            factor = np.abs(factor)
        for i, power in part.scales.items():
            if self.drawn[i]:
                continue  # by another occurrence
            sign = np.sign(factor) if part.signed else 1.0
            scaled = self.theta[:, i] * sign * np.abs(factor) ** power
            self.theta[:, i] = np.where(np.isfinite(scaled) & (scaled != 0.0), scaled, self.theta[:, i])
        return replace(part, values=factor[:, None] * part.values)

    def _drawn(self, part: _Part, factor: Floats) -> _Part:
        """factor·part, whose parameters are final."""
        scaled = self._scaled(part, factor)
        self.drawn[list(part.scales)] = True
        return replace(scaled, scales={})


def size(values: Floats) -> Floats:
    """Root mean square of the finite values of every row; 1 if that is zero or not finite: (n,)."""
    finite = np.isfinite(values)
    squares = np.square(np.where(finite, values, 0.0)).sum(axis=1)
    found = np.sqrt(squares / np.maximum(finite.sum(axis=1), 1))
    return np.where(np.isfinite(found) & (found > 0.0), found, 1.0)


def extent(values: Floats) -> Floats:
    """Range of the values of every row, or their size if they are equal: (n,)."""
    finite = np.isfinite(values)
    spread = np.where(finite, values, -np.inf).max(axis=1) - np.where(finite, values, np.inf).min(axis=1)
    return np.where(np.isfinite(spread) & (spread > 0.0), spread, size(values))
