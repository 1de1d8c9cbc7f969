"""Simpler forms of fitted sums: limits that fits of constants approach but never reach, and waves of one phase.

With tiny constants, 2e7·sin(4e-4·x) stands for a linear function, and 667·cos(2.1·x − 0.002·z) − 667·cos(2.1·x) for
z·sin(2.1·x): the derivative of a function by its inner constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.calculus import derivative_by_constant
from fouriertree.expr.canonical import canonical, split_number
from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.opcodes import CONST, COS, SIN, USER_OPCODE_START, VAR
from fouriertree.expr.postfix import fold
from fouriertree.expr.simplify import LARGEST_SIZE
from fouriertree.expr.vocabulary import ONE, Vocabulary, with_rare_operators
from fouriertree.model import addends, sum_of_terms

Floats = NDArray[np.float64]
Terms = tuple[Expression, ...]

#: a function is nearly linear if it differs from a linear one by less than this share of its spread
NEARLY_LINEAR = 1e-3
#: two terms cancel if their sum is below this share of either, everywhere
CANCELLED = 0.05
#: constants of a term of which limits are tried
MAX_CONSTANTS = 5
#: two waves have one frequency if their constants differ by less than this share
SAME_FREQUENCY = 0.03


def simpler_forms(
    coefficients: Sequence[float], terms: Sequence[Expression], X: Floats, vocabulary: Vocabulary
) -> list[Terms]:
    """Sums that may fit as well with fewer or better determined constants; their constants have to be fitted."""
    found: list[Terms] = []
    if sum(e.size for e in terms) > LARGEST_SIZE:
        return found
    numbers, terms = zip(*map(split_number, terms), strict=True)
    coefficients = [c * number for c, number in zip(coefficients, numbers, strict=True)]
    linear = without_nearly_linear(coefficients, terms, X)
    if linear is not None:
        # A linear function in place of another one may need a constant.
        found.append(linear if ONE in linear else (*linear, ONE))
    with np.errstate(all="ignore"):
        values = [c * e.evaluate(X) for c, e in zip(coefficients, terms, strict=True)]
        for i, j in combinations(range(len(terms)), 2):
            rest = tuple(e for k, e in enumerate(terms) if k not in (i, j))
            pair = (coefficients[i], terms[i]), (coefficients[j], terms[j])
            if (wave := joined_waves(*pair)) is not None:
                found.append((*rest, wave))
            elif cancel(values[i], values[j]):
                found += [(*rest, *limit) for limit in limits_of_difference(terms[i], terms[j], vocabulary)]
    return list(dict.fromkeys(found))


def cancel(first: Floats, second: Floats) -> bool:
    """Whether two terms (n_rows,) have opposite values almost everywhere."""
    smaller = np.minimum(np.abs(first), np.abs(second))
    return bool(np.isfinite(smaller).all()) and bool(
        (np.abs(first + second) <= CANCELLED * smaller.max()).all()
    )


# Pairs of terms -----------------------------------------------------------------------------------------------------
def joined_waves(first: tuple[float, Expression], second: tuple[float, Expression]) -> Expression | None:
    """a·f·sin(u) + b·f·cos(u) as a multiple of f·sin(u + φ), up to a factor; None for other pairs of terms.

    >>> from fouriertree.expr import parse
    >>> str(joined_waves((1.0, parse("x1*sin(2*x0)")), (1.0, parse("x1*cos(2*x0)"))))
    'x1*sin(2.0*x0 + 0.7853981633974483)'
    """
    (a, e), (b, g) = first, second
    if e.size != g.size or not (e.arg == g.arg).all():
        return None
    different = np.flatnonzero(e.op != g.op)
    if len(different) != 1 or {int(e.op[different[0]]), int(g.op[different[0]])} != {SIN, COS}:
        return None
    if not (np.abs(e.const - g.const) <= SAME_FREQUENCY * np.abs(e.const)).all():
        return None
    i = int(different[0])
    if e.op[i] == COS:
        a, b, e = b, a, g
    phase = e.subtree(i - 1) + Expression.constant(float(np.arctan2(b, a)))
    return e.replace(i - 1, phase)


def limits_of_difference(first: Expression, second: Expression, vocabulary: Vocabulary) -> Iterator[Terms]:
    """What c·(f − g) may stand for: derivatives of a term by its constants, alone and beside the other term.

    >>> from fouriertree.expr import PrimitiveSet, parse
    >>> pair = parse("cos(2*x0 - 0.001*x1)"), parse("cos(2*x0)")
    >>> limits = list(limits_of_difference(*pair, Vocabulary(PrimitiveSet.default())))
    >>> (parse("sin(2*x0)*x1"),) in limits
    True
    """
    longer, other = (first, second) if len(first.constants) >= len(second.constants) else (second, first)
    if (longer.op >= USER_OPCODE_START).any() or len(longer.constants) > MAX_CONSTANTS:
        return
    for i in np.flatnonzero((longer.op == CONST) & (longer.const != 1.0)).tolist():
        # A constant that only one of the terms has is nearly zero.
        for value in (0.0, float(longer.const[i])):
            at = longer.replace(i, Expression.constant(value))
            terms = _terms_of(derivative_by_constant(at, i), vocabulary)
            if terms:
                yield terms
                yield (*terms, other)


def _terms_of(expression: Expression, vocabulary: Vocabulary) -> Terms:
    """The addends of an expression without their numbers; none if the operators do not suffice."""
    primitives = with_rare_operators(vocabulary.primitives)
    parts = [split_number(part, primitives)[1] for _, part in addends(canonical(expression, primitives))]
    allowed = {CONST, VAR, *(row.opcode for row in primitives)}
    known = all(set(part.op.tolist()) <= allowed and np.isfinite(part.const).all() for part in parts)
    return tuple(parts) if known and any(part.columns for part in parts) else ()


# Nearly linear functions --------------------------------------------------------------------------------------------
def without_nearly_linear(
    coefficients: Sequence[float], terms: Sequence[Expression], X: Floats
) -> tuple[Expression, ...] | None:
    """The terms of the sum with linear functions in place of nearly linear ones; None if there are none.

    >>> from fouriertree.expr import parse
    >>> x = np.linspace(0.0, 3.0, 20)[:, None]
    >>> [str(term) for term in without_nearly_linear([1e6, 2.0], [parse("sin(0.001*x0)*x0"), parse("sin(x0)")], x)]
    ['x0*x0', 'sin(x0)']
    """
    whole = sum_of_terms(coefficients, terms)
    if whole.size > LARGEST_SIZE:
        return None
    found = False

    def leaf(i: int) -> tuple[Expression, Floats]:
        e = whole.subtree(i)
        return e, e.evaluate(X)

    def applied(row: Primitive, *arguments: tuple[Expression, Floats]) -> tuple[Expression, Floats]:
        nonlocal found
        values = row.reference(*(v for _, v in arguments))
        linear = _linear(*arguments[0], values) if row.arity == 1 else None
        found |= linear is not None
        return linear or Expression.apply(row, *(e for e, _ in arguments)), values

    with np.errstate(all="ignore"):
        replaced, _ = fold(whole, leaf, applied)
    if not found:
        return None
    # An addend more than there was before is the constant of a linear function.
    return tuple(split_number(part)[1] for _, part in addends(canonical(replaced)))


def _linear(argument: Expression, x: Floats, y: Floats) -> Expression | None:
    """a + b·argument, if y is that."""
    low, high = int(np.argmin(x)), int(np.argmax(x))
    if (
        not (np.isfinite(x).all() and np.isfinite(y).all())
        or x[low] == x[high]
        or (argument.op == CONST).all()
    ):
        return None
    slope = (y[high] - y[low]) / (x[high] - x[low])
    start = y[low] - slope * x[low]
    if slope == 0.0 or np.abs(y - start - slope * x).max() > NEARLY_LINEAR * float(np.ptp(y)):
        return None
    return Expression.constant(float(start)) + Expression.constant(float(slope)) * argument
