"""Shared by all targets: requirements on error messages, and choices made from bytes."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TypeVar

Option = TypeVar("Option")
#: characters of an error message
LONGEST_SENTENCE = 2000


def check_sentence(message: str) -> None:
    """An error message is a short text without internals of Python."""
    assert message.strip(), "an empty error message"
    assert len(message) <= LONGEST_SENTENCE, f"an error message of {len(message)} characters"
    assert "Traceback" not in message
    assert "object at 0x" not in message


def text_of(data: bytes) -> str:
    """Any text, also with unpaired surrogates."""
    return data.decode("utf-8", "surrogateescape")


class Choices:
    """Decisions read from bytes, one after the other; after the last byte, the first option is taken."""

    def __init__(self, data: bytes) -> None:
        self._bytes = iter(data)

    def number(self, n: int) -> int:
        """An integer below n."""
        return next(self._bytes, 0) % n

    def pick(self, options: Sequence[Option]) -> Option:
        return options[self.number(len(options))]

    def with_probability(self, share: float) -> bool:
        return next(self._bytes, 255) < 256 * share


_folder: list[Path] = []


def scratch(name: str, content: bytes) -> Path:
    """A file with this content, in shared memory where available."""
    if not _folder:
        atexit.register(clean)
        memory = Path("/dev/shm")
        _folder.append(Path(mkdtemp(prefix="fuzz-", dir=memory if memory.is_dir() else None)))
    path = _folder[0] / name
    path.write_bytes(content)
    return path


def clean() -> None:
    """Remove the files."""
    while _folder:
        rmtree(_folder.pop())
