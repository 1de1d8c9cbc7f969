"""Records of runs on disk: JSON lines that are only ever appended, one file per algorithm and problem."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import IO, Any

from fouriertree.experiments.paper.tasks import Task

Record = dict[str, Any]
#: seconds between two calls of fsync at least: a power cut costs the runs of that time, a killed process none
SYNC_EVERY = 2.0


class Store:
    """A folder of journals.  What a killed process left half-written at the end of one is dropped.

    Use it in a `with` block when appending.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[Path, IO[bytes]] = {}
        self._synced = time.monotonic()
        self._records: dict[str, Record] = {}
        for path in sorted(folder.glob("*.jsonl")):
            self._records |= read_journal(path)

    def __contains__(self, task: Task) -> bool:
        return task.key in self._records

    def __getitem__(self, task: Task) -> Record:
        return self._records[task.key]

    def __len__(self) -> int:
        return len(self._records)

    def append(self, task: Task, record: Record) -> None:
        """Keep a record; it is with the operating system when this returns."""
        file = self._file(self.folder / f"{slug(task.group)}.jsonl")
        file.write(json.dumps({"key": task.key, "record": record}).encode() + b"\n")
        file.flush()
        self._records[task.key] = record
        if time.monotonic() - self._synced > SYNC_EVERY:
            self.sync()

    def sync(self) -> None:
        for file in self._open.values():
            os.fsync(file.fileno())
        self._synced = time.monotonic()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.sync()
        for file in self._open.values():
            file.close()
        self._open.clear()

    def _file(self, path: Path) -> IO[bytes]:
        if path not in self._open:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open[path] = path.open("ab")
        return self._open[path]


def read_journal(path: Path) -> dict[str, Record]:
    """Records by key.  Lines that are no records are removed from the file: their runs are done again."""
    lines = path.read_bytes().splitlines(keepends=True)
    parsed = [parse(line) for line in lines]
    if None in parsed:
        part = path.with_suffix(".part")
        part.write_bytes(b"".join(line for line, entry in zip(lines, parsed, strict=True) if entry))
        os.replace(part, path)
    return {entry["key"]: entry["record"] for entry in parsed if entry}


def parse(line: bytes) -> dict[str, Any] | None:
    """The entry of a line, or None for a line that was torn."""
    if not line.endswith(b"\n"):
        return None
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and {"key", "record"} <= entry.keys() else None


def slug(text: str) -> str:
    """A name for a file.

    >>> slug("table (1+lambda)-GP koza1")
    'table-1-lambda-gp-koza1'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
