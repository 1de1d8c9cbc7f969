"""Formulas as MathML, which browsers typeset by themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html.entities import html5
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from fouriertree.expr import Expression
from fouriertree.model import Model, scaled, sum_of_terms
from fouriertree.plotting.canvas import writable_part

DIGITS = 6
#: a product between letters needs no sign, between words it does
UNSEEN_TIMES, TIMES = "\u2062", "⋅"
#: what is higher than a line
TALL = ("mfrac", "msup", "msqrt", "mroot", "mtable")
_NAMED_ENTITY = re.compile(r"&(?!(?:lt|gt|amp|quot|apos);)(\w+;)")
#: a whole number that SymPy writes as a decimal one
_WHOLE = re.compile(r"^(-?\d+)\.0$")
#: a letter, or a word, with a number behind it: the number becomes an index
_INDEXED = re.compile(r"([^\W\d_]+)_?(\d+)")
#: the names of columns while SymPy prints, which writes names into the MathML as they are
_PLACEHOLDER = re.compile(r"column([a-j]{6})")


def rounded(model: Model, digits: int = DIGITS) -> Expression:
    """The model as one tree, with numbers of so many significant digits."""
    whole = sum_of_terms([_short(c, digits) for c in model.coefficients], model.expressions)
    return _with_short_numbers(whole, digits)


def _with_short_numbers(expression: Expression, digits: int = DIGITS) -> Expression:
    numbers = np.array([_short(value, digits) for value in expression.const.tolist()])
    return Expression(expression.op, expression.arg, numbers, expression.primitives)


def _short(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def formula(model: Model, target: str) -> str:
    """target = formula: one `math` element per addend, so that long sums can be broken between them.

    >>> from fouriertree.expr import parse
    >>> formula(Model((2.0,), (parse("x0"),), ("<b>",)), "y").count("&lt;b&gt;")
    1
    """
    equals = Element("mrow")
    equals.extend([named(target), _operator("=")])
    return " ".join(_math(piece) for piece in [equals, *addends(model)])


def addends(model: Model) -> list[Element]:
    """The terms in their order, each with the sign before it."""
    last = max((max(e.columns, default=0) for e in model.expressions), default=0)
    typesetter = Typesetter(model.names or [f"x{i}" for i in range(last + 1)])
    pieces: list[Element] = []
    for coefficient, expression in zip(model.coefficients, model.expressions, strict=True):
        term = _with_short_numbers(scaled(_short(coefficient, DIGITS), expression))
        pieces.append(typesetter.addend(term, first=not pieces))
    return pieces or [typesetter.addend(Expression.constant(0.0), first=True)]


def named(name: str) -> Element:
    """A column: x₀ for x0, and any other name as it is."""
    parts = _INDEXED.fullmatch(name)
    if parts is None:
        return _leaf("mi" if name.isidentifier() else "mtext", name)
    element = Element("msub")
    element.extend([_leaf("mi", parts[1]), _leaf("mn", parts[2])])
    return element


@dataclass(frozen=True)
class Typesetter:
    """SymPy's MathML, with the names of columns in it, which SymPy would write as they are: markup and all."""

    names: Sequence[str]

    def addend(self, term: Expression, first: bool) -> Element:
        """One term, with the sign before it unless it is the first."""
        import sympy

        form = sympy.sympify(term.sympy([_placeholder(i) for i in range(len(self.names))]))
        # Columns are real; of others, SymPy would write the real part of an exponent.
        form = form.xreplace({symbol: sympy.Symbol(symbol.name, real=True) for symbol in form.free_symbols})
        minus = not first and not form.is_Add and form.could_extract_minus_sign()
        body = self.typeset(-form if minus else form)
        row = Element("mrow")
        if not first:
            row.append(_operator("−" if minus else "+"))
        row.append(body)
        return row

    def typeset(self, form: Any) -> Element:
        from sympy.printing.mathml import mathml

        printed = mathml(_shortened(form), printer="presentation")
        return self._finished(
            ElementTree.fromstring(_NAMED_ENTITY.sub(lambda found: html5[found[1]], printed))
        )

    def _finished(self, element: Element) -> Element:
        """An element as browsers and readers want it, from the leaves up."""
        for i, child in enumerate(element):
            element[i] = self._finished(child)
        written = (element.text or "").strip()
        if element.tag == "mi" and (found := _PLACEHOLDER.fullmatch(written)):
            return named(self.names[_number(found[1])])
        if element.tag == "mfenced":
            return _fenced(element)
        if element.tag == "mrow" and len(element) and element[0].text == "piecewise":
            return _cases(element)
        if element.tag == "mrow" and not any(part.tag in TALL for part in element.iter()):
            _keep_low(element)
        if element.tag in ("mn", "mo"):
            element.text = _WHOLE.sub(r"\1", written).replace("-", "−").replace(UNSEEN_TIMES, self._times)
        elif written == "ⅇ":
            # Upright, unlike a column of that name.
            element.text = "e"
            element.set("mathvariant", "normal")
        return element

    @property
    def _times(self) -> str:
        lengths = [len(_INDEXED.sub(r"\1", name)) for name in self.names]
        return UNSEEN_TIMES if max(lengths, default=0) <= 1 else TIMES


def _shortened(form: Any) -> Any:
    """Numbers that SymPy has multiplied have too many digits again."""
    import sympy

    floats = form.atoms(sympy.Float)
    return form.xreplace({value: sympy.Float(f"{float(value):.{DIGITS}g}") for value in floats})


def _keep_low(row: Element) -> None:
    """Parentheses around low things stay low, in whatever font."""
    for part in row:
        if part.tag == "mo" and part.text in ("(", ")", "|"):
            part.set("stretchy", "false")


def _fenced(element: Element) -> Element:
    """Parentheses that browsers draw; older versions of SymPy write an element that they no longer know."""
    row = Element("mrow")
    row.append(_operator(element.get("open", "(")))
    for i, child in enumerate(element):
        if i:
            row.append(_operator(","))
        row.append(child)
    row.append(_operator(element.get("close", ")")))
    return row


def _cases(element: Element) -> Element:
    """piecewise((value, condition), …) as a brace with a line for each case."""
    table = Element("mtable")
    for case in element[1].findall("mrow") + element[1].findall("mfenced"):
        value, condition = (part for part in case if part.tag != "mo")
        line = Element("mtr")
        cells = [[value], [_leaf("mtext", "\u2003if\u2002"), condition]]
        if condition.text == "True":
            cells = [[value], [_leaf("mtext", "\u2003otherwise")]]
        for parts in cells:
            cell = Element("mtd")
            cell.extend(parts)
            line.append(cell)
        table.append(line)
    row = Element("mrow")
    row.extend([_operator("{"), table])
    return row


def _leaf(tag: str, text: str) -> Element:
    element = Element(tag)
    element.text = writable_part(text)
    return element


def _operator(sign: str) -> Element:
    element = _leaf("mo", sign)
    if sign in ("+", "−", "="):
        # At an end of its row it would be taken for a sign, without space around it.
        inner, outer = ("lspace", "rspace") if sign == "=" else ("rspace", "lspace")
        element.attrib.update({"form": "infix", inner: "0.28em", outer: "0em"})
    return element


def _placeholder(column: int) -> str:
    # Letters only: SymPy would make an index of digits.
    return "column" + "".join(chr(ord("a") + int(digit)) for digit in f"{column:06d}")


def _number(letters: str) -> int:
    return int("".join(str(ord(letter) - ord("a")) for letter in letters))


def _math(element: Element) -> str:
    math = Element("math", {"displaystyle": "true"})
    math.append(element)
    return ElementTree.tostring(math, encoding="unicode")
