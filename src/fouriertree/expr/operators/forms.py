"""How an operator is written in other languages: templates, and the builders for those that most languages share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

# Binding strength in formulas, weakest first. A negative number binds like a unary minus.
SUM, PRODUCT, UNARY, POWER, ATOM = 1, 2, 3, 4, 5
#: in mathematics, a minus sign may stand before the first summand and the first factor, and nowhere else bare
NEGATIVE = SUM + 0.5

PLACE = re.compile(r"\{([ab])\}")


@dataclass(frozen=True)
class Form:
    """How an operator is written: text with the places {a} and {b}.

    Parameters
    ----------
    text : str
        The template. An argument that stands there more than once is given a name first, unless it is a column or
        a number.
    binding : float
        How strongly the text holds together.
    needed : tuple of float
        How strongly each argument must hold together to stand there without brackets.
    helper : str
        A definition that the text refers to; in LaTeX, a comment that explains the notation.
    whole, broken : Form, optional
        What to write instead where the last argument is a given number other than 0: a whole one, or another one.
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
    """How an operator is written as a graph: build(graph, *inputs) adds its nodes and returns the last one's name."""

    build: Callable[..., str]


@dataclass(frozen=True)
class Absent:
    """A language has no such operator; the reason becomes part of the error message."""

    reason: str


AnyForm = Form | Nodes | Absent
Forms = Mapping[str, AnyForm]

#: a function of that name in every language that has templates; "{…}" are the arguments
CALLS = {
    "python": "np.{name}({…})",
    "sympy": "sympy.{name}({…})",
    "latex": r"\{name}\left({…}\right)",
    "c": "{name}({…})",
    "cpp": "std::{name}({…})",
    "julia": "{name}({…})",
    "matlab": "{name}({…})",
    "r": "{name}({…})",
    "javascript": "Math.{name}({…})",
    "sqlite": "{name}({…})",
    "duckdb": "{name}({…})",
    "postgresql": "{name}({…})",
    "excel": "{name}({…})",
    "torch": "torch.{name}({…})",
    "jax": "jnp.{name}({…})",
}
#: every language that operators are written in; MathML follows from LaTeX unless an operator declares otherwise
LANGUAGES = (*CALLS, "onnx")
ARGUMENTS = {1: "{a}", 2: "{a}, {b}"}


def node(operator: str) -> Nodes:
    """One node of an ONNX graph."""
    return Nodes(lambda g, *inputs: str(g.node(operator, *inputs)))


def written_as(language: str, name: str, arity: int = 1) -> AnyForm:
    """The call of `name` in a language.

    >>> written_as("cpp", "sin").text
    'std::sin({a})'
    """
    if language == "onnx":
        return node(name)
    arguments = ARGUMENTS[arity].replace(" ", "" if language == "excel" else " ")
    return Form(CALLS[language].replace("{name}", name).replace("{…}", arguments))


def call(name: str, arity: int = 1, numpy: str | None = None, **own: str | AnyForm) -> dict[str, AnyForm]:
    r"""The call of a function in every language, under `name` unless said otherwise.

    `numpy` is its name in NumPy, PyTorch and JAX. In `own`, a word is the name in that language, a text with places
    is a template.

    >>> call("asin", numpy="arcsin", latex="arcsin")["latex"].text
    '\\arcsin\\left({a}\\right)'
    """
    names = dict.fromkeys(LANGUAGES, name)
    names |= dict.fromkeys(("python", "torch", "jax"), numpy or name)
    names |= {"excel": name.upper(), "onnx": name.capitalize()}
    forms = {language: written_as(language, word, arity) for language, word in names.items()}
    return forms | _own(own, arity)


def everywhere(form: Form, **own: str | AnyForm) -> dict[str, AnyForm]:
    """The same text in every language, but for those in `own`."""
    forms: dict[str, AnyForm] = dict.fromkeys(LANGUAGES, form)
    return forms | _own(own, 2 if "{b}" in form.text else 1)


def _own(own: Mapping[str, str | AnyForm], arity: int) -> dict[str, AnyForm]:
    def form(language: str, given: str | AnyForm) -> AnyForm:
        if not isinstance(given, str):
            return given
        return Form(given) if PLACE.search(given) else written_as(language, given, arity)

    return {language: form(language, given) for language, given in own.items()}


def infix(sign: str, binding: int, space: str = " ") -> Form:
    """a sign b, which groups to the left."""
    return Form(f"{{a}}{space}{sign}{space}{{b}}", binding, (binding, binding + 1))


def in_sql(text: str, needed: tuple[float, float] = (0, 0)) -> dict[str, Any]:
    """A template for DuckDB and PostgreSQL, where {inf}, {nan} and {double} are spelled differently.

    Both take NaN for the greatest number, and before its version 2 DuckDB stops a query as PostgreSQL does where a
    function leaves its domain.
    """
    binding = ATOM if text.startswith("CAST(") else 0
    spelled = {
        "duckdb": {"inf": "CAST('inf' AS DOUBLE)", "nan": "CAST('nan' AS DOUBLE)", "double": "DOUBLE"},
        "postgresql": {
            "inf": "CAST('Infinity' AS float8)", "nan": "CAST('NaN' AS float8)", "double": "float8"
        },
    }  # fmt: skip
    return {dialect: Form(_spelled(text, words), binding, needed) for dialect, words in spelled.items()}


def _spelled(text: str, words: Mapping[str, str]) -> str:
    for word, meaning in words.items():
        text = text.replace(f"{{{word}}}", meaning)
    return text


def with_helper(text: str, helper: str, needed: tuple[float, float] = (0, 0)) -> Form:
    """A template that calls a function which the exported source has to define."""
    return Form(text, needed=needed, helper=helper)


def or_nan(name: str, outside: str, inside: str) -> dict[str, Any]:
    """Julia and MATLAB, where a function outside of its domain raises or turns complex: a guard gives NaN.

    `outside` is the condition on a number in Julia, `inside` that on an array in MATLAB; an empty one needs no guard.
    """
    forms: dict[str, Any] = {}
    if outside:
        forms["julia"] = with_helper(
            f"{name}_or_nan({{a}})", f"{name}_or_nan(a) = {outside} ? NaN : {name}(a)"
        )
    if inside:
        forms["matlab"] = with_helper(
            f"{name}_or_nan({{a}})",
            f"""
function r = {name}_or_nan(a)
  r = nan(size(a));
  real = {inside};
  r(real) = {name}(a(real));
end""",
        )
    return forms


def unspaced(form: Form) -> Form:
    return replace(form, text=form.text.replace(" ", ""))
