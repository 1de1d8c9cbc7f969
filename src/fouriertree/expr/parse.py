"""Expressions from text: `parse("sin(x0^2)*cos(x0) - 1")`.

A shunting-yard parser: its output is the postfix program, and depth is not limited.
Precedence, from low to high: ``+ -``, ``* /``, unary ``-``, ``^`` (also ``**``; groups to the right). ``-2`` is a
constant, ``-2^2`` is -(2^2), ``x^2`` and ``x^3`` are square and cube.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Never

import numpy as np

from fouriertree.expr.catalogue import BY_SYMBOL, CATALOGUE, Primitive
from fouriertree.expr.expression import Expression, from_tokens
from fouriertree.expr.opcodes import CUBE, POW, POWER, SQUARE
from fouriertree.expr.primitives import CONSTANTS, FEATURE_NAME, PrimitiveSet, column_number, did_you_mean
from fouriertree.expr.text import quoted
from fouriertree.expr.tokens import ParseError, Token, tokenize

__all__ = ["ParseError", "parse"]

_POWERS = {2.0: SQUARE, 3.0: CUBE}


@dataclass
class _Open:
    """An open parenthesis; with an operator, that of a call."""

    position: int
    operator: Primitive | None = None
    arguments: int = 1


def parse(
    text: str, names: Sequence[str] | None = None, primitives: PrimitiveSet | None = None
) -> Expression:
    """The expression of a formula in infix notation, such as ``sin(x0^2)*cos(x0) - 1``.

    Parameters
    ----------
    text : str
        The formula, over the features x0, x1, … or `names`.
    names : sequence of str, optional
        Names of the features. A name that is not an identifier, or that has another meaning, is quoted by backticks.
    primitives : PrimitiveSet, optional
        Custom operators; built-in ones are always known.

    Raises
    ------
    ParseError
        If the formula is not valid; the message marks the position.

    Examples
    --------
    >>> parse("sin(x0^2)*cos(x0) - 1")
    Expression('sin(x0^2)*cos(x0) - 1.0')
    >>> parse("mass * `speed (m/s)`^2 / 2", names=["mass", "speed (m/s)"])
    Expression('x0*x1^2/2.0')
    >>> parse("sine(x0)")
    Traceback (most recent call last):
    fouriertree.expr.tokens.ParseError: unknown operator 'sine'; did you mean 'sin'? Add your own ...
    """
    return _Parser(text, names, PrimitiveSet.catalogue() if primitives is None else primitives).run()


class _Parser:
    def __init__(self, text: str, names: Sequence[str] | None, primitives: PrimitiveSet) -> None:
        self.text = text
        self.names = {name: column for column, name in enumerate(() if names is None else names)}
        if names is not None and len(self.names) != len(names):
            raise ValueError("feature names must be unique")
        self.largest_index = int(np.iinfo(np.int32).max) if names is None else len(names) - 1
        self.primitives = primitives
        self.tokens = tokenize(text)
        self.next = 0
        self.program: list[int | float] = []
        self.pending: list[Primitive | _Open] = []

    def run(self) -> Expression:
        if self.tokens[0].kind == "end":
            self._fail("the formula is empty", self.tokens[0])
        wants_value = True
        while self.next < len(self.tokens):
            token = self.tokens[self.next]
            self.next += 1
            wants_value = self._value(token) if wants_value else self._operator(token)
        return from_tokens(self.program, self.primitives)

    def _value(self, token: Token) -> bool:
        """Read a token where a value is expected; True if a value must follow."""
        following = self.tokens[min(self.next, len(self.tokens) - 1)]
        if token.kind == "word" and following.text == "(":
            self.next += 1
            self.pending.append(_Open(following.position, self._called(token)))
            return True
        if token.text == "(":
            self.pending.append(_Open(token.position))
            return True
        if token.text in ("+", "-"):
            return self._signed(token, following)
        if token.kind not in ("number", "word", "quoted"):
            self._no_value(token)
        number = self._constant(token)
        self.program.append(~self._feature(token) if number is None else number)
        return False

    def _signed(self, sign: Token, following: Token) -> bool:
        number = self._constant(following)
        after = self.tokens[min(self.next + 1, len(self.tokens) - 1)]
        if sign.text == "+":
            return True
        if number is None or after.text in ("^", "**", "("):
            self.pending.append(CATALOGUE["neg"])
            return True
        self.next += 1
        self.program.append(-number)
        return False

    def _operator(self, token: Token) -> bool:
        """Read a token where an operator is expected; True if a value must follow."""
        row = BY_SYMBOL.get(token.text)
        if row is not None:
            # Powers are right-associative: a power stays pending until the next one is read.
            self._apply_pending(row.precedence + (row.precedence == POWER))
            self.pending.append(row)
        elif token.text in (",", ")"):
            return self._separator(token)
        elif token.kind == "end":
            self._apply_pending(0)
            if self.pending and isinstance(group := self.pending[-1], _Open):
                raise ParseError("this parenthesis is not closed", self.text, group.position)
        else:
            self._fail(f"expected an operator before {token.text!r}", token)
        return True

    def _separator(self, token: Token) -> bool:
        self._apply_pending(0)
        group = self.pending[-1] if self.pending else None
        if not isinstance(group, _Open):
            self._fail("no parenthesis is open here", token)
        if token.text == ",":
            if group.operator is None:
                self._fail("a comma belongs between the arguments of an operator", token)
            group.arguments += 1
            return True
        self.pending.pop()
        if group.operator is not None:
            self._check_count(group.operator, group.arguments, token)
            self.program.append(group.operator.opcode)
        return False

    def _apply_pending(self, precedence: int) -> None:
        """Emit the pending operators of at least this precedence."""
        pending = self.pending
        while pending and isinstance(row := pending[-1], Primitive) and row.precedence >= precedence:
            pending.pop()
            # In postfix order, an exponent whose last token is a constant is that constant.
            last = self.program[-1]
            if row.opcode == POW and isinstance(last, float) and last in _POWERS:
                self.program[-1] = _POWERS[last]
            else:
                self.program.append(row.opcode)

    def _called(self, word: Token) -> Primitive:
        try:
            return self.primitives.find(word.text)
        except ValueError as error:
            reason = str(error)
        if FEATURE_NAME.fullmatch(word.text) or word.text in CONSTANTS or word.text in self.names:
            reason = f"{word.text} is a value, not an operator; write {word.text}*(...) for a product"
        self._fail(reason, word)

    def _check_count(self, row: Primitive, count: int, token: Token) -> None:
        if count != row.arity:
            arguments = "1 argument" if row.arity == 1 else f"{row.arity} arguments"
            self._fail(f"{row.name} takes {arguments}, got {count}", token)

    def _constant(self, token: Token) -> float | None:
        if token.kind == "number":
            return float(token.text)
        # Printed expressions contain inf and nan, but never pi and e, so only these two are ambiguous.
        if token.text in ("e", "pi") and token.text in self.names:
            reason = f"{token.text} could be the constant or the feature of that name"
            self._fail(f"{reason}; write `{token.text}` in backticks for the feature", token)
        return CONSTANTS.get(token.text)

    def _feature(self, token: Token) -> int:
        if token.kind == "quoted":
            return self._named(token.text[1:-1].replace("``", "`"), token)
        index = column_number(token.text)
        if index is None:
            return self._named(token.text, token)
        named = self.names.get(token.text)
        if named is not None and named != index:
            reason = f"{token.text} could be feature {index} or the feature of that name"
            self._fail(f"{reason}; write `{token.text}` in backticks for the name", token)
        if index > self.largest_index:
            self._fail(f"there is no feature {token.text}; {self._features_are()}", token)
        return index

    def _named(self, name: str, token: Token) -> int:
        column = self.names.get(name)
        if column is not None and (token.kind == "quoted" or quoted(name, column, self.primitives) == name):
            return column
        if column is not None or name in self.primitives.names or name in CATALOGUE:
            hint = "its arguments are missing" if column is None else "write it in backticks for the feature"
            self._fail(f"{name} is an operator; {hint}", token)
        suggestion = did_you_mean(name, [*self.names, *CONSTANTS, *CATALOGUE])
        self._fail(f"unknown name {name!r}; {self._features_are()}{suggestion}", token)

    def _features_are(self) -> str:
        if not self.names:
            return "features are x0, x1, ... or given names"
        listed = list(self.names)
        return "features are " + ", ".join(listed[:6]) + (", ..." if len(listed) > 6 else "")

    def _no_value(self, token: Token) -> Never:
        group = self.pending[-1] if self.pending else None
        if token.text == ")" and isinstance(group, _Open) and group.operator and group.arguments == 1:
            self._check_count(group.operator, 0, token)
        found = "the formula ends" if token.kind == "end" else f"{token.text!r} comes"
        self._fail(f"{found} where a value is expected", token)

    def _fail(self, reason: str, token: Token) -> Never:
        raise ParseError(reason, self.text, token.position)
