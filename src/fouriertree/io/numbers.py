"""Whether a value or a text is a number."""

from __future__ import annotations

import math
from typing import Any


def is_finite(number: Any) -> bool:
    """Whether it is a number as JSON has it, within float64."""
    try:
        return type(number) in (int, float) and math.isfinite(number)
    except OverflowError:  # a whole number beyond float64
        return False


def is_number(text: str | bytes) -> bool:
    """Whether the text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
