"""Values as number · Π base^power, and sums of such: the normal form in which `canonical` computes.

Bases are columns, sums, functions of values, and products whose parts have no root of their own.  They are numbered,
equal ones once, so that comparing two values is comparing short tuples.

Every rule keeps the value wherever the formula that it replaces, and all parts of it, are finite.  A rule may give a
value where there was none: sqrt(x)^2 becomes x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container
from typing import Any

import numpy as np

from fouriertree.expr.catalogue import BY_OPCODE, Primitive
from fouriertree.expr.opcodes import (
    ABS,
    ACOS,
    ADD,
    ASIN,
    ATAN,
    COS,
    EXP,
    LOG,
    MAX,
    MIN,
    MUL,
    PDIV,
    PLOG,
    POW,
    SIN,
    TAN,
    TANH,
    VAR,
)

#: (number of the base, power), in the order in which they are written
Factors = tuple[tuple[int, float], ...]
Monomial = tuple[float, Factors]
#: from the factors in order of their numbers, by which like terms are found, to the term
Sum = dict[Factors, Monomial]
Value = Monomial | Sum

ONE: Monomial = (1.0, ())
ZERO: Monomial = (0.0, ())
#: what is known of a sign; the order matters
UNKNOWN, NOT_NEGATIVE, POSITIVE = 0, 1, 2

ODD = frozenset((SIN, TAN, TANH, ASIN, ATAN))
EVEN = frozenset((COS, PLOG))
#: bases that some powers turn into something else
_VOLATILE = frozenset((EXP, ABS, MUL))
_SMALLEST, _LARGEST = 1e-300, 1e300
#: e^number goes in front of an exponential up to here; beyond, the rest may overflow where the whole does not
_LARGEST_SHIFT = 30.0
_ROUNDING = 4e-16


class Unsettled(Exception):  # noqa: N818 (not an error: the formula stays as it is)
    """This formula has no normal form: a number over- or underflows, or an operator is missing."""


class Algebra:
    """The bases of one formula, and arithmetic with values over them."""

    __slots__ = ("can_raise", "has_abs", "ids", "kinds", "parts", "positive", "scaled_logs", "signs")

    def __init__(self, positive: Container[int], has_abs: bool, can_raise: Callable[[float], bool]) -> None:
        self.positive = positive
        self.has_abs = has_abs
        self.can_raise = can_raise
        self.kinds: list[int] = []  # VAR, ADD, MUL or the opcode of a function
        self.parts: list[Any] = []  # the column, the sum, the monomial or the tuple of arguments
        self.signs: list[int] = []
        self.ids: dict[Any, int] = {}
        self.scaled_logs = False

    # --- bases -------------------------------------------------------------------------------------------------

    def new(self, kind: int, part: Any, sign: int) -> int:
        self.kinds.append(kind)
        self.parts.append(part)
        self.signs.append(sign)
        return len(self.kinds) - 1

    def column(self, i: int) -> Monomial:
        key = (VAR, i)
        found = self.ids.get(key)
        if found is None:
            found = self.ids[key] = self.new(VAR, i, POSITIVE if i in self.positive else UNKNOWN)
        return (1.0, ((found, 1.0),))

    def opaque(self, code: int, *arguments: Value) -> Monomial:
        """An operator on values that no rule looks into."""
        keys = tuple([key_of(v) for v in arguments])
        key = (code, frozenset(keys) if code in (MIN, MAX) else keys)
        found = self.ids.get(key)
        if found is None:
            sign = POSITIVE if code == EXP else NOT_NEGATIVE if code in (ABS, ACOS) else UNKNOWN
            if code == POW and self.sign(arguments[0]) == POSITIVE:
                sign = POSITIVE
            found = self.ids[key] = self.new(code, arguments, sign)
            if code == LOG and type(arguments[0]) is tuple and arguments[0][0] not in (1.0, -1.0):
                self.scaled_logs = True
        return (1.0, ((found, 1.0),))

    def sum_base(self, total: Sum, power: float) -> tuple[float, int]:
        """(r, base) with total = r·base; r > 0 where the power is not whole, for then a sign cannot come out."""
        first = min(total)
        pivot = total[first][0]
        ratios = frozenset([(key, term[0] / pivot) for key, term in total.items()])
        whole = power.is_integer()
        if whole and all([term[0] < 0.0 for term in total.values()]):
            total = {key: (-c, f) for key, (c, f) in total.items()}
            r, base = self.sum_base(total, power)
            return -r, base
        found = self.ids.get((ADD, ratios, pivot > 0.0))
        if found is None and whole:
            found = self.ids.get((ADD, ratios, pivot <= 0.0))
        if found is None:
            found = self.ids[ADD, ratios, pivot > 0.0] = self.new(ADD, total, self.sign(total))
        return pivot / self.parts[found][first][0], found

    def sign(self, value: Value) -> int:
        """What is known of the sign of a value where it is finite."""
        if type(value) is dict:
            signs = [self.sign(term) for term in value.values()]
            return max(signs) if min(signs) else UNKNOWN
        number, factors = value
        if number < 0.0 or not number:
            return UNKNOWN
        return min([self.factor_sign(i, p) for i, p in factors], default=POSITIVE)

    def factor_sign(self, i: int, power: float) -> int:
        known = self.signs[i]
        if known == POSITIVE:
            return POSITIVE
        if known == NOT_NEGATIVE or not power.is_integer() or power % 2.0 == 0.0:
            return NOT_NEGATIVE if power > 0.0 else POSITIVE
        return UNKNOWN

    # --- sums --------------------------------------------------------------------------------------------------

    def add(self, a: Value, b: Value, sign: float = 1.0) -> Value:
        """a + sign·b with like terms drawn together."""
        a, b = self.expanded(a), self.expanded(b)
        if type(a) is tuple and not a[0]:
            return b if sign == 1.0 else scale(b, sign)
        total: Sum = dict(a) if type(a) is dict else {_sorted(a[1]): a}
        for key, term in b.items() if type(b) is dict else ((_sorted(b[1]), b),):
            c = sign * term[0]
            old = total.get(key)
            if old is None:
                if c:
                    total[key] = (c, term[1])
                continue
            both = old[0] + c
            # What is left of 0.1 + 0.2 − 0.3 is rounding.
            if abs(both) <= _ROUNDING * abs(c):
                del total[key]
            else:
                total[key] = (checked(both), old[1])
        return self._settled_sum(total)

    def _settled_sum(self, total: Sum) -> Value:
        if self.scaled_logs and len(total) > 1:
            total = self._with_plain_logs(total)
        if len(total) > 1:
            return total
        return next(iter(total.values())) if total else ZERO

    def _with_plain_logs(self, total: Sum) -> Sum:
        """k·log(c·b) as k·log(b) + k·log(c), where log(c) joins another number."""
        scaled = [key for key, (_, f) in total.items() if len(f) == 1 and f[0][1] == 1.0 and self._log_number(f[0][0])]
        if len(scaled) + (() in total) < 2:
            return total
        value: Value = ZERO
        self.scaled_logs = False
        for key, term in total.items():
            if key in scaled:
                i = term[1][0][0]
                number, rest = self.parts[i][0]
                plain = self.add((math.log(number), ()), self.log((1.0, rest)))
                value = self.add(value, scale(plain, term[0]))
            else:
                value = self.add(value, term)
        self.scaled_logs = True
        return value if type(value) is dict else {_sorted(value[1]): value} if value[0] else {}

    def _log_number(self, i: int) -> bool:
        if self.kinds[i] != LOG:
            return False
        argument = self.parts[i][0]
        return type(argument) is tuple and argument[0] > 0.0 and argument[0] != 1.0 and bool(argument[1])

    # --- products and powers -----------------------------------------------------------------------------------

    def monomial(self, value: Value) -> Monomial:
        """A value as a product: a sum becomes a base."""
        if type(value) is tuple:
            return value
        r, base = self.sum_base(value, 1.0)
        return (r, ((base, 1.0),))

    def expanded(self, value: Value) -> Value:
        """A number times a sum as a sum.  It waits until then, for the number may join others that are in front."""
        if type(value) is tuple and len(value[1]) == 1:
            i, p = value[1][0]
            if p == 1.0 and self.kinds[i] == ADD:
                return scale(self.parts[i], value[0])
        return value

    def multiply(self, a: Value, b: Value) -> Value:
        if type(a) is tuple and not a[1]:
            return scale(self.monomial(b), a[0])
        if type(b) is tuple and not b[1]:
            return scale(self.monomial(a), b[0])
        (ca, fa), (cb, fb) = self.monomial(a), self.monomial(b)
        return self._gathered(checked(ca * cb), fa + fb)

    def _gathered(self, number: float, factors: Factors) -> Value:
        """number · Π base^power, equal bases drawn together."""
        powers: dict[int, float] = {}
        volatile = False
        kinds = self.kinds
        for i, p in factors:
            old = powers.get(i)
            if old is None:
                powers[i] = p
            elif old + p:
                powers[i] = old + p
            else:
                del powers[i]
            volatile = volatile or kinds[i] in _VOLATILE
        if volatile:
            return self._settled_product(number, powers)
        return (number, tuple(powers.items()))

    def _settled_product(self, number: float, powers: dict[int, float]) -> Value:
        """A product in which exponentials are one and every volatile base has a power that it keeps."""
        kept: list[tuple[int, float]] = []
        exponent: Value = ZERO
        exponentials, changed = 0, []
        for i, p in powers.items():
            kind = self.kinds[i]
            if kind == EXP:
                exponentials += 1 if p == 1.0 else 2
                exponent = self.add(exponent, scale(self.parts[i][0], p))
            if kind == EXP or not _keeps(kind, p):
                changed.append((i, p))
            else:
                kept.append((i, p))
        if exponentials == 1 and len(changed) == 1:
            return (number, tuple(powers.items()))
        value: Value = (number, tuple(kept))
        for i, p in changed:
            if self.kinds[i] != EXP:
                value = self.multiply(value, self.power(self._inside(i), p))
        return self.multiply(value, self.exp(exponent)) if exponentials else value

    def _inside(self, i: int) -> Value:
        part: Value = self.parts[i][0] if self.kinds[i] == ABS else self.parts[i]
        return part

    def power(self, value: Value, p: float) -> Value:
        """value^p; of a product only where every factor's power is the real one."""
        if p == 1.0:
            return value
        if p == 0.0:
            return ONE
        if type(value) is dict:
            r, base = self.sum_base(value, p)
            return (number_power(r, p), ((base, p),))
        number, factors = value
        if not factors:
            return (number_power(number, p), ())
        if not number:
            raise Unsettled
        if p.is_integer():
            raised = tuple([(i, q * p) for i, q in factors])
            return self._gathered(number_power(number, p), raised)
        return self._root(number, factors, p)

    def _root(self, number: float, factors: Factors, p: float) -> Value:
        """(number · Π base^power)^p for a p that is not whole.

        Positive factors come out.  So does everything if nothing is negative, and a single factor: it is positive
        wherever the root exists.  Of x·y both may be negative, and sqrt(x·y) stays.
        """
        out: list[tuple[int, float]] = []
        rest: list[tuple[int, float]] = []
        for i, q in factors:
            (out if self.factor_sign(i, q) == POSITIVE and self._root_exists(i, q, p) else rest).append((i, q))
        sign = 1.0 if number > 0.0 else -1.0
        front = number_power(abs(number), p)
        if sign > 0.0 and (len(rest) == 1 or all([self.factor_sign(i, q) for i, q in rest])):
            out += [(i, q) for i, q in rest if self._root_exists(i, q, p)]
            rest = [(i, q) for i, q in rest if not self._root_exists(i, q, p)]
        value: Value = ONE
        for i, q in out:
            value = self.multiply(value, self._factor_root(i, q, p))
        if rest or sign < 0.0:
            value = self.multiply(value, self._whole_root(sign, tuple(rest), p))
        return self.multiply((front, ()), value)

    def _root_exists(self, i: int, q: float, p: float) -> bool:
        """Whether (base^q)^p = base^(q·p), or can be said with an absolute value."""
        return self.signs[i] > UNKNOWN or q % 2.0 != 0.0 or (q * p) % 2.0 == 0.0 or self.has_abs

    def _factor_root(self, i: int, q: float, p: float) -> Value:
        if self.signs[i] > UNKNOWN or q % 2.0 != 0.0 or (q * p) % 2.0 == 0.0:
            return self._gathered(1.0, ((i, q * p),))
        return self.power(self.absolute((1.0, ((i, 1.0),))), q * p)

    def _whole_root(self, sign: float, factors: Factors, p: float) -> Value:
        inside = self.expanded((sign, factors))
        if type(inside) is dict:
            return self.power(inside, p)
        if not factors:
            raise Unsettled
        key = (MUL, key_of(inside))
        found = self.ids.get(key)
        if found is None:
            found = self.ids[key] = self.new(MUL, inside, UNKNOWN)
        return self._gathered(1.0, ((found, p),))

    # --- functions ---------------------------------------------------------------------------------------------

    def apply(self, row: Primitive, arguments: list[Value]) -> Value:
        """A function on values."""
        code = row.opcode
        arguments = [self.expanded(v) for v in arguments]
        if all([type(v) is tuple and not v[1] for v in arguments]):
            return (fold(row, [v[0] for v in arguments]), ())  # type: ignore[misc]
        if code == EXP:
            return self.exp(arguments[0])
        if code == LOG:
            return self.log(arguments[0])
        if code == ABS:
            return self.absolute(arguments[0])
        if code in ODD:
            return self._with_sign(code, arguments[0], -1.0)
        if code in EVEN:
            return self._with_sign(code, arguments[0], 1.0)
        if code == POW:
            return self._general_power(*arguments)
        if code == PDIV:
            return self._protected_quotient(*arguments)
        if code in (MIN, MAX) and key_of(arguments[0]) == key_of(arguments[1]):
            return arguments[0]
        return self.opaque(code, *arguments)

    def _general_power(self, base: Value, exponent: Value) -> Value:
        if type(exponent) is tuple and not exponent[1]:
            return self.power(base, exponent[0])
        return self.opaque(POW, base, exponent)

    def _protected_quotient(self, a: Value, b: Value) -> Value:
        """pdiv is 1 where b = 0, so nothing but a number comes out of b."""
        if key_of(a) == key_of(b):
            return ONE
        if type(b) is tuple and b[0]:
            a, b = scale(a, number_power(b[0], -1.0)), (1.0, b[1])
            if not b[1]:
                return a
        return self.opaque(PDIV, a, b)

    def _with_sign(self, code: int, v: Value, parity: float) -> Monomial:
        """f(v) for f(−v) = parity·f(v): the argument starts with a plus, or is the one that was seen first."""
        if type(v) is tuple:
            flip = v[0] < 0.0
        elif all([term[0] < 0.0 for term in v.values()]):
            flip = True
        else:
            flip = (code, (key_of(v),)) not in self.ids and (code, (key_of(scale(v, -1.0)),)) in self.ids
        base = self.opaque(code, scale(v, -1.0) if flip else v)
        return (parity, base[1]) if flip else base

    def absolute(self, v: Value) -> Value:
        v = self.expanded(v)
        if type(v) is dict:
            opposite = scale(v, -1.0)
            return v if self.sign(v) else opposite if self.sign(opposite) else self._with_sign(ABS, v, 1.0)
        number, factors = v
        known = tuple([(i, p) for i, p in factors if self.factor_sign(i, p)])
        rest = tuple([(i, p) for i, p in factors if not self.factor_sign(i, p)])
        if not rest:
            return (abs(number), known)
        if len(rest) == 1:
            i, p = rest[0]
            inside = self.expanded((1.0, ((i, 1.0),)))
            base = self._with_sign(ABS, inside, 1.0)[1][0][0]
            return self._gathered(abs(number), (*known, (base, p)))
        return self._gathered(abs(number), known + self.opaque(ABS, (1.0, rest))[1])

    def exp(self, v: Value) -> Value:
        """e^v; e^(number + rest) has the number in front, and e^(k·log b) is b^k."""
        number, product, rest = 1.0, ONE, v
        terms = [v] if type(v) is tuple else list(v.values())
        for term in terms:
            c, factors = term
            if not factors and abs(c) <= _LARGEST_SHIFT:
                number = math.exp(c)
            elif self._is_log(factors) and self.can_raise(c):
                product = self.multiply(product, self.power(self.parts[factors[0][0]][0], c))
            else:
                continue
            rest = self.add(rest, term, -1.0)
        value: Value = product if type(rest) is tuple and not rest[0] else self._times_exp(product, rest)
        return scale(value, number)

    def _times_exp(self, product: Value, rest: Value) -> Value:
        """product·e^rest, for a product that holds no exponential."""
        base = self.opaque(EXP, rest)
        if product is ONE:
            return base
        number, factors = self.monomial(product)
        if any([self.kinds[i] == EXP for i, _ in factors]):
            return self.multiply((number, factors), base)
        return (number, factors + base[1])

    def _is_log(self, factors: Factors) -> bool:
        return len(factors) == 1 and factors[0][1] == 1.0 and self.kinds[factors[0][0]] == LOG

    def log(self, v: Value) -> Value:
        """log v; log(e^a·b) is a + log b, and log(b^p) is p·log b where b is positive or must be."""
        if type(v) is dict:
            return self.opaque(LOG, v)
        number, factors = v
        if not factors:
            return (fold(BY_OPCODE[LOG], [number]), ())
        for k, (i, p) in enumerate(factors):
            if self.kinds[i] == EXP:
                rest = self.expanded((number, factors[:k] + factors[k + 1 :]))
                return self.add(scale(self.parts[i][0], p), self.log(rest))
        if len(factors) == 1 and number == 1.0:
            i, p = factors[0]
            if p != 1.0 and (p % 2.0 or self.signs[i] == POSITIVE):
                inside = self.parts[i] if self.kinds[i] == MUL else self.expanded((1.0, ((i, 1.0),)))
                return scale(self.opaque(LOG, inside), p)
        return self.opaque(LOG, v)


def _keeps(kind: int, p: float) -> bool:
    """|b|^2 is b^2, and the square of the root of a product is the product."""
    if kind == ABS:
        return p % 2.0 != 0.0
    return kind != MUL or not p.is_integer()


def key_of(value: Value) -> Any:
    """Equal for values that are equal but for the order of terms and factors."""
    if type(value) is dict:
        return frozenset([(key, term[0]) for key, term in value.items()])
    return (value[0], _sorted(value[1]))


def _sorted(factors: Factors) -> Factors:
    return factors if len(factors) < 2 else tuple(sorted(factors))


def scale(value: Value, number: float) -> Value:
    """number · value; a sum takes it term by term."""
    if number == 1.0:
        return value
    if number == 0.0:
        return ZERO
    if type(value) is dict:
        return {key: (checked(number * c), f) for key, (c, f) in value.items()}
    c, factors = value
    return (checked(number * c), factors) if c else ZERO


def checked(number: float) -> float:
    if _SMALLEST < abs(number) < _LARGEST:
        return number
    raise Unsettled


def number_power(number: float, p: float) -> float:
    """number^p, if that is a number of ordinary size."""
    if p == 1.0 or number == 1.0:
        return number
    if number == 0.0 and p > 0.0:
        return 0.0
    if number == 0.0 or (number < 0.0 and not p.is_integer()):
        raise Unsettled
    try:
        return checked(1.0 / number if p == -1.0 else number**p)
    except OverflowError:
        raise Unsettled from None


def fold(row: Primitive, numbers: list[float]) -> float:
    """The operator on numbers."""
    value = float(row.reference(*[np.array([number]) for number in numbers])[0])
    if value == 0.0:
        return 0.0
    return checked(value)
