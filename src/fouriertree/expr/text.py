"""Expressions as text, with as few parentheses as `parse` needs to restore the tree."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fouriertree.expr import postfix
from fouriertree.expr.catalogue import ATOM, CATALOGUE, POWER, UNARY, Primitive
from fouriertree.expr.opcodes import CONST, CUBE, NEG, POW, SQUARE, VAR
from fouriertree.expr.primitives import CONSTANTS, FEATURE_NAME, PrimitiveSet
from fouriertree.expr.tokens import WORD

if TYPE_CHECKING:
    from fouriertree.expr.expression import Expression

# A piece is text, or a subtree: (its last token, the least precedence without parentheses).
Piece = str | tuple[int, int]


def to_text(expression: "Expression", names: Sequence[str] | None = None, digits: int | None = None) -> str:
    """The text of an expression; constants exactly, or with this number of significant digits."""
    columns = column_names(expression, names)
    return _Printer(expression, columns, digits).run()


def column_names(expression: "Expression", names: Sequence[str] | None) -> dict[int, str]:
    """Text of every feature that occurs: x0, x1, ... or its name, in backticks where it is ambiguous."""
    if names is None:
        return {column: f"x{column}" for column in expression.columns}
    missing = [column for column in expression.columns if column >= len(names)]
    if missing:
        raise ValueError(
            f"the expression uses feature x{missing[-1]}, but only {len(names)} name(s) are given"
        )
    return {column: quoted(names[column], column, expression.primitives) for column in expression.columns}


def quoted(name: str, column: int, primitives: PrimitiveSet) -> str:
    """`name` as in formulas: in backticks unless it is an identifier without another meaning."""
    if name == f"x{column}":
        return name
    taken = name in CONSTANTS or name in CATALOGUE or name in primitives.names or FEATURE_NAME.fullmatch(name)
    return name if WORD.fullmatch(name) and not taken else "`" + name.replace("`", "``") + "`"


class _Printer:
    """Prints from the root down with an explicit stack, so that depth is not limited."""

    def __init__(self, expression: "Expression", columns: dict[int, str], digits: int | None) -> None:
        self.op: list[int] = expression.op.tolist()
        self.arg: list[int] = expression.arg.tolist()
        self.const: list[float] = expression.const.tolist()
        self.primitives = expression.primitives
        self.starts = postfix.starts(postfix.token_arities(expression.op, expression.primitives))
        self.columns = columns
        self.digits = digits

    def run(self) -> str:
        written: list[str] = []
        todo: list[Piece] = [(len(self.op) - 1, 0)]
        while todo:
            piece = todo.pop()
            if isinstance(piece, str):
                written.append(piece)
                continue
            token, needed = piece
            pieces, binding = self._node(token)
            if binding < needed:
                pieces = ["(", *pieces, ")"]
            todo.extend(reversed(pieces))
        return "".join(written)

    def _node(self, i: int) -> tuple[list[Piece], int]:
        """Pieces of token i, and their precedence."""
        if self.op[i] == CONST:
            number = repr(self.const[i]) if self.digits is None else f"{self.const[i]:.{self.digits}g}"
            return [number], UNARY if number.startswith("-") else ATOM
        if self.op[i] == VAR:
            return [self.columns[self.arg[i]]], ATOM
        row = self.primitives.by_opcode(self.op[i])
        return self._unary(i, row) if row.arity == 1 else self._binary(i, row)

    def _unary(self, i: int, row: Primitive) -> tuple[list[Piece], int]:
        if row.opcode == NEG:
            # -(2.0) is neg of a constant, -2.0 is a constant.
            return ["-", (i - 1, ATOM + 1 if self.op[i - 1] == CONST else POWER)], UNARY
        if row.opcode in (SQUARE, CUBE):
            return [(i - 1, ATOM), str(row.symbol)], POWER
        return [f"{row.name}(", (i - 1, 0), ")"], ATOM

    def _binary(self, i: int, row: Primitive) -> tuple[list[Piece], int]:
        left, right = self.starts[i - 1] - 1, i - 1
        # x^2.0 reads as square(x), so pow with such a constant is written as a call.
        ambiguous = row.opcode == POW and self.op[right] == CONST and self.const[right] in (2.0, 3.0)
        if row.symbol is None or ambiguous:
            return [f"{row.name}(", (left, 0), ", ", (right, 0), ")"], ATOM
        if row.opcode == POW:
            return [(left, ATOM), "^", (right, UNARY)], POWER
        sign = f" {row.symbol} " if row.symbol in "+-" else row.symbol
        # Sums and products are left-associative.
        return [(left, row.precedence), sign, (right, row.precedence + 1)], row.precedence
