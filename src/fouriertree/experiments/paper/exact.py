"""Trees as polynomials with integer coefficients, exact and fast enough for every element of every run.

By Kronecker's substitution: a tree evaluated at x = 2^b in integer arithmetic has all its coefficients side by side in
one integer, b bits each.  `fouriertree.expr.polynomial` is the reference implementation in the tests.
"""

from __future__ import annotations

from fractions import Fraction

from fouriertree.expr import Expression
from fouriertree.expr import opcodes as op
from fouriertree.expr.polynomial import Polynomial

SIGNS = {op.ADD: 1, op.SUB: -1}


def integer_polynomial(tree: Expression) -> Polynomial:
    """The polynomial of a tree of + − * over x and integers.

    >>> from fouriertree.expr import parse
    >>> print(integer_polynomial(parse("(x0 - 1)*(x0 + 1) - x0")))
    -1 + -1*x + x^2
    """
    bits = value(tree, 1, sizes=True).bit_length() + 1
    return Polynomial(digits(value(tree, 1 << bits, sizes=False), bits))


def value(tree: Expression, x: int, sizes: bool) -> int:
    """The value at an integer; with `sizes`, differences become sums: at x = 1 a bound on all coefficients."""
    stack: list[int] = []
    for code, constant in zip(tree.op.tolist(), tree.const.tolist(), strict=True):
        if code == op.VAR:
            stack.append(x)
        elif code == op.CONST:
            stack.append(abs(integer(constant)) if sizes else integer(constant))
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(left * right if code == op.MUL else left + (1 if sizes else SIGNS[code]) * right)
    return stack.pop()


def integer(constant: float) -> int:
    if not constant.is_integer():
        raise ValueError(f"the constant {constant} is not an integer")
    return int(constant)


def digits(number: int, bits: int) -> tuple[int, ...]:
    """Digits to the base 2^bits between −2^(bits−1) and 2^(bits−1), the lowest first; none for zero.

    >>> digits(5 * 2**8 - 3, 8)
    (-3, 5)
    """
    found = []
    base, half = 1 << bits, 1 << (bits - 1)
    while number:
        digit = number & (base - 1)
        if digit >= half:
            digit -= base
        found.append(digit)
        number = (number - digit) >> bits
    return tuple(found)


def exact_loss(
    target: Polynomial, coefficients: list[float], elements: list[Polynomial], a: float, b: float
) -> float:
    """∫ (F − Σ cᵢ·vᵢ)² over [a, b] for the coefficients as they are, in rational arithmetic."""
    difference = target
    for c, element in zip(coefficients, elements, strict=True):
        difference = difference - element * Polynomial.of([Fraction(c)])
    return float((difference * difference).integral(a, b))
