"""A parser of mathematical LaTeX."""

import re

import numpy as np

from fouriertree.expr.catalogue import CATALOGUE

TOKEN = re.compile(
    r"\\left[(|]|\\right[)|]|\\operatorname\{[a-z]+\}|\\mathrm\{NaN\}|\\[A-Za-z]+"
    r"|\d+(?:\.\d+)?(?: \\cdot 10\^\{-?\d+\})?|x_\{\d+\}|[-+^{},]"
)
NAMES = {"ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sgn": "sign"}


def value_of(text, X):
    """Values of an expression over x_{0}, x_{1}, … on the rows of X."""
    formula = "".join(line for line in text.splitlines() if not line.startswith("%"))
    assert not TOKEN.sub("", formula).strip()
    reader = Reader(TOKEN.findall(formula), X)
    value = reader.sum()
    assert reader.next == "end"
    return value


class Reader:
    """Recursive descent: a sum of products of powers of atoms."""

    def __init__(self, tokens, X):
        self.tokens = iter([*tokens, "end"])
        self.X = X
        self.next = next(self.tokens)

    def take(self, *wanted):
        token = self.next
        assert not wanted or token in wanted, (token, wanted)
        self.next = next(self.tokens, None)
        return token

    def sum(self):
        total = self.negative() if self.next == "-" else self.product()
        while self.next in ("+", "-"):
            total = apply("add" if self.take() == "+" else "sub", total, self.product())
        return total

    def negative(self):
        self.take("-")
        return apply("neg", self.product())

    def product(self):
        value = self.power()
        while self.next == r"\cdot":
            self.take()
            value = apply("mul", value, self.power())
        return value

    def power(self):
        base = self.atom()
        if self.next != "^":
            return base
        self.take()
        return apply("pow", base, self.inside("{", "}"))

    def inside(self, first, last):
        self.take(first)
        value = self.sum()
        self.take(last)
        return value

    def atom(self):
        token = self.next
        if token == r"\left(":
            return self.inside(r"\left(", r"\right)")
        if token == r"\left|":
            return apply("abs", self.inside(r"\left|", r"\right|"))
        self.take()
        if token.startswith("x_"):
            return self.X[:, int(token[3:-1])]
        if token[0].isdigit():
            return np.float64(token.replace(r" \cdot 10^{", "e").removesuffix("}"))
        if token in SPECIAL:
            return SPECIAL[token]
        if token == r"\frac":
            return apply("div", self.inside("{", "}"), self.inside("{", "}"))
        if token == r"\sqrt":
            return apply("sqrt", self.inside("{", "}"))
        return self.call(token.removeprefix(r"\operatorname{").strip("\\}"))

    def call(self, name):
        self.take(r"\left(")
        arguments = [self.sum()]
        if self.next == ",":
            self.take()
            arguments.append(self.sum())
        self.take(r"\right)")
        return apply(NAMES.get(name, name), *arguments)


SPECIAL = {r"\infty": np.float64(np.inf), r"\mathrm{NaN}": np.float64(np.nan)}


def apply(name, *arguments):
    return CATALOGUE[name].reference(*arguments)
