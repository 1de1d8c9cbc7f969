r"""Expressions as presentation MathML, from the LaTeX forms of operators.

A LaTeX template such as ``\frac{{a}}{{b}}`` is translated once to MathML, and the same printer fills it.  So an
operator declares its notation once; a form for "mathml" is LaTeX, too.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from html import escape

from fouriertree.export.language import Language, written
from fouriertree.export.latex import literal as latex_literal
from fouriertree.expr import Expression
from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.operators.forms import ARGUMENTS, Form

_TOKEN = re.compile(
    r"\{[ab]\}|\\(?:left|right)[(|)]|\\(?:begin|end)\{cases\}|\\(?:operatorname|text|mathrm)\{[^}]*\}|\\\\|\\[A-Za-z]+"
    r"|\d+(?:\.\d+)?|[A-Za-z]|[-+^{}&=<>,]|\s+"
)
_SIGNS = {r"\cdot": "⋅", "-": "−", r"\infty": "∞"}
#: characters: nested cases double the text at every level
LONGEST = 100_000
_WORD = re.compile(r"\\(?:operatorname|mathrm)\{(.*)\}|\\([A-Za-z]+)")


def translated(latex: str) -> str:
    r"""The MathML elements for a LaTeX template; the placeholders {a} and {b} are kept.

    >>> translated(r"\frac{1}{{a}}")
    '<mfrac><mrow><mn>1</mn></mrow><mrow>{a}</mrow></mfrac>'
    """
    tokens = _TOKEN.findall(latex)
    if "".join(tokens) != latex:
        raise ValueError(f"{latex!r} is not in the subset of LaTeX that can be translated")
    return _Translator([token for token in tokens if not token.isspace()]).until("")


class _Translator:
    """Recursive descent over the tokens of a template."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = [*tokens, ""]
        self.at = 0

    def _take(self, wanted: str | None = None) -> str:
        token = self.tokens[self.at]
        if (wanted is not None and token != wanted) or (not token and wanted is None):
            raise ValueError(f"{wanted or 'more'} is missing in {''.join(self.tokens)!r}")
        self.at += 1
        return token

    def until(self, *ends: str) -> str:
        pieces: list[str] = []
        while self.tokens[self.at] not in ends:
            if self.tokens[self.at] == "^":
                self._take()
                base = pieces.pop()
                pieces.append(f"<msup><mrow>{base}</mrow>{self._group()}</msup>")
            else:
                pieces.append(self._piece())
        return "".join(pieces)

    def _group(self) -> str:
        """A group in braces, as one element; a placeholder needs no braces."""
        if self.tokens[self.at] in ("{a}", "{b}"):
            return f"<mrow>{self._take()}</mrow>"
        self._take("{")
        inside = self.until("}")
        self._take("}")
        return f"<mrow>{inside}</mrow>"

    def _piece(self) -> str:
        token = self._take()
        if token in ("{a}", "{b}"):
            return token
        if token == r"\frac":
            return f"<mfrac>{self._group()}{self._group()}</mfrac>"
        if token == r"\sqrt":
            return f"<msqrt>{self._group()}</msqrt>"
        if token.startswith(r"\left"):
            inside = self.until(r"\right)", r"\right|")
            last = self._take()
            return f"<mrow><mo>{token[-1]}</mo>{inside}<mo>{last[-1]}</mo></mrow>"
        if token.startswith(r"\begin"):
            return self._cases()
        return _leaf(token)

    def _cases(self) -> str:
        r"""\begin{cases} … & … \\ … & … \end{cases} as a brace with one line per case."""
        lines, end = "", ""
        while end != r"\end{cases}":
            value = self.until("&")
            self._take("&")
            condition = self.until(r"\\", r"\end{cases}")
            end = self._take()
            lines += f"<mtr><mtd>{value}</mtd><mtd>{condition}</mtd></mtr>"
        return f"<mrow><mo>{{</mo><mtable>{lines}</mtable></mrow>"


def _leaf(token: str) -> str:
    if token.startswith(r"\text"):
        words = token.removeprefix(r"\text{").removesuffix("}")
        return f"<mtext>\u2003{words.strip()}{chr(0x2002) if words.endswith(' ') else ''}</mtext>"
    if token[0].isdigit():
        return f"<mn>{token}</mn>"
    if token in _SIGNS or not (token.startswith("\\") or token.isalpha()):
        sign = _SIGNS.get(token, token)
        return f"<mi>{sign}</mi>" if sign == "∞" else f"<mo>{escape(sign)}</mo>"
    word = _WORD.fullmatch(token)
    name = token if word is None else word[1] or word[2]
    # Upright, unlike a feature of that name.
    upright = ' mathvariant="normal"' if token.startswith(r"\mathrm") else ""
    return f"<mi{upright}>{name}</mi>"


@cache
def _form(row: Primitive) -> Form:
    declared = row.forms.get("mathml") or row.forms.get("latex")
    if not isinstance(declared, Form):
        # A custom operator is written as a named function.
        declared = Form(rf"\operatorname{{{row.name}}}\left({ARGUMENTS[row.arity]}\right)")
    return replace(declared, text=translated(declared.text))


def literal(value: float) -> tuple[str, float]:
    """A constant in the notation of LaTeX."""
    text, binding = latex_literal(value)
    return translated(text), binding


@dataclass(frozen=True)
class _MathML(Language):
    def declared(self, row: Primitive) -> Form:
        return _form(row)


MATHML = _MathML(
    "MathML",
    "mathml",
    literal,
    lines=False,
    deepest=10**9,
    longest=LONGEST,
    brackets=("<mrow><mo>(</mo>", "<mo>)</mo></mrow>"),
)


def typeset(tree: Expression, columns: Mapping[int, str]) -> str:
    """The elements of an expression; `columns` are those of its features."""
    return written(tree, columns, MATHML).value
