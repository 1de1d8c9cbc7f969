"""`Primitive`, the entry of an operator: everything that the package knows about it, in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr.operators.forms import ATOM, AnyForm

FloatArray = NDArray[np.float64]
Reference = Callable[..., FloatArray]

_ARGUMENTS = {"a": 0, "b": 1}


@dataclass(frozen=True)
class Pole:
    """Where an operator has poles: at the zeros of a formula over its arguments.

    Parameters
    ----------
    zero : str
        The formula, over ``a`` and ``b``.
    only_if : callable, optional
        A condition on the last argument, a number or an array; without it there are no poles.
    protected : bool
        The operator has a value of its own at the zero itself; the poles lie beside it.
    """

    zero: str
    only_if: Callable[[Any], Any] | None = None
    protected: bool = False

    @property
    def argument(self) -> int | None:
        """The number of the argument that must not vanish, where the formula is nothing but that argument."""
        return _ARGUMENTS.get(self.zero)

    def may_occur(self, last: float | None, unknown: bool) -> bool:
        """Whether there can be poles for this last argument; `unknown` is the answer where it is no number."""
        if self.only_if is None:
            return True
        return unknown if last is None else bool(self.only_if(last))


@dataclass(frozen=True)
class Domain:
    """Where an operator has a value: lower ≤ a ≤ upper, if the condition on its last argument holds."""

    lower: float = -np.inf
    upper: float = np.inf
    only_if: Callable[[Any], Any] | None = None

    def may_bind(self, last: float | None) -> bool:
        """Whether the domain restricts the first argument, as far as the last one is known."""
        return self.only_if is None or last is None or bool(self.only_if(last))


@dataclass(frozen=True, eq=False)
class Primitive:
    """One operator: what it means as numbers, as a derivative, on intervals, as algebra and as text.

    Parameters
    ----------
    name, arity, opcode : str, int, int
        What formulas and programs call it. Opcodes are part of checkpoints and never change.
    reference : callable
        float64 arrays to a float64 array, by NumPy: the meaning of the operator.
    kernel : callable, optional
        ``kernel(m, x)`` or ``kernel(m, x, y)``: the same over vectors of SIMD lanes, where `m` holds the elementary
        functions of the engine (`fouriertree.engine.elementary`).
    derivative : tuple of str, optional
        One formula per argument, over the arguments ``a`` and ``b`` and the value ``v`` of the operator. It is right
        almost everywhere. ``finite(t)`` is t, and in gradients 0 where t is infinite: where the slope of a finite
        value is infinite, as that of √a at 0, a row says nothing about a small step and must not silence the others.
    interval : callable, optional
        ``interval(i, a)`` or ``interval(i, a, b)``: bounds of all values on the intervals, where `i` holds interval
        arithmetic (the module ``interval`` of the certificate).
    forms : mapping
        How it is written in every language: a `Form`, `Nodes` or `Absent`.
    complexity : int
        What it adds to the complexity of a formula.
    symbol, precedence : str, int
        How formulas write it, where not as a call.
    pole, domain, jump : Pole, Domain, str
        Where it is infinite, where it has a value, and a formula at whose zeros it is not continuous.
    fault : str
        What is said where a value is not finite.
    parity : int
        −1 for odd functions, 1 for even ones.
    zeros : tuple of int
        Arguments whose zeros are the zeros of the operator.
    multiplicative : bool
        A product, quotient or power: its sign does not change where those of its arguments do not.
    protects : str, optional
        The operator that this one stands in for where only protected ones are allowed.
    synonyms : tuple of str
        Names that people try, and that are too far from ours for a suggestion by spelling.
    label : str, optional
        What a picture of the tree shows, where not the symbol or the name.

    The fields from ``sympy`` on are for user operators: the SymPy form, the function as given, whether Numba
    compiled it, the scalar Numba dispatcher if so, the reason if not, and an identity for pickles.
    """

    name: str
    arity: int
    opcode: int
    reference: Reference
    kernel: Callable[..., Any] | None = None
    derivative: tuple[str, ...] | None = None
    interval: Callable[..., Any] | None = None
    forms: Mapping[str, AnyForm] = field(default_factory=dict)
    complexity: int = 1
    symbol: str | None = None
    precedence: int = ATOM
    pole: Pole | None = None
    domain: Domain | None = None
    jump: str | None = None
    fault: str = "a value that is not finite"
    parity: int = 0
    zeros: tuple[int, ...] = ()
    multiplicative: bool = False
    protects: str | None = None
    synonyms: tuple[str, ...] = ()
    label: str | None = None
    sympy: Callable[..., Any] | None = None
    python: Callable[..., Any] | None = None
    compiled: bool = False
    scalar: Any = None
    note: str = ""
    uid: str = ""

    def __repr__(self) -> str:
        return f"Primitive({self.name!r}, arity={self.arity}, opcode={self.opcode})"

    def __reduce__(self) -> tuple[Callable[..., Primitive], tuple[Any, ...]]:
        # User opcodes differ between processes, so a pickle carries the function and never the number.
        if self.python is None:
            from fouriertree.expr.catalogue import _builtin

            return _builtin, (self.name,)
        from fouriertree.expr.custom import restore

        parts = (self.name, self.python, self.arity, self.derivative, self.sympy, self.complexity, self.uid)
        return restore, (*parts, self.interval, dict(self.forms))


def quiet(function: Callable[..., Any]) -> Reference:
    """`function` as float64 -> float64, without floating-point warnings."""

    @wraps(function)
    def reference(*arguments: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            return np.asarray(function(*arguments), dtype=np.float64)

    return reference
