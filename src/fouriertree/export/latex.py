"""LaTeX, for what stands between dollar signs."""

from __future__ import annotations

import re

from fouriertree.export.language import ARITHMETIC, Form, Language, calls, written
from fouriertree.export.names import columns_of
from fouriertree.export.tree import whole_tree
from fouriertree.expr.catalogue import ATOM, POWER, PRODUCT, SUM, UNARY
from fouriertree.model import Model

#: characters that LaTeX reads as commands
SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "%&#$_{}"}
    | {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
)
_LETTERS = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
"""
GREEK = frozenset(_LETTERS.split())
DEFINITIONS = {
    "pdiv": "% pdiv(a, b) is a/b, and 1 where b = 0",
    "plog": "% plog(a) is ln|a|, and 0 where a = 0",
}


#: a minus sign may stand before the first summand and the first factor, and nowhere else without brackets
NEGATIVE = SUM + 0.5


def literal(value: float) -> tuple[str, float]:
    r"""
    >>> literal(2.5)[0], literal(1e-9)[0]
    ('2.5', '1 \\cdot 10^{-9}')
    """
    if value != value:
        return r"\mathrm{NaN}", ATOM
    digits, _, exponent = repr(abs(value)).removesuffix(".0").partition("e")
    text = digits.replace("inf", r"\infty") + (rf" \cdot 10^{{{int(exponent)}}}" if exponent else "")
    return (f"-{text}", NEGATIVE) if value < 0.0 else (text, PRODUCT if exponent else ATOM)


LATEX = Language(
    "LaTeX",
    ARITHMETIC
    | calls("sin cos tan exp log=ln tanh asin=arcsin acos=arccos atan=arctan", r"\{name}\left({a}\right)")
    | calls("plog", r"\operatorname{{name}}\left({a}\right)")
    | {
        "mul": Form(r"{a} \cdot {b}", PRODUCT, (NEGATIVE, UNARY)),
        "div": Form(r"\frac{{a}}{{b}}", UNARY),
        "inv": Form(r"\frac{1}{{a}}", UNARY),
        "neg": Form("-{a}", NEGATIVE, (POWER, 0)),
        "square": Form("{a}^{2}", POWER, (ATOM, 0)),
        "cube": Form("{a}^{3}", POWER, (ATOM, 0)),
        "pow": Form("{a}^{{b}}", POWER, (ATOM, 0)),
        "sqrt": Form(r"\sqrt{{a}}"),
        "abs": Form(r"\left|{a}\right|"),
        "pdiv": Form(r"\operatorname{pdiv}\left({a}, {b}\right)"),
        "min": Form(r"\min\left({a}, {b}\right)"),
        "max": Form(r"\max\left({a}, {b}\right)"),
    },
    literal,
    lines=False,
    deepest=10**9,
    brackets=(r"\left(", r"\right)"),
)


def write(model: Model) -> str:
    """The formula, after a comment on every operator that mathematics has no sign for."""
    tree = whole_tree(model)
    columns = {column.number: symbol(column.name) for column in columns_of(model, tree)}
    code = written(tree, columns, LATEX)
    return "\n".join([*(DEFINITIONS[name] for name in DEFINITIONS if name in code.operators), code.value, ""])


def symbol(name: str) -> str:
    r"""A column as a symbol if it is a letter, with a number or not, or the name of one; and else as text.

    >>> [symbol(name) for name in ["x12", "m", "alpha", "top_speed"]]
    ['x_{12}', 'm', '\\alpha', '\\text{top\\_speed}']
    """
    if match := re.fullmatch(r"([A-Za-z])([0-9]+)", name):
        return f"{match[1]}_{{{match[2]}}}"
    if re.fullmatch("[A-Za-z]", name):
        return name
    printable = "".join(c if c.isprintable() else " " for c in name)
    return f"\\{name}" if name in GREEK else f"\\text{{{printable.translate(SPECIAL)}}}"
