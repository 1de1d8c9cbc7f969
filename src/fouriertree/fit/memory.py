"""Resident memory of the process, and a limit on it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

MEGABYTE = 1e6
#: bytes that finalizing the candidates needs after the search
TABLE_BYTES_PER_ROW = 400


class MemoryLimitError(ValueError):
    """A limit below the memory that the process uses already."""


def resident_megabytes() -> float:
    """Resident memory of the process and its children, in megabytes."""
    # Imported only if there is a limit.
    import psutil

    here = psutil.Process()
    total = float(here.memory_info().rss)
    for child in here.children():
        with suppress(psutil.Error):
            total += float(child.memory_info().rss)
    return total / MEGABYTE


def check_memory(megabytes: float | None) -> None:
    """Raise MemoryLimitError for a limit below the memory that the process uses already."""
    if megabytes is not None and megabytes < (used := resident_megabytes()):
        raise MemoryLimitError(
            f"memory_limit is {megabytes:g} MB, but the process uses {used:.0f} MB already; set more than that, "
            "or None for no limit"
        )


def memory_watch(megabytes: float | None, n_rows: int) -> Callable[[], str | None] | None:
    """A function that returns a stop reason once only the memory for finalizing is left; None without a limit."""
    if megabytes is None:
        return None
    most = float(megabytes) - TABLE_BYTES_PER_ROW * n_rows / MEGABYTE
    return lambda: "memory used up" if resident_megabytes() > most else None
