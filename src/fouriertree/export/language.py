"""One printer for all languages; the templates are in the table of operators."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count

from fouriertree.export.errors import ExportError
from fouriertree.expr import Expression
from fouriertree.expr.catalogue import CATALOGUE, Primitive
from fouriertree.expr.opcodes import ATOM, CONST, UNARY, USER_OPCODE_START, VAR
from fouriertree.expr.operators.forms import Absent, AnyForm, Form

#: levels of operators in one line; parsers have limits
DEEPEST = 24

#: arithmetic in the notation of most languages: operators that C writes without a function
ARITHMETIC: dict[str, Form] = {
    row.name: form
    for row in CATALOGUE.values()
    if isinstance(form := row.forms["c"], Form) and "(" not in form.text
}


def calls(names: str, pattern: str = "{name}({a})") -> dict[str, Form]:
    """Functions of one argument: ``operator`` or ``operator=name``, separated by spaces."""
    pairs = [word.partition("=")[::2] for word in names.split()]
    return {name: Form(pattern.replace("{name}", called or name)) for name, called in pairs}


#: the exact text of a constant, and its precedence
Literal = Callable[[float], tuple[str, float]]


def literals(inf: str, nan: str, number: Callable[[float], str] = repr) -> Literal:
    """Literals that start with a minus sign if they are negative."""

    def literal(value: float) -> tuple[str, float]:
        if math.isnan(value):
            return nan, ATOM
        text = number(value) if math.isfinite(value) else inf if value > 0.0 else f"-{inf}"
        return text, UNARY if text.startswith("-") else ATOM

    return literal


@dataclass(frozen=True)
class Language:
    """The literals and limits of a language; the notation of operators is declared in their entries."""

    name: str
    #: the key of the forms in the entries of operators, or a mapping from operators to forms
    forms: str | Mapping[str, Form]
    literal: Literal
    #: whether subtrees can be assigned to variables in lines before the result
    lines: bool = True
    #: otherwise a local variable: (text with the variable, the variable, its value) -> text
    let: Callable[[str, str, str], str] | None = None
    deepest: int = DEEPEST
    longest: int | None = None  #: characters
    brackets: tuple[str, str] = ("(", ")")

    def form(self, row: Primitive, last: float | None) -> Form:
        """The template of an operator; `last` is its last argument if that is a constant."""
        form = self.declared(row)
        if last is not None and math.isfinite(last) and last != 0.0:
            # Guards of powers are shorter for a constant exponent.
            return (form.whole if last.is_integer() else form.broken) or form
        return form

    def declared(self, row: Primitive) -> Form:
        form = row.forms.get(self.forms) if isinstance(self.forms, str) else self.forms.get(row.name)
        if isinstance(form, Form):
            return form
        raise absence(self.name, row, form)

    def check_length(self, text: str) -> None:
        if self.longest is not None and len(text) > self.longest:
            raise ExportError(
                f"{self.name} takes formulas of {self.longest} characters, and this one has more;"
                " choose a shorter equation"
            )


def absence(language: str, row: Primitive, form: AnyForm | None) -> ExportError:
    """The error for an operator without a form in a language."""
    custom = ", a custom operator" if row.opcode >= USER_OPCODE_START else ""
    reason = f": {form.reason}" if isinstance(form, Absent) else ""
    return ExportError(
        f"{language} has no {row.name}{custom}{reason}; choose an equation without it, or export to JSON"
    )


@dataclass(frozen=True)
class Code:
    """Variables to compute first, and then the value of the expression."""

    parts: tuple[tuple[str, str], ...]
    value: str
    helpers: tuple[str, ...]  #: definitions that the text refers to


@dataclass(frozen=True)
class Piece:
    text: str
    binding: float
    depth: int = 0  #: levels of operators, or of parentheses in languages without lines
    value: float | None = None  #: of a constant


def written(
    tree: Expression, columns: Mapping[int, str], language: Language, taken: Iterable[str] = ()
) -> Code:
    """The tree in a language; `columns` are the texts of its features, `taken` are identifiers in use."""
    return _Writer(language, columns, set(taken)).run(tree)


class _Writer:
    """Converts the postfix program with a stack of texts, so that depth is not limited."""

    def __init__(self, language: Language, columns: Mapping[int, str], taken: set[str]) -> None:
        self.language, self.columns, self.taken = language, columns, taken
        self.parts: list[tuple[str, str]] = []

    def run(self, tree: Expression) -> Code:
        stack: list[Piece] = []
        helpers: dict[str, int] = {}
        tokens = zip(tree.op.tolist(), tree.arg.tolist(), tree.const.tolist(), strict=True)
        for code, column, value in tokens:
            if code == CONST:
                stack.append(Piece(*self.language.literal(value), value=value))
            elif code == VAR:
                stack.append(Piece(self.columns[column], ATOM))
            else:
                row = tree.primitives.by_opcode(code)
                form = self.language.form(row, stack[-1].value)
                if form.helper:
                    helpers[form.helper] = code
                stack[-row.arity :] = [self._apply(form, stack[-row.arity :])]
        return Code(tuple(self.parts), stack[0].text, tuple(sorted(helpers, key=helpers.__getitem__)))

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
        # A leading minus sign determines the precedence of the whole text.
        binding = min(form.binding, placed["a"].binding) if form.text.startswith("{a}") else form.binding
        return Piece(text, ATOM if bound else binding, max(piece.depth for piece in placed.values()))

    def _placed(self, form: Form, place: str, argument: Piece, needed: float, bound: dict[str, str]) -> Piece:
        """The text of an argument in the form, with the depth that it gives the form."""
        depth = argument.depth
        if form.repeats(place) and depth > 0:
            argument = self._once(argument, bound)
            depth = 0 if self.language.lines else depth + 1
        inside = argument.binding < needed
        text = argument.text.join(self.language.brackets) if inside else argument.text
        # A leading argument without parentheses adds no depth in a parser.
        first = form.text.startswith(f"{{{place}}}") and not inside and not self.language.lines
        return Piece(text, ATOM if inside else argument.binding, depth + (not first))

    def _once(self, piece: Piece, bound: dict[str, str]) -> Piece:
        """A variable for a subtree that occurs more than once."""
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
                " choose a shorter equation"
            )
        self.parts.append((self._new_name(), piece.text))
        return Piece(self.parts[-1][0], ATOM)

    def _new_name(self) -> str:
        name = next(name for i in count(1) if (name := f"t{i}") not in self.taken)
        self.taken.add(name)
        return name
