"""One printer for all languages; a language is a table of templates."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from fouriertree.export.errors import ExportError
from fouriertree.expr import Expression
from fouriertree.expr.catalogue import ATOM, POWER, PRODUCT, SUM, UNARY, Primitive
from fouriertree.expr.opcodes import CONST, USER_OPCODE_START, VAR

PLACE = re.compile(r"\{([ab])\}")
#: levels of operators in one line; parsers have limits, and readers too
DEEPEST = 24


@dataclass(frozen=True)
class Form:
    """How an operator is written: text with the places {a} and {b}.

    `binding` says how strongly the text holds together, `needed` how strongly each argument must.  An argument that
    stands there more than once is given a name first, unless it is a column or a number.
    """

    text: str
    binding: float = ATOM
    needed: tuple[float, float] = (0, 0)

    def repeats(self, place: str) -> bool:
        return self.text.count(f"{{{place}}}") > 1

    def filled(self, arguments: Mapping[str, str]) -> str:
        return PLACE.sub(lambda match: arguments[match[1]], self.text)


def infix(sign: str, binding: int) -> Form:
    """a sign b, which groups to the left."""
    return Form(f"{{a}} {sign} {{b}}", binding, (binding, binding + 1))


def calls(names: str, pattern: str = "{name}({a})") -> dict[str, Form]:
    """Functions of one argument: ``operator`` or ``operator=name``, separated by spaces."""
    pairs = [word.partition("=")[::2] for word in names.split()]
    return {name: Form(pattern.replace("{name}", theirs or name)) for name, theirs in pairs}


#: arithmetic as most languages write it
ARITHMETIC: dict[str, Form] = {
    "add": infix("+", SUM),
    "sub": infix("-", SUM),
    "mul": infix("*", PRODUCT),
    "div": infix("/", PRODUCT),
    # Not even a product may stand there: -2.0 would become a number, and -- a comment in SQL.
    "neg": Form("-{a}", UNARY, (POWER, 0)),
    "square": Form("{a} * {a}", PRODUCT, (UNARY, 0)),
    "cube": Form("{a} * {a} * {a}", PRODUCT, (UNARY, 0)),
    "inv": Form("1.0 / {a}", PRODUCT, (UNARY, 0)),
}


#: keys of a table, beside the names of operators: powers with a given exponent
WHOLE_POWER, BROKEN_POWER = "pow to a whole number", "pow to another number"
#: a number such that it is read back exactly, and how strongly it binds
Literal = Callable[[float], tuple[str, float]]


def literals(inf: str, nan: str, number: Callable[[float], str] = repr) -> Literal:
    """Numbers that start with a minus sign where they are negative."""

    def literal(value: float) -> tuple[str, float]:
        if math.isnan(value):
            return nan, ATOM
        text = number(value) if math.isfinite(value) else inf if value > 0.0 else f"-{inf}"
        return text, UNARY if text.startswith("-") else ATOM

    return literal


@dataclass(frozen=True)
class Language:
    """A table of templates, and how numbers are written."""

    name: str
    forms: Mapping[str, Form]
    literal: Literal
    #: whether lines that name a part can stand before the formula
    lines: bool = True
    #: else how a part is named within it: (text with the name, the name, its value) -> text
    let: Callable[[str, str, str], str] | None = None
    deepest: int = DEEPEST
    longest: int | None = None  #: characters
    brackets: tuple[str, str] = ("(", ")")

    def form(self, row: Primitive, last: float | None) -> Form:
        """The template of an operator; `last` is its last argument if that is a number."""
        if row.name == "pow" and last is not None and math.isfinite(last) and last != 0.0:
            # Where a language needs a guard for powers, it needs less of it if it knows the exponent.
            key = WHOLE_POWER if last.is_integer() else BROKEN_POWER
            if key in self.forms:
                return self.forms[key]
        if row.name in self.forms:
            return self.forms[row.name]
        own = ", an operator of your own" if row.opcode >= USER_OPCODE_START else ""
        raise ExportError(
            f"{self.name} has no {row.name}{own}; choose a formula without it, or export to JSON"
        )

    def check_length(self, text: str) -> None:
        if self.longest is not None and len(text) > self.longest:
            raise ExportError(
                f"{self.name} takes formulas of {self.longest} characters, and this one has more; choose a shorter one"
            )


@dataclass(frozen=True)
class Code:
    """What to compute first, under names, and then the value of the formula."""

    parts: tuple[tuple[str, str], ...]
    value: str
    operators: frozenset[str]


@dataclass(frozen=True)
class Piece:
    text: str
    binding: float
    depth: int = 0  #: levels of operators, or of brackets where no lines can stand before the formula
    value: float | None = None  #: of a number


def written(
    tree: Expression, columns: Mapping[int, str], language: Language, taken: Iterable[str] = ()
) -> Code:
    """The tree in that language; `columns` is how its columns are written there, `taken` are their names."""
    return _Writer(language, columns, set(taken)).run(tree)


class _Writer:
    """Reads the postfix program with a stack of texts, so that depth is no limit."""

    def __init__(self, language: Language, columns: Mapping[int, str], taken: set[str]) -> None:
        self.language = language
        self.columns = columns
        self.taken = taken
        self.parts: list[tuple[str, str]] = []

    def run(self, tree: Expression) -> Code:
        stack: list[Piece] = []
        used: set[str] = set()
        tokens = zip(tree.op.tolist(), tree.arg.tolist(), tree.const.tolist(), strict=True)
        for code, column, value in tokens:
            if code == CONST:
                stack.append(Piece(*self.language.literal(value), value=value))
            elif code == VAR:
                stack.append(Piece(self.columns[column], ATOM))
            else:
                row = tree.primitives.by_opcode(code)
                used.add(row.name)
                form = self.language.form(row, stack[-1].value)
                stack[-row.arity :] = [self._apply(form, stack[-row.arity :])]
        return Code(tuple(self.parts), stack[0].text, frozenset(used))

    def _apply(self, form: Form, arguments: list[Piece]) -> Piece:
        if max(argument.depth for argument in arguments) >= self.language.deepest:
            arguments = [self._named(argument) for argument in arguments]
        bound: dict[str, str] = {}
        placed = {
            place: self._placed(form, place, argument, needed, bound)
            for place, argument, needed in zip("ab", arguments, form.needed, strict=False)
        }
        text = form.filled({place: piece.text for place, piece in placed.items()})
        if self.language.let is not None:
            for name, value in bound.items():
                text = self.language.let(text, name, value)
        self.language.check_length(text)
        # A minus sign in front is one of the whole.
        binding = min(form.binding, placed["a"].binding) if form.text.startswith("{a}") else form.binding
        return Piece(text, ATOM if bound else binding, max(piece.depth for piece in placed.values()))

    def _placed(self, form: Form, place: str, argument: Piece, needed: float, bound: dict[str, str]) -> Piece:
        """The argument as it stands in the form, and how deep the form is because of it."""
        depth = argument.depth
        if form.repeats(place) and depth > 0:
            argument = self._once(argument, bound)
            depth = 0 if self.language.lines else depth + 1
        inside = argument.binding < needed
        text = argument.text.join(self.language.brackets) if inside else argument.text
        # What comes first and has no brackets is no deeper than it was, for a parser that sees no end of it.
        first = form.text.startswith(f"{{{place}}}") and not inside and not self.language.lines
        return Piece(text, ATOM if inside else argument.binding, depth + (not first))

    def _once(self, piece: Piece, bound: dict[str, str]) -> Piece:
        """What to write instead of a part that is to be written more than once."""
        if self.language.lines:
            return self._named(piece)
        if self.language.let is None:
            return piece
        name = self._new_name()
        bound[name] = piece.text
        return Piece(name, ATOM)

    def _named(self, piece: Piece) -> Piece:
        if piece.depth == 0:
            return piece
        if not self.language.lines:
            raise ExportError(
                f"{self.language.name} takes formulas of {self.language.deepest} levels, and this one has more;"
                " choose a shorter one"
            )
        self.parts.append((self._new_name(), piece.text))
        return Piece(self.parts[-1][0], ATOM)

    def _new_name(self) -> str:
        number = 1
        while f"t{number}" in self.taken:
            number += 1
        self.taken.add(f"t{number}")
        return f"t{number}"
