"""Expressions with rounded constants, in normal forms that make the constants of two expressions comparable.

A fitted expression may arrange the law's constants differently: 0.5·(2x + 6) or x + 3, a·x/(b·y) or c·x/y.  Rounded
constants of different arrangements differ, so each expression is also brought to forms with fewer arrangements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sympy

from fouriertree.experiments.bench.cases import Data
from fouriertree.experiments.bench.formulas import Array, size

DECIMALS, SIGNIFICANT = 3, 4
#: SymPy takes minutes to simplify larger expressions and seldom changes them
LARGEST = 120


def decimals(value: Any) -> float:
    return float(round(float(value), DECIMALS))


def significant(value: Any) -> float:
    return float(f"{float(value):.{SIGNIFICANT}g}")


def rounded(formula: Any, rounding: Callable[[Any], float]) -> Any:
    """The expression with every constant that is not an integer rounded, as an exact fraction.

    >>> x = sympy.Symbol("x")
    >>> rounded(sympy.pi * x**2.00001 + 1e-5 * x, decimals)
    1571*x**2/500
    """
    numeric = decimal(formula)
    constants = {value: sympy.Rational(repr(rounding(value))) for value in numeric.atoms(sympy.Float)}
    return numeric.xreplace(constants)


def decimal(formula: Any) -> Any:
    """The expression with π, roots and fractions as decimals, inside functions too."""
    if formula.is_number:
        return formula if formula.is_Integer else formula.evalf(17)
    return formula.func(*map(decimal, formula.args)) if formula.args else formula


def simplified(formula: Any) -> Any:
    """SymPy's simplified form, unless it has more nodes than the expression."""
    nodes = size(formula)
    if nodes > LARGEST:
        return formula
    simple = sympy.simplify(formula, ratio=1)
    return simple if size(simple) <= nodes else formula


def as_they_are(model: Any, truth: Any) -> Iterator[list[Any]]:
    """Model and truth simplified and with rounded constants: three decimals as in SRBench, four significant digits."""
    simple = [simplified(formula) for formula in (model, truth)]
    for rounding in (decimals, significant):
        yield [rounded(formula, rounding) for formula in simple]


def in_forms(model: Any, truth: Any) -> Iterator[list[Any]]:
    """Model and truth with three decimals in one form after the other; lazily, because forms are expensive."""
    forms: tuple[Callable[[Any], Any], ...] = (lambda formula: formula, simplified, expanded, monic)
    for form in forms:
        yield [rounded(form(formula), decimals) for formula in (model, truth)]


def expanded(formula: Any) -> Any:
    return formula if size(formula) > LARGEST else sympy.expand(formula)


class Units:
    """Powers of ten in which features are between 0.01 and 10 and the target between 1 and 1000, by root mean square.

    Three decimals there are no less strict than for SRBench's own data, which stay unscaled.
    """

    def __init__(self, data: Data) -> None:
        self.symbols = data.symbols
        self.columns = [power_of_ten(column, -2, 0) for column in data.X.T]
        self.target = power_of_ten(data.y, 0, 2)

    def of_formula(self, formula: Any) -> Any:
        """The expression for features and target in these units."""
        ten = sympy.Integer(10)
        scaled = {s: s * ten**power for s, power in zip(self.symbols, self.columns, strict=True)}
        return formula.subs(scaled, simultaneous=True) / ten**self.target

    def of_points(self, points: Array) -> Array:
        return points / 10.0 ** np.array(self.columns)


def power_of_ten(values: Array, low: int, high: int) -> int:
    """The power of ten that leaves the values between 10^low and 10^(high + 1).

    >>> power_of_ten(np.array([3e-7, 4e-7]), 0, 2), power_of_ten(np.array([1.0, 50.0]), 0, 2)
    (-7, 0)
    """
    rms = float(np.sqrt(np.mean(values**2)))
    power = int(np.floor(np.log10(rms))) if rms > 0.0 else 0
    return power - min(max(power, low), high)


# Sums with a leading coefficient of one ------------------------------------------------------------------------------
def monic(formula: Any) -> Any:
    """The expression with every sum divided by its leading coefficient, and without the overall factor.

    >>> x, y = sympy.symbols("x y", positive=True)
    >>> monic(3.0 * sympy.sqrt(4.0 * x + 8.0) / (2.0 * y + 1.0))
    sqrt(x + 2.0)/(y + 0.5)
    """
    return split(formula)[1]


def split(formula: Any) -> tuple[Any, Any]:
    """(c, b) with formula = c·b, where b is monic."""
    if formula.is_number:
        return formula, sympy.Integer(1)
    if formula.is_Mul:
        parts = [split(factor) for factor in formula.args]
        return sympy.Mul(*(c for c, _ in parts)), sympy.Mul(*(b for _, b in parts))
    if formula.is_Add:
        return split_sum(formula)
    if formula.is_Pow and formula.exp.is_number:
        return split_power(*formula.args)
    if isinstance(formula, sympy.exp):
        constant, rest = formula.args[0].as_independent(*formula.free_symbols, as_Add=True)
        return sympy.exp(constant), sympy.exp(inside(rest))
    if isinstance(formula, sympy.log):
        c, b = split(formula.args[0])
        return sympy.Integer(1), sympy.log(b) + sympy.log(c) if c.is_positive else formula
    return sympy.Integer(1), formula.func(*map(inside, formula.args)) if formula.args else formula


def inside(argument: Any) -> Any:
    """The argument of a function, with its factor."""
    coefficient, body = split(argument)
    return coefficient * body


def split_sum(formula: Any) -> tuple[Any, Any]:
    parts = [split(term) for term in formula.args]
    leading = min((part for part in parts if not part[1].is_number), key=lambda part: shape(part[1]))
    first = leading[0]
    return first, sympy.Add(*(b if c == first else c / first * b for c, b in parts))


def split_power(base: Any, exponent: Any) -> tuple[Any, Any]:
    """cᵖ·bᵖ; with |c|ᵖ·(−b)ᵖ for negative c under a root."""
    c, b = split(base)
    if c.is_negative and not exponent.is_integer:
        return (-c) ** exponent, (-b) ** exponent
    return c**exponent, b**exponent


def shape(formula: Any) -> tuple[int, str]:
    """A sort key of terms that does not depend on their constants."""
    blank = formula.xreplace({value: sympy.Integer(1) for value in formula.atoms(sympy.Float)})
    return size(blank), str(blank)
