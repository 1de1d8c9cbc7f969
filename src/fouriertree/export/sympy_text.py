"""Python source that builds a SymPy expression."""

from fouriertree.export.language import Language, literals
from fouriertree.export.prepared import prepared
from fouriertree.model import Model

SYMPY = Language("SymPy", "sympy", literals("sympy.oo", "sympy.nan"))


def write(model: Model) -> str:
    """Source whose last line defines `formula`, with one symbol per feature."""
    columns, code = prepared(model, SYMPY)
    lines = [
        "import sympy",
        *code.helpers,
        "",
        # ascii() escapes characters that are not printable.
        *(f"{column.identifier} = sympy.Symbol({column.name!a})" for column in columns),
        *(f"{name} = {text}" for name, text in code.parts),
        f"formula = {code.value}",
    ]
    return "\n".join(lines) + "\n"
