"""R source without packages."""

from decimal import Decimal
from fractions import Fraction

from fouriertree.export.language import Language, literals
from fouriertree.export.names import comments
from fouriertree.export.prepared import checked_function, prepared
from fouriertree.model import Model


def number(value: float) -> str:
    """A decimal literal if R reads it exactly, otherwise a hexadecimal one."""
    text = repr(value)
    return text if reads_back(value) else value.hex()


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


R = Language("R", "r", literals("Inf", "NaN", number))


def write(model: Model, function: str = "predict") -> str:
    """A function of vectors, one for every feature of the expression."""
    columns, code = prepared(model, R)
    names = [column.identifier for column in columns]
    lines = [
        *code.helpers,
        *comments("#", columns),
        f"{checked_function(function)} <- function({', '.join(names)}) {{",
        *(f"  {name} <- as.double({name})" for name in names),
        # R warns of every NaN.
        "  suppressWarnings({",
        *(f"    {name} <- {text}" for name, text in code.parts),
        f"    {code.value}",
        "  })",
        "}",
    ]
    return "\n".join(lines) + "\n"
