"""A MATLAB function file, also for Octave.

In MATLAB, log(-1), sqrt(-1), asin(2) and (-8)^(1/3) are complex, and min and max ignore NaN: helper functions give the
real value or NaN.
"""

from fouriertree.export.language import Language, literals
from fouriertree.export.names import comments
from fouriertree.export.prepared import checked_function, prepared
from fouriertree.model import Model

MATLAB = Language("MATLAB", "matlab", literals("Inf", "NaN"))


def write(model: Model, function: str = "predict") -> str:
    """The file `predict.m`: a function of arrays of one shape, one for every feature of the expression."""
    columns, code = prepared(model, MATLAB)
    names = [column.identifier for column in columns]
    lines = [
        f"function result = {checked_function(function)}({', '.join(names)})",
        *comments("  %", columns),
        *(f"  {name} = double({name});" for name in names),
        *(f"  {name} = {text};" for name, text in code.parts),
        f"  result = {code.value};",
        "end",
        *code.helpers,
    ]
    return "\n".join(lines) + "\n"
