"""How kernels are compiled: cached on disk by the state of all sources, and announced while the user waits."""

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
#: what kernels are made of, and what they read numbers from
COMPILED = (
    "engine/*.py", "search/gp/*.py", "expr/_draw.py", "expr/_span.py", "expr/opcodes.py", "expr/catalogue.py",
    "expr/operators/*.py", "expr/templates.py", "expr/programs.py",
)  # fmt: skip
ANNOUNCE_AFTER_SECONDS = 1.0


@cache
def source_stamp() -> tuple[int, int]:
    """Newest modification time and total size of the sources that kernels are made of."""
    stats = [path.stat() for pattern in COMPILED for path in PACKAGE.glob(pattern)]
    return max(s.st_mtime_ns for s in stats), sum(s.st_size for s in stats)


class _PackageStamp:
    """A cache locator for our own files.

    Numba looks only at the file that holds a function, but our interpreter is made of kernels from other
    files: a change there must not leave stale machine code behind.
    """

    def get_source_stamp(self) -> tuple[int, int]:
        return source_stamp()

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        if PACKAGE not in Path(py_file).resolve().parents:
            return None
        return super().from_function(py_func, py_file)  # type: ignore[misc]


# Stamped twins of Numba's own locators go first; files that are not ours fall through to the originals.
caching.CacheImpl._locator_classes[:0] = [
    type(f"Stamped{locator.__name__}", (_PackageStamp, locator), {})
    for locator in caching.CacheImpl._locator_classes
]


def with_cache(decorate: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Apply a Numba decorator with its disk cache, or without where no folder can be written to."""

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
    """Say on stderr what is being waited for, the first time, and only if it takes longer than a moment."""
    if what in _announced:
        yield
        return
    timer = threading.Timer(
        ANNOUNCE_AFTER_SECONDS,
        lambda: print(
            f"fouriertree: {what} (some seconds, only the first time)…", file=sys.stderr, flush=True
        ),
    )
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    _announced.add(what)
