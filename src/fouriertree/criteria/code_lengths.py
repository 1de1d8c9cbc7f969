"""What the parts of a formula cost, in nats, when descriptions are compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd, lgamma, log, pi

import numpy as np

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import ADD, CONST, MUL, NEG, SUB, VAR

#: one unit of complexity
NATS_PER_COMPLEXITY = 1.75
#: a number, for every factor e by which the fit is better; ½ in theory, where nothing is known beforehand
NATS_PER_FACTOR_E = 0.35
#: a line: that columns tell anything of y at all has to be seen first
LINEAR_MODEL_NATS = 3.0
#: a scaled feature where nothing is explained, and more where there is a law: see `feature_code_length`
COLUMN, FEATURE_NATS_SLOPE = 0.25, 0.25
#: which columns it is, per nat of their number of choices: columns at hand are seldom there by chance
SUBSET_WEIGHT = 0.5
#: rows for every nat that a column costs at least: it has to explain somewhat more than one per cent of what is left
ROWS_PER_FEATURE_NAT = 160
#: complexity of a term that is a column with a number, and of one that is but a column, or but a number
SCALED_FEATURE, BARE_FEATURE = 4, 2


def constant_code_length(n: int, explained: float) -> float:
    """A fitted number, written as precisely as n rows know it; `explained` is −log of the share left unexplained."""
    # Where rows are few, a number takes away one of them: up to the full half.
    per_digit = min(0.5, NATS_PER_FACTOR_E + 1.0 / n)
    return float(0.5 * np.log(n) + per_digit * explained)


def feature_code_length(n: int, explained: float) -> float:
    """A term that is a column with a fitted number, in a sum that leaves exp(−explained) of the variance unexplained.

    Other terms are chosen among millions, this one among the columns.  Where most is unexplained there is no law to be
    found, and every column that tells a little makes predictions better; the more is explained, the more likely there
    is a law, in which a column has to prove itself like any other term.  Where rows are many, a column may be beyond
    doubt and yet not worth reading.
    """
    free = max(COLUMN + FEATURE_NATS_SLOPE * explained**2, n / ROWS_PER_FEATURE_NAT)
    return min(free, SCALED_FEATURE * NATS_PER_COMPLEXITY + constant_code_length(n, explained))


def subset_code_length(chosen: int, columns: int) -> float:
    """Which columns they are, of so many: nothing if all, and most if half of them are chosen."""
    k = min(chosen, columns)
    return SUBSET_WEIGHT * (lgamma(columns + 1) - lgamma(k + 1) - lgamma(columns - k + 1))


def is_feature(term: Expression) -> bool:
    return term.size == 1 and bool(term.op[0] == VAR)


def constants_of_linear_terms(whole: Expression) -> set[int]:
    """Positions of the numbers that are terms of a sum, or stand in front of a column there.

    >>> from fouriertree.expr import parse
    >>> sorted(constants_of_linear_terms(parse("2.5*x0 + 3.5*sin(1.5*x1) - 4.5")))
    [0, 10]
    """
    found: set[int] = set()
    waiting = [len(whole) - 1]
    while waiting:
        top = waiting.pop()
        children = [int(child) for child in whole.children(top)]
        if whole.op[top] in (ADD, SUB, NEG):
            waiting += children
        elif whole.op[top] == CONST:
            found.add(top)
        elif whole.op[top] == MUL:
            kinds = {int(whole.op[child]): child for child in children}
            if set(kinds) == {CONST, VAR}:
                found.add(kinds[CONST])
    return found


@dataclass(frozen=True)
class ShortConstant:
    """A number that can be written shortly, and what writing it costs in nats."""

    value: float
    cost: float


def short_constants(value: float, tolerance: float) -> Iterator[ShortConstant]:
    """Short numbers within `tolerance`: fractions, multiples of π and of 1/π, decimals; cheapest first in each kind."""
    yield from _fractions(value, tolerance)
    for digits in (1, 2, 3, 4):
        rounded = float(f"{value:.{digits - 1}e}")
        if rounded and abs(rounded - value) <= tolerance:
            yield ShortConstant(rounded, 1.0 + 2.3 * digits)
            return


def _fractions(value: float, tolerance: float) -> Iterator[ShortConstant]:
    for unit, extra in ((1.0, 0.0), (pi, 1.5), (1.0 / pi, 1.5)):
        # Multiples of π lie dense: only one that is nearly exact is more than chance.
        near = tolerance if unit == 1.0 else min(tolerance, 1e-3 * abs(value))
        for q in (1, 2, 3, 4, 5, 6, 8):
            p = round(value / unit * q)
            if p and gcd(p, q) == 1 and abs(p) <= 64 and abs(p / q * unit - value) <= near:
                yield ShortConstant(p / q * unit, extra + log(1 + abs(p)) + log(q))


def constant_lengths(expression: Expression, fitted: float, decimals: bool = True) -> list[float]:
    """What writing down each number of a formula costs, in nats: `fitted`, or less for one that is short.

    Without `decimals`, only fractions are short: what was rounded has been fitted before.

    >>> from fouriertree.expr import parse
    >>> [round(cost, 1) for cost in constant_lengths(parse("2.71*x0^2 + sin(x0/3)"), 9.0)]
    [7.9, 1.4]
    """
    numbers = expression.const[expression.op == CONST].tolist()
    return [constant_length(value, fitted, decimals) for value in numbers if value != 0.0]


def constant_length(value: float, fitted: float, decimals: bool = True) -> float:
    short = short_constants if decimals else _fractions
    costs = (nice.cost for nice in short(value, 1e-14 * abs(value)) if nice.cost < fitted)
    return min(costs, default=fitted)
