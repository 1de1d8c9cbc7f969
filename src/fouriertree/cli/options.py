"""How options are read: what is wrong with one is said in our words, whatever library parses the command line."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

Choice = TypeVar("Choice", bound=StrEnum)

#: seeds are signed 64-bit numbers in compiled code
LARGEST_SEED = 2**63 - 1
#: the formats of tables, in words
TABLE = "CSV, TSV, Parquet (.parquet) or Excel (.xlsx), or - for text from the standard input"


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """A parser of whole numbers within limits."""
    limits = f"of at least {least}" if most is None else f"from {least} to {most}"

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            raise typer.BadParameter(f"it must be a whole number {limits}; got {str(text)!r}")
        return number

    return parse


def seconds(text: str) -> float:
    number = float_or_nan(text)
    if not 0.0 <= number < math.inf:
        raise typer.BadParameter(f"it must be a number of seconds, such as 30; got {str(text)!r}")
    return number


def megabytes(text: str) -> float:
    number = float_or_nan(text)
    if not 0.0 < number < math.inf:
        raise typer.BadParameter(f"it must be a number of megabytes, such as 4000; got {str(text)!r}")
    return number


def share(text: str) -> float:
    number = float_or_nan(text)
    if not 0.0 < number < 1.0:
        raise typer.BadParameter(f"it must be a share between 0 and 1, such as 0.9; got {str(text)!r}")
    return number


def float_or_nan(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def one_of(choices: type[Choice]) -> Callable[[str], Choice]:
    """A parser of the values of an enumeration."""

    def parse(text: str) -> Choice:
        try:
            return choices(text)
        except ValueError:
            known = ", ".join(choices)
            raise typer.BadParameter(f"there is no {str(text)!r}; choose one of {known}") from None

    return parse


# Options that several commands have.
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file that `fouriertree fit -o` wrote.")
]
Row = Annotated[
    int | None,
    typer.Option(
        "--row",
        parser=whole_number(0),
        metavar="N",
        help="Row of the table of formulas that `fit` printed; the chosen one unless told otherwise.",
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--sheet", metavar="NAME", help="Sheet of an Excel workbook; the first unless told otherwise."
    ),
]
