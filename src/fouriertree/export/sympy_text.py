"""Python source that builds the formula in SymPy."""

from __future__ import annotations

from fouriertree.export.language import Language, literals
from fouriertree.export.prepared import prepared
from fouriertree.model import Model

SYMPY = Language("SymPy", "sympy", literals("sympy.oo", "sympy.nan"))


def write(model: Model) -> str:
    """Source whose last line defines `formula`, over one symbol for every column, with the column's name."""
    columns, code = prepared(model, SYMPY)
    lines = [
        "import sympy",
        *code.helpers,
        "",
        # ascii() and not the name itself: what is not printable must not hide in source code.
        *(f"{column.identifier} = sympy.Symbol({column.name!a})" for column in columns),
        *(f"{name} = {text}" for name, text in code.parts),
        f"formula = {code.value}",
    ]
    return "\n".join(lines) + "\n"
