"""The built-in operators: one row each, and the row says everything the package knows about the operator.

Values follow IEEE arithmetic as NumPy does it (``div(1, 0) = inf``, ``log(-1) = nan``), without warnings.
The two protected operators are those of the published runs: ``pdiv(a, 0) = 1``, ``plog(0) = 0``, and
otherwise ``a/b`` and ``ln|a|``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import opcodes as op

FloatArray = NDArray[np.float64]
Reference = Callable[..., FloatArray]

# Binding strength in formulas, weakest first. A negative number binds like a unary minus.
SUM, PRODUCT, UNARY, POWER, ATOM = 1, 2, 3, 4, 5


@dataclass(frozen=True, eq=False)
class Primitive:
    """One operator: what it means as numbers, as a derivative, as algebra and as text.

    ``derivative`` holds one formula per argument, over the argument names ``a`` and ``b``; it is right almost
    everywhere. The fields from ``python`` on are for user operators: the function as given, whether Numba
    compiled it, the scalar Numba dispatcher if so, the reason if not, and an identity for pickles.

    >>> CATALOGUE["mul"].derivative
    ('b', 'a')
    >>> CATALOGUE["plog"].reference(np.array([0.0, -1.0]))
    array([0., 0.])
    """

    name: str
    arity: int
    opcode: int
    reference: Reference
    derivative: tuple[str, ...] | None = None
    sympy: Callable[..., Any] | None = None
    complexity: int = 1
    symbol: str | None = None
    precedence: int = ATOM
    python: Callable[..., Any] | None = None
    compiled: bool = False
    scalar: Any = None
    note: str = ""
    uid: str = ""

    def __repr__(self) -> str:
        return f"Primitive({self.name!r}, arity={self.arity}, opcode={self.opcode})"

    def __reduce__(self) -> tuple[Callable[..., "Primitive"], tuple[Any, ...]]:
        # User opcodes differ between processes, so a pickle carries the function and never the number.
        if self.python is None:
            return _builtin, (self.name,)
        from fouriertree.expr.custom import restore

        return restore, (
            self.name,
            self.python,
            self.arity,
            self.derivative,
            self.sympy,
            self.complexity,
            self.uid,
        )


def _builtin(name: str) -> Primitive:
    return CATALOGUE[name]


def quiet(function: Callable[..., Any]) -> Reference:
    """`function` as float64 -> float64, without floating-point warnings."""

    @wraps(function)
    def reference(*arguments: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            return np.asarray(function(*arguments), dtype=np.float64)

    return reference


def _pdiv(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.where(b == 0, 1.0, np.divide(a, b))


def _plog(a: FloatArray) -> FloatArray:
    return np.where(a == 0, 0.0, np.log(np.abs(a)))


def _sympy(name: str) -> Callable[..., Any]:
    """SymPy's function `name`; SymPy takes half a second to import, so only when it is called."""

    def form(*arguments: Any) -> Any:
        import sympy

        return getattr(sympy, name)(*arguments)

    return form


def _sympy_extreme(name: str) -> Callable[..., Any]:
    def form(a: Any, b: Any) -> Any:
        import sympy

        try:
            return getattr(sympy, name)(a, b)
        except ValueError:  # SymPy found an argument that is not real: a NaN in our arithmetic.
            return sympy.nan

    return form


def _sympy_pdiv(a: Any, b: Any) -> Any:
    import sympy

    return sympy.Piecewise((1, sympy.Eq(b, 0)), (a / b, True))


def _sympy_plog(a: Any) -> Any:
    import sympy

    return sympy.Piecewise((0, sympy.Eq(a, 0)), (sympy.log(sympy.Abs(a)), True))


# +1 where a > b and on ties, else -1, so that on ties min and max follow exactly one of their arguments.
_SIDE = "pdiv(a - b, abs(a - b))"
_LOWER, _UPPER = f"0.5 - 0.5*{_SIDE}", f"0.5 + 0.5*{_SIDE}"

# Complexity: 1 for + - * and absolute value, 2 for division, small powers and comparisons, 3 for the others.
# a/b/b and inv(a)^2 instead of a/b^2 and inv(a^2): the square of the denominator overflows first.
_ROWS = (
    Primitive("add", 2, op.ADD, quiet(np.add), ("1", "1"), lambda a, b: a + b, 1, "+", SUM),
    Primitive("sub", 2, op.SUB, quiet(np.subtract), ("1", "-1"), lambda a, b: a - b, 1, "-", SUM),
    Primitive("mul", 2, op.MUL, quiet(np.multiply), ("b", "a"), lambda a, b: a * b, 1, "*", PRODUCT),
    Primitive(
        "div", 2, op.DIV, quiet(np.divide), ("inv(b)", "-(a/b/b)"), lambda a, b: a / b, 2, "/", PRODUCT
    ),
    Primitive("pdiv", 2, op.PDIV, quiet(_pdiv), ("inv(b)", "-(a/b/b)"), _sympy_pdiv, 2),
    Primitive("sin", 1, op.SIN, quiet(np.sin), ("cos(a)",), _sympy("sin"), 3),
    Primitive("cos", 1, op.COS, quiet(np.cos), ("-sin(a)",), _sympy("cos"), 3),
    Primitive("tan", 1, op.TAN, quiet(np.tan), ("1 + tan(a)^2",), _sympy("tan"), 3),
    Primitive("exp", 1, op.EXP, quiet(np.exp), ("exp(a)",), _sympy("exp"), 3),
    Primitive("log", 1, op.LOG, quiet(np.log), ("inv(a)",), _sympy("log"), 3),
    Primitive("plog", 1, op.PLOG, quiet(_plog), ("inv(a)",), _sympy_plog, 3),
    Primitive("sqrt", 1, op.SQRT, quiet(np.sqrt), ("0.5/sqrt(a)",), _sympy("sqrt"), 2),
    Primitive("square", 1, op.SQUARE, quiet(np.square), ("2*a",), lambda a: a**2, 2, "^2", POWER),
    Primitive("cube", 1, op.CUBE, quiet(lambda a: a * a * a), ("3*a^2",), lambda a: a**3, 2, "^3", POWER),
    Primitive("inv", 1, op.INV, quiet(lambda a: 1.0 / a), ("-inv(a)^2",), lambda a: 1 / a, 2),
    Primitive("neg", 1, op.NEG, quiet(np.negative), ("-1",), lambda a: -a, 1, "-", UNARY),
    Primitive("abs", 1, op.ABS, quiet(np.abs), ("pdiv(a, abs(a))",), _sympy("Abs"), 1),
    Primitive("tanh", 1, op.TANH, quiet(np.tanh), ("1 - tanh(a)^2",), _sympy("tanh"), 3),
    Primitive("asin", 1, op.ASIN, quiet(np.arcsin), ("inv(sqrt(1 - a^2))",), _sympy("asin"), 3),
    Primitive("acos", 1, op.ACOS, quiet(np.arccos), ("-inv(sqrt(1 - a^2))",), _sympy("acos"), 3),
    Primitive("atan", 1, op.ATAN, quiet(np.arctan), ("inv(1 + a^2)",), _sympy("atan"), 3),
    Primitive(
        "pow", 2, op.POW, quiet(np.power), ("b*a^(b - 1)", "a^b*log(a)"), lambda a, b: a**b, 3, "^", POWER
    ),
    Primitive("min", 2, op.MIN, quiet(np.minimum), (_LOWER, _UPPER), _sympy_extreme("Min"), 2),
    Primitive("max", 2, op.MAX, quiet(np.maximum), (_UPPER, _LOWER), _sympy_extreme("Max"), 2),
)

CATALOGUE = {row.name: row for row in _ROWS}
BY_OPCODE = {row.opcode: row for row in _ROWS}
BY_SYMBOL = {row.symbol: row for row in _ROWS if row.symbol and row.arity == 2} | {"**": CATALOGUE["pow"]}
