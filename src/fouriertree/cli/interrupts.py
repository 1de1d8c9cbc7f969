"""Ctrl-C and SIGTERM: the first signal ends the search and keeps its equations, a second one exits at once."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

from fouriertree.fit.stopping import INTERRUPTED, InterruptCounter, Stop

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """A signal handler: the first signal ends the search, or waits for the files; a second one exits at once."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.regressor: object | None = None  #: set before the search
        self.presses = InterruptCounter()
        self.stop = Stop()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not self.presses.another():
            return
        self.number = self.number or number
        # After the search, its equations are to be written.
        searched = hasattr(self.regressor, "stop_reason_")
        if self.presses.count == 1 and (searched or self.stop.searching):
            self.stop.request(INTERRUPTED)
        else:
            self.stop.abort()

    @property
    def status(self) -> int:
        """The exit status of a process that this signal ended."""
        return 128 + (self.number or signal.SIGINT)

    def announce(self) -> None:
        """Print that the signal was received."""
        if self.number is not None:
            print("stopping, writing the equations found so far…", file=sys.stderr, flush=True)


@contextmanager
def handle_interrupts() -> Iterator[Interrupts]:
    """Handle signals inside; afterwards exit with the status of the first one, if any."""
    interrupts = Interrupts()
    # Handlers belong to the main thread; signals that the parent process ignores, as nohup does, stay ignored.
    here = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in SIGNALS if here}
    before = {number: handler for number, handler in before.items() if handler != signal.SIG_IGN}
    for number in before:
        signal.signal(number, interrupts)
    try:
        yield interrupts
    except KeyboardInterrupt:
        before_search = "interrupted before the search; there are no equations yet"
        again = "interrupted again; exited without finishing"
        print(before_search if interrupts.presses.count == 1 else again, file=sys.stderr)
        raise typer.Exit(interrupts.status) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
    if interrupts.number is not None:
        raise typer.Exit(interrupts.status)
