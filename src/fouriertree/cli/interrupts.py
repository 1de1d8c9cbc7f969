"""Ctrl-C and SIGTERM: the first one ends the search and keeps what was found, another one leaves at once."""

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
    """A signal handler: the first signal ends the search, or lets the files be written; another one leaves at once."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.regressor: object | None = None  #: the one that searches, once there is one
        self.presses = InterruptCounter()
        self.stop = Stop()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if not self.presses.another():
            return
        self.number = self.number or number
        if self.presses.count == 1 and (self.searched or self.stop.searching):
            self.stop.request(INTERRUPTED)
            return
        self.stop.leave()

    @property
    def searched(self) -> bool:
        """Whether there are formulas, which are to be written."""
        return hasattr(self.regressor, "stop_reason_")

    @property
    def farewell(self) -> str:
        return (
            "interrupted before the search; nothing found yet"
            if self.presses.count == 1
            else "interrupted again; left without finishing"
        )

    @property
    def status(self) -> int:
        """The exit status of a process that this signal ended."""
        return 128 + (self.number or signal.SIGINT)

    def announce(self) -> None:
        """Tell whoever waits that their interrupt was noticed."""
        if self.number is not None:
            print("stopping, writing what was found…", file=sys.stderr, flush=True)


@contextmanager
def handle_interrupts() -> Iterator[Interrupts]:
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
        print(interrupts.farewell, file=sys.stderr)
        raise typer.Exit(interrupts.status) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
    if interrupts.number is not None:
        raise typer.Exit(interrupts.status)
