"""Products, powers and functions in terms of the allowed operators."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial, reduce

from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.expr.expression import Expression
from fouriertree.expr.primitives import PrimitiveSet

ONE = Expression.constant(1.0)
#: integer and half-integer powers up to this are written as products
LARGEST_POWER = 12.0
_DEFAULT = PrimitiveSet.default().names
#: operators that are among the default ones where a search has a special use for them
RARE = ("pow", "sinh", "asin", "atan")
_PROTECTED = {row.protects: row.name for row in CATALOGUE.values() if row.protects}


class NotAllowedError(ValueError):
    """An operator is needed that is not allowed."""


def with_rare_operators(primitives: PrimitiveSet) -> PrimitiveSet:
    """The operators; the default ones include x^c with a constant exponent c, sinh, asin and atan.

    Otherwise x^c is exp(c·log(x)), where these are allowed.

    >>> [("pow" in with_rare_operators(p)) for p in (PrimitiveSet.default(), PrimitiveSet(["mul", "exp", "log"]))]
    [True, False]
    """
    missing = [name for name in RARE if name not in primitives]
    if not missing or not all(name in primitives for name in _DEFAULT):
        return primitives
    return primitives.union(PrimitiveSet(missing))


@dataclass(frozen=True)
class Vocabulary:
    """The operators of a search by role; protected operators replace plain ones that are not allowed."""

    primitives: PrimitiveSet

    @cached_property
    def _operators(self) -> PrimitiveSet:
        return with_rare_operators(self.primitives)

    def __contains__(self, role: str) -> bool:
        return self._name(role) is not None

    def _name(self, role: str) -> str | None:
        return next((name for name in (role, _PROTECTED.get(role)) if name in self._operators), None)

    def apply(self, role: str, *arguments: Expression) -> Expression:
        name = self._name(role)
        if name is None:
            raise NotAllowedError(f"the search may not use {role!r}")
        return Expression.apply(self._operators.find(name), *arguments)

    @cached_property
    def complete(self) -> bool:
        """Whether sums, products and fractions can all be written."""
        return "add" in self and "mul" in self and self.divides

    @cached_property
    def divides(self) -> bool:
        return "div" in self or "inv" in self

    def can_raise(self, power: float) -> bool:
        """Whether x^power can be written."""
        if power == 1.0:
            return True
        if power < 0.0:
            return self.divides and self.can_raise(-power)
        halves = 2.0 * power
        if halves == int(halves) and power <= LARGEST_POWER:
            return "mul" in self and (power == int(power) or "sqrt" in self or self.has_powers)
        return self.has_powers

    @cached_property
    def has_powers(self) -> bool:
        """Whether x^c can be written for every c, with one operator or with three."""
        return self._has_pow or ("exp" in self and "log" in self and "mul" in self)

    @cached_property
    def _has_pow(self) -> bool:
        return "pow" in with_rare_operators(self.primitives)

    def power(self, base: Expression, power: float) -> Expression:
        """base^power, as short as the operators allow."""
        if power < 0.0:
            return self.quotient(ONE, self.power(base, -power))
        if power == 1.0:
            return base
        whole = int(power)
        if power == whole and power <= LARGEST_POWER:
            return self._whole_power(base, whole)
        if 2.0 * power == int(2.0 * power) and power <= LARGEST_POWER and "sqrt" in self:
            root = self.apply("sqrt", base)
            return root if whole == 0 else self.apply("mul", self._whole_power(base, whole), root)
        return self.apply_power(base, power)

    def apply_power(self, base: Expression, power: float) -> Expression:
        """base^power with a constant, which can be fitted."""
        if self._has_pow:
            return Expression.apply(CATALOGUE["pow"], base, Expression.constant(power))
        return self.apply("exp", self.apply("mul", Expression.constant(power), self.apply("log", base)))

    def _whole_power(self, base: Expression, power: int) -> Expression:
        if power == 1:
            return base
        if power == 3 and "cube" in self:
            return self.apply("cube", base)
        half = self._whole_power(base, power // 2)
        square = self.apply("square", half) if "square" in self else self.apply("mul", half, half)
        return square if power % 2 == 0 else self.apply("mul", square, base)

    def product(self, factors: Sequence[Expression]) -> Expression:
        factors = [factor for factor in factors if factor != ONE] or [ONE]
        return reduce(partial(self.apply, "mul"), factors)

    def quotient(self, a: Expression, b: Expression) -> Expression:
        if b == ONE:
            return a
        if a == ONE and "inv" in self:
            return self.apply("inv", b)
        return self.apply("div", a, b) if "div" in self else self.apply("mul", a, self.apply("inv", b))

    def monomial(self, bases: Sequence[Expression], powers: Sequence[float]) -> Expression:
        """Π bases[i]^powers[i] as one fraction."""
        numerator = [self.power(b, p) for b, p in zip(bases, powers, strict=True) if p > 0.0]
        denominator = [self.power(b, -p) for b, p in zip(bases, powers, strict=True) if p < 0.0]
        return self.quotient(self.product(numerator), self.product(denominator))


def nice_ratio(value: float, tolerance: float, largest: int = 6) -> Fraction | None:
    """The simple fraction within `tolerance` of a value, or None."""
    for denominator in (1, 2, 3, 4):
        nearest = round(value * denominator)
        close = abs(value - nearest / denominator) <= tolerance
        if close and 0 < abs(nearest) <= largest * denominator:
            return Fraction(nearest, denominator)
    return None
