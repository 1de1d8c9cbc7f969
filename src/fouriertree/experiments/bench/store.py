"""Results on disk: one file of JSON lines, only ever appended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fouriertree.experiments.bench.tasks import Task

Record = dict[str, Any]
FILE = "results.jsonl"


class Store:
    """The results in a folder, by task.  A line that a killed process left half-written is done again."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        text = self.path.read_bytes() if self.path.exists() else b""
        self._records = {record["key"]: record for line in text.splitlines() if (record := parse(line))}
        # A torn line ends before the next record, or it would take that one with it.
        self._before = "" if not text or text.endswith(b"\n") else "\n"

    def __contains__(self, task: Task) -> bool:
        return task.key in self._records

    def __getitem__(self, task: Task) -> Record:
        return self._records[task.key]

    def __len__(self) -> int:
        return len(self._records)

    def append(self, task: Task, result: Record) -> None:
        """Keep a result; it is with the operating system when this returns."""
        record = {"key": task.key, **task.to_json(), **result}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(self._before + json.dumps(record) + "\n")
        self._before = ""
        self._records[task.key] = record


def parse(line: bytes) -> Record | None:
    """The record of a line, or None for a line that is none."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and "key" in record else None
