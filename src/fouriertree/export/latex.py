"""LaTeX, for math mode."""

import re

from fouriertree.export.language import Language
from fouriertree.export.prepared import prepared
from fouriertree.expr.opcodes import ATOM, NEGATIVE, PRODUCT
from fouriertree.expr.text import escaped
from fouriertree.model import Model

_LETTERS = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
"""
GREEK = frozenset(_LETTERS.split())


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


LATEX = Language("LaTeX", "latex", literal, lines=False, deepest=10**9, brackets=(r"\left(", r"\right)"))


def write(model: Model) -> str:
    """The expression, after a comment on every operator without a standard notation."""
    _, code = prepared(model, LATEX, lambda column: symbol(column.name))
    return "\n".join([*code.helpers, code.value, ""])


def symbol(name: str) -> str:
    r"""A feature as a symbol if its name is a letter, a letter and an index, or a Greek letter; otherwise as text.

    >>> [symbol(name) for name in ["x12", "m", "alpha", "top_speed"]]
    ['x_{12}', 'm', '\\alpha', '\\text{top\\_speed}']
    """
    if match := re.fullmatch(r"([A-Za-z])([0-9]+)", name):
        return f"{match[1]}_{{{match[2]}}}"
    if re.fullmatch("[A-Za-z]", name):
        return name
    return f"\\{name}" if name in GREEK else f"\\text{{{escaped(name)}}}"
