"""Expressions as text, with as few parentheses as `parse` needs to restore the tree."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from fouriertree.expr.catalogue import CATALOGUE, Primitive
from fouriertree.expr.opcodes import ATOM, CUBE, NEG, POW, POWER, SQUARE, UNARY, VAR
from fouriertree.expr.postfix import fold
from fouriertree.expr.primitives import CONSTANTS, FEATURE_NAME, PrimitiveSet
from fouriertree.expr.tokens import WORD

if TYPE_CHECKING:
    from fouriertree.expr.expression import Expression


class _Piece(NamedTuple):
    """The text of a subtree with its precedence, and its value if it is a constant."""

    text: str
    binding: int
    constant: float | None = None

    def inside(self, needed: int) -> str:
        """The text, in parentheses if its precedence is too low."""
        return f"({self.text})" if self.binding < needed else self.text


def to_text(expression: "Expression", names: Sequence[str] | None = None, digits: int | None = None) -> str:
    """The text of an expression; constants exactly, or with this number of significant digits."""
    columns = column_names(expression, names)

    def leaf(i: int) -> _Piece:
        if expression.op[i] == VAR:
            return _Piece(columns[int(expression.arg[i])], ATOM)
        value = float(expression.const[i])
        number = repr(value) if digits is None else f"{value:.{digits}g}"
        return _Piece(number, UNARY if number.startswith("-") else ATOM, value)

    return fold(expression, leaf, _apply).text


def _apply(row: Primitive, *arguments: _Piece) -> _Piece:
    first, last = arguments[0], arguments[-1]
    if row.opcode == NEG:
        # -(2.0) is neg of a constant, -2.0 is a constant.
        return _Piece(f"-{first.inside(POWER if first.constant is None else ATOM + 1)}", UNARY)
    if row.opcode in (SQUARE, CUBE):
        return _Piece(f"{first.inside(ATOM)}{row.symbol}", POWER)
    # x^2.0 reads as square(x), so pow with such a constant is written as a call.
    if row.symbol is None or (row.opcode == POW and last.constant in (2.0, 3.0)):
        return _Piece(f"{row.name}({', '.join(piece.text for piece in arguments)})", ATOM)
    if row.opcode == POW:
        return _Piece(f"{first.inside(ATOM)}^{last.inside(UNARY)}", POWER)
    sign = f" {row.symbol} " if row.symbol in "+-" else row.symbol
    # Sums and products are left-associative.
    return _Piece(first.inside(row.precedence) + sign + last.inside(row.precedence + 1), row.precedence)


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


#: characters that LaTeX reads as commands
_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "%&#$_{}"}
    | {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
)


def escaped(name: str) -> str:
    """A name as text in LaTeX."""
    return "".join(c if c.isprintable() else " " for c in name).translate(_SPECIAL)
