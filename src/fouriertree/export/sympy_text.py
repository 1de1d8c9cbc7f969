"""Python source that builds the formula in SymPy."""

from __future__ import annotations

from fouriertree.export.language import ARITHMETIC, Form, Language, calls, literals
from fouriertree.export.prepared import prepared
from fouriertree.expr.catalogue import ATOM, POWER, PRODUCT, UNARY
from fouriertree.model import Model

SYMPY = Language(
    "SymPy",
    ARITHMETIC
    | calls("sin cos tan exp log sqrt abs=Abs tanh asin acos atan", "sympy.{name}({a})")
    | {
        "square": Form("{a}**2", POWER, (ATOM, 0)),
        "cube": Form("{a}**3", POWER, (ATOM, 0)),
        "inv": Form("1 / {a}", PRODUCT, (UNARY, 0)),
        "pdiv": Form("sympy.Piecewise((1, sympy.Eq({b}, 0)), ({a} / {b}, True))", needed=(PRODUCT, UNARY)),
        "plog": Form("sympy.Piecewise((0, sympy.Eq({a}, 0)), (sympy.log(sympy.Abs({a})), True))"),
        "pow": Form("{a}**{b}", POWER, (ATOM, UNARY)),
        "min": Form("sympy.Min({a}, {b})"),
        "max": Form("sympy.Max({a}, {b})"),
    },
    literals("sympy.oo", "sympy.nan"),
)


def write(model: Model) -> str:
    """Source whose last line defines `formula`, over one symbol for every column, with the column's name."""
    columns, code = prepared(model, SYMPY)
    lines = [
        "import sympy",
        "",
        # ascii() and not the name itself: what is not printable must not hide in source code.
        *(f"{column.identifier} = sympy.Symbol({column.name!a})" for column in columns),
        *(f"{name} = {text}" for name, text in code.parts),
        f"formula = {code.value}",
    ]
    return "\n".join(lines) + "\n"
