"""Formulas in a settled form: like terms together, numbers in front, powers as powers, and nothing twice.

A formula of fifteen tokens takes about a tenth of a millisecond:

    python -m timeit -s "from fouriertree.expr import parse; from fouriertree.expr.canonical import canonical" \
        -s "e = parse('2*x0*sin(x1 + 2*x1)/(x0*x2) - 3*x2')" "canonical(e)"
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from fouriertree.expr.catalogue import BY_OPCODE
from fouriertree.expr.expression import Expression
from fouriertree.expr.normal.functions import Algebra
from fouriertree.expr.normal.powers import Piece
from fouriertree.expr.normal.values import ZERO, Unsettled, Value, checked, scaled, smallest_size
from fouriertree.expr.normal.writer import Writer
from fouriertree.expr.opcodes import (
    ABS,
    ADD,
    CONST,
    CUBE,
    DIV,
    EXP,
    INV,
    LOG,
    MUL,
    NEG,
    POW,
    SQRT,
    SQUARE,
    SUB,
    USER_OPCODE_START,
    VAR,
)
from fouriertree.expr.primitives import PrimitiveSet
from fouriertree.expr.simplify import LARGEST_SIZE

Codes = frozenset[int]

_COSTS = {row.opcode: row.complexity for row in BY_OPCODE.values()}
#: operators by which the rules go, and not only the writing
_DECISIVE = frozenset((ABS, SQRT, POW))
#: with so few bases a formula is not deep
_SHALLOW = 40
#: joining roots may show something new to the next reading, but not for long
_ROUNDS = 4


def canonical(
    expression: Expression, allowed: PrimitiveSet | None = None, positive: Container[int] = ()
) -> Expression:
    """The same function in a shorter, settled form.

    It has the same values wherever `expression` and its parts are finite, if the columns in `positive` are positive,
    and no greater complexity.  It is written with the operators in `allowed`, or with those of the expression and
    the signs of arithmetic.

    >>> from fouriertree.expr import parse
    >>> print(canonical(parse("x0*x1*2 + sqrt(4*x0^2*x1)/x1 - x1*x0"), positive=(0, 1)))
    x0*x1 + 2.0*x0/sqrt(x1)
    """
    if expression.size > LARGEST_SIZE:
        return expression
    piece = _piece_of(expression)
    settled, _ = _settled(piece, expression.primitives, allowed, positive)
    return expression if settled == piece else _expression_of(settled, expression.primitives)


def simplify(
    expression: Expression, allowed: PrimitiveSet | None = None, positive: Container[int] = ()
) -> Expression:
    """The settled form of `canonical` where it has no more tokens, and otherwise the formula with its numbers computed.

    >>> from fouriertree.expr import parse
    >>> print(simplify(parse("x0*x1 + 2*x1*x0 - sin(x0)/sin(x0)")), simplify(parse("exp(x0)^2")))
    3.0*x0*x1 - 1.0 exp(x0)^2
    """
    if expression.size > LARGEST_SIZE:
        return expression
    piece = _piece_of(expression)
    settled, work = _settled(piece, expression.primitives, allowed, positive)
    if len(settled) > len(piece):
        settled = work.folded(piece)
    return expression if settled == piece else _expression_of(settled, expression.primitives)


def rescaled(
    expression: Expression,
    scales: Sequence[float],
    allowed: PrimitiveSet | None = None,
    positive: Container[int] = (),
) -> Expression:
    """The expression with every column x_i replaced by x_i / scales[i]: the same function of other units.

    Numbers are gathered, so that most of them disappear in those that were there.  Scales of columns in `positive`
    are positive.

    >>> from fouriertree.expr import parse
    >>> print(rescaled(parse("3*x0^2*x1 + 1"), [2.0, 0.25]))
    3.0*x0^2*x1 + 1.0
    """
    piece: Piece = []
    for token in _piece_of(expression):
        by = scales[~token] if isinstance(token, int) and token < 0 else 1.0
        piece += [1.0 / by, token, MUL] if by != 1.0 else [token]
    if expression.size <= LARGEST_SIZE:
        piece, _ = _settled(piece, expression.primitives, allowed, positive)
    return _expression_of(piece, expression.primitives)


def split_number(
    expression: Expression, allowed: PrimitiveSet | None = None, positive: Container[int] = ()
) -> tuple[float, Expression]:
    """(c, rest) with expression = c·rest, and rest in settled form with no number in front.

    Of a sum, the number is the smallest of the coefficients: their quotients are left, and one bare term.

    >>> from fouriertree.expr import parse
    >>> number, rest = split_number(parse("2*x0*(-x1/4)"))
    >>> number, str(rest)
    (-0.5, 'x0*x1')
    >>> number, rest = split_number(parse("2*x0 + 4*x1"))
    >>> number, str(rest)
    (2.0, 'x0 + 2.0*x1')
    """
    if expression.size > LARGEST_SIZE:
        return 1.0, expression
    settled, work = _settled(_piece_of(expression), expression.primitives, allowed, positive)
    number, rest = work.split(settled)
    return number, _expression_of(rest, expression.primitives)


def _settled(
    piece: Piece, primitives: PrimitiveSet, allowed: PrimitiveSet | None, positive: Container[int]
) -> tuple[Piece, _Work]:
    codes = _codes(piece, allowed)
    while True:
        work = _Work(piece, primitives, codes, positive)
        piece = work.settled(piece)
        if not codes & _DECISIVE:
            return piece, work
        left = codes if allowed is not None else _codes(piece, None)
        # If all of a formula's roots are gone, it is settled as a formula without roots is.
        if not (codes - left) & _DECISIVE:
            return piece, work
        codes = left


class _Work:
    """What settling one formula needs: the operators that are known, those that are allowed, the positive columns."""

    __slots__ = ("allowed", "costs", "positive", "primitives")

    def __init__(
        self, piece: Piece, primitives: PrimitiveSet, allowed: Codes, positive: Container[int]
    ) -> None:
        self.primitives = primitives
        self.allowed = allowed
        self.positive = positive
        users = [token for token in piece if isinstance(token, int) and token >= USER_OPCODE_START]
        self.costs = (
            _COSTS | {code: primitives.by_opcode(code).complexity for code in users} if users else _COSTS
        )

    def settled(self, piece: Piece) -> Piece:
        """The settled form, or the formula with its numbers computed where that is shorter or the only way."""
        for _ in range(_ROUNDS):
            try:
                writer, found = self._once(piece)
            except Unsettled:
                return self.folded(piece)
            if found == piece:
                break
            if writer.cost(found) > writer.cost(piece):
                return self.folded(piece)
            piece = found
            # A root taken out of a logarithm may show it a product that it can take apart; exp(number) is a number.
            if not (
                writer.regrouped
                or (LOG in self.allowed and SQRT in self.allowed)
                or any(b == EXP and isinstance(a, float) and isinstance(b, int) for a, b in pairwise(piece))
            ):
                break
        return piece

    def split(self, piece: Piece) -> tuple[float, Piece]:
        """(c, rest) of a settled formula."""
        algebra = self._algebra()
        try:
            number, rest = _split(algebra.expanded(self._read(piece, algebra)))
            writer, found = self._written(algebra, rest)
        except Unsettled:
            return 1.0, piece
        return (number, found) if writer.cost(found) <= writer.cost(piece) else (1.0, piece)

    def _once(self, piece: Piece) -> tuple[Writer, Piece]:
        algebra = self._algebra()
        return self._written(algebra, self._read(piece, algebra))

    def _written(self, algebra: Algebra, value: Value) -> tuple[Writer, Piece]:
        writer, allowed = Writer(algebra, self.allowed, self.costs), self.allowed
        if len(algebra.kinds) > _SHALLOW:
            writer.write_bases(value)
        found = writer.value(value)
        if not {token for token in found if type(token) is int and token > VAR} <= allowed:
            raise Unsettled
        return writer, found

    def _algebra(self) -> Algebra:
        return Algebra(self.positive, ABS in self.allowed, self._can_raise)

    def _can_raise(self, p: float) -> bool:
        """Whether b^p can be written without exp and log."""
        if POW in self.allowed:
            return True
        if p < 0.0:
            return (DIV in self.allowed or INV in self.allowed) and self._can_raise(-p)
        return p <= 6.0 and (p.is_integer() or ((2.0 * p).is_integer() and SQRT in self.allowed))

    def _read(self, piece: Piece, algebra: Algebra) -> Value:
        """The value of a program, in normal form."""
        stack: list[Value] = []
        for token in piece:
            if isinstance(token, float):
                stack.append((checked(token), ()) if token else ZERO)
            elif token < 0:
                stack.append(algebra.column(~token))
            elif token in _EXPONENTS:
                stack[-1] = algebra.power(stack[-1], _EXPONENTS[token])
            elif token == NEG:
                stack[-1] = scaled(stack[-1], -1.0)
            elif token in _ARITHMETIC:
                b = stack.pop()
                stack[-1] = _arithmetic(algebra, token, stack[-1], b)
            else:
                row = self.primitives.by_opcode(token)
                stack[-row.arity :] = [algebra.apply(row, stack[-row.arity :])]
        return stack[0]

    def folded(self, piece: Piece) -> Piece:
        """The formula with every operator on numbers computed."""
        stack: list[Piece] = []
        for token in piece:
            if isinstance(token, float) or token < 0:
                stack.append([token])
                continue
            row = self.primitives.by_opcode(token)
            arguments = stack[-row.arity :]
            numbers = [a[0] for a in arguments if len(a) == 1 and isinstance(a[0], float)]
            whole: Piece = [t for a in arguments for t in a] + [token]
            if len(numbers) == row.arity:
                value = float(row.reference(*[np.array([number]) for number in numbers])[0])
                whole = [value] if math.isfinite(value) else whole
            stack[-row.arity :] = [whole]
        return stack[0]


_EXPONENTS = {SQRT: 0.5, SQUARE: 2.0, CUBE: 3.0, INV: -1.0}
_ARITHMETIC = frozenset((ADD, SUB, MUL, DIV))


def _arithmetic(algebra: Algebra, code: int, a: Value, b: Value) -> Value:
    if code == MUL:
        return algebra.multiply(a, b)
    if code == DIV:
        return algebra.multiply(a, algebra.power(b, -1.0))
    return algebra.add(a, b, 1.0 if code == ADD else -1.0)


def _split(value: Value) -> tuple[float, Value]:
    """(c, rest) with value = c·rest; of a sum, one term of rest is bare and one is positive."""
    number, body = value
    if not isinstance(body, dict):
        return (number, (1.0, body)) if number else (1.0, ZERO)
    size = smallest_size(body)
    if all(term[0] < 0.0 for term in body.values()):
        size = -size
    return size, (1.0, {key: (c / size, f) for key, (c, f) in body.items()})


@lru_cache(maxsize=4096)
def _natural(codes: Codes) -> Codes:
    """The operators that a formula has, and those that come with them in writing."""
    found = codes | {ADD, SUB, MUL, NEG}
    if codes & {DIV, INV, POW}:
        found |= {DIV}
    if POW in codes:
        found |= {SQUARE, CUBE, SQRT}
    return found


def _codes(piece: Piece, allowed: PrimitiveSet | None) -> Codes:
    if allowed is None:
        return _natural(frozenset([token for token in piece if isinstance(token, int) and token > VAR]))
    return frozenset([row.opcode for row in allowed])


def _piece_of(expression: Expression) -> Piece:
    op, arg, const = expression.op.tolist(), expression.arg.tolist(), expression.const.tolist()
    return [o if o > VAR else c if o == CONST else ~a for o, a, c in zip(op, arg, const, strict=True)]


def _expression_of(piece: Piece, primitives: PrimitiveSet) -> Expression:
    op = [CONST if isinstance(token, float) else VAR if token < 0 else token for token in piece]
    arg = [~token if isinstance(token, int) and token < 0 else 0 for token in piece]
    const = [token if isinstance(token, float) else 0.0 for token in piece]
    return Expression.unchecked(
        np.array(op, dtype=np.int32),
        np.array(arg, dtype=np.int32),
        np.array(const, dtype=np.float64),
        primitives,
    )
