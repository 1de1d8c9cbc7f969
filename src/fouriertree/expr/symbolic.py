"""Expressions as SymPy objects: for printing and algebra, not for evaluation; imported late, since SymPy is slow."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import sympy

from fouriertree.expr.catalogue import Primitive
from fouriertree.expr.expression import Expression
from fouriertree.expr.opcodes import CONST
from fouriertree.expr.operators.forms import Form
from fouriertree.expr.postfix import fold
from fouriertree.expr.text import escaped

# SymPy computes integer powers exactly, which may be huge; so only small integers are converted, for display.
_LARGEST_INTEGER = 10**6


def to_sympy(expression: Expression, names: Sequence[str] | None = None) -> Any:
    """The SymPy form of `expression`; constant subtrees are evaluated."""

    def leaf(i: int) -> Any:
        column = expression.arg[i]
        if expression.op[i] == CONST:
            return float(expression.const[i])
        return sympy.Symbol(f"x{column}" if names is None else names[column])

    formula = _number(fold(expression, leaf, _apply))
    whole = {
        number: sympy.Integer(int(number))
        for number in formula.atoms(sympy.Float)
        if abs(number) <= _LARGEST_INTEGER and float(number).is_integer()
    }
    return formula.xreplace(whole)


def to_latex(expression: Expression, names: Sequence[str] | None = None) -> str:
    formula = to_sympy(expression, names)
    named = {symbol: f"\\text{{{escaped(symbol.name)}}}" for symbol in formula.free_symbols}
    plain = {symbol for symbol in named if symbol.name.isidentifier() and symbol.name.isascii()}
    return str(sympy.latex(formula, symbol_names={s: text for s, text in named.items() if s not in plain}))


def _apply(row: Primitive, *arguments: Any) -> Any:
    if all(isinstance(argument, float) for argument in arguments):
        # By NumPy: in SymPy, log(-1) is i*pi and exp(exp(exp(9))) takes forever.
        return float(row.reference(*(np.array([argument]) for argument in arguments))[0])
    form = row.sympy or (_template(row) if row.python is None else sympy.Function(row.name))
    try:
        return form(*map(_number, arguments))
    except ValueError:
        if row.python is not None:
            raise
        # SymPy raises for arguments that are not real; NumPy gives NaN.
        return sympy.nan


@cache
def _template(row: Primitive) -> Callable[..., Any]:
    """The SymPy function of a built-in operator, from its template."""
    form = row.forms["sympy"]
    assert isinstance(form, Form)
    arguments = ", ".join("ab"[: row.arity])
    source = f"lambda {arguments}: {form.filled({'a': 'a', 'b': 'b'})}"
    function: Callable[..., Any] = eval(source, {"sympy": sympy})
    return function


def _number(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    if np.isnan(value):
        return sympy.nan
    if np.isinf(value):
        return sympy.oo if value > 0 else -sympy.oo
    # Powers of 1 and -1 stay small, and SymPy drops factors that are the integer 1.
    return sympy.Integer(int(value)) if value in (-1.0, 0.0, 1.0) else sympy.Float(value)
