"""C and C++ source that needs the mathematical library and nothing else."""

from __future__ import annotations

from fouriertree.export.language import ARITHMETIC, Form, Language, calls, literals
from fouriertree.export.names import comments
from fouriertree.export.prepared import checked_function, prepared
from fouriertree.expr.catalogue import PRODUCT, UNARY
from fouriertree.model import Model


def table(name: str, space: str, inf: str, nan: str) -> Language:
    call = f"{space}{{name}}({{a}})"
    return Language(
        name,
        ARITHMETIC
        | calls("sin cos tan exp log sqrt abs=fabs tanh asin acos atan", call)
        | {
            "pdiv": Form("({b} == 0.0 ? 1.0 : {a} / {b})", needed=(PRODUCT, UNARY)),
            "plog": Form(f"({{a}} == 0.0 ? 0.0 : {space}log({space}fabs({{a}})))"),
            "pow": Form(f"{space}pow({{a}}, {{b}})"),
            # Written so that a NaN on either side comes out; fmin would drop it.
            "min": Form("({a} <= {b} || {a} != {a} ? {a} : {b})"),
            "max": Form("({a} >= {b} || {a} != {a} ? {a} : {b})"),
        },
        literals(inf, nan),
    )


C = table("C", "", "INFINITY", "NAN")
CPP = table(
    "C++", "std::", "std::numeric_limits<double>::infinity()", "std::numeric_limits<double>::quiet_NaN()"
)


def write(model: Model, function: str = "predict") -> str:
    """`double predict(double …)`, with one argument for every column that the formula mentions."""
    return source(model, C, ["#include <math.h>"], function, empty="void")


def write_cpp(model: Model, function: str = "predict") -> str:
    """The same for C++."""
    return source(model, CPP, ["#include <cmath>", "#include <limits>"], function, empty="")


def source(model: Model, language: Language, includes: list[str], function: str, empty: str) -> str:
    columns, code = prepared(model, language)
    arguments = ", ".join(f"double {column.identifier}" for column in columns) or empty
    lines = [
        # Infinities and NaN are to stay what they are.
        "// Compile without -ffast-math.",
        *includes,
        "",
        *comments("//", columns),
        f"double {checked_function(function)}({arguments}) {{",
        *(f"    const double {name} = {text};" for name, text in code.parts),
        f"    return {code.value};",
        "}",
    ]
    return "\n".join(lines) + "\n"
