"""Values in normal form: coefficient · Π base^power, or coefficient · (sum of such terms).

Bases are features, sums, functions of values, and products whose root is not taken factor by factor.  Equal bases
have the same index, so two values are compared as short tuples.
"""

from collections.abc import Container
from typing import Any

import numpy as np

from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.opcodes import ABS, ACOS, ADD, EXP, LOG, MAX, MIN, MUL, POW, VAR

#: (index of the base, power), in the order in which they are written
Factors = tuple[tuple[int, float], ...]
Monomial = tuple[float, Factors]
#: from the sorted factors, which like terms share, to the term
Sum = dict[Factors, Monomial]
Value = tuple[float, Factors | Sum]

ONE: Monomial = (1.0, ())
ZERO: Monomial = (0.0, ())
#: what is known of the sign of a value; the order matters
UNKNOWN, NOT_NEGATIVE, POSITIVE = 0, 1, 2

_SMALLEST, _LARGEST = 1e-300, 1e300
#: coefficients of sums are compared by their quotients, which are finite if the coefficients are in this range
_SMALLEST_TERM, _LARGEST_TERM = 1e-150, 1e150


class NoNormalForm(Exception):  # noqa: N818 (not an error: such an expression is not changed)
    """There is no normal form: a constant is too large or too small, or an operator is not allowed."""


class Bases:
    """The bases of one expression, and what is known of their signs."""

    __slots__ = ("features", "ids", "kinds", "originals", "parts", "positive", "scaled_logs", "signs")

    def __init__(self, positive: Container[int]) -> None:
        self.positive = positive
        self.kinds: list[int] = []  # VAR, ADD, MUL for a product, or the opcode of a function
        self.parts: list[Any] = []  # the feature, the sum, the monomial, or the tuple of arguments
        self.signs: list[int] = []
        self.ids: dict[Any, int] = {}
        self.features: dict[int, Monomial] = {}
        self.originals: dict[int, tuple[float, Sum]] = {}  # of sums: (r, r·sum), the original
        self.scaled_logs = False  # whether there is a log(c·b), which could be split

    def new(self, kind: int, part: Any, sign: int = UNKNOWN) -> int:
        self.kinds.append(kind)
        self.parts.append(part)
        self.signs.append(sign)
        return len(self.kinds) - 1

    def known(self, key: Any, kind: int, part: Any, sign: int = UNKNOWN) -> int:
        """The base with this key, which is new if there is none."""
        base = self.ids.get(key)
        if base is None:
            base = self.ids[key] = self.new(kind, part, sign)
        return base

    def feature(self, i: int) -> Monomial:
        if i not in self.features:
            base = self.new(VAR, i, POSITIVE if i in self.positive else UNKNOWN)
            self.features[i] = (1.0, ((base, 1.0),))
        return self.features[i]

    def opaque(self, code: int, *arguments: Value) -> Monomial:
        """A function of values without a rule; sums among the values have no coefficient."""
        keys = tuple([key_of(v) for v in arguments])
        key = (code, frozenset(keys) if code in (MIN, MAX) else keys)
        sign = NOT_NEGATIVE if code in (ABS, ACOS) else UNKNOWN
        if code == EXP or (code == POW and self.sign(arguments[0]) == POSITIVE):
            sign = POSITIVE
        if code == LOG and key not in self.ids and log_factor(arguments[0]) != 1.0:
            self.scaled_logs = True
        return (1.0, ((self.known(key, code, arguments, sign), 1.0),))

    def sum_base(self, total: Sum, power: float) -> tuple[float, int]:
        """(r, base) with total = r·base; r > 0 if the power is not an integer, since signs stay under roots."""
        whole = power.is_integer()
        sizes = [abs(term[0]) for term in total.values()]
        if min(sizes) < _SMALLEST_TERM or max(sizes) > _LARGEST_TERM:
            raise NoNormalForm
        first = min(total)
        pivot = total[first][0]
        ratios = frozenset([(key, term[0] / pivot) for key, term in total.items()])
        base = self.ids.get((ADD, ratios, pivot > 0.0))
        if base is None and whole:
            base = self.ids.get((ADD, ratios, pivot <= 0.0))
        if base is None:
            size = signed_size(total) if whole else smallest_size(total)
            bare = total if size == 1.0 else {key: (checked(c / size), f) for key, (c, f) in total.items()}
            base = self.new(ADD, bare, self.sign((1.0, bare)))
            self.ids[ADD, ratios, (pivot > 0.0) == (size > 0.0)] = base
            self.originals[base] = (size, total)
            return size, base
        return pivot / self.parts[base][first][0], base

    def inside(self, i: int) -> tuple[Value, ...]:
        """The values in base i: of a sum or product one, of a function its arguments."""
        kind, part = self.kinds[i], self.parts[i]
        if kind == VAR:
            return ()
        return ((1.0, part),) if kind == ADD else (part,) if kind == MUL else part

    def sign(self, value: Value) -> int:
        """The known sign of a value, where it is finite."""
        coefficient, body = value
        if coefficient <= 0.0:
            return UNKNOWN
        if isinstance(body, dict):
            known = UNKNOWN
            for term in body.values():
                sign = self.sign(term)
                if not sign:
                    return UNKNOWN
                known = max(known, sign)
            return known
        return min([self.factor_sign(i, p) for i, p in body], default=POSITIVE)

    def factor_sign(self, i: int, p: float) -> int:
        """The known sign of a factor: a non-integer power is defined only where its base is not negative."""
        known = self.signs[i]
        if known == POSITIVE:
            return POSITIVE
        if known == NOT_NEGATIVE or p % 2.0 != 1.0:
            return NOT_NEGATIVE if p > 0.0 else POSITIVE
        return UNKNOWN


def smallest_size(total: Sum) -> float:
    """The smallest size of a coefficient, without the constant term; it does not depend on the order of the terms."""
    return min([abs(term[0]) for key, term in total.items() if key])


def signed_size(total: Sum) -> float:
    """The smallest size, negative if all coefficients are."""
    size = smallest_size(total)
    return -size if all(c < 0.0 for c, _ in total.values()) else size


def divided(total: Sum, number: float) -> Sum:
    return {key: (c / number, factors) for key, (c, factors) in total.items()}


def factored(total: Sum) -> tuple[float, Sum]:
    """(c, rest) with total = c·rest; one term of rest has the coefficient ±1, and one is positive."""
    size = signed_size(total)
    return size, divided(total, size)


def log_factor(argument: Value) -> float:
    """c of log(c·b), which is log(b) + log(c)."""
    coefficient, body = argument
    if isinstance(body, dict):
        return smallest_size(body)
    return coefficient if coefficient > 0.0 and body else 1.0


def key_of(value: Value) -> Any:
    """A key that does not depend on the order of terms and factors."""
    coefficient, body = value
    if isinstance(body, dict):
        return frozenset([(key, coefficient * term[0]) for key, term in body.items()])
    return (coefficient, in_order(body))


def in_order(factors: Factors) -> Factors:
    return factors if len(factors) < 2 else tuple(sorted(factors))


def scaled(value: Value, factor: float) -> Value:
    """factor · value."""
    if factor == 1.0:
        return value
    if factor == 0.0 or value[0] == 0.0:
        return ZERO
    return (checked(factor * value[0]), value[1])


def checked(value: float) -> float:
    if _SMALLEST < abs(value) < _LARGEST:
        return value
    raise NoNormalForm


def constant_power(coefficient: float, p: float) -> float:
    """coefficient^p, if it is in range."""
    if coefficient == 1.0:
        return 1.0
    if coefficient == 0.0 and p > 0.0:
        return 0.0
    if coefficient == 0.0 or (coefficient < 0.0 and not p.is_integer()):
        raise NoNormalForm
    try:
        return checked(1.0 / coefficient if p == -1.0 else coefficient**p)
    except OverflowError:
        raise NoNormalForm from None


def folded(row: Primitive, constants: list[float]) -> Monomial:
    """The operator on constants."""
    value = float(row.reference(*[np.array([constant]) for constant in constants])[0])
    return (checked(value), ()) if value else ZERO
