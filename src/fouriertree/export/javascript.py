"""JavaScript source, for browsers and for Node."""

from __future__ import annotations

from fouriertree.export.language import ARITHMETIC, BROKEN_POWER, WHOLE_POWER, Form, Language, calls, literals
from fouriertree.export.names import comments
from fouriertree.export.prepared import checked_function, prepared
from fouriertree.expr.catalogue import PRODUCT, UNARY
from fouriertree.model import Model

JAVASCRIPT = Language(
    "JavaScript",
    ARITHMETIC
    | calls("sin cos tan exp log sqrt abs tanh asin acos atan", "Math.{name}({a})")
    | {
        "pdiv": Form("({b} === 0 ? 1.0 : {a} / {b})", needed=(PRODUCT, UNARY)),
        "plog": Form("({a} === 0 ? 0.0 : Math.log(Math.abs({a})))"),
        WHOLE_POWER: Form("Math.pow({a}, {b})"),
        BROKEN_POWER: Form("Math.pow({a}, {b})"),
        # 1 to any power is 1, and so is -1 to an infinite one: there JavaScript says NaN.
        "pow": Form(
            "(Math.abs({a}) === 1 && ({a} === 1 || Math.abs({b}) === Infinity) ? 1.0 : Math.pow({a}, {b}))"
        ),
        "min": Form("Math.min({a}, {b})"),
        "max": Form("Math.max({a}, {b})"),
    },
    literals("Infinity", "NaN"),
)


def write(model: Model, function: str = "predict") -> str:
    """A function of one number for every column that the formula mentions."""
    columns, code = prepared(model, JAVASCRIPT)
    name = checked_function(function)
    lines = [
        *comments("//", columns),
        f"function {name}({', '.join(column.identifier for column in columns)}) {{",
        *(f"  const {part} = {text};" for part, text in code.parts),
        f"  return {code.value};",
        "}",
        f'if (typeof module !== "undefined") module.exports = {{ {name} }};',
    ]
    return "\n".join(lines) + "\n"
