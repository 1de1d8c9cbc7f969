"""Formulas as MathML, which browsers typeset by themselves."""

from __future__ import annotations

import re
from html.entities import html5
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from fouriertree.expr import Expression
from fouriertree.model import Model, sum_of_terms
from fouriertree.plotting.canvas import writable

DIGITS = 6
_NAMED_ENTITY = re.compile(r"&(?!(?:lt|gt|amp|quot|apos);)(\w+;)")
#: a letter, or a word, with a number behind it: the number becomes an index
_INDEXED = re.compile(r"([^\W\d_]+)_?(\d+)")
#: the names of columns while SymPy prints, which writes names into the MathML as they are
_PLACEHOLDER = re.compile(r"column([a-j]{6})")


def rounded(model: Model, digits: int = DIGITS) -> Expression:
    """The model as one tree, with numbers of so many significant digits."""
    whole = sum_of_terms([_short(c, digits) for c in model.coefficients], model.expressions)
    numbers = np.array([_short(value, digits) for value in whole.const.tolist()])
    return Expression(whole.op, whole.arg, numbers, whole.primitives)


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
    pieces = [equals, *addends(model)]
    return " ".join(_math(piece) for piece in pieces)


def addends(model: Model) -> list[Element]:
    """The terms, each with the sign before it."""
    whole = rounded(model)
    names = (
        [f"x{i}" for i in range(1 + max(whole.columns, default=0))] if model.names is None else model.names
    )
    form = whole.sympy([_placeholder(i) for i in range(len(names))])
    tree = _typeset(form, names)
    if not form.is_Add or tree.tag != "mrow":
        return [tree]
    terms: list[Element] = []
    for child in tree:
        if child.tag == "mo" and (child.text or "").strip() in ("+", "-"):
            terms.append(Element("mrow"))
            terms[-1].append(_operator({"-": "−"}.get((child.text or "").strip(), "+")))
        else:
            if not terms:
                terms.append(Element("mrow"))
            terms[-1].append(child)
    return terms


def named(name: str) -> Element:
    """A column: x₀ for x0, and any other name as it is."""
    parts = _INDEXED.fullmatch(name)
    if parts is None:
        element = Element("mi" if name.isidentifier() else "mtext")
        element.text = writable(name)
        return element
    element = Element("msub")
    for tag, text in (("mi", parts[1]), ("mn", parts[2])):
        part = Element(tag)
        part.text = text
        element.append(part)
    return element


def _typeset(form: Any, names: Any) -> Element:
    """SymPy's MathML as a tree, with the names of the columns in it."""
    from sympy.printing.mathml import mathml

    printed = mathml(_shortened(form), printer="presentation")
    tree = ElementTree.fromstring(_NAMED_ENTITY.sub(lambda found: html5[found[1]], printed))
    _finish(tree, names)
    return _finished(tree, names)


def _shortened(form: Any) -> Any:
    """Numbers that SymPy has multiplied have too many digits again."""
    import sympy

    floats = form.atoms(sympy.Float)
    return form.xreplace({value: sympy.Float(f"{float(value):.{DIGITS}g}") for value in floats})


def _finish(tree: Element, names: Any) -> None:
    for parent in tree.iter():
        for i, child in enumerate(parent):
            parent[i] = _finished(child, names)


def _finished(element: Element, names: Any) -> Element:
    if element.tag == "mi" and (found := _PLACEHOLDER.fullmatch((element.text or "").strip())):
        return named(names[_number(found[1])])
    if element.tag == "mfenced":
        return _fenced(element)
    return element


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


def _operator(sign: str) -> Element:
    element = Element("mo")
    element.text = sign
    if sign in ("+", "−", "="):
        # At the start of a row it would be taken for a sign, without space around it.
        element.set("form", "infix")
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
