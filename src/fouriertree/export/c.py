"""C and C++ source that needs only the mathematical library."""

from fouriertree.export.language import Language, literals
from fouriertree.export.names import comments
from fouriertree.export.prepared import checked_function, prepared
from fouriertree.model import Model

C = Language("C", "c", literals("INFINITY", "NAN"))
CPP = Language(
    "C++",
    "cpp",
    literals("std::numeric_limits<double>::infinity()", "std::numeric_limits<double>::quiet_NaN()"),
)


def write(model: Model, function: str = "predict") -> str:
    """`double predict(double …)`, with one argument for every feature of the expression."""
    return source(model, C, ["#include <math.h>"], function, empty="void")


def write_cpp(model: Model, function: str = "predict") -> str:
    """The same for C++."""
    return source(model, CPP, ["#include <cmath>", "#include <limits>"], function, empty="")


def source(model: Model, language: Language, includes: list[str], function: str, empty: str) -> str:
    columns, code = prepared(model, language)
    arguments = ", ".join(f"double {column.identifier}" for column in columns) or empty
    lines = [
        # -ffast-math breaks infinities and NaN.
        "// Compile without -ffast-math.",
        *includes,
        *code.helpers,
        "",
        *comments("//", columns),
        f"double {checked_function(function)}({arguments}) {{",
        *(f"    const double {name} = {text};" for name, text in code.parts),
        f"    return {code.value};",
        "}",
    ]
    return "\n".join(lines) + "\n"
