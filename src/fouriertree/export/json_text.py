"""JSON from which `Model.from_json` makes the same model."""

from __future__ import annotations

import json

from fouriertree.export.errors import ExportError
from fouriertree.model import Model


def write(model: Model) -> str:
    """Names and terms; operators of your own go by their names."""
    try:
        text = json.dumps(model.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise ExportError("JSON has no infinities and no NaN, and a coefficient is one") from None
    # Halves of characters cannot be encoded, but JSON has an escape for them, which is Python's own.
    return text.encode("utf-8", "backslashreplace").decode() + "\n"
