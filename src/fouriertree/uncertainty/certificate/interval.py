"""Interval arithmetic on many intervals at once, for the interval extensions of operators.

The guarantee: wherever no subtree divides by zero or leaves its domain, the value lies between the bounds, in exact
arithmetic and as the engines compute it.  `undefined` and `pole` mark that some subtree might do so; they propagate.
If a bound is infinite, the value may overflow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.uncertainty.certificate import rounding
from fouriertree.uncertainty.certificate.rounding import Floats, Pair

Bools = NDArray[np.bool_]

#: beyond this, an angle is too inaccurate modulo its period
LARGEST_ANGLE = 1e9


@dataclass(frozen=True, eq=False)
class Interval:
    """Bounds of many values: four arrays of one shape.

    >>> x = Interval.between([0.0, -1.0], [2.0, 3.0])
    >>> square(x).upper
    array([4., 9.])
    >>> square_root(x).undefined
    array([False,  True])
    """

    lower: Floats
    upper: Floats
    undefined: Bools  #: may be NaN: a logarithm or root of a negative number, 0/0, ∞ − ∞
    pole: Bools  #: a subtree may divide by zero, or take the logarithm of zero

    @classmethod
    def between(cls, lower: ArrayLike, upper: ArrayLike) -> Interval:
        return made((np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)))

    @classmethod
    def unknown(cls, n: int) -> Interval:
        """Intervals about which nothing is known."""
        return cls(np.full(n, -np.inf), np.full(n, np.inf), np.ones(n, bool), np.ones(n, bool))

    @property
    def infinite(self) -> Bools:
        """May be infinite: overflow, or a pole."""
        return np.asarray(np.isinf(self.lower) | np.isinf(self.upper))

    @property
    def safe(self) -> Bools:
        """The value, and all subtrees that must be, are proved finite."""
        return ~(self.undefined | self.pole | self.infinite)

    @property
    def has_zero(self) -> Bools:
        return (self.lower <= 0.0) & (self.upper >= 0.0)

    @property
    def is_number(self) -> Bools:
        return np.asarray(self.lower == self.upper)


def made(
    bounds: Pair, *arguments: Interval, undefined: Bools | bool = False, pole: Bools | bool = False
) -> Interval:
    """An interval with these bounds and the flags of its arguments; infinite bounds where there is no value."""
    lower, upper = bounds
    empty = np.isnan(lower) | np.isnan(upper)
    return Interval(
        np.where(empty, -np.inf, lower),
        np.where(empty, np.inf, upper),
        reduce(np.logical_or, [a.undefined for a in arguments], empty | undefined),
        reduce(np.logical_or, [a.pole for a in arguments], np.zeros(lower.shape, bool) | pole),
    )


def hull(pairs: list[Pair]) -> Pair:
    """The smallest interval that contains all; NaN is ignored."""
    lows, highs = zip(*pairs, strict=True)
    return reduce(np.fmin, lows), reduce(np.fmax, highs)


def corners(bounds: Callable[[Floats, Floats], Pair], a: Interval, b: Interval) -> Pair:
    """Bounds of a function that is monotone in each of two arguments."""
    return hull([bounds(x, y) for x in (a.lower, a.upper) for y in (b.lower, b.upper)])


def whole_line(where: Bools, bounds: Pair) -> Pair:
    return np.where(where, -np.inf, bounds[0]), np.where(where, np.inf, bounds[1])


# arithmetic ------------------------------------------------------------------------------------------------------
def add(a: Interval, b: Interval) -> Interval:
    low, high = rounding.sum_bounds(a.lower, b.lower)[0], rounding.sum_bounds(a.upper, b.upper)[1]
    undefined = (np.isposinf(a.upper) & np.isneginf(b.lower)) | (np.isneginf(a.lower) & np.isposinf(b.upper))
    bounds = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    return made(bounds, a, b, undefined=undefined)


def negative(a: Interval) -> Interval:
    return made((-a.upper, -a.lower), a)


def subtract(a: Interval, b: Interval) -> Interval:
    return add(a, negative(b))


def multiply(a: Interval, b: Interval) -> Interval:
    undefined = (a.has_zero & b.infinite) | (b.has_zero & a.infinite)
    return made(corners(rounding.product_bounds, a, b), a, b, undefined=undefined)


def divide(a: Interval, b: Interval) -> Interval:
    pole = b.has_zero
    undefined = (a.has_zero & pole) | (a.infinite & b.infinite)
    return made(_quotient(a, b), a, b, undefined=undefined, pole=pole)


def _quotient(a: Interval, b: Interval) -> Pair:
    """Bounds of a/b for b ≠ 0: with zero at one end of b, they are infinite on one side."""
    inside = (b.lower < 0.0) & (b.upper > 0.0)
    zero = b.is_number & (b.lower == 0.0)
    below = b.upper == 0.0
    # A zero at an end has the sign of the other values.
    ends = Interval(
        np.where(b.lower == 0.0, 0.0, b.lower), np.where(below, -0.0, b.upper), b.undefined, b.pole
    )
    return whole_line(inside | zero | (a.has_zero & b.has_zero), corners(rounding.quotient_bounds, a, ends))


def protected_divide(a: Interval, b: Interval) -> Interval:
    """a/b, and 1 for b = 0: defined there, but unbounded near it."""
    zero = b.is_number & (b.lower == 0.0)
    low, high = _quotient(a, b)
    low, high = np.where(b.has_zero, np.fmin(low, 1.0), low), np.where(b.has_zero, np.fmax(high, 1.0), high)
    bounds = np.where(zero, 1.0, low), np.where(zero, 1.0, high)
    return made(bounds, a, b, undefined=a.infinite & b.infinite & ~zero, pole=b.has_zero & ~zero)


def inverse(a: Interval) -> Interval:
    return divide(Interval.between(np.ones(a.lower.shape), np.ones(a.lower.shape)), a)


def square(a: Interval) -> Interval:
    size = absolute(a)
    low = rounding.product_bounds(size.lower, size.lower)[0]
    return made((low, rounding.product_bounds(size.upper, size.upper)[1]), a)


def cube(a: Interval) -> Interval:
    return made((_cube_bounds(a.lower)[0], _cube_bounds(a.upper)[1]), a)


def _cube_bounds(a: Floats) -> Pair:
    squares = rounding.product_bounds(a, a)
    return hull([rounding.product_bounds(part, a) for part in squares])


def absolute(a: Interval) -> Interval:
    low = np.where(a.has_zero, 0.0, np.minimum(np.abs(a.lower), np.abs(a.upper)))
    return made((low, np.maximum(np.abs(a.lower), np.abs(a.upper))), a)


def minimum(a: Interval, b: Interval) -> Interval:
    return made((np.minimum(a.lower, b.lower), np.minimum(a.upper, b.upper)), a, b)


def maximum(a: Interval, b: Interval) -> Interval:
    return made((np.maximum(a.lower, b.lower), np.maximum(a.upper, b.upper)), a, b)


def side(a: Interval) -> Interval:
    """pdiv(a, |a|): −1 below zero, otherwise 1.  It is bounded, with a jump."""
    bounds = np.where(a.lower < 0.0, -1.0, 1.0), np.where(a.upper < 0.0, -1.0, 1.0)
    return made(bounds, a, undefined=a.infinite)


# monotone functions -----------------------------------------------------------------------------------------------
def rising(
    function: Callable[..., Floats],
    a: Interval,
    *,
    exact_at: float | None = None,
    least: float = -np.inf,
    most: float = np.inf,
    domain: tuple[float, float] | None = None,
    falls: bool = False,
) -> Interval:
    """Bounds of a nondecreasing library function, with values from `least` to `most`, exact at `exact_at` if given."""
    part, undefined = a, np.zeros(a.lower.shape, bool)
    if domain is not None:
        part, undefined = _within(a, *domain), (a.lower < domain[0]) | (a.upper > domain[1])
    first, last = (part.upper, part.lower) if falls else (part.lower, part.upper)
    low = rounding.library_bounds(function, first, exact=first == exact_at)[0]
    high = rounding.library_bounds(function, last, exact=last == exact_at)[1]
    return made((np.clip(low, least, most), np.clip(high, least, most)), part, undefined=undefined)


#: the same for a nonincreasing function
falling = partial(rising, falls=True)


def exact_rising(function: Callable[..., Floats], a: Interval) -> Interval:
    """Bounds of a nondecreasing function without rounding errors; it may have jumps."""
    return made((function(a.lower), function(a.upper)), a)


def logarithm(a: Interval) -> Interval:
    found = rising(np.log, a, exact_at=1.0, domain=(0.0, np.inf))
    return made((found.lower, found.upper), found, pole=a.has_zero)


def protected_logarithm(a: Interval) -> Interval:
    """log|a|, and 0 for a = 0: defined there, but unbounded near it."""
    found = rising(np.log, absolute(a), exact_at=1.0)
    zero = a.is_number & (a.lower == 0.0)
    low, high = np.where(zero, 0.0, found.lower), np.where(a.has_zero, np.fmax(found.upper, 0.0), found.upper)
    return made((low, np.where(zero, 0.0, high)), a, pole=a.has_zero & ~zero)


def square_root(a: Interval) -> Interval:
    part = _within(a, 0.0, np.inf)
    bounds = rounding.root_bounds(part.lower)[0], rounding.root_bounds(part.upper)[1]
    return made(bounds, part, undefined=a.lower < 0.0)


def _within(a: Interval, least: float, most: float) -> Interval:
    """The intersection with the domain, NaN if it is empty; zeros are positive."""
    outside = (a.upper < least) | (a.lower > most)
    low, high = np.clip(a.lower, least, most) + 0.0, np.clip(a.upper, least, most) + 0.0
    return Interval(np.where(outside, np.nan, low), np.where(outside, np.nan, high), a.undefined, a.pole)


# sines ------------------------------------------------------------------------------------------------------------
def wave(function: Callable[..., Floats], a: Interval, crest: float) -> Interval:
    """Bounds of a sine of period 2π whose maximum is at crest·π."""
    low, high = hull([rounding.library_bounds(function, x, exact=x == 0.0) for x in (a.lower, a.upper)])
    low = np.where(_meets(a, crest + 1.0, 2.0), -1.0, np.clip(low, -1.0, 1.0))
    high = np.where(_meets(a, crest, 2.0), 1.0, np.clip(high, -1.0, 1.0))
    return made((low, high), a, undefined=a.infinite)


def tangent(a: Interval) -> Interval:
    low = rounding.library_bounds(np.tan, a.lower, exact=a.lower == 0.0)[0]
    high = rounding.library_bounds(np.tan, a.upper, exact=a.upper == 0.0)[1]
    pole = _meets(a, 0.5, 1.0)
    return made(whole_line(pole, (low, high)), a, undefined=a.infinite, pole=pole)


def _meets(a: Interval, offset: float, period: float) -> Bools:
    """Whether some (offset + k·period)·π lies inside, up to rounding."""
    low, high = a.lower / np.pi, a.upper / np.pi
    slack = 1e-15 * (2.0 + np.abs(low) + np.abs(high))
    first = np.ceil((low - slack - offset) / period)
    far = ~((np.abs(a.lower) < LARGEST_ANGLE) & (np.abs(a.upper) < LARGEST_ANGLE))
    return far | (first <= np.floor((high + slack - offset) / period))


# powers ----------------------------------------------------------------------------------------------------------
def power(a: Interval, b: Interval) -> Interval:
    whole = b.is_number & (b.lower == np.rint(b.lower)) & np.isfinite(b.lower)
    first, second = _whole_power(a, np.where(whole, b.lower, 1.0)), _real_power(a, b)
    return made(
        (np.where(whole, first.lower, second.lower), np.where(whole, first.upper, second.upper)),
        a, b,
        undefined=np.where(whole, first.undefined, second.undefined),
        pole=np.where(whole, first.pole, second.pole),
    )  # fmt: skip


def _power_bounds(a: Floats, b: Floats) -> Pair:
    exact = (np.abs(a) == 1.0) | (b == 0.0) | (b == 1.0) | ((a == 0.0) & (b != 0.0))
    low, high = rounding.library_bounds(np.power, a, b, exact=exact)
    return np.where(a >= 0.0, np.maximum(low, 0.0), low), high


def _whole_power(a: Interval, n: Floats) -> Interval:
    even, falls = np.fmod(n, 2.0) == 0.0, n < 0.0
    ends = [_power_bounds(x + 0.0, n) for x in (a.lower, a.upper)]
    low, high = hull(ends)
    inside = (a.lower < 0.0) & (a.upper > 0.0)
    low = np.where(even & inside & ~falls & (n != 0.0), 0.0, low)
    pole = falls & a.has_zero
    # 0^-n is +∞ in floating point; the limit of an odd power from below is −∞.
    low = np.where(pole & ~even & (a.lower < 0.0), -np.inf, low)
    high = np.where(pole & inside, np.inf, high)
    high = np.where(pole & ~even & (a.upper == 0.0) & (a.lower < 0.0), ends[0][1], high)
    return made((low, high), a, pole=pole)


def _real_power(a: Interval, b: Interval) -> Interval:
    part = _within(a, 0.0, np.inf)
    low, high = corners(_power_bounds, part, b)
    # Negative bases have powers with integer exponents.
    mixed = ~b.is_number & (a.lower < 0.0)
    reach = corners(_power_bounds, absolute(a), b)[1]
    low, high = np.where(mixed, -reach, low), np.where(mixed, reach, high)
    indefinite = ~b.is_number & a.has_zero & b.has_zero
    return made((low, high), a, b, undefined=(a.lower < 0.0) | indefinite, pole=a.has_zero & (b.lower < 0.0))
