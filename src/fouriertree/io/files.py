"""Atomic writes."""

from __future__ import annotations

import os
import re
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file atomically: at any moment it has its old or its new content, never a part of it."""
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)  # a device or a pipe cannot be replaced
        else:
            replace_atomically(path.resolve(), content)
    except OSError as error:
        # It names the temporary file, or none.
        raise OSError(error.errno, error.strerror, str(path)) from None


def replace_atomically(path: Path, content: bytes) -> None:
    remove_stale_files(path)
    temporary = temporary_path(path)
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def temporary_path(path: Path) -> Path:
    """The file that this process writes before it replaces `path`."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def remove_stale_files(path: Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote `path`."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.(\d{{1,9}})\.part")
    for file in path.parent.iterdir():
        match = pattern.fullmatch(file.name)
        if match and is_dead(int(match[1])):
            file.unlink(missing_ok=True)


def is_dead(process: int) -> bool:
    # On Windows, os.kill(process, 0) ends the process.
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False
