"""JSON, which `Model.from_json` inverts."""

import json

from fouriertree.export.errors import ExportError
from fouriertree.model import Model


def write(model: Model) -> str:
    """Names and terms; custom operators are stored by name."""
    try:
        text = json.dumps(model.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise ExportError("JSON has no infinities and no NaN, but a coefficient is not finite") from None
    # Surrogates cannot be encoded, but JSON has the same escape for them as Python.
    return text.encode("utf-8", "backslashreplace").decode() + "\n"
