"""Julia source without packages.

Julia raises an exception where other languages give NaN (`log(-1.0)`, `sin(Inf)`), so such functions have a guard.
"""

from fouriertree.export.language import Language, literals
from fouriertree.export.names import comments
from fouriertree.export.prepared import checked_function, prepared
from fouriertree.model import Model

JULIA = Language("Julia", "julia", literals("Inf", "NaN"))


def write(model: Model, function: str = "predict") -> str:
    """A function of scalars, one for every feature of the expression; `predict.(a, b)` takes vectors."""
    columns, code = prepared(model, JULIA)
    names = [column.identifier for column in columns]
    lines = [
        *code.helpers,
        *comments("#", columns),
        f"function {checked_function(function)}({', '.join(names)})",
        # Integers overflow silently.
        *(f"    {name} = Float64({name})" for name in names),
        *(f"    {name} = {text}" for name, text in code.parts),
        f"    return {code.value}",
        "end",
    ]
    return "\n".join(lines) + "\n"
