"""Tests for numbers in JSON values and in text."""

from __future__ import annotations

import math
from typing import Any


def is_finite(number: Any) -> bool:
    """Whether the value is a JSON number within the range of float64."""
    try:
        return type(number) in (int, float) and math.isfinite(number)
    except OverflowError:  # an integer beyond float64
        return False


def is_number(text: str | bytes) -> bool:
    """Whether the text parses as a float."""
    try:
        float(text)
    except ValueError:
        return False
    return True
