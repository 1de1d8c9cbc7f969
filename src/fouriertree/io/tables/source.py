"""The bytes of a table: from a file, a pipe or the standard input, compressed or not."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, cast

from fouriertree.errors import InputError, unreadable

#: the path that denotes the standard input, or the standard output
DASH = Path("-")
GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Source:
    """Bytes that can be read more than once, decompressed.  `name` is for messages."""

    name: str
    suffix: str = ""
    path: Path | None = None
    content: bytes = b""

    def open(self) -> BinaryIO:
        if self.path is None:
            return BytesIO(self.content)
        with self.path.open("rb") as file:
            compressed = file.read(len(GZIP)) == GZIP
        return cast(BinaryIO, gzip.open(self.path)) if compressed else self.path.open("rb")

    def lines(self) -> TextIOWrapper:
        """The content as UTF-8 text, with or without a byte order mark."""
        return TextIOWrapper(self.open(), encoding="utf-8-sig", newline="")


def source_of(path: Path) -> Source:
    """The source of a path; the content of a pipe is read at once, since it can be read only once."""
    name, read = ("the standard input", read_stdin) if path == DASH else (str(path), path.read_bytes)
    suffix = "".join(path.suffixes[-2:]).lower().removesuffix(".gz").rpartition(".")[2]
    if path != DASH and (path.is_file() or path.is_dir() or not path.exists()):
        return Source(name, suffix, path)
    with reading(name):
        content = read()
        return Source(name, suffix, content=gzip.decompress(content) if content.startswith(GZIP) else content)


def read_stdin() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("the standard input is closed; name a file, or send a table through a pipe")
    return sys.stdin.buffer.read()


def optional_package(module: str, file_format: str) -> Any:
    """The top-level package of a module, or InputError with the extra to install."""
    try:
        return __import__(module)
    except ImportError:
        command = f"pip install 'fouriertree[{file_format.lower()}]'"
        raise InputError(f"{file_format} files need a package: {command}") from None


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn errors of reading, decompressing and decoding into InputError."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{name} is compressed and damaged; compress it again") from None
    except OSError as error:
        raise unreadable(name, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{name} is not text in UTF-8; if it is a CSV file, save it as UTF-8") from None
