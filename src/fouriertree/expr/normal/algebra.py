"""Sums, products, powers and functions of values in normal form.

Every rule preserves the value wherever the expression and all its subtrees are finite.  A rule may extend the domain:
sqrt(x)^2 becomes x.
"""

import math
from collections.abc import Callable, Container

from fouriertree.expr.catalogue import CATALOGUE, Primitive
from fouriertree.expr.normal.values import (
    ONE,
    POSITIVE,
    UNKNOWN,
    ZERO,
    Bases,
    Factors,
    Monomial,
    NoNormalForm,
    Sum,
    Value,
    checked,
    constant_power,
    folded,
    in_order,
    key_of,
    log_factor,
    scaled,
)
from fouriertree.expr.opcodes import ABS, ADD, EXP, LOG, MAX, MIN, MUL, PDIV, POW

#: operators with f(−v) = −f(v)
ODD = frozenset(row.opcode for row in CATALOGUE.values() if row.parity == -1)
#: bases whose powers may simplify further
_VOLATILE = frozenset((EXP, ABS, MUL))
#: e^c is moved in front of an exponential up to this c; beyond, the other factor may overflow
_LARGEST_SHIFT = 30.0
_ROUNDING = 4e-16


class Algebra(Bases):
    """The operators on values; `can_raise(p)`: whether x^p can be written without a logarithm."""

    __slots__ = ("can_raise", "has_abs")

    def __init__(self, positive: Container[int], has_abs: bool, can_raise: Callable[[float], bool]) -> None:
        super().__init__(positive)
        self.has_abs = has_abs
        self.can_raise = can_raise

    # Sums.

    def add(self, a: Value, b: Value, sign: float = 1.0) -> Value:
        """a + sign·b with like terms collected."""
        if not a[0]:
            return scaled(b, sign)
        if not b[0]:
            return a
        total = dict(self.terms(a))
        for key, (c, factors) in self.terms(b).items():
            c *= sign
            if key not in total:
                total[key] = (c, factors)
                continue
            old = total[key]
            both = old[0] + c
            # 0.1 + 0.2 − 0.3 is a rounding error.
            if abs(both) <= _ROUNDING * abs(c):
                del total[key]
            else:
                total[key] = (checked(both), old[1])
        if len(total) > 1:
            return self._with_plain_logs(total) if self.scaled_logs else (1.0, total)
        return next(iter(total.values()), ZERO)

    def terms(self, value: Value) -> Sum:
        coefficient, body = self.with_sum(value)
        if not isinstance(body, dict):
            return {in_order(body): (coefficient, body)}
        if coefficient == 1.0:
            return body
        return {key: (checked(coefficient * c), f) for key, (c, f) in body.items()}

    def with_sum(self, value: Value) -> Value:
        """coefficient·base as coefficient·sum, if the base is a sum."""
        body = value[1]
        if len(body) != 1 or isinstance(body, dict):
            return value
        i, p = body[0]
        return (value[0], self.parts[i]) if p == 1.0 and self.kinds[i] == ADD else value

    def expanded(self, value: Value) -> Value:
        """A value as a whole expression: the coefficient of a sum is multiplied into its terms."""
        coefficient, body = value = self.with_sum(value)
        return (1.0, self.terms(value)) if isinstance(body, dict) and coefficient != 1.0 else value

    def opposite(self, value: Value) -> Value:
        return self.expanded(scaled(value, -1.0))

    def _with_plain_logs(self, total: Sum) -> Value:
        """k·log(c·b) as k·log(b) + k·log(c), where k·log(c) can be added to another constant."""
        logs = {key: self.parts[f[0][0]][0] for key, (_, f) in total.items() if self.is_log(f)}
        split = {key: (v, log_factor(v)) for key, v in logs.items() if log_factor(v) != 1.0}
        if len(split) + (() in total) < 2:
            return (1.0, total)
        value: Value = ZERO
        self.scaled_logs = False
        for key, term in total.items():
            if key in split:
                (_, body), c = split[key]
                if isinstance(body, dict):
                    body = {k: (checked(d / c), f) for k, (d, f) in body.items()}
                log = self.add(self.log((1.0, body)), (math.log(c), ()))
                value = self.add(value, scaled(log, term[0]))
            else:
                value = self.add(value, term)
        self.scaled_logs = True
        return value

    def is_log(self, factors: Factors) -> bool:
        return len(factors) == 1 and factors[0][1] == 1.0 and self.kinds[factors[0][0]] == LOG

    # Products and powers.

    def product(self, value: Value) -> Monomial:
        """A value as a product: a sum becomes a base."""
        coefficient, body = value
        if not isinstance(body, dict):
            return (coefficient, body)
        r, base = self.sum_base(body, 1.0)
        return (checked(coefficient * r), ((base, 1.0),))

    def multiply(self, a: Value, b: Value) -> Value:
        (ca, fa), (cb, fb) = a, b
        if not fa:
            return scaled(b, ca)
        if not fb:
            return scaled(a, cb)
        if isinstance(fa, dict):
            ca, fa = self.product(a)
        if isinstance(fb, dict):
            cb, fb = self.product(b)
        return self.gathered(checked(ca * cb), fa + fb)

    def gathered(self, coefficient: float, factors: Factors) -> Value:
        """coefficient · Π base^power, equal bases collected."""
        powers = dict(factors)
        if len(powers) < len(factors):
            powers = {}
            for i, p in factors:
                power = powers.get(i, 0.0) + p
                if power:
                    powers[i] = power
                else:
                    powers.pop(i, None)
            factors = tuple(powers.items())
        kinds = self.kinds
        for i in powers:
            if kinds[i] in _VOLATILE:
                return self._without_volatile(coefficient, powers)
        return (coefficient, factors)

    def _without_volatile(self, coefficient: float, powers: dict[int, float]) -> Value:
        """The product with one exponential, |b|² and sqrt(b)² simplified, and b²·|b| as |b|³."""
        powers = self._with_joined_absolutes(powers)
        exponentials = [i for i in powers if self.kinds[i] == EXP]
        # |b|² is b², and the square of the root of a product is the product.
        period = {ABS: 2.0, MUL: 1.0}
        changed = [i for i, p in powers.items() if p % period.get(self.kinds[i], math.inf) == 0.0]
        if len(exponentials) > 1 or (exponentials and powers[exponentials[0]] != 1.0):
            changed += exponentials
        value: Value = (coefficient, tuple([(i, p) for i, p in powers.items() if i not in changed]))
        exponent: Value = ZERO
        for i in changed:
            part, p = self.parts[i], powers[i]
            if self.kinds[i] == EXP:
                exponent = self.add(exponent, scaled(part[0], p))
            else:
                value = self.multiply(value, self.power(part[0] if self.kinds[i] == ABS else part, p))
        return self.multiply(value, self.exp(exponent)) if exponent[0] else value

    def _with_joined_absolutes(self, powers: dict[int, float]) -> dict[int, float]:
        """b²·|b| as |b|³, at the position of b, and b·|b|³ as b³·|b|."""
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
        """value^p; of a product factor by factor, where that is valid for real numbers."""
        if p == 1.0:
            return value
        if p == 0.0:
            return ONE
        coefficient, body = value
        if coefficient < 0.0 and isinstance(body, dict) and not p.is_integer():
            coefficient, body = self.expanded(value)
        if isinstance(body, dict):
            r, base = self.sum_base(body, p)
            return (checked(constant_power(coefficient, p) * constant_power(r, p)), ((base, p),))
        if not body:
            return (constant_power(coefficient, p), ())
        if p.is_integer():
            return self.gathered(constant_power(coefficient, p), tuple([(i, q * p) for i, q in body]))
        return self._root(coefficient, body, p)

    def _root(self, coefficient: float, factors: Factors, p: float) -> Value:
        """(coefficient · Π base^power)^p for a p that is not an integer.

        The root of a single factor is taken: it is positive wherever the root exists.  So is that of positive factors,
        and of all if none is negative.  sqrt(x·y) is kept, since both may be negative; with a negative coefficient,
        sqrt(−x), too.  An exponential is kept with others: exp(x/2)·sqrt(y) is longer than sqrt(exp(x)·y).
        """
        if coefficient < 0.0:
            coefficient, factors = self._with_opposite_sum(coefficient, factors)
        inside = self._kept_under_root(coefficient, factors, p)
        if coefficient < 0.0 and not inside:
            raise NoNormalForm  # a negative coefficient times positive factors
        value: Value = (constant_power(coefficient, p) if coefficient > 0.0 else 1.0, ())
        for i, q in factors:
            if (i, q) not in inside:
                value = self.multiply(value, self._factor_root(i, q, p))
            elif (i, q) == inside[0]:
                root = self._whole_root(coefficient if coefficient < 0.0 else 1.0, inside, p)
                value = self.multiply(value, root)
        return value

    def _with_opposite_sum(self, coefficient: float, factors: Factors) -> Monomial:
        """−x·(a − b) as x·(b − a)."""
        for k, (i, q) in enumerate(factors):
            total: Sum = self.parts[i] if q % 2.0 == 1.0 and self.kinds[i] == ADD else {}
            if any(c < 0.0 for c, _ in total.values()):
                opposite = {key: (-c, f) for key, (c, f) in total.items()}
                r, base = self.sum_base(opposite, 0.5)
                return (
                    checked(-coefficient * constant_power(r, q)),
                    (*factors[:k], (base, q), *factors[k + 1 :]),
                )
        return (coefficient, factors)

    def _kept_under_root(self, coefficient: float, factors: Factors, p: float) -> Factors:
        if len(factors) > 1 and any(self.kinds[i] == EXP for i, _ in factors):
            return factors
        # Whether (base^q)^p can be written as a power of the base or of its absolute value.
        rooted = [self.has_abs or self._is_power(i, q, p) for i, q in factors]
        signs = [self.factor_sign(i, q) for i, q in factors]
        if coefficient > 0.0 and all(rooted) and (len(factors) == 1 or min(signs)):
            return ()
        kept = [k for k, sign in enumerate(signs) if sign < POSITIVE or not rooted[k]]
        if coefficient > 0.0 and len(kept) == 1 and rooted[kept[0]]:
            return ()
        return tuple([factors[k] for k in kept])

    def _is_power(self, i: int, q: float, p: float) -> bool:
        """Whether (base^q)^p = base^(q·p): not for sqrt(x²) = |x|, but for sqrt(x⁴) and for sqrt(x³)."""
        return self.signs[i] > UNKNOWN or q % 2.0 != 0.0 or (q * p) % 2.0 == 0.0

    def _factor_root(self, i: int, q: float, p: float) -> Value:
        if self._is_power(i, q, p):
            return self.gathered(1.0, ((i, q * p),))
        return self.power(self.absolute((1.0, ((i, 1.0),))), q * p)

    def _whole_root(self, coefficient: float, factors: Factors, p: float) -> Value:
        """The root of a product that cannot be taken factor by factor."""
        inside = self.expanded((coefficient, factors))
        if isinstance(inside[1], dict):
            return self.power(inside, p)
        return (1.0, ((self.known((MUL, key_of(inside)), MUL, inside), p),))

    # Functions.

    def apply(self, row: Primitive, arguments: list[Value]) -> Value:
        """An operator on values, other than a sum, a product or a power with a constant exponent."""
        code = row.opcode
        if not any(body for _, body in arguments):
            return folded(row, [constant for constant, _ in arguments])
        if code == ABS:
            return self.absolute(arguments[0])
        arguments = [self.expanded(v) for v in arguments]
        if code == EXP:
            return self.exp(arguments[0])
        if code == LOG:
            return self.log(arguments[0])
        if row.parity:
            return self._with_sign(code, arguments[0], float(row.parity))
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
        opposite = self.opposite(v)
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
        value: Value = ONE
        rest = v = self.expanded(v)
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
