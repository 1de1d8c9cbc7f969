"""Records of finished tasks on disk: JSON lines that are only ever appended, so that interrupted experiments resume."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from fouriertree.io.strict_json import encoded, plain

Record = dict[str, Any]
#: how `plain` writes numbers that JSON does not have
NOT_FINITE = {text: float(text) for text in ("nan", "inf", "-inf")}


class Keyed(Protocol):
    """A task: `key` is equal for tasks with equal results, `file` is the name of the file of its record."""

    @property
    def key(self) -> str: ...

    @property
    def file(self) -> str: ...


class Store:
    """Records by task, in those files of a folder whose names match `pattern`; the last record of a key counts."""

    def __init__(self, folder: Path, pattern: str = "*.jsonl") -> None:
        self.folder = folder
        self._records = dict(
            keyed(entry)
            for path in sorted(folder.glob(pattern))
            for entry in read_lines(path)
            if "key" in entry
        )

    def __contains__(self, task: Keyed) -> bool:
        return task.key in self._records

    def __getitem__(self, task: Keyed) -> Record:
        return self._records[task.key]

    def __len__(self) -> int:
        return len(self._records)

    def append(self, task: Keyed, record: Record) -> None:
        """Keep a record; it is with the operating system when this returns."""
        append_line(self.folder / task.file, {"key": task.key, **record})
        self._records[task.key] = record


def keyed(entry: Record) -> tuple[str, Record]:
    """Key and record of an entry; older files of `fouriertree paper` nest the record."""
    key = entry.pop("key")
    return key, entry["record"] if entry.keys() == {"record"} else entry


def append_line(path: Path, entry: Record) -> None:
    """Append an entry to a file in one write; a half-written line that a killed process left is closed first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b", buffering=0) as file:
        file.seek(max(0, file.tell() - 1))
        is_torn = file.read(1) not in (b"", b"\n")
        file.write(b"\n" * is_torn + encoded(plain(entry, exact=True)))


def read_lines(path: Path) -> Iterator[Record]:
    """The entries of a file; lines that are no JSON objects are left out, and their tasks are run again."""
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield finite_or_not(entry)


def finite_or_not(value: Any) -> Any:
    """The value with "nan", "inf" and "-inf" as numbers."""
    if isinstance(value, dict):
        return {key: finite_or_not(part) for key, part in value.items()}
    if isinstance(value, list):
        return [finite_or_not(part) for part in value]
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value
