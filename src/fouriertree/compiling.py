"""Compilation of kernels: cached on disk by the state of all their sources, and announced if it takes long."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching

PACKAGE = Path(__file__).resolve().parent
#: sources of the kernels and of the constants in them
KERNEL_SOURCES = (
    "engine/*.py", "search/gp/*.py", "expr/_draw.py", "expr/_span.py", "expr/opcodes.py", "expr/catalogue.py",
    "expr/operators/*.py", "expr/calculus.py", "expr/programs.py",
)  # fmt: skip
ANNOUNCE_AFTER_SECONDS = 1.0


@cache
def source_stamp() -> tuple[int, int]:
    """Newest modification time and total size of the sources of the kernels."""
    stats = [path.stat() for pattern in KERNEL_SOURCES for path in PACKAGE.glob(pattern)]
    return max(s.st_mtime_ns for s in stats), sum(s.st_size for s in stats)


class _PackageStamp:
    """A cache locator for the files of the package.

    Numba checks only the file that defines a function, but a kernel contains kernels of other files.
    """

    def get_source_stamp(self) -> tuple[int, int]:
        return source_stamp()

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        if PACKAGE not in Path(py_file).resolve().parents:
            return None
        return super().from_function(py_func, py_file)  # type: ignore[misc]


# Stamped versions of Numba's locators come first; other files fall through to the originals.
caching.CacheImpl._locator_classes[:0] = [
    type(f"Stamped{locator.__name__}", (_PackageStamp, locator), {})
    for locator in caching.CacheImpl._locator_classes
]


def with_cache(decorate: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Apply a Numba decorator with its disk cache, or without one if no folder is writable."""

    def apply(function: Callable[..., Any]) -> Any:
        try:
            return decorate(*args, cache=True, **options)(function)
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            return decorate(*args, **options)(function)

    return apply


kernel = with_cache(numba.njit, nogil=True, error_model="numpy")

_announced: set[str] = set()


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Print on stderr what takes long, the first time only."""
    if what in _announced:
        yield
        return
    message = f"fouriertree: {what} (some seconds, only the first time)…"
    timer = threading.Timer(ANNOUNCE_AFTER_SECONDS, lambda: print(message, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    _announced.add(what)
