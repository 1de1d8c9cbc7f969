"""JSON that every reader accepts: there is no NaN and no infinity in it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any, exact: bool = False) -> Any:
    """The value in JSON's own types; numbers that are not finite become None, or text if `exact`.

    >>> plain({"loss": float("nan"), "bounds": (0.0, float("inf"))})
    {'loss': None, 'bounds': [0.0, None]}
    >>> plain(float("-inf"), exact=True)
    '-inf'
    """
    if hasattr(value, "tolist"):
        value = value.tolist()  # a scalar or an array of NumPy
    if isinstance(value, Mapping):
        return {str(key): plain(part, exact) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part, exact) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value) if exact else None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def encoded(content: Any, indent: int | None = None) -> bytes:
    """The content as one JSON document with a line break at its end; numbers that are not finite become null."""
    text = json.dumps(plain(content), indent=indent, ensure_ascii=False, allow_nan=False)
    # Unpaired surrogates, in a parameter say, have an escape in JSON, which is Python's own.
    return f"{text}\n".encode("utf-8", "backslashreplace")
