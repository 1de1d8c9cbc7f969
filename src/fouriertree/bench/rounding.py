"""Formulas with rounded constants, in forms that make the constants of two formulas comparable.

A fitted formula carries the law's constants in its own arrangement: 0.5·(2x + 6) or x + 3, a·x/(b·y) or c·x/y.  Rounded
as they stand they would differ, so each formula is also brought to forms in which an arrangement has one choice less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fouriertree.bench.cases import Array, Data
from fouriertree.bench.formulas import size

DECIMALS, SIGNIFICANT = 3, 4
#: SymPy's simplification of larger formulas takes minutes and seldom changes them
LARGEST = 120

Rounding = Callable[[Any], float]


def decimals(value: Any) -> float:
    return float(round(float(value), DECIMALS))


def significant(value: Any) -> float:
    return float(f"{float(value):.{SIGNIFICANT}g}")


def rounded(formula: Any, rounding: Rounding) -> Any:
    """The formula with every number that is not an integer rounded, as an exact fraction.

    >>> import sympy
    >>> x = sympy.Symbol("x")
    >>> rounded(sympy.pi * x**2.00001 + 1e-5 * x, decimals)
    1571*x**2/500
    """
    import sympy

    numeric = sympy.N(formula, 17)
    numbers = {value: sympy.Rational(repr(rounding(value))) for value in numeric.atoms(sympy.Float)}
    return numeric.xreplace(numbers)


def simplified(formula: Any) -> Any:
    """SymPy's simplest form, which never has more nodes than the formula."""
    import sympy

    nodes = size(formula)
    if nodes > LARGEST:
        return formula
    simple = sympy.simplify(formula, ratio=1)
    return simple if size(simple) <= nodes else formula


def pairs(model: Any, data: Data) -> Iterator[tuple[Any, Any]]:
    """Model and truth with rounded constants, in one form after the other; lazily, for each costs time.

    First as SRBench does it: simplified, three decimals.  That erases constants of nature and spoils those of data in
    odd units; so then four significant digits, and three decimals in units of powers of ten in which columns and target
    are about one: as it stands, simplified, expanded, and up to a factor with sums made monic.
    """
    both = (model, data.truth)
    simple = [simplified(formula) for formula in both]
    yield pair(simple, decimals)
    yield pair(simple, significant)
    units = Units.of(data)
    for form in (as_it_stands, simplified, expanded, monic):
        yield pair([units.out(rounded(form(units.into(formula)), decimals)) for formula in both], as_number)


def pair(formulas: Sequence[Any], rounding: Rounding) -> tuple[Any, Any]:
    model, truth = (rounded(formula, rounding) for formula in formulas)
    return model, truth


def as_number(value: Any) -> float:
    return float(value)


def as_it_stands(formula: Any) -> Any:
    return formula


def expanded(formula: Any) -> Any:
    import sympy

    return formula if size(formula) > LARGEST else sympy.expand(formula)


class Units:
    """Powers of ten next to the root mean squares of columns and target."""

    def __init__(self, symbols: Sequence[Any], powers: Sequence[int], target: int) -> None:
        import sympy

        ten = sympy.Integer(10)
        self.factors = {symbol: ten**power for symbol, power in zip(symbols, powers, strict=True)}
        self.target = ten**target

    @classmethod
    def of(cls, data: Data) -> Units:
        return cls(data.symbols, [power_of_ten(column) for column in data.X.T], power_of_ten(data.y))

    def into(self, formula: Any) -> Any:
        """The formula for columns and target measured in these units."""
        return (
            formula.subs({s: s * unit for s, unit in self.factors.items()}, simultaneous=True) / self.target
        )

    def out(self, formula: Any) -> Any:
        return (
            formula.subs({s: s / unit for s, unit in self.factors.items()}, simultaneous=True) * self.target
        )


def power_of_ten(values: Array) -> int:
    rms = float(np.sqrt(np.mean(values**2)))
    return round(np.log10(rms)) if rms > 0.0 else 0


# Sums with a leading coefficient of one ------------------------------------------------------------------------------
def monic(formula: Any) -> Any:
    """The formula with every sum divided by its leading coefficient, and without the factor in front of all.

    >>> import sympy
    >>> x, y = sympy.symbols("x y", positive=True)
    >>> monic(3.0 * sympy.sqrt(4.0 * x + 8.0) / (2.0 * y + 1.0))
    sqrt(x + 2.0)/(y + 0.5)
    """
    return split(formula)[1]


def split(formula: Any) -> tuple[Any, Any]:
    """(c, b) with formula = c·b, where b is monic."""
    import sympy

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
    """The argument of a function, whose factor cannot leave it."""
    coefficient, body = split(argument)
    return coefficient * body


def split_sum(formula: Any) -> tuple[Any, Any]:
    import sympy

    parts = [split(term) for term in formula.args]
    leading = min((part for part in parts if not part[1].is_number), key=lambda part: shape(part[1]))
    return leading[0], sympy.Add(*(c / leading[0] * b for c, b in parts))


def split_power(base: Any, exponent: Any) -> tuple[Any, Any]:
    """cᵖ·bᵖ; of a negative c only the size leaves a root."""
    c, b = split(base)
    if c.is_negative and not exponent.is_integer:
        return (-c) ** exponent, (-b) ** exponent
    return c**exponent, b**exponent


def shape(formula: Any) -> tuple[int, str]:
    """An order of terms that their constants do not matter for."""
    import sympy

    blank = formula.xreplace({value: sympy.Integer(1) for value in formula.atoms(sympy.Float)})
    return size(blank), str(blank)
