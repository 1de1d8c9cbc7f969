"""Functions of values in normal form, each with the identities that hold for it."""

from __future__ import annotations

import math

from fouriertree.expr.catalogue import CATALOGUE, Primitive
from fouriertree.expr.normal.arithmetic import Arithmetic
from fouriertree.expr.normal.values import (
    ONE,
    POSITIVE,
    Monomial,
    Value,
    folded,
    key_of,
    number_power,
    scaled,
)
from fouriertree.expr.opcodes import ABS, EXP, LOG, MAX, MIN, MUL, PDIV, POW

#: e^number goes in front of an exponential up to here; beyond, the rest may overflow where the whole does not
_LARGEST_SHIFT = 30.0


#: operators with f(−v) = −f(v)
ODD = frozenset(row.opcode for row in CATALOGUE.values() if row.parity == -1)


class Algebra(Arithmetic):
    """All that is computed with values."""

    __slots__ = ()

    def apply(self, row: Primitive, arguments: list[Value]) -> Value:
        """An operator that is no sum, product or power by a number, on values."""
        code = row.opcode
        if not any(body for _, body in arguments):
            return folded(row, [number for number, _ in arguments])
        if code == EXP:
            return self.exp(arguments[0])
        if code == LOG:
            return self.log(self.expanded(arguments[0]))
        if code == ABS:
            return self.absolute(arguments[0])
        if row.parity:
            return self._with_sign(code, self.expanded(arguments[0]), float(row.parity))
        return self._others(code, [self.expanded(v) for v in arguments])

    def _others(self, code: int, arguments: list[Value]) -> Value:
        if code == POW and not arguments[1][1]:
            return self.power(arguments[0], arguments[1][0])
        if code == PDIV:
            return self._protected_quotient(*arguments)
        if code in (MIN, MAX) and key_of(arguments[0]) == key_of(arguments[1]):
            return arguments[0]
        return self.opaque(code, *arguments)

    def _protected_quotient(self, a: Value, b: Value) -> Value:
        """pdiv(a, b) is 1 where b = 0, so nothing but a number comes out of b, and it goes into a."""
        if key_of(a) == key_of(b):
            return ONE
        number, body = b
        if isinstance(body, dict) or not number:
            return self.opaque(PDIV, a, b)
        a = self.expanded(scaled(a, number_power(number, -1.0)))
        return self.opaque(PDIV, a, (1.0, body)) if body else a

    def _with_sign(self, code: int, v: Value, parity: float) -> Monomial:
        """f(v) where f(−v) = parity·f(v): of v and −v the positive one, or the one that was seen first."""
        number, body = v
        opposite = self.expanded(scaled(v, -1.0))
        flip = number < 0.0
        if isinstance(body, dict):
            flip = all(term[0] < 0.0 for term in body.values()) or (
                (code, (key_of(v),)) not in self.ids and (code, (key_of(opposite),)) in self.ids
            )
        return (parity if flip else 1.0, self.opaque(code, opposite if flip else v)[1])

    def absolute(self, v: Value) -> Value:
        """|number·Π base^power|: what is known not to be negative comes out."""
        number, factors = self.product(v)
        known = tuple([(i, p) for i, p in factors if self.factor_sign(i, p)])
        rest = tuple([(i, p) for i, p in factors if not self.factor_sign(i, p)])
        if len(rest) == 1:
            i, p = rest[0]
            rest = ((self.opaque(ABS, (1.0, ((i, 1.0),)))[1][0][0], p),)
        elif rest:
            rest = self.opaque(ABS, (1.0, rest))[1]
        return self.gathered(abs(number), known + rest)

    def exp(self, v: Value) -> Value:
        """e^v; e^(number + rest) has a number in front, and e^(k·log b) is b^k."""
        v = self.expanded(v)
        value: Value = ONE
        rest = v
        for term in list(self.terms(v).values()):
            c, factors = term
            if not factors and abs(c) <= _LARGEST_SHIFT:
                value = scaled(value, math.exp(c))
            elif self.is_log(factors) and self.can_raise(c):
                value = self.multiply(value, self.power(self.parts[factors[0][0]][0], c))
            else:
                continue
            rest = self.add(rest, term, -1.0)
        return self.multiply(value, self.opaque(EXP, rest)) if rest[0] else value

    def log(self, v: Value) -> Value:
        """log v; log(e^a·b) is a + log b, and log(b^p) is p·log b where b is positive or must be."""
        number, body = v
        if not body:
            return folded(CATALOGUE["log"], [number])
        if isinstance(body, dict):
            return self.opaque(LOG, v)
        for i, p in body:
            if self.kinds[i] == EXP:
                rest = self.expanded((number, tuple([factor for factor in body if factor[0] != i])))
                return self.add(scaled(self.parts[i][0], p), self.log(rest))
        (i, p), *others = body
        if number == 1.0 and not others and p != 1.0 and (p % 2.0 or self.signs[i] == POSITIVE):
            inside = self.parts[i] if self.kinds[i] == MUL else self.with_sum((1.0, ((i, 1.0),)))
            return scaled(self.opaque(LOG, inside), p)
        return self.opaque(LOG, v)
