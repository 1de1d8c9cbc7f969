"""Ctrl-C and SIGTERM: the first one ends the search, and no other one may cost what was found."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: an interrupt that has had no effect for so long was swallowed by someone, and the next one counts again
EFFECT_SECONDS = 3.0


class Interrupts:
    """A signal handler that interrupts until the search is over, and from then on only remembers the signal."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.since = 0.0
        self.regressor: object | None = None  #: the one that searches, once there is one

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        in_effect = self.number is not None and now - self.since < EFFECT_SECONDS
        if self.number is None or not in_effect:
            self.number, self.since = number, now
        if not in_effect and not self.searched:
            raise KeyboardInterrupt

    @property
    def searched(self) -> bool:
        """Whether the search is over; the regressor then describes what it has, and must be left to it."""
        return hasattr(self.regressor, "stop_reason_")

    @property
    def status(self) -> int:
        """The exit status of a process that this signal ended."""
        return 128 + (self.number or signal.SIGINT)

    def announce(self) -> None:
        """Tell whoever waits that their interrupt was noticed."""
        if self.number is not None:
            print("stopping, writing what was found…", file=sys.stderr, flush=True)


@contextmanager
def interrupts_end_the_search() -> Iterator[Interrupts]:
    """Handle signals inside; afterwards exit with the status of the one that came, if any."""
    interrupts = Interrupts()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    # Handlers belong to the main thread; what the parent process told us to ignore, as nohup does, stays ignored.
    if threading.current_thread() is not threading.main_thread():
        before = {}
    before = {number: handler for number, handler in before.items() if handler != signal.SIG_IGN}
    for number in before:
        signal.signal(number, interrupts)
    try:
        yield interrupts
    except KeyboardInterrupt:
        print("interrupted before the search; nothing found yet", file=sys.stderr)
        raise typer.Exit(interrupts.status) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
    if interrupts.number is not None:
        raise typer.Exit(interrupts.status)
