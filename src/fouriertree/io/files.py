"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import re
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that at any moment there is the old one or the new one, and never a part."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)  # a device or a pipe cannot be replaced
    else:
        replace_atomically(path.resolve(), content)


def replace_atomically(path: Path, content: bytes) -> None:
    remove_stale_files(path)
    part = temporary_path(path)
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def temporary_path(path: Path) -> Path:
    """Where this process writes the file before it takes its place."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def remove_stale_files(path: Path) -> None:
    """Remove what processes left behind that were killed while they wrote this file."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.(\d{{1,9}})\.part")
    for found in path.parent.iterdir():
        match = pattern.fullmatch(found.name)
        if match and is_dead(int(match[1])):
            found.unlink(missing_ok=True)


def is_dead(process: int) -> bool:
    # On Windows, os.kill ends the process that it is asked about.
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
