"""Equations as MathML, which browsers typeset."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from fouriertree.export.mathml import typeset
from fouriertree.export.tree import folded
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import ADD, CONST, DIV, MUL, NEG, SUB, VAR
from fouriertree.model import Model, leading_factor, scaled, sum_of_terms
from fouriertree.plotting.canvas import writable_part

DIGITS = 6
#: multiplication signs between names of one letter, and between longer names
INVISIBLE_TIMES, TIMES = "\u2062", "⋅"
#: elements that are taller than a line
TALL = ("mfrac", "msup", "msqrt", "mtable")
#: a name that ends with digits, which become its subscript
_INDEXED = re.compile(r"([^\W\d_]+)_?(\d+)")


def rounded(model: Model) -> Expression:
    """The model as one tree, with constants rounded to `DIGITS` significant digits."""
    return _with_rounded_constants(sum_of_terms(list(map(_rounded, model.coefficients)), model.expressions))


def _with_rounded_constants(expression: Expression) -> Expression:
    constants = np.array(list(map(_rounded, expression.const.tolist())))
    return Expression(expression.op, expression.arg, constants, expression.primitives)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def formula(model: Model, target: str) -> str:
    """target = expression: one `math` element per addend, so that long sums can be broken between them.

    >>> from fouriertree.expr import parse
    >>> formula(Model((2.0,), (parse("x0"),), ("<b>",)), "y").count("&lt;b&gt;")
    1
    """
    pieces = [_element("mrow", named(target), _operator("=")), *addends(model)]
    math = [_element("math", piece, displaystyle="true") for piece in pieces]
    return " ".join(ElementTree.tostring(element, encoding="unicode") for element in math)


def addends(model: Model) -> list[Element]:
    """The terms in their order, each with the sign before it."""
    last = max((max(e.columns, default=0) for e in model.expressions), default=0)
    typesetter = Typesetter(model.names or [f"x{i}" for i in range(last + 1)])
    pieces: list[Element] = []
    for coefficient, expression in zip(model.coefficients, model.expressions, strict=True):
        pieces.append(typesetter.addend(_rounded(coefficient), expression, first=not pieces))
    return pieces or [typesetter.addend(0.0, Expression.constant(1.0), first=True)]


def named(name: str) -> Element:
    """A feature: x₀ for x0, and any other name unchanged."""
    parts = _INDEXED.fullmatch(name)
    if parts is None:
        return _leaf("mi" if name.isidentifier() else "mtext", name)
    return _element("msub", _leaf("mi", parts[1]), _leaf("mn", parts[2]))


@dataclass(frozen=True)
class Typesetter:
    """Typesets expressions as MathML, with the names of features and conventional signs and factors."""

    names: Sequence[str]

    def addend(self, coefficient: float, expression: Expression, first: bool) -> Element:
        """One term, with the sign before it unless it is the first and positive."""
        minus, term = _signed(tidied(_with_rounded_constants(folded(scaled(coefficient, expression)))))
        row = Element("mrow")
        if minus or not first:
            row.append(_leaf("mo", "−") if first else _operator("−" if minus else "+"))
        body = self.typeset(term)
        if minus and int(term.op[-1]) in (ADD, SUB):
            body = _element("mrow", _leaf("mo", "("), body, _leaf("mo", ")"))
        row.append(body)
        return row

    def typeset(self, tree: Expression) -> Element:
        names = (ElementTree.tostring(named(name), encoding="unicode") for name in self.names)
        columns = dict(enumerate(names))
        return self._normalized(ElementTree.fromstring(f"<mrow>{typeset(tree, columns)}</mrow>"))

    def _normalized(self, element: Element) -> Element:
        """The element with low parentheses and invisible multiplication signs, bottom up."""
        for i, child in enumerate(element):
            element[i] = self._normalized(child)
        if element.tag == "mrow" and not any(part.tag in TALL for part in element.iter()):
            for part in element:
                if part.tag == "mo" and part.text in ("(", ")", "|"):
                    part.set("stretchy", "false")
        for sign, after in pairwise(element):
            leaves = (part.tag for part in after.iter() if not len(part))
            if sign.text == TIMES and self._short_names and next(leaves) != "mn":
                sign.text = INVISIBLE_TIMES
        return element

    @property
    def _short_names(self) -> bool:
        lengths = [len(_INDEXED.sub(r"\1", name)) for name in self.names]
        return max(lengths, default=0) <= 1


def tidied(expression: Expression) -> Expression:
    """An expression of the same value with a − 2 instead of a + −2, and without factors of one."""
    stack: list[Expression] = []
    for i, code in enumerate(expression.op.tolist()):
        if code in (CONST, VAR):
            stack.append(expression.subtree(i))
            continue
        row = expression.primitives.by_opcode(code)
        arguments = stack[-row.arity :]
        stack[-row.arity :] = [_tidy(code, *arguments) or Expression.apply(row, *arguments)]
    return stack[0]


def _tidy(code: int, a: Expression, b: Expression | None = None) -> Expression | None:
    if b is None:
        return None
    if code == MUL and _is_one(a):
        return b
    if code in (MUL, DIV) and _is_one(b):
        return a
    if code in (ADD, SUB):
        minus, rest = _signed(b)
        if minus and int(rest.op[-1]) not in (ADD, SUB):
            return a - rest if code == ADD else a + rest
    return None


def _is_one(e: Expression) -> bool:
    return bool(e.op[-1] == CONST and e.const[-1] == 1.0)


def _signed(term: Expression) -> tuple[bool, Expression]:
    """(whether there is a minus sign in front, the term without it)."""
    i = leading_factor(term)
    if term.op[i] == NEG:
        return True, term.replace(i, term.subtree(i - 1))
    if term.op[i] == CONST and term.const[i] < 0.0:
        return True, tidied(scaled(-1.0, term))
    return False, term


def _element(tag: str, *children: Element, **attributes: str) -> Element:
    element = Element(tag, attributes)
    element.extend(children)
    return element


def _leaf(tag: str, text: str) -> Element:
    element = Element(tag)
    element.text = writable_part(text)
    return element


def _operator(sign: str) -> Element:
    element = _leaf("mo", sign)
    if sign in ("+", "−", "="):
        # At an end of its row it would be a prefix or postfix, without space around it.
        inner, outer = ("lspace", "rspace") if sign == "=" else ("rspace", "lspace")
        element.attrib.update({"form": "infix", inner: "0.28em", outer: "0em"})
    return element
