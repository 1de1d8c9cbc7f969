"""Polynomials with exact rational coefficients, and the conversion of trees to them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import zip_longest
from math import gcd, isfinite, lcm

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import opcodes as op
from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.expression import Expression
from fouriertree.expr.postfix import fold

#: larger exponents raise an error, because they would take too long
LARGEST_EXPONENT = 1024


@dataclass(frozen=True)
class Polynomial:
    """Σ numerators[i]/denominator · x**i, in lowest terms, without trailing zeros; integers make products fast.

    >>> p = Polynomial.of([1, 0, Fraction(1, 2)])
    >>> print(p * p, "|", p.degree, p.span_size, p.integral(-1, 1))
    1 + x^2 + 1/4*x^4 | 2 2 7/3
    """

    numerators: tuple[int, ...]
    denominator: int = 1

    @classmethod
    def of(cls, coefficients: Iterable[float | Fraction]) -> Polynomial:
        """The polynomial with these coefficients, lowest first; floats are taken exactly."""
        exact = [Fraction(c) for c in coefficients]
        common = lcm(*(c.denominator for c in exact)) if exact else 1
        return _trimmed([c.numerator * (common // c.denominator) for c in exact], common)

    @property
    def coefficients(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(n, self.denominator) for n in self.numerators)

    @property
    def degree(self) -> int:
        """Largest exponent; −1 for zero."""
        return len(self.numerators) - 1

    @property
    def span_size(self) -> int:
        """Number of terms whose coefficient is not zero."""
        return sum(n != 0 for n in self.numerators)

    def __add__(self, other: Polynomial) -> Polynomial:
        common = lcm(self.denominator, other.denominator)
        left, right = common // self.denominator, common // other.denominator
        pairs = zip_longest(self.numerators, other.numerators, fillvalue=0)
        return _trimmed([left * a + right * b for a, b in pairs], common)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple(-n for n in self.numerators), self.denominator)

    def __mul__(self, other: Polynomial) -> Polynomial:
        product = [0] * max(0, len(self.numerators) + len(other.numerators) - 1)
        for i, a in enumerate(self.numerators):
            if a:
                for j, b in enumerate(other.numerators):
                    product[i + j] += a * b
        return _trimmed(product, self.denominator * other.denominator)

    def __truediv__(self, number: Fraction | int) -> Polynomial:
        return self * Polynomial.of([1 / Fraction(number)])

    def __call__(self, x: float | Fraction) -> Fraction:
        value = reduce(lambda v, n: v * Fraction(x) + n, reversed(self.numerators), Fraction(0))
        return value / self.denominator

    def values(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values at many points, by Horner's rule in extended precision where the platform has it."""
        total = np.zeros(len(x), np.longdouble)
        for n in reversed(self.numerators):
            total = total * x + np.longdouble(n)
        return (total / np.longdouble(self.denominator)).astype(np.float64)

    def integral(self, a: float | Fraction, b: float | Fraction) -> Fraction:
        """∫ from a to b, exactly."""
        low, high = Fraction(a), Fraction(b)
        terms = (Fraction(n, i) * (high**i - low**i) for i, n in enumerate(self.numerators, 1) if n)
        return sum(terms, Fraction(0)) / self.denominator

    def __str__(self) -> str:
        return " + ".join(_term(c, i) for i, c in enumerate(self.coefficients) if c) or "0"


def _term(coefficient: Fraction, exponent: int) -> str:
    if exponent == 0:
        return str(coefficient)
    power = "x" if exponent == 1 else f"x^{exponent}"
    return power if coefficient == 1 else f"{coefficient}*{power}"


def _trimmed(numerators: list[int], denominator: int) -> Polynomial:
    """The unique form of a polynomial: no trailing zeros, no common factor."""
    while numerators and numerators[-1] == 0:
        numerators.pop()
    common = gcd(denominator, *numerators) if denominator != 1 else 1
    if common == 1:
        return Polynomial(tuple(numerators), denominator)
    return Polynomial(tuple(n // common for n in numerators), denominator // common)


def normal_form(expression: Expression) -> Polynomial:
    """The polynomial in x0 that equals a tree, exactly; ValueError if there is none.

    >>> from fouriertree.expr import parse
    >>> print(normal_form(parse("(x0 + 1)*(x0 - 1) + 2")))
    1 + x^2
    """

    def leaf(i: int) -> Polynomial:
        column, value = expression.arg[i], float(expression.const[i])
        if column != 0:
            raise ValueError(f"a polynomial space has one variable, x0; the expression uses x{column}")
        if not isfinite(value):
            raise ValueError(f"the constant {value} is not finite")
        return Polynomial.of([value]) if expression.op[i] == op.CONST else Polynomial((0, 1))

    return fold(expression, leaf, _apply)


def _apply(row: Primitive, *arguments: Polynomial) -> Polynomial:
    if row.opcode not in _OPERATORS:
        raise ValueError(f"'{row.name}' does not make polynomials; a polynomial space takes + - * and powers")
    return _OPERATORS[row.opcode](*arguments)


def _divide(a: Polynomial, b: Polynomial) -> Polynomial:
    if b.degree != 0:
        raise ValueError("a quotient is a polynomial only if the divisor is a constant other than zero")
    return a / b.coefficients[0]


def _power(base: Polynomial, exponent: Polynomial) -> Polynomial:
    n = exponent.coefficients[0] if exponent.degree == 0 else Fraction(0)
    if exponent.degree > 0 or n.denominator != 1 or not 0 <= n <= LARGEST_EXPONENT:
        raise ValueError(
            f"a power is a polynomial only for exponents 0, 1, …; at most {LARGEST_EXPONENT} here"
        )
    return reduce(operator.mul, [base] * int(n), Polynomial.of([1]))


_OPERATORS: dict[int, Callable[..., Polynomial]] = {
    op.NEG: operator.neg,
    op.SQUARE: lambda p: p * p,
    op.CUBE: lambda p: p * p * p,
    op.ADD: operator.add,
    op.SUB: operator.sub,
    op.MUL: operator.mul,
    op.DIV: _divide,
    op.POW: _power,
}
