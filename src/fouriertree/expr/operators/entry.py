"""`Primitive`, the entry of an operator: all its properties in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr.opcodes import ATOM
from fouriertree.expr.operators.forms import AnyForm

FloatArray = NDArray[np.float64]
Reference = Callable[..., FloatArray]


@dataclass(frozen=True)
class Pole:
    """Poles of an operator: at the zeros of a template over its arguments.

    Parameters
    ----------
    zero : str
        The template, over ``a`` and ``b``.
    only_if : callable, optional
        A condition on the last argument, a float or an array; if it is False there are no poles.
    protected : bool
        The operator has a finite value at the zero itself; values near it are unbounded.
    """

    zero: str
    only_if: Callable[[Any], Any] | None = None
    protected: bool = False

    @property
    def argument(self) -> int | None:
        """The index of the argument that must not vanish, if the template is that argument."""
        return {"a": 0, "b": 1}.get(self.zero)

    def may_occur(self, last: float | None, unknown: bool) -> bool:
        """Whether there can be poles for this last argument; `unknown` is returned if it is not a constant."""
        if self.only_if is None:
            return True
        return unknown if last is None else bool(self.only_if(last))


@dataclass(frozen=True)
class Domain:
    """The domain of an operator: lower ≤ a ≤ upper, if the condition on its last argument holds."""

    lower: float = -np.inf
    upper: float = np.inf
    only_if: Callable[[Any], Any] | None = None

    def may_bind(self, last: float | None) -> bool:
        """Whether the domain restricts the first argument, as far as the last one is known."""
        return self.only_if is None or last is None or bool(self.only_if(last))


@dataclass(frozen=True, eq=False)
class Primitive:
    """One operator: its values, derivatives, interval extension, algebraic properties and notation.

    The fields from ``sympy`` on are for custom operators: the SymPy form, the original function, whether Numba
    compiled it, the scalar Numba dispatcher if so, the reason if not, and an identifier for pickles.

    Parameters
    ----------
    name, arity, opcode : str, int, int
        Its name in formulas, and its opcode in programs. Opcodes are part of checkpoints and never change.
    reference : callable
        From float64 arrays to a float64 array, by NumPy: the definition of the operator.
    kernel : callable, optional
        ``kernel(m, x)`` or ``kernel(m, x, y)``: the same on vectors of SIMD lanes, where `m` has the elementary
        functions of the engine (`fouriertree.engine.elementary`).
    derivative : tuple of str, optional
        One template per argument, over the arguments ``a`` and ``b`` and the value ``v`` of the operator, valid almost
        everywhere. ``finite(t)`` is t, and in gradients 0 where t is infinite: a row with an infinite derivative of a
        finite value, as √a at 0, must not make the gradient infinite.
    interval : callable, optional
        ``interval(i, a)`` or ``interval(i, a, b)``: bounds of all values on the intervals, where `i` has interval
        arithmetic (the module ``interval`` of the certificate).
    forms : mapping
        Its notation in every language: a `Form`, `Nodes` or `Absent`.
    complexity : int
        Its contribution to the complexity of an expression.
    symbol, precedence : str, int
        Its infix notation, if it is not written as a call.
    pole, domain, jump : Pole, Domain, str
        Its poles, its domain, and a template at whose zeros it is not continuous.
    fault : str
        The message of certificates where a value is not finite.
    parity : int
        −1 for odd functions, 1 for even ones.
    zeros : tuple of int
        Arguments whose zeros are the zeros of the operator.
    multiplicative : bool
        A product, quotient or power: its sign is constant where those of its arguments are.
    protects : str, optional
        The operator that this one replaces where only protected ones are allowed.
    synonyms : tuple of str
        Other common names, for suggestions in error messages.
    label : str, optional
        Its label in plots of trees; by default the symbol or the name.
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
        # Opcodes of custom operators differ between processes, so a pickle has the function and not the opcode.
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
