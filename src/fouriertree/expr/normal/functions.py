"""Functions of values in normal form, each with the identities that hold for it."""

import math

from fouriertree.expr.catalogue import CATALOGUE, Primitive
from fouriertree.expr.normal.arithmetic import Arithmetic
from fouriertree.expr.normal.values import (
    ONE,
    POSITIVE,
    Monomial,
    Value,
    constant_power,
    folded,
    key_of,
    scaled,
)
from fouriertree.expr.opcodes import ABS, EXP, LOG, MAX, MIN, MUL, PDIV, POW

#: e^c is moved in front of an exponential up to this c; beyond, the other factor may overflow
_LARGEST_SHIFT = 30.0


#: operators with f(−v) = −f(v)
ODD = frozenset(row.opcode for row in CATALOGUE.values() if row.parity == -1)


class Algebra(Arithmetic):
    """Sums, products, powers and functions of values."""

    __slots__ = ()

    def apply(self, row: Primitive, arguments: list[Value]) -> Value:
        """An operator on values, other than a sum, a product or a power with a constant exponent."""
        code = row.opcode
        if not any(body for _, body in arguments):
            return folded(row, [constant for constant, _ in arguments])
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
        """pdiv(a, b) is 1 where b = 0, so only a constant factor of b can be moved to a."""
        if key_of(a) == key_of(b):
            return ONE
        coefficient, body = b
        if isinstance(body, dict) or not coefficient:
            return self.opaque(PDIV, a, b)
        a = self.expanded(scaled(a, constant_power(coefficient, -1.0)))
        return self.opaque(PDIV, a, (1.0, body)) if body else a

    def _with_sign(self, code: int, v: Value, parity: float) -> Monomial:
        """f(v) where f(−v) = parity·f(v): of v and −v the positive one, or the one that occurred first."""
        coefficient, body = v
        opposite = self.expanded(scaled(v, -1.0))
        flip = coefficient < 0.0
        if isinstance(body, dict):
            flip = all(term[0] < 0.0 for term in body.values()) or (
                (code, (key_of(v),)) not in self.ids and (code, (key_of(opposite),)) in self.ids
            )
        return (parity if flip else 1.0, self.opaque(code, opposite if flip else v)[1])

    def absolute(self, v: Value) -> Value:
        """|coefficient·Π base^power|: factors that are not negative are moved out."""
        coefficient, factors = self.product(v)
        known = tuple([(i, p) for i, p in factors if self.factor_sign(i, p)])
        rest = tuple([(i, p) for i, p in factors if not self.factor_sign(i, p)])
        if len(rest) == 1:
            i, p = rest[0]
            rest = ((self.opaque(ABS, (1.0, ((i, 1.0),)))[1][0][0], p),)
        elif rest:
            rest = self.opaque(ABS, (1.0, rest))[1]
        return self.gathered(abs(coefficient), known + rest)

    def exp(self, v: Value) -> Value:
        """e^v; e^(c + rest) is e^c·e^rest, and e^(k·log b) is b^k."""
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
        """log v; log(e^a·b) is a + log b, and log(b^p) is p·log b where b is positive or p is not even."""
        coefficient, body = v
        if not body:
            return folded(CATALOGUE["log"], [coefficient])
        if isinstance(body, dict):
            return self.opaque(LOG, v)
        for i, p in body:
            if self.kinds[i] == EXP:
                rest = self.expanded((coefficient, tuple([factor for factor in body if factor[0] != i])))
                return self.add(scaled(self.parts[i][0], p), self.log(rest))
        (i, p), *others = body
        if coefficient == 1.0 and not others and p != 1.0 and (p % 2.0 or self.signs[i] == POSITIVE):
            inside = self.parts[i] if self.kinds[i] == MUL else self.with_sum((1.0, ((i, 1.0),)))
            return scaled(self.opaque(LOG, inside), p)
        return self.opaque(LOG, v)
