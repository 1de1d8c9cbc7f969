"""Records (frozen dataclasses) as plain data for checkpoints, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

#: key of the name of a record
RECORD = "record"


def to_plain(value: Any) -> Any:
    """Records as dictionaries with their names, tuples as lists; all else unchanged.

    >>> from fouriertree.search.hybrid.evaluation import Cost
    >>> to_plain((Cost(1, 2), None))
    [{'record': 'Cost', 'candidates': 1, 'traverses': 2}, None]
    """
    if isinstance(value, tuple | list):
        return [to_plain(part) for part in value]
    if hasattr(value, "to_plain"):
        return {RECORD: type(value).__name__, **value.to_plain()}
    if is_dataclass(value):
        parts = {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
        return {RECORD: type(value).__name__, **parts}
    return value


def from_plain(plain: Any, records: Mapping[str, type]) -> Any:
    """The value of `to_plain`; records are made from the classes given by name, and from no others."""
    if isinstance(plain, list):
        return tuple(from_plain(part, records) for part in plain)
    if isinstance(plain, Mapping):
        record, content = (
            records[plain[RECORD]],
            {name: part for name, part in plain.items() if name != RECORD},
        )
        if hasattr(record, "from_plain"):
            return record.from_plain(content)
        return record(**{name: from_plain(part, records) for name, part in content.items()})
    return plain
