"""Notation of operators in other languages: templates, and functions that make those of many languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fouriertree.expr.opcodes import ATOM

PLACE = re.compile(r"\{([ab])\}")


@dataclass(frozen=True)
class Form:
    """The notation of an operator: a template with the placeholders {a} and {b}.

    Parameters
    ----------
    text : str
        The template. An argument that occurs more than once is assigned to a variable first, unless it is a feature
        or a constant.
    binding : float
        The precedence of the text.
    needed : tuple of float
        The least precedence of each argument without parentheses.
    helper : str
        A definition that the text refers to; in LaTeX, a comment that explains the notation.
    whole, broken : Form, optional
        Used instead where the last argument is a constant other than 0: an integer, or not an integer.
    """

    text: str
    binding: float = ATOM
    needed: tuple[float, float] = (0, 0)
    helper: str = ""
    whole: Form | None = None
    broken: Form | None = None

    def repeats(self, place: str) -> bool:
        return self.text.count(f"{{{place}}}") > 1

    def filled(self, arguments: Mapping[str, str]) -> str:
        return PLACE.sub(lambda match: arguments[match[1]], self.text)


@dataclass(frozen=True)
class Nodes:
    """The notation of an operator as a graph: build(graph, *inputs) adds nodes and returns the name of the last one."""

    build: Callable[..., str]


@dataclass(frozen=True)
class Absent:
    """The operator does not exist in a language; the reason is part of the error message."""

    reason: str


AnyForm = Form | Nodes | Absent

SQL = ("sqlite", "duckdb", "postgresql")
#: a call of the function {name} in every language with templates; "{…}" are the arguments
CALLS = {
    "python": "np.{name}({…})",
    "sympy": "sympy.{name}({…})",
    "latex": r"\{name}\left({…}\right)",
    "c": "{name}({…})",
    "cpp": "std::{name}({…})",
    **dict.fromkeys(("julia", "matlab", "r"), "{name}({…})"),
    "javascript": "Math.{name}({…})",
    **dict.fromkeys((*SQL, "excel"), "{name}({…})"),
    "torch": "torch.{name}({…})",
    "jax": "jnp.{name}({…})",
}
#: all languages; MathML is derived from LaTeX unless an operator declares a form
LANGUAGES = (*CALLS, "onnx")
ARGUMENTS = {1: "{a}", 2: "{a}, {b}"}


def node(operator: str) -> Nodes:
    """One node of an ONNX graph."""
    return Nodes(lambda g, *inputs: str(g.node(operator, *inputs)))


def written_as(language: str, given: str | AnyForm, arity: int = 1) -> AnyForm:
    """A form; of a text with placeholders that template, and of a word the call of that function in a language.

    >>> written_as("cpp", "sin").text
    'std::sin({a})'
    """
    if not isinstance(given, str):
        return given
    if PLACE.search(given):
        return Form(given)
    if language == "onnx":
        return node(given)
    arguments = ARGUMENTS[arity].replace(" ", "" if language == "excel" else " ")
    return Form(CALLS[language].replace("{name}", given).replace("{…}", arguments))


def call(name: str, arity: int = 1, /, numpy: str = "", **own: str | AnyForm) -> dict[str, AnyForm]:
    r"""The call of a function in every language: `name`, in NumPy, PyTorch and JAX `numpy`, or as in `own`.

    >>> call("asin", numpy="arcsin", latex="arcsin")["latex"].text
    '\\arcsin\\left({a}\\right)'
    """
    names = dict.fromkeys(LANGUAGES, name) | dict.fromkeys(("python", "torch", "jax"), numpy or name)
    given = names | {"excel": name.upper(), "onnx": name.capitalize()} | own
    return {language: written_as(language, text, arity) for language, text in given.items()}


def everywhere(form: Form, **own: str | AnyForm) -> dict[str, AnyForm]:
    """The same text in every language except those in `own`."""
    arity = 2 if "{b}" in form.text else 1
    forms: dict[str, AnyForm] = dict.fromkeys(LANGUAGES, form)
    return forms | {language: written_as(language, text, arity) for language, text in own.items()}


def infix(sign: str, binding: int, space: str = " ") -> Form:
    """a sign b, left-associative."""
    return Form(f"{{a}}{space}{sign}{space}{{b}}", binding, (binding, binding + 1))


def in_sql(text: str) -> dict[str, Any]:
    """A template for DuckDB and PostgreSQL, which write {inf}, {nan} and {double} differently.

    In both, NaN is greater than all other values, and a function outside its domain is an error (in DuckDB before
    version 2).
    """
    forms, binding = {}, ATOM if text.startswith("CAST(") else 0
    for dialect, double, inf, nan in (
        ("duckdb", "DOUBLE", "inf", "nan"),
        ("postgresql", "float8", "Infinity", "NaN"),
    ):
        spelled = text.replace("{double}", double).replace("{inf}", f"CAST('{inf}' AS {double})")
        forms[dialect] = Form(spelled.replace("{nan}", f"CAST('{nan}' AS {double})"), binding)
    return forms


def or_nan(name: str, outside: str, inside: str = "") -> dict[str, Any]:
    """Julia and MATLAB, where a function outside its domain raises or is complex: a guard returns NaN.

    `outside` is the condition on a scalar in Julia, `inside` that on an array in MATLAB, if a guard is needed there.
    """
    helpers = {"julia": f"{name}_or_nan(a) = {outside} ? NaN : {name}(a)"}
    if inside:
        helpers["matlab"] = f"""
function r = {name}_or_nan(a)
  r = nan(size(a));
  real = {inside};
  r(real) = {name}(a(real));
end"""
    return {language: Form(f"{name}_or_nan({{a}})", helper=helper) for language, helper in helpers.items()}
