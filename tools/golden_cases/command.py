"""The command, in this process: `python -m fouriertree` without a second's start each time."""

from __future__ import annotations

import io
import json
import os
import runpy
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest.mock import patch

from golden_cases.names import option
from golden_cases.record import Record


@dataclass(frozen=True)
class Answer:
    status: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        return json.loads(self.stdout)


def run_command(arguments: list[str], folder: Path | None = None) -> Answer:
    """Run the command in a folder."""
    out, err = io.StringIO(), io.StringIO()
    # Help and tables are as wide as the terminal.
    wide = patch.dict(os.environ, {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"})
    arguments = ["fouriertree", *map(str, arguments)]
    with (
        wide, patch.object(sys, "argv", arguments), chdir(folder or Path.cwd()),
        redirect_stdout(out), redirect_stderr(err),
    ):  # fmt: skip
        try:
            runpy.run_module("fouriertree", run_name="__main__", alter_sys=False)
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Answer(status, out.getvalue(), err.getvalue())


def ask(record: Record, name: str, *arguments: str) -> Answer:
    """Run a command in the folder of the case; its status is a value, and what it says to people are words."""
    command = arguments[0]
    named = [option(command, a) if a.startswith("--") else a for a in arguments]
    answer = run_command(named, record.folder)
    record.value(f"{name}.status", answer.status)
    if "--json" in arguments and answer.stdout:
        record.document(name, answer.document)
    else:
        record.words(f"{name}.stdout", answer.stdout)
    record.words(f"{name}.stderr", answer.stderr)
    return answer


class TextOf(HTMLParser):
    """The text of a page, without styles, scripts and pictures."""

    SILENT = frozenset(["style", "script", "svg"])

    def __init__(self, page: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in self.SILENT:
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside and data.strip():
            self.lines.append(" ".join(data.split()))
