"""Expressions as text, in SymPy and as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: gplearn treats smaller arguments as zero
GUARD = 0.001


def variables(lows: Sequence[float], names: Sequence[str] | None = None) -> list[Any]:
    """SymPy symbols x0, x1, … with assumptions about their signs, from the smallest value of each feature.

    On data without negative values, √(x²) and x are the same law.
    """
    import sympy

    signs = ("positive" if low > 0.0 else "nonnegative" if low == 0.0 else "real" for low in lows)
    names = [f"x{j}" for j in range(len(lows))] if names is None else names
    return [sympy.Symbol(name, **{sign: True}) for name, sign in zip(names, signs, strict=True)]


def parse(text: str, symbols: Mapping[str, Any]) -> Any:
    """The SymPy expression of a formula, with `symbols` by name and the function names that the systems print.

    >>> import sympy
    >>> parse("square(x0) + 2^x0", {"x0": sympy.Symbol("x0")})
    2**x0 + x0**2
    """
    import sympy

    functions = {
        "square": lambda a: a**2,
        "cube": lambda a: a**3,
        "inv": lambda a: 1 / a,
        "reciprocal": lambda a: 1 / a,
        "neg": lambda a: -a,
        "pow": lambda a, b: a**b,
        "div": lambda a, b: a / b,
        "abs": sympy.Abs,
        "min": sympy.Min,
        "max": sympy.Max,
        "pdiv": lambda a, b: sympy.Piecewise((1, sympy.Eq(b, 0)), (a / b, True)),
        "plog": lambda a: sympy.Piecewise((0, sympy.Eq(a, 0)), (sympy.log(sympy.Abs(a)), True)),
        # Opaque: lambdify cannot handle nested conditions.
        "guarded": sympy.Function("guarded"),
    }
    return sympy.parse_expr(text.replace("^", "**"), local_dict={**functions, **symbols})


def harmonic(x: Array) -> Array:
    """1 + 1/2 + … + 1/x, continued to real x by the digamma function."""
    from scipy.special import digamma

    return np.asarray(digamma(np.asarray(x) + 1.0) + np.euler_gamma)


def guarded(a: Array, guard: Array, otherwise: Array) -> Array:
    """gplearn's protected operators: a, or `otherwise` where the guard is nearly zero."""
    return np.where(np.abs(guard) > GUARD, a, otherwise)


FUNCTIONS = {"harmonic": harmonic, "guarded": guarded}


def compiled(formula: Any, symbols: Sequence[Any]) -> Callable[[Array], Array]:
    """A SymPy expression as a function of rows: (n_rows, n_features) -> (n_rows,); NaN where it is not real."""
    import sympy

    # Not with the module "scipy": SymPy omits parentheses around harmonic numbers there.
    function = sympy.lambdify(list(symbols), formula, modules=[FUNCTIONS, "numpy"], cse=True)

    def values(X: Array) -> Array:
        with np.errstate(all="ignore"):
            found = np.asarray(function(*X.T))
        if np.iscomplexobj(found):
            found = np.where(found.imag == 0.0, found.real, np.nan)
        return np.broadcast_to(found.astype(np.float64), (len(X),)).copy()

    return values


def evaluate(formula: Any, symbols: Sequence[Any], X: Array) -> Array:
    """Values of a SymPy expression on the rows of X: (n_rows,)."""
    return compiled(formula, symbols)(X)


def size(formula: Any) -> int:
    """Nodes of the expression tree, as SRBench counts them.

    >>> import sympy
    >>> size(sympy.sympify("2*x + sin(y)"))
    6
    """
    import sympy

    return sum(1 for _ in sympy.preorder_traversal(formula))
