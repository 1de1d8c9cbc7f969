"""A MATLAB function file, which Octave reads as well.

There, log(-1), sqrt(-1), asin(2) and (-8)^(1/3) are complex, and min and max leave NaN out: functions of their own
give the real value or NaN.
"""

from __future__ import annotations

from fouriertree.export.language import ARITHMETIC, Form, Language, calls, infix, literals
from fouriertree.export.names import comments
from fouriertree.export.prepared import checked_function, prepared
from fouriertree.expr.catalogue import PRODUCT, UNARY
from fouriertree.model import Model


def _where(name: str, function: str, real: str) -> str:
    return f"""
function r = {name}(a)
  r = nan(size(a));
  real = {real};
  r(real) = {function}(a(real));
end"""


def _extreme(name: str) -> str:
    return f"""
function r = {name}_with_nan(a, b)
  r = {name}(a, b);
  r(isnan(a) | isnan(b)) = NaN;
end"""


HELPERS = {
    "log": _where("log_or_nan", "log", "a >= 0"),
    "sqrt": _where("sqrt_or_nan", "sqrt", "a >= 0"),
    "asin": _where("asin_or_nan", "asin", "abs(a) <= 1"),
    "acos": _where("acos_or_nan", "acos", "abs(a) <= 1"),
    "min": _extreme("min"),
    "max": _extreme("max"),
    "pdiv": """
function r = pdiv(a, b)
  r = a ./ b;
  r((b == 0) & true(size(r))) = 1;
end""",
    "plog": """
function r = plog(a)
  r = log(abs(a));
  r(a == 0) = 0;
end""",
    "pow": """
function r = power_or_nan(a, b)
  a = a .* ones(size(b));
  b = b .* ones(size(a));
  r = abs(a) .^ b;
  odd = (a < 0 | (a == 0 & 1 ./ a < 0)) & mod(b, 2) == 1;
  r(odd) = -r(odd);
  r(a < 0 & ~isinf(a) & ~isinf(b) & b ~= floor(b)) = NaN;
  r(a == 1 | b == 0) = 1;
end""",
}
MATLAB = Language(
    "MATLAB",
    ARITHMETIC
    | calls("sin cos tan exp abs tanh atan plog")
    | calls("log sqrt asin acos", "{name}_or_nan({a})")
    | {
        "mul": infix(".*", PRODUCT),
        "div": infix("./", PRODUCT),
        "square": Form("{a} .* {a}", PRODUCT, (UNARY, 0)),
        "cube": Form("{a} .* {a} .* {a}", PRODUCT, (UNARY, 0)),
        "inv": Form("1.0 ./ {a}", PRODUCT, (UNARY, 0)),
        "pdiv": Form("pdiv({a}, {b})"),
        "pow": Form("power_or_nan({a}, {b})"),
        "min": Form("min_with_nan({a}, {b})"),
        "max": Form("max_with_nan({a}, {b})"),
    },
    literals("Inf", "NaN"),
)


def write(model: Model, function: str = "predict") -> str:
    """The file `predict.m`: a function of arrays of one shape, one for every column that the formula mentions."""
    columns, code = prepared(model, MATLAB)
    names = [column.identifier for column in columns]
    lines = [
        f"function result = {checked_function(function)}({', '.join(names)})",
        *comments("  %", columns),
        *(f"  {name} = double({name});" for name in names),
        *(f"  {name} = {text};" for name, text in code.parts),
        f"  result = {code.value};",
        "end",
        *(text for operator, text in HELPERS.items() if operator in code.operators),
    ]
    return "\n".join(lines) + "\n"
