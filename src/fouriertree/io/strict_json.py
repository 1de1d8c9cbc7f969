"""Strict JSON: without NaN and infinities, which not every parser accepts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any, exact: bool = False) -> Any:
    """The value in JSON types; numbers that are not finite become None, or strings if `exact`.

    >>> plain({"loss": float("nan"), "bounds": (0.0, float("inf"))})
    {'loss': None, 'bounds': [0.0, None]}
    >>> plain(float("-inf"), exact=True)
    '-inf'
    """
    if hasattr(value, "tolist"):
        value = value.tolist()  # a NumPy scalar or array
    if isinstance(value, Mapping):
        return {str(key): plain(part, exact) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part, exact) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value) if exact else None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def encoded(content: Any, indent: int | None = None) -> bytes:
    """The content as a JSON document with a final line break; numbers that are not finite become null."""
    text = json.dumps(plain(content), indent=indent, ensure_ascii=False, allow_nan=False)
    # Unpaired surrogates have the same escape in JSON and in Python.
    return f"{text}\n".encode("utf-8", "backslashreplace")
