"""How much memory the process holds, and a limit on it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

MEGABYTE = 1e6
#: what describing the formulas takes after the search: some vectors of values for each of them
TABLE_BYTES_PER_ROW = 400


class MemoryLimitError(ValueError):
    """A limit that the process is beyond already."""


def resident_megabytes() -> float:
    """Memory that the process and those that it has started hold now, in megabytes."""
    # Only those who set a limit need it.
    import psutil

    here = psutil.Process()
    total = float(here.memory_info().rss)
    for helper in here.children():
        with suppress(psutil.Error):
            total += float(helper.memory_info().rss)
    return total / MEGABYTE


def check_memory(megabytes: float | None) -> None:
    """MemoryLimitError for a limit below what the process holds already."""
    if megabytes is None:
        return
    used = resident_megabytes()
    if megabytes < used:
        raise MemoryLimitError(
            f"memory_limit is {megabytes:g} MB, but the process holds {used:.0f} MB already; give more than that, "
            "or None for no limit"
        )


def memory_watch(megabytes: float | None, n_rows: int) -> Callable[[], str | None] | None:
    """Says that memory is used up while there is still room to describe what was found; None without a limit."""
    if megabytes is None:
        return None
    most = float(megabytes) - TABLE_BYTES_PER_ROW * n_rows / MEGABYTE

    def watch() -> str | None:
        return "memory used up" if resident_megabytes() > most else None

    return watch
