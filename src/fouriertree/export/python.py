"""Python source that needs NumPy and nothing else."""

from __future__ import annotations

from fouriertree.export.language import ARITHMETIC, Form, Language, calls, literals
from fouriertree.export.names import comments
from fouriertree.export.prepared import checked_function, prepared
from fouriertree.expr.catalogue import PRODUCT, UNARY
from fouriertree.model import Model

PYTHON = Language(
    "Python",
    ARITHMETIC
    | calls("sin cos tan exp log sqrt square abs tanh asin=arcsin acos=arccos atan=arctan", "np.{name}({a})")
    | {
        "pdiv": Form("np.where({b} == 0.0, 1.0, {a} / {b})", needed=(PRODUCT, UNARY)),
        "plog": Form("np.where({a} == 0.0, 0.0, np.log(np.abs({a})))", needed=(PRODUCT, 0)),
        "pow": Form("np.power({a}, {b})"),
        "min": Form("np.minimum({a}, {b})"),
        "max": Form("np.maximum({a}, {b})"),
    },
    literals("np.inf", "np.nan"),
)


def write(model: Model, function: str = "predict") -> str:
    """A function of the columns that the formula mentions: numbers, or arrays of one shape."""
    columns, code = prepared(model, PYTHON)
    names = [column.identifier for column in columns]
    lines = [
        "import numpy as np",
        "",
        "",
        f"def {checked_function(function)}({', '.join(names)}):",
        *comments("    #", columns),
        *(f"    {name} = np.asarray({name}, dtype=np.float64)" for name in names),
        '    with np.errstate(all="ignore"):',
        *(f"        {name} = {text}" for name, text in code.parts),
        f"        return {code.value}",
    ]
    return "\n".join(lines) + "\n"
