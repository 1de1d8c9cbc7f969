"""Sums, products and powers of values in normal form.

Every rule keeps the value wherever the formula that it replaces, and all its parts, are finite.  A rule may give a
value where there was none: sqrt(x)^2 becomes x.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Container

from fouriertree.expr.normal.values import (
    ONE,
    POSITIVE,
    UNKNOWN,
    ZERO,
    Bases,
    Factors,
    Monomial,
    Sum,
    Unsettled,
    Value,
    checked,
    in_order,
    key_of,
    log_number,
    number_power,
    scaled,
)
from fouriertree.expr.opcodes import ABS, ADD, EXP, LOG, MUL

#: bases that some powers turn into something else
_VOLATILE = frozenset((EXP, ABS, MUL))
_ROUNDING = 4e-16


class Arithmetic(Bases, ABC):
    """Sums, products and powers; `can_raise` says which powers can be written without a logarithm."""

    __slots__ = ("can_raise", "has_abs")

    def __init__(self, positive: Container[int], has_abs: bool, can_raise: Callable[[float], bool]) -> None:
        super().__init__(positive)
        self.has_abs = has_abs
        self.can_raise = can_raise

    @abstractmethod
    def exp(self, v: Value) -> Value:
        """e^v."""

    @abstractmethod
    def log(self, v: Value) -> Value:
        """log v."""

    @abstractmethod
    def absolute(self, v: Value) -> Value:
        """|v|."""

    # Sums.

    def add(self, a: Value, b: Value, sign: float = 1.0) -> Value:
        """a + sign·b with like terms drawn together."""
        if not a[0]:
            return scaled(b, sign)
        if not b[0]:
            return a
        total = dict(self.terms(a))
        for key, (c, factors) in self.terms(b).items():
            c *= sign
            old = total.get(key)
            if old is None:
                total[key] = (c, factors)
                continue
            both = old[0] + c
            # What is left of 0.1 + 0.2 − 0.3 is rounding.
            if abs(both) <= _ROUNDING * abs(c):
                del total[key]
            else:
                total[key] = (checked(both), old[1])
        return self._settled_sum(total)

    def terms(self, value: Value) -> Sum:
        number, body = self.with_sum(value)
        if not isinstance(body, dict):
            return {in_order(body): (number, body)}
        if number == 1.0:
            return body
        return {key: (checked(number * c), f) for key, (c, f) in body.items()}

    def with_sum(self, value: Value) -> Value:
        """number·base as number·sum, if the base is a sum."""
        body = value[1]
        if (
            len(body) == 1
            and not isinstance(body, dict)
            and body[0][1] == 1.0
            and self.kinds[body[0][0]] == ADD
        ):
            return (value[0], self.parts[body[0][0]])
        return value

    def expanded(self, value: Value) -> Value:
        """A value as it stands alone: the number of a sum goes into its terms."""
        number, body = self.with_sum(value)
        return (1.0, self.terms(value)) if isinstance(body, dict) else (number, body)

    def _settled_sum(self, total: Sum) -> Value:
        if len(total) > 1 and self.scaled_logs:
            return self._with_plain_logs(total)
        if len(total) > 1:
            return (1.0, total)
        return next(iter(total.values())) if total else ZERO

    def _with_plain_logs(self, total: Sum) -> Value:
        """k·log(c·b) as k·log(b) + k·log(c), where that joins another number."""
        logs = [
            key
            for key, (_, f) in total.items()
            if self.is_log(f) and log_number(self.parts[f[0][0]][0]) != 1.0
        ]
        if len(logs) + (() in total) < 2:
            return (1.0, total)
        value: Value = ZERO
        self.scaled_logs = False
        for key, (c, factors) in total.items():
            if key in logs:
                argument = self.parts[factors[0][0]][0]
                number = log_number(argument)
                plain = self.log(_divided(argument, number))
                value = self.add(value, scaled(self.add(plain, (math.log(number), ())), c))
            else:
                value = self.add(value, (c, factors))
        self.scaled_logs = True
        return value

    def is_log(self, factors: Factors) -> bool:
        return len(factors) == 1 and factors[0][1] == 1.0 and self.kinds[factors[0][0]] == LOG

    # Products and powers.

    def product(self, value: Value) -> Monomial:
        """A value as a product: a sum becomes a base."""
        number, body = value
        if not isinstance(body, dict):
            return (number, body)
        r, base = self.sum_base(body, 1.0)
        return (checked(number * r), ((base, 1.0),))

    def multiply(self, a: Value, b: Value) -> Value:
        if not a[1]:
            return scaled(b, a[0])
        if not b[1]:
            return scaled(a, b[0])
        (ca, fa), (cb, fb) = self.product(a), self.product(b)
        return self.gathered(checked(ca * cb), fa + fb)

    def gathered(self, number: float, factors: Factors) -> Value:
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
            return self._without_volatile(number, powers)
        return (number, tuple(powers.items()))

    def _without_volatile(self, number: float, powers: dict[int, float]) -> Value:
        """The product in which exponentials are one, |b|² and sqrt(b)² are what they equal, and b²·|b| is |b|³."""
        powers = self._with_joined_absolutes(powers)
        exponentials = [i for i in powers if self.kinds[i] == EXP]
        changed = [i for i, p in powers.items() if not _keeps(self.kinds[i], p)]
        if len(exponentials) > 1 or (exponentials and powers[exponentials[0]] != 1.0):
            changed += exponentials
        value: Value = (number, tuple([(i, p) for i, p in powers.items() if i not in changed]))
        exponent: Value = ZERO
        for i in changed:
            part, p = self.parts[i], powers[i]
            if self.kinds[i] == EXP:
                exponent = self.add(exponent, scaled(part[0], p))
            else:
                value = self.multiply(value, self.power(part[0] if self.kinds[i] == ABS else part, p))
        return self.multiply(value, self.exp(exponent)) if exponent[0] else value

    def _with_joined_absolutes(self, powers: dict[int, float]) -> dict[int, float]:
        """b²·|b| as |b|³, in the place of b, and b·|b|³ as b³·|b|."""
        for i in [i for i, p in powers.items() if self.kinds[i] == ABS and p % 2.0 == 1.0]:
            inside = self.parts[i][0][1]
            b = inside[0][0] if len(inside) == 1 else i
            p, q = powers.get(b, 0.5), powers[i]
            if p % 2.0 == 0.0:
                powers = {i if j == b else j: p + q if j == b else r for j, r in powers.items() if j != i}
            elif b != i and p.is_integer():
                powers[i] = math.copysign(1.0, q)
                powers[b] = p + q - powers[i]
        return powers

    def power(self, value: Value, p: float) -> Value:
        """value^p; of a product factor by factor, where that is right for real numbers."""
        if p == 1.0:
            return value
        if p == 0.0:
            return ONE
        number, body = value
        if number < 0.0 and isinstance(body, dict) and not p.is_integer():
            number, body = self.expanded(value)
        if isinstance(body, dict):
            r, base = self.sum_base(body, p)
            return (checked(number_power(number, p) * number_power(r, p)), ((base, p),))
        if not body:
            return (number_power(number, p), ())
        if p.is_integer():
            return self.gathered(number_power(number, p), tuple([(i, q * p) for i, q in body]))
        return self._root(number, body, p)

    def _root(self, number: float, factors: Factors, p: float) -> Value:
        """(number · Π base^power)^p for a p that is not whole.

        A single factor comes out: it is positive wherever the root exists.  So do factors that are positive, and all
        if none is negative.  Of x·y both may be negative, and sqrt(x·y) stays; with a negative number even sqrt(−x).
        An exponential stays with others: exp(x/2)·sqrt(y) is longer than sqrt(exp(x)·y).
        """
        if number < 0.0:
            number, factors = self._with_opposite_sum(number, factors)
        inside = self._kept_under_root(number, factors, p)
        if number < 0.0 and not inside:
            raise Unsettled  # a negative number times positive factors
        value: Value = (number_power(number, p) if number > 0.0 else 1.0, ())
        for i, q in factors:
            if (i, q) not in inside:
                value = self.multiply(value, self._factor_root(i, q, p))
            elif (i, q) == inside[0]:
                value = self.multiply(value, self._whole_root(number if number < 0.0 else 1.0, inside, p))
        return value

    def _with_opposite_sum(self, number: float, factors: Factors) -> Monomial:
        """−x·(a − b) as x·(b − a)."""
        for k, (i, q) in enumerate(factors):
            if (
                q % 2.0 == 1.0
                and self.kinds[i] == ADD
                and any(term[0] < 0.0 for term in self.parts[i].values())
            ):
                opposite = {key: (-c, f) for key, (c, f) in self.parts[i].items()}
                r, base = self.sum_base(opposite, 0.5)
                return (checked(-number * r**q), (*factors[:k], (base, q), *factors[k + 1 :]))
        return (number, factors)

    def _kept_under_root(self, number: float, factors: Factors, p: float) -> Factors:
        if len(factors) > 1 and any(self.kinds[i] == EXP for i, _ in factors):
            return factors
        rooted = [self._has_root(i, q, p) for i, q in factors]
        signs = [self.factor_sign(i, q) for i, q in factors]
        if number > 0.0 and all(rooted) and (len(factors) == 1 or min(signs)):
            return ()
        kept = [k for k, sign in enumerate(signs) if sign < POSITIVE or not rooted[k]]
        if number > 0.0 and len(kept) == 1 and rooted[kept[0]]:
            return ()
        return tuple([factors[k] for k in kept])

    def _has_root(self, i: int, q: float, p: float) -> bool:
        """Whether (base^q)^p can be said as a power of the base or of its absolute value."""
        return self.has_abs or self._is_power(i, q, p)

    def _is_power(self, i: int, q: float, p: float) -> bool:
        """Whether (base^q)^p = base^(q·p): not for sqrt(x²) = |x|, but for sqrt(x⁴) and for sqrt(x³)."""
        return self.signs[i] > UNKNOWN or q % 2.0 != 0.0 or (q * p) % 2.0 == 0.0

    def _factor_root(self, i: int, q: float, p: float) -> Value:
        base: Monomial = (1.0, ((i, 1.0),))
        if self._is_power(i, q, p):
            return self.gathered(1.0, ((i, q * p),))
        return self.power(self.absolute(base), q * p)

    def _whole_root(self, number: float, factors: Factors, p: float) -> Value:
        """The root of a product that cannot be taken factor by factor."""
        inside = self.expanded((number, factors))
        if isinstance(inside[1], dict):
            return self.power(inside, p)
        key = (MUL, key_of(inside))
        base = self.ids.get(key)
        if base is None:
            base = self.ids[key] = self.new(MUL, inside)
        return (1.0, ((base, p),))


def _divided(argument: Value, number: float) -> Value:
    """argument/number for the number in front of a product, or for one that makes terms of a sum bare."""
    body = argument[1]
    if not isinstance(body, dict):
        return (1.0, body)
    return (1.0, {key: (checked(c / number), f) for key, (c, f) in body.items()})


def _keeps(kind: int, p: float) -> bool:
    """Whether a base keeps a power: |b|^2 is b^2, and the square of the root of a product is the product."""
    if kind == ABS:
        return p % 2.0 != 0.0
    return kind != MUL or not p.is_integer()
