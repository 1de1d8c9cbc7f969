"""What the parts of a formula cost, in nats, when descriptions are compared."""

from __future__ import annotations

from math import lgamma

import numpy as np

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import ADD, CONST, MUL, NEG, SUB, VAR

#: one unit of complexity
PER_UNIT = 1.75
#: a number, for every factor e by which the fit is better; ½ in theory, where nothing is known beforehand
PER_DIGIT = 0.35
#: a line: that columns tell anything of y at all has to be seen first
A_LINE = 3.0
#: a column with a number in front of it where nothing is explained, and more where there is a law: see `column_price`
COLUMN, COLUMN_OF_A_LAW = 0.25, 0.25
#: which columns it is, per nat of their number of choices: columns at hand are seldom there by chance
PER_NAT_OF_CHOICE = 0.5
#: rows for every nat that a column costs at least: it has to explain somewhat more than one per cent of what is left
ROWS_PER_NAT = 160
#: complexity of a term that is a column with a number, and of one that is but a column, or but a number
WITH_NUMBER, WITHOUT_NUMBER = 4, 2


def number_price(n: int, explained: float) -> float:
    """A fitted number, written as precisely as n rows know it; `explained` is −log of the share left unexplained."""
    # Where rows are few, a number takes away one of them: up to the full half.
    per_digit = min(0.5, PER_DIGIT + 1.0 / n)
    return float(0.5 * np.log(n) + per_digit * explained)


def column_price(n: int, explained: float) -> float:
    """A term that is a column with a fitted number, in a sum that leaves exp(−explained) of the variance unexplained.

    Other terms are chosen among millions, this one among the columns.  Where most is unexplained there is no law to be
    found, and every column that tells a little makes predictions better; the more is explained, the more likely there
    is a law, in which a column has to prove itself like any other term.  Where rows are many, a column may be beyond
    doubt and yet not worth reading.
    """
    free = max(COLUMN + COLUMN_OF_A_LAW * explained**2, n / ROWS_PER_NAT)
    return min(free, WITH_NUMBER * PER_UNIT + number_price(n, explained))


def choice_price(chosen: int, columns: int) -> float:
    """Which columns they are, of so many: nothing if all, and most if half of them are chosen."""
    k = min(chosen, columns)
    return PER_NAT_OF_CHOICE * (lgamma(columns + 1) - lgamma(k + 1) - lgamma(columns - k + 1))


def is_column(term: Expression) -> bool:
    return term.size == 1 and bool(term.op[0] == VAR)


def numbers_of_plain_terms(whole: Expression) -> set[int]:
    """Positions of the numbers that are terms of a sum, or stand in front of a column there.

    >>> from fouriertree.expr import parse
    >>> sorted(numbers_of_plain_terms(parse("2.5*x0 + 3.5*sin(1.5*x1) - 4.5")))
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
