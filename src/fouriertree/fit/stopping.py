"""How a fit is asked to end before its time: by Ctrl-C, by another thread, by a limit on memory."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = "interrupted"
#: seconds within which signals are one press of a key: `timeout` signals a process and then its group
SAME_SIGNAL_SECONDS = 0.1
#: seconds after a press that ended a fit within which another one means all that follow, too, as in cross-validation
REPEATED_INTERRUPT_SECONDS = 2.0


class InterruptCounter:
    """Counts presses of Ctrl-C."""

    def __init__(self) -> None:
        self.count = 0
        self._last = 0.0

    def another(self) -> bool:
        """Count a signal; False if it belongs to the press before it."""
        now = time.monotonic()
        if self.count and now - self._last < SAME_SIGNAL_SECONDS:
            return False
        self._last = now
        self.count += 1
        return True


class Stop:
    """The wish that a fit ends: it is looked at between steps, so that what comes back is whole.

    Any thread may ask at any time; the first reason stands.
    """

    _ended_one_at = -math.inf  #: when a press of Ctrl-C last ended a fit of this process

    def __init__(self) -> None:
        self.reason: str | None = None
        self.asked_at = math.inf  #: by the clock `time.monotonic`
        self.searching = False  #: or describing what was found; before that, there is nothing to keep
        self.leaving = False  #: at once, and without a result
        self._presses = InterruptCounter()
        self._watch: Callable[[], str | None] | None = None

    def ask(self, reason: str) -> None:
        if self.reason is None:
            self.reason, self.asked_at = reason, time.monotonic()

    def __call__(self) -> str | None:
        """Why the search is to end, or None."""
        if self.reason is None and self._watch is not None and (reason := self._watch()):
            self.ask(reason)
        return self.reason

    def interrupt(self) -> None:
        """A press of Ctrl-C: the first one asks for the end where there is something to keep, others leave.

        So does one that follows on the end of another fit: who goes on pressing wants to leave the loop of fits.
        """
        if not self._presses.another():
            return
        now = time.monotonic()
        if (
            self.searching
            and self._presses.count == 1
            and now - Stop._ended_one_at > REPEATED_INTERRUPT_SECONDS
        ):
            Stop._ended_one_at = now
            self.ask(INTERRUPTED)
        else:
            self.leaving = True
            raise KeyboardInterrupt

    def leave_if_told(self) -> None:
        """Raise once more what the search has caught."""
        if self.leaving:
            raise KeyboardInterrupt

    def start_search(self, watch: Callable[[], str | None] | None = None) -> None:
        """From now on there is something to keep; `watch` is asked for reasons to end, too."""
        self.leave_if_told()
        self.searching, self._watch = True, watch

    @contextmanager
    def on_interrupt(self) -> Iterator[None]:
        """Let SIGINT ask, where Python's own handler would raise KeyboardInterrupt in the middle of a step.

        Handlers belong to the main thread, and one that somebody else has set knows what it wants.
        """
        mine = _Handler(self)
        before = signal.getsignal(signal.SIGINT)
        here = threading.current_thread() is threading.main_thread()
        if not here or not (before is signal.default_int_handler or isinstance(before, _Handler)):
            yield
            return
        signal.signal(signal.SIGINT, mine)
        try:
            yield
        finally:
            # Should a signal come before it is replaced, it has nothing to keep any more.
            self.searching = False
            signal.signal(signal.SIGINT, signal.default_int_handler)


class _Handler:
    """A class of its own, so that one fit knows the handler of another that could not put it back."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.stop.interrupt()


def uninterrupted(work: Callable[[], None]) -> None:
    """Do work that an exception in its midst would spoil for good: Ctrl-C leaves here, and the work goes on.

    Numba fills its tables the first time it compiles, and never again.  Signals raise in the main thread, so that the
    work is done by another one; whoever compiles next waits for it.
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
