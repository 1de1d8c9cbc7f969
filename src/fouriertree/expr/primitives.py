"""`PrimitiveSet`: the operators that expressions are made of, in order."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from math import e, inf, nan, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import custom
from fouriertree.expr.catalogue import BY_OPCODE, BY_SYMBOL, CATALOGUE, Primitive
from fouriertree.expr.operators.forms import LANGUAGES, PLACE, AnyForm, Form

__all__ = ["CONSTANTS", "Primitive", "PrimitiveSet", "did_you_mean"]

CONSTANTS = {"pi": pi, "e": e, "inf": inf, "nan": nan}
FEATURE_NAME = re.compile(r"x[0-9]+")
_MOST_DIGITS = 20
_SYNONYMS = {word: row.name for row in CATALOGUE.values() for word in row.synonyms}


def column_number(word: str) -> int | None:
    """The index of the feature with a name such as x12, or None; very large indices are truncated.

    >>> column_number("x12"), column_number("speed"), column_number("x" + 5000 * "9") > 2**31
    (12, None, True)
    """
    if not FEATURE_NAME.fullmatch(word):
        return None
    # Python converts no integers of thousands of digits.
    return int(word[1:].lstrip("0")[:_MOST_DIGITS] or "0")


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """A suggestion such as ``; did you mean 'sin'?``, or an empty text."""
    choices = list(choices)
    synonym = [_SYNONYMS[word]] if _SYNONYMS.get(word) in choices else []
    close = synonym or get_close_matches(word, choices, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


class PrimitiveSet:
    """An ordered set of operators; `add` extends it by a custom operator.

    Parameters
    ----------
    operators : iterable of str or Primitive
        Names or symbols of built-in operators, or operators.

    Examples
    --------
    >>> operators = PrimitiveSet(["+", "*", "sin"])
    >>> operators.names
    ('add', 'mul', 'sin')
    >>> "cos" in operators
    False
    >>> PrimitiveSet(["sine"])
    Traceback (most recent call last):
    ValueError: unknown operator 'sine'; did you mean 'sin'? Add your own with PrimitiveSet.add(...)
    """

    __slots__ = ("_by_opcode", "_rows", "_shared")

    def __init__(self, operators: Iterable[str | Primitive]) -> None:
        if isinstance(operators, str):
            raise ValueError(f"give a list of operators, such as [{operators!r}]")
        self._rows: dict[str, Primitive] = {}
        self._by_opcode: dict[int, Primitive] = {}
        self._shared = False
        for operator in operators:
            self._append(builtin(operator) if isinstance(operator, str) else operator)

    @classmethod
    def paper(cls) -> "PrimitiveSet":
        """The seven operators of the published runs, with protected division and logarithm."""
        return cls(["add", "sub", "mul", "pdiv", "sin", "cos", "plog"])

    @classmethod
    def polynomial(cls) -> "PrimitiveSet":
        """Sums, products and differences: the operators of polynomials."""
        return cls(["add", "mul", "sub"])

    @classmethod
    def default(cls) -> "PrimitiveSet":
        """+, −, ·, /, sin, cos, exp, log, sqrt, square and tanh, in IEEE arithmetic."""
        return cls(["add", "sub", "mul", "div", "sin", "cos", "exp", "log", "sqrt", "square", "tanh"])

    @classmethod
    def catalogue(cls) -> "PrimitiveSet":
        """All built-in operators: a shared set, which cannot be extended."""
        return _SHARED

    def add(
        self,
        name: str,
        fn: Callable[..., Any],
        arity: int = 1,
        *,
        derivative: str | tuple[str, ...] | None = None,
        sympy: Callable[..., Any] | None = None,
        complexity: int = 1,
        interval: Callable[..., Any] | None = None,
        forms: Mapping[str, str | AnyForm] | None = None,
    ) -> Primitive:
        """Add a custom operator to this set, in place.

        The function is tested on zeros, negative, large and small values, infinities and NaN, and compiled by Numba
        where possible.

        Parameters
        ----------
        name : str
        fn : callable
            Elementwise function of `arity` float arrays of one shape, or of scalars.
        arity : int, default=1
            1 or 2.
        derivative : str or tuple of str, optional
            One formula per argument, over ``a``, ``b`` and the value ``v``.
        sympy : callable, optional
            The SymPy form; an undefined function by default.
        complexity : int, default=1
        interval, forms : optional
            Bounds for certificates, and templates for exports, such as ``{"c": "half({a})"}``; see `Primitive`.
            Without them, certificates are undecided, and exports raise `ExportError`.

        Returns
        -------
        Primitive

        Examples
        --------
        >>> operators = PrimitiveSet(["add", "mul"])
        >>> operators.add("half", lambda a: 0.5 * a, derivative="0.5").compiled
        True
        >>> operators.names
        ('add', 'mul', 'half')
        """
        self._check_new(name, arity, complexity)
        templates = (derivative,) if isinstance(derivative, str) else derivative
        if templates is not None and len(templates) != arity:
            raise ValueError(f"operator {name!r} needs {arity} derivative formula(s), got {len(templates)}")
        self._check_templates(name, templates or (), arity)
        checked = self._checked_forms(name, arity, forms or {})
        definition = custom.Definition(name, fn, arity, templates, sympy, complexity, interval, checked)
        row = custom.register(definition)
        self._append(row)
        return row

    def union(self, other: "PrimitiveSet") -> "PrimitiveSet":
        """The union of both sets; one of the two where it contains the other."""
        if other is self or other is _SHARED:
            return self
        if self is _SHARED or all(row in other for row in self):
            return other
        return PrimitiveSet([*self, *(row for row in other if row not in self)])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the operators, in order."""
        return tuple(self._rows)

    @property
    def opcodes(self) -> NDArray[np.int32]:
        """Opcodes in order: (n_operators,)."""
        return np.array([row.opcode for row in self], dtype=np.int32)

    @property
    def arities(self) -> NDArray[np.int32]:
        """Numbers of arguments in order: (n_operators,)."""
        return np.array([row.arity for row in self], dtype=np.int32)

    def by_opcode(self, opcode: int) -> Primitive:
        """The operator with this opcode: of this set, or any built-in."""
        row = self._by_opcode.get(opcode) or BY_OPCODE.get(opcode)
        if row is None:
            raise ValueError(f"opcode {opcode} is neither a built-in operator nor one of this PrimitiveSet")
        return row

    def find(self, name: str) -> Primitive:
        """The operator with this name or symbol: of this set, or any built-in."""
        return self._rows.get(name) or builtin(name, self._rows)

    def to_json(self) -> list[str]:
        """The names; functions are not stored."""
        return list(self.names)

    @classmethod
    def from_json(cls, names: Iterable[str], operators: "PrimitiveSet | None" = None) -> "PrimitiveSet":
        """The set with these names; custom operators are taken from `operators`."""
        return cls([(operators or _SHARED).find(name) for name in names])

    def _append(self, row: Primitive) -> None:
        if row.name in self._rows:
            raise ValueError(f"operator {row.name!r} appears twice in this PrimitiveSet")
        self._rows[row.name] = row
        self._by_opcode[row.opcode] = row

    def _check_new(self, name: str, arity: int, complexity: int) -> None:
        if self._shared:
            raise ValueError("the shared catalogue cannot be extended; make a new PrimitiveSet([...])")
        if not (isinstance(name, str) and name.isidentifier() and name.isascii()):
            raise ValueError(
                f"operator name {name!r} must be an identifier: ASCII letters, digits, underscores"
            )
        named = f"name {name!r} is"
        for wrong, reason in (
            (name in CATALOGUE, f"{named} a built-in operator; use that one, or choose another name"),
            (name in CONSTANTS, f"{named} a constant in formulas; choose another name"),
            (FEATURE_NAME.fullmatch(name), f"{named} a feature in formulas; choose another name"),
            (name in self._rows, f"{name!r} is already in this PrimitiveSet"),
            (arity not in (1, 2), f"{name!r} has arity={arity}; operators take 1 or 2 arguments"),
            (complexity < 0, f"{name!r} has complexity={complexity}; it must not be negative"),
        ):
            if wrong:
                raise ValueError(f"operator {reason}")

    def _check_templates(self, name: str, templates: Iterable[str], arity: int) -> None:
        from fouriertree.expr.calculus import derivative_template
        from fouriertree.expr.parse import ParseError  # these modules import this one

        try:
            for template in templates:
                derivative_template(template, arity, self)
        except ParseError as error:
            raise ValueError(f"derivative of operator {name!r} is not a formula: {error}") from None

    @staticmethod
    def _checked_forms(name: str, arity: int, forms: Mapping[str, str | AnyForm]) -> dict[str, AnyForm]:
        """Templates as forms, after checking their languages and placeholders."""
        for language, form in forms.items():
            if language not in (*LANGUAGES, "mathml"):
                hint = did_you_mean(language, LANGUAGES) or f"; choose among {', '.join(LANGUAGES)}"
                raise ValueError(
                    f"operator {name!r} has a form for {language!r}, which is not a language{hint}"
                )
            text = form if isinstance(form, str) else form.text if isinstance(form, Form) else None
            if text is not None and set(PLACE.findall(text)) != set("ab"[:arity]):
                places = " and ".join(f"{{{place}}}" for place in "ab"[:arity])
                raise ValueError(
                    f"the {language} form of operator {name!r} must contain {places}; got {text!r}"
                )
        return {language: Form(f) if isinstance(f, str) else f for language, f in forms.items()}

    def __getitem__(self, name: str) -> Primitive:
        row = self._rows.get(BY_SYMBOL[name].name if name in BY_SYMBOL else name)
        if row is None:
            raise KeyError(f"{name!r} is not in this PrimitiveSet of {', '.join(self.names)}")
        return row

    def __contains__(self, operator: object) -> bool:
        if isinstance(operator, Primitive):
            return self._by_opcode.get(operator.opcode) is operator
        row = BY_SYMBOL.get(str(operator))
        return operator in self._rows or (row is not None and row.name in self._rows)

    def __iter__(self) -> Iterator[Primitive]:
        return iter(self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrimitiveSet) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"PrimitiveSet({list(self.names)})"

    def __reduce__(self) -> tuple[Callable[..., "PrimitiveSet"], tuple[Any, ...]]:
        return (PrimitiveSet.catalogue, ()) if self._shared else (PrimitiveSet, (list(self),))


def builtin(name: str, also: Iterable[str] = ()) -> Primitive:
    """The built-in operator with this name or symbol; `also` are other names to suggest."""
    row = CATALOGUE.get(name) or BY_SYMBOL.get(name)
    if row is None:
        hint = did_you_mean(name, [*CATALOGUE, *also]) or "."
        raise ValueError(f"unknown operator {name!r}{hint} Add your own with PrimitiveSet.add(...)")
    return row


_SHARED = PrimitiveSet(CATALOGUE)
_SHARED._shared = True
