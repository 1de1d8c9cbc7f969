"""Julia source without packages.

Julia raises an exception where the others say NaN (`log(-1.0)`, `sin(Inf)`), so such functions come with a guard.
"""

from __future__ import annotations

from fouriertree.export.language import ARITHMETIC, Form, Language, calls, literals
from fouriertree.export.names import comments
from fouriertree.export.prepared import checked_function, prepared
from fouriertree.expr.catalogue import PRODUCT, UNARY
from fouriertree.model import Model

HELPERS = {
    "sin": "sin_or_nan(a) = isinf(a) ? NaN : sin(a)",
    "cos": "cos_or_nan(a) = isinf(a) ? NaN : cos(a)",
    "tan": "tan_or_nan(a) = isinf(a) ? NaN : tan(a)",
    "log": "log_or_nan(a) = a < 0.0 ? NaN : log(a)",
    "sqrt": "sqrt_or_nan(a) = a < 0.0 ? NaN : sqrt(a)",
    "asin": "asin_or_nan(a) = abs(a) > 1.0 ? NaN : asin(a)",
    "acos": "acos_or_nan(a) = abs(a) > 1.0 ? NaN : acos(a)",
    "pow": """\
function power_or_nan(a, b)
    (a == 1.0 || b == 0.0) && return 1.0
    (isnan(a) || isnan(b)) && return NaN
    size = abs(a)^b
    (signbit(a) && !isinf(b)) || return size
    b == floor(b) && return mod(b, 2.0) == 1.0 ? -size : size
    return (a == 0.0 || isinf(a)) ? size : NaN
end""",
}
JULIA = Language(
    "Julia",
    ARITHMETIC
    | calls("exp abs tanh atan")
    | calls("sin cos tan log sqrt asin acos", "{name}_or_nan({a})")
    | {
        "pdiv": Form("({b} == 0.0 ? 1.0 : {a} / {b})", needed=(PRODUCT, UNARY)),
        "plog": Form("({a} == 0.0 ? 0.0 : log(abs({a})))"),
        "pow": Form("power_or_nan({a}, {b})"),
        "min": Form("min({a}, {b})"),
        "max": Form("max({a}, {b})"),
    },
    literals("Inf", "NaN"),
)


def write(model: Model, function: str = "predict") -> str:
    """A function of one number for every column that the formula mentions; `predict.(a, b)` takes vectors."""
    columns, code = prepared(model, JULIA)
    names = [column.identifier for column in columns]
    lines = [
        *(text for operator, text in HELPERS.items() if operator in code.operators),
        *comments("#", columns),
        f"function {checked_function(function)}({', '.join(names)})",
        # Whole numbers would overflow without a word.
        *(f"    {name} = Float64({name})" for name in names),
        *(f"    {name} = {text}" for name, text in code.parts),
        f"    return {code.value}",
        "end",
    ]
    return "\n".join(lines) + "\n"
