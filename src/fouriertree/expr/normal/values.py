"""What a value in normal form is: number · Π base^power, or number · (sum of such).

Bases are columns, sums, functions of values, and products whose factors have no root of their own.  They are
numbered, equal ones once, so that comparing two values is comparing short tuples.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.opcodes import ABS, ACOS, ADD, EXP, LOG, MAX, MIN, POW, VAR

#: (number of the base, power), in the order in which they are written
Factors = tuple[tuple[int, float], ...]
Monomial = tuple[float, Factors]
#: from the factors in the order of their numbers, by which like terms are found, to the term
Sum = dict[Factors, Monomial]
Value = tuple[float, Factors | Sum]

ONE: Monomial = (1.0, ())
ZERO: Monomial = (0.0, ())
#: what is known of a sign where there is a value; the order matters
UNKNOWN, NOT_NEGATIVE, POSITIVE = 0, 1, 2

_SMALLEST, _LARGEST = 1e-300, 1e300
#: coefficients of sums are compared by their quotients, which are numbers if the coefficients are in this range
_SMALLEST_TERM, _LARGEST_TERM = 1e-150, 1e150


class Unsettled(Exception):  # noqa: N818 (no error: such a formula stays as it is)
    """There is no normal form: a number is too large or too small, or an operator is missing."""


class Bases:
    """The bases of one formula: what they are, and what is known of their signs."""

    __slots__ = ("ids", "kinds", "originals", "parts", "positive", "scaled_logs", "signs")

    def __init__(self, positive: Container[int]) -> None:
        self.positive = positive
        self.kinds: list[int] = []  # VAR, ADD, MUL for a product, or the opcode of a function
        self.parts: list[Any] = []  # the column, the sum, the monomial, or the tuple of arguments
        self.signs: list[int] = []
        self.ids: dict[Any, int] = {}
        self.originals: dict[int, tuple[float, Sum]] = {}  # of sums: (r, r·sum) as it was given
        self.scaled_logs = False  # whether there is a log(c·b) whose number could come out

    def new(self, kind: int, part: Any, sign: int = UNKNOWN) -> int:
        self.kinds.append(kind)
        self.parts.append(part)
        self.signs.append(sign)
        return len(self.kinds) - 1

    def column(self, i: int) -> Monomial:
        key = (VAR, i)
        base = self.ids.get(key)
        if base is None:
            base = self.ids[key] = self.new(VAR, i, POSITIVE if i in self.positive else UNKNOWN)
        return (1.0, ((base, 1.0),))

    def opaque(self, code: int, *arguments: Value) -> Monomial:
        """A function of values that stand as they are; sums among them have no number in front."""
        keys = tuple([key_of(v) for v in arguments])
        key = (code, frozenset(keys) if code in (MIN, MAX) else keys)
        base = self.ids.get(key)
        if base is None:
            base = self.ids[key] = self.new(code, arguments, self._function_sign(code, arguments))
            if code == LOG and log_number(arguments[0]) != 1.0:
                self.scaled_logs = True
        return (1.0, ((base, 1.0),))

    def _function_sign(self, code: int, arguments: tuple[Value, ...]) -> int:
        if code == EXP or (code == POW and self.sign(arguments[0]) == POSITIVE):
            return POSITIVE
        return NOT_NEGATIVE if code in (ABS, ACOS) else UNKNOWN

    def sum_base(self, total: Sum, power: float) -> tuple[float, int]:
        """(r, base) with total = r·base; r > 0 where the power is not whole, for then a sign cannot come out."""
        whole = power.is_integer()
        sizes = [abs(term[0]) for term in total.values()]
        if min(sizes) < _SMALLEST_TERM or max(sizes) > _LARGEST_TERM:
            raise Unsettled
        first = min(total)
        pivot = total[first][0]
        ratios = frozenset([(key, term[0] / pivot) for key, term in total.items()])
        base = self.ids.get((ADD, ratios, pivot > 0.0))
        if base is None and whole:
            base = self.ids.get((ADD, ratios, pivot <= 0.0))
        if base is None:
            size = smallest_size(total)
            if whole and all(term[0] < 0.0 for term in total.values()):
                size = -size
            bare = total if size == 1.0 else {key: (checked(c / size), f) for key, (c, f) in total.items()}
            base = self.new(ADD, bare, self.sign((1.0, bare)))
            self.ids[ADD, ratios, (pivot > 0.0) == (size > 0.0)] = base
            self.originals[base] = (size, total)
            return size, base
        return pivot / self.parts[base][first][0], base

    def sign(self, value: Value) -> int:
        """What is known of the sign of a value, where it is finite."""
        number, body = value
        if number <= 0.0:
            return UNKNOWN
        if isinstance(body, dict):
            signs = [self.sign(term) for term in body.values()]
            return max(signs) if min(signs) else UNKNOWN
        return min([self.factor_sign(i, p) for i, p in body], default=POSITIVE)

    def factor_sign(self, i: int, p: float) -> int:
        """A power that is not whole has a value only where its base is not negative."""
        known = self.signs[i]
        if known == POSITIVE:
            return POSITIVE
        if known == NOT_NEGATIVE or p % 2.0 != 1.0:
            return NOT_NEGATIVE if p > 0.0 else POSITIVE
        return UNKNOWN


def smallest_size(total: Sum) -> float:
    """The smallest size of a coefficient: divided by it, that term is bare and the others are multiples.

    It does not depend on the order of the sum, nor the quotient on its scale.  The constant term is a number anyway.
    """
    return min([abs(term[0]) for key, term in total.items() if key])


def log_number(argument: Value) -> float:
    """c of log(c·b), which is log(b) + log(c)."""
    number, body = argument
    if isinstance(body, dict):
        return smallest_size(body)
    return number if number > 0.0 and body else 1.0


def key_of(value: Value) -> Any:
    """Equal for values that are equal but for the order of terms and factors."""
    number, body = value
    if isinstance(body, dict):
        return frozenset([(key, number * term[0]) for key, term in body.items()])
    return (number, in_order(body))


def in_order(factors: Factors) -> Factors:
    return factors if len(factors) < 2 else tuple(sorted(factors))


def scaled(value: Value, number: float) -> Value:
    """number · value."""
    if number == 1.0:
        return value
    if number == 0.0 or value[0] == 0.0:
        return ZERO
    return (checked(number * value[0]), value[1])


def checked(number: float) -> float:
    if _SMALLEST < abs(number) < _LARGEST:
        return number
    raise Unsettled


def number_power(number: float, p: float) -> float:
    """number^p, if that is a number of ordinary size."""
    if number == 1.0:
        return 1.0
    if number == 0.0 and p > 0.0:
        return 0.0
    if number == 0.0 or (number < 0.0 and not p.is_integer()):
        raise Unsettled
    try:
        return checked(1.0 / number if p == -1.0 else number**p)
    except OverflowError:
        raise Unsettled from None


def folded(row: Primitive, numbers: list[float]) -> Monomial:
    """The operator on numbers."""
    value = float(row.reference(*[np.array([number]) for number in numbers])[0])
    return (checked(value), ()) if value else ZERO
