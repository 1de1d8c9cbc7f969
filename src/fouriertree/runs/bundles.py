"""Model files with several tables of equations: of a fit with several targets, or of a classifier."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fouriertree._version import __version__
from fouriertree.expr import PrimitiveSet
from fouriertree.io.files import write_atomically
from fouriertree.runs.model_file import (
    ModelFileError,
    ModelRecord,
    read_json,
    record_from_json,
    to_json,
    writable_part,
)

VERSION = 1
#: values of `format` in such a file, and the classes that read it
FORMATS = {"fouriertree-outputs": "SymbolicRegressor", "fouriertree-classifier": "SymbolicClassifier"}


def save_bundle(path: Path, kind: str, facts: Mapping[str, Any], parts: Sequence[ModelRecord]) -> None:
    tables = [to_json(writable_part(part)) for part in parts]
    content = {"format": kind, "version": VERSION, **facts, "parts": tables}
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(path, (text + "\n").encode())


def is_bundle(path: Path) -> bool:
    data = read_json(path)
    return isinstance(data, dict) and data.get("format") in FORMATS


def load_bundle(
    path: Path, kind: str, primitives: PrimitiveSet | None = None
) -> tuple[dict[str, Any], list[ModelRecord]]:
    """The content of the file, and its tables of equations; ModelFileError for any other file."""
    data = read_json(path)
    found = data.get("format") if isinstance(data, dict) else None
    if found != kind:
        other = FORMATS.get(found) if isinstance(found, str) else None
        hint = f"{other}.load reads it" if other else f"{FORMATS[kind]}.save writes one"
        raise ModelFileError(f"{path} is not such a file of a {FORMATS[kind]}; {hint}")
    if data.get("version") != VERSION:
        raise ModelFileError(
            f"{path} has format version {data.get('version')!r}, and fouriertree {__version__} reads {VERSION}; "
            "fit again, or install a newer fouriertree"
        )
    parts = data.get("parts")
    if not (isinstance(parts, list) and parts):
        raise ModelFileError(f"{path} is damaged: it has no tables of equations")
    return data, [record_from_json(path, part, primitives) for part in parts]
