"""Bounds of single operations in floating point: both the exact and the rounded result lie between them.

Sums, products, quotients and roots are rounded to nearest, so the sign of the rounding error gives the side of the
rounded result on which the exact one lies, and the bounds of an exact result are equal.  This matters at the edge of a
domain: 1 − x² at x = 1 is zero, and not slightly less.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]

#: error bound of library functions, in units in the last place
LIBRARY_ULPS = 8.0
#: for products outside of this range, the rounding error may be inexact
SMALL, LARGE = 1e-280, 1e290
#: Veltkamp's constant, which splits 53 bits into halves
_HALVES = 134217729.0


def outward(value: Floats, error: Floats) -> Pair:
    """Bounds of value + error, for errors below half a unit in the last place; NaN is an error of unknown sign."""
    low, high = np.nextafter(value, -np.inf), np.nextafter(value, np.inf)
    return np.where(error >= 0.0, value, low), np.where(error <= 0.0, value, high)


def sum_bounds(a: Floats, b: Floats) -> Pair:
    total = a + b
    part = total - a
    return outward(total, (a - (total - part)) + (b - part))


def product_bounds(a: Floats, b: Floats) -> Pair:
    """Bounds of a·b, where 0·∞ = 0: an infinite bound means arbitrarily large values."""
    value = a * b
    bounds = outward(value, product_error(a, b, value))
    return _with_sign(bounds, same=(a < 0.0) == (b < 0.0), zero=(a == 0.0) | (b == 0.0))


def _with_sign(bounds: Pair, same: NDArray[np.bool_], zero: NDArray[np.bool_]) -> Pair:
    """Bounds of a product or quotient: its sign is known if it underflows, and so is where it is zero."""
    low, high = bounds
    low, high = np.where(same, np.maximum(low, 0.0), low), np.where(same, high, np.minimum(high, 0.0))
    return np.where(zero, 0.0, low), np.where(zero, 0.0, high)


def product_error(a: Floats, b: Floats, value: Floats) -> Floats:
    """a·b − value exactly (Dekker 1971), NaN where it may be inexact."""
    a1, a2 = _split(a)
    b1, b2 = _split(b)
    error = a2 * b2 - (((value - a1 * b1) - a2 * b1) - a1 * b2)
    ordinary = (np.abs(value) > SMALL) & (np.abs(value) < LARGE) & (np.abs(a) < LARGE) & (np.abs(b) < LARGE)
    return np.where(ordinary, error, np.nan)


def _split(a: Floats) -> Pair:
    big = _HALVES * a
    high = big - (big - a)
    return high, a - high


def quotient_bounds(a: Floats, b: Floats) -> Pair:
    """For b ≠ 0; NaN for ∞/∞."""
    value = a / b
    product = value * b
    rest = (a - product) - product_error(value, b, product)
    bounds = outward(value, np.where(np.abs(value) > SMALL, np.where(b < 0.0, -rest, rest), np.nan))
    zero = ((a == 0.0) & (b != 0.0)) | (np.isfinite(a) & np.isinf(b))
    # By the sign bits: a zero in the denominator has the sign of the values in its interval.
    return _with_sign(bounds, same=np.signbit(a) == np.signbit(b), zero=zero)


def root_bounds(a: Floats) -> Pair:
    """For a ≥ 0."""
    value = np.sqrt(a)
    product = value * value
    low, high = outward(value, (a - product) - product_error(value, value, product))
    zero = a == 0.0
    return np.where(zero, 0.0, np.maximum(low, 0.0)), np.where(zero, 0.0, high)


def library_bounds(function: Callable[..., Floats], *arguments: Floats, exact: NDArray[np.bool_]) -> Pair:
    """Bounds of a function of the mathematical library; `exact` marks arguments with an exact value."""
    value = function(*arguments)
    reach = LIBRARY_ULPS * np.spacing(np.abs(value))
    largest = np.finfo(np.float64).max
    low = np.where(np.isinf(value), np.where(value > 0.0, largest, -np.inf), value - reach)
    high = np.where(np.isinf(value), np.where(value > 0.0, np.inf, -largest), value + reach)
    return np.where(exact, value, low), np.where(exact, value, high)
