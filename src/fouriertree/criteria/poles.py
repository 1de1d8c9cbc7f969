"""Poles between the rows: denominators near zero, roots and logarithms at the edge of their domain."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.calculus import filled_in
from fouriertree.expr.opcodes import CONST, VAR

Floats = NDArray[np.float64]

#: a denominator this close to zero, relative to its median, may have a zero between the rows or beside them
NEAR = 0.02
#: an equation with a pole is accepted if its error is at most this fraction of that of equations without
POLE_LOSS_RATIO = 0.5


def may_have_pole(expression: Expression, X: Floats) -> bool:
    """Whether the expression may have a pole or leave its domain between the rows of X, or just beside them.

    >>> from fouriertree.expr import parse
    >>> X = np.linspace(1.0, 2.0, 11)[:, None]
    >>> [may_have_pole(parse(text), X) for text in ("1/(x0 - 1.55)", "1/(x0 + 1)", "log(x0 - 0.999)")]
    [True, False, True]
    """
    subtrees = _Subtrees(expression, X)
    with np.errstate(all="ignore"):
        return any(_comes_near_zero(values) for values in _must_avoid_zero(expression, subtrees))


def _comes_near_zero(values: Floats) -> bool:
    low, high = float(values.min()), float(values.max())
    if not (low > 0.0 or high < 0.0):
        return True
    smallest, largest = sorted((abs(low), abs(high)))
    # The median is at most the largest value, and is seldom needed.
    return smallest < NEAR * largest and smallest < NEAR * _median(np.abs(values))


def _median(values: Floats) -> float:
    """The median of values without NaN, as `np.median`, which takes four times as long."""
    middle = len(values) // 2
    if len(values) % 2:
        return float(np.partition(values, middle)[middle])
    return float(np.partition(values, (middle - 1, middle))[middle - 1 : middle + 1].mean())


class _Subtrees:
    """Values of subtrees on the rows of X, each computed at its first use."""

    def __init__(self, expression: Expression, X: Floats) -> None:
        self.expression, self.X = expression, X
        self.op, self.first = expression.op.tolist(), expression.starts()
        self.known: dict[int, Floats] = {}
        self.columns: dict[int, Floats] = {}

    def values(self, i: int) -> Floats:
        """Values of the subtree that ends at token i: (n_rows,)."""
        for k in range(self.first[i], i + 1):
            if k not in self.known:
                self.known[k] = self._token(k)
        return self.known[i]

    def _token(self, i: int) -> Floats:
        e, code = self.expression, self.op[i]
        if code == CONST:
            return np.full(len(self.X), e.const[i])
        if code == VAR:
            return self._column(int(e.arg[i]))
        row, last = e.primitives.by_opcode(code), self.known[i - 1]
        return (
            row.reference(last) if row.arity == 1 else row.reference(self.known[self.first[i - 1] - 1], last)
        )

    def _column(self, k: int) -> Floats:
        if k not in self.columns:
            self.columns[k] = np.ascontiguousarray(self.X[:, k])
        return self.columns[k]


def _must_avoid_zero(expression: Expression, subtrees: _Subtrees) -> Iterator[Floats]:
    """Values of subexpressions that must not come near zero."""
    rows = {code: expression.primitives.by_opcode(code) for code in set(subtrees.op) - {CONST, VAR}}
    risky = {code: row for code, row in rows.items() if row.pole is not None or row.domain is not None}
    for i, code in enumerate(subtrees.op):
        if code not in risky:
            continue
        row, children = risky[code], expression.children(i)
        last = float(expression.const[i - 1]) if subtrees.op[i - 1] == CONST else None
        pole, domain = row.pole, row.domain
        # A pole at the edge of the domain, as that of log, is left to the check of the domain.
        inside = domain is None or domain.only_if is not None
        # `NEAR` is relative, so that only domains that begin at 0 can be checked.
        begins_at_zero = domain is not None and domain.lower == 0.0 and domain.may_bind(last)
        if pole is not None and inside and not pole.protected and pole.may_occur(last, unknown=True):
            if pole.argument is None:
                arguments = [expression.subtree(k) for k in children]
                yield filled_in(pole.zero, row, arguments).evaluate(subtrees.X)
            else:
                yield subtrees.values(children[pole.argument])
        elif begins_at_zero and not _keeps_its_sign(expression.subtree(children[0])):
            yield subtrees.values(children[0])


def _keeps_its_sign(part: Expression) -> bool:
    """Products, quotients and powers of features change their sign only if features do."""
    operators = [part.primitives.by_opcode(code) for code in set(part.op.tolist()) - {CONST, VAR}]
    return all(row.multiplicative for row in operators)
