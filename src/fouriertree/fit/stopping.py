"""Stopping a fit early: by Ctrl-C, by another thread, by a memory limit."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

INTERRUPTED = "interrupted"
#: seconds within which signals count as one: `timeout` signals a process and then its group
SAME_SIGNAL_SECONDS = 0.1
#: seconds after an interrupt that ended a fit within which another one ends the loop of fits, as in cross-validation
REPEATED_INTERRUPT_SECONDS = 2.0


class InterruptCounter:
    """Counts interrupts; one within `seconds` of the last that was counted belongs to that one."""

    def __init__(self, seconds: float = SAME_SIGNAL_SECONDS) -> None:
        self.seconds, self.count, self._last = seconds, 0, -math.inf

    def another(self) -> bool:
        """Count an interrupt; False if it belongs to the one before it."""
        now = time.monotonic()
        if now - self._last < self.seconds:
            return False
        self._last = now
        self.count += 1
        return True


#: the interrupts that ended a fit of this process, to which SIGINT is sent
PROCESS_LOG = InterruptCounter(REPEATED_INTERRUPT_SECONDS)


class Stop:
    """A thread-safe request that a fit ends, polled between steps, so that results are complete."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.requested_at = math.inf  #: by `time.monotonic`
        self.searching = False  #: or making the table: there is a result to keep
        self.aborted = False  #: without a result
        self._presses = InterruptCounter()
        self._watch: Callable[[], str | None] | None = None

    def request(self, reason: str) -> None:
        """Keep the reason, unless there is one already."""
        if self.reason is None:
            self.reason, self.requested_at = reason, time.monotonic()

    def abort(self) -> None:
        """End the fit at once, without a result."""
        self.aborted = True
        raise KeyboardInterrupt

    def __call__(self) -> str | None:
        """Why the search is to end, or None."""
        if self.reason is None and self._watch is not None and (reason := self._watch()):
            self.request(reason)
        return self.reason

    def interrupt(self) -> None:
        """Handle Ctrl-C: the first one requests the end if there is a result to keep, others abort.

        One that closely follows the end of another fit aborts, too: it is meant for the whole loop of fits.
        """
        if not self._presses.another():
            return
        if self.searching and self._presses.count == 1 and PROCESS_LOG.another():
            self.request(INTERRUPTED)
        else:
            self.abort()

    def raise_if_aborted(self) -> None:
        """Raise the KeyboardInterrupt again that the search has caught."""
        if self.aborted:
            raise KeyboardInterrupt

    def start_search(self, watch: Callable[[], str | None] | None = None) -> None:
        """Mark that there is a result to keep from now on; `watch` is polled for stop reasons, too."""
        self.raise_if_aborted()
        self.searching, self._watch = True, watch

    @contextmanager
    def on_interrupt(self) -> Iterator[None]:
        """Let SIGINT request a stop, whereas Python's default handler would raise in the middle of a step.

        Handlers belong to the main thread, and one that the caller has installed takes precedence.
        """
        before = signal.getsignal(signal.SIGINT)
        # Another fit may not have been able to restore the default.
        left_over = getattr(before, "__func__", None) is Stop._handle
        here = threading.current_thread() is threading.main_thread()
        if not here or not (before is signal.default_int_handler or left_over):
            yield
            return
        signal.signal(signal.SIGINT, self._handle)
        try:
            yield
        finally:
            # A signal before the handler is replaced aborts.
            self.searching = False
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.interrupt()


def uninterrupted(work: Callable[[], None]) -> None:
    """Do work that an exception in the middle would corrupt: Ctrl-C raises here, and the work continues.

    Numba fills its tables the first time it compiles, and never again.  Signals raise in the main thread, so another
    thread does the work; later compilations wait for it.
    """
    if threading.current_thread() is not threading.main_thread():
        work()
        return
    done = threading.Event()
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=run, daemon=True).start()
    done.wait()
    if errors:
        raise errors[0]


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
