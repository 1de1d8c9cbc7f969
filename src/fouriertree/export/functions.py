"""Source code of a function of the features, in languages with lines: one template per language."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from fouriertree.export.language import Language, literals
from fouriertree.export.prepared import checked_function, filled, prepared
from fouriertree.model import Model


@dataclass(frozen=True)
class Source(Language):
    """A language with the template of a file with the function, see `filled`."""

    template: str = ""
    kind: str = ""  #: the type of an argument
    empty: str = ""  #: arguments of a function that has none

    def write(self, model: Model, function: str = "predict") -> str:
        """A file with the function, which has one argument for every feature of the expression."""
        columns, code = prepared(model, self)
        arguments = ", ".join(self.kind + column.identifier for column in columns) or self.empty
        name = checked_function(function)
        return filled(self.template, columns, code, function=name, arguments=arguments)


def write_sympy(model: Model) -> str:
    """Source whose last line defines `formula`, a SymPy expression with one symbol per feature."""
    return filled(SYMPY_TEMPLATE, *prepared(model, SYMPY))


SYMPY = Language("SymPy", "sympy", literals("sympy.oo", "sympy.nan"))
SYMPY_TEMPLATE = """\
import sympy
$helper

$column = sympy.Symbol($ascii)
$part = $text
formula = $value
"""

#: takes scalars, or arrays of one shape
PYTHON_TEMPLATE = """\
import numpy as np
$helper


def $function($arguments):
    #   $column = $name
    $column = np.asarray($column, dtype=np.float64)
    with np.errstate(all="ignore"):
        $part = $text
        return $value
"""
PYTHON = Source("Python", "python", literals("np.inf", "np.nan"), template=PYTHON_TEMPLATE)

# -ffast-math breaks infinities and NaN.
C_TEMPLATE = """\
// Compile without -ffast-math.
#include <math.h>
$helper

//   $column = $name
double $function($arguments) {
    const double $part = $text;
    return $value;
}
"""
C = Source("C", "c", literals("INFINITY", "NAN"), template=C_TEMPLATE, kind="double ", empty="void")
CPP_TEMPLATE = C_TEMPLATE.replace("<math.h>", "<cmath>\n#include <limits>")
_LIMITS = "std::numeric_limits<double>::"
CPP_LITERALS = literals(f"{_LIMITS}infinity()", f"{_LIMITS}quiet_NaN()")
CPP = Source("C++", "cpp", CPP_LITERALS, template=CPP_TEMPLATE, kind="double ")

# Julia raises an exception where other languages give NaN (`log(-1.0)`, `sin(Inf)`), so such functions have a guard.
#: takes scalars, and `predict.(a, b)` vectors; integers, which overflow silently, are converted
JULIA_TEMPLATE = """\
$helper
#   $column = $name
function $function($arguments)
    $column = Float64($column)
    $part = $text
    return $value
end
"""
JULIA = Source("Julia", "julia", literals("Inf", "NaN"), template=JULIA_TEMPLATE)

# In MATLAB, log(-1), sqrt(-1), asin(2) and (-8)^(1/3) are complex, and min and max ignore NaN: helper functions give
# the real value or NaN.
#: takes arrays of one shape, also in Octave
MATLAB_TEMPLATE = """\
function result = $function($arguments)
  %   $column = $name
  $column = double($column);
  $part = $text;
  result = $value;
end
$helper
"""
MATLAB = Source("MATLAB", "matlab", literals("Inf", "NaN"), template=MATLAB_TEMPLATE)


def r_number(value: float) -> str:
    """A decimal literal if R reads it exactly, otherwise a hexadecimal one."""
    return repr(value) if reads_back(value) else value.hex()


def reads_back(value: float) -> bool:
    """Whether R reads back repr(value) exactly.

    R reads the digits as one integer and then multiplies or divides by a power of ten, in 64 bits or, on some
    processors, in 53, and rounds to 53 bits at the end.
    """
    _, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    whole = int("".join(map(str, digits)))
    if not isinstance(exponent, int) or abs(exponent) > 22 or whole >= 2**53:
        return False
    exact = Fraction(whole) * Fraction(10) ** exponent
    return float(rounded(exact, 64)) == abs(value)


def rounded(value: Fraction, bits: int) -> Fraction:
    """The nearest float with this number of bits."""
    if value == 0:
        return value
    unit = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() - bits)
    while value / unit >= 2**bits:
        unit *= 2
    return round(value / unit) * unit


#: takes vectors; R warns of every NaN
R_TEMPLATE = """\
$helper
#   $column = $name
$function <- function($arguments) {
  $column <- as.double($column)
  suppressWarnings({
    $part <- $text
    $value
  })
}
"""
R = Source("R", "r", literals("Inf", "NaN", r_number), template=R_TEMPLATE)

#: takes scalars, in browsers and in Node
JAVASCRIPT_TEMPLATE = """\
$helper
//   $column = $name
function $function($arguments) {
  const $part = $text;
  return $value;
}
if (typeof module !== "undefined") module.exports = { $function };
"""
JAVASCRIPT = Source("JavaScript", "javascript", literals("Infinity", "NaN"), template=JAVASCRIPT_TEMPLATE)
