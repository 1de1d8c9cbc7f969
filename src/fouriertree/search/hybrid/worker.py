"""A process that grows sums for another one: turns come in on stdin, and what every step has found goes out on stdout.

The other process starts it, and it ends when that one does: its stdin is then at its end.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fouriertree.projection.variable import compile_kernels
from fouriertree.search.hybrid.explore import Sum
from fouriertree.search.hybrid.ground import Ground
from fouriertree.search.hybrid.growth import Growth, State

#: images that are kept for their next turn
MOST_KEPT = 12


@dataclass(frozen=True)
class Turn:
    """Steps for one arm to take, from where `saved` says; after `done` steps before."""

    arm: int
    ground: Ground
    saved: State | None
    done: int
    steps: int


@dataclass(frozen=True)
class Ready:
    """The process can take turns."""


@dataclass(frozen=True)
class Piece:
    """A part of a step is done; what was looked at so far."""

    screened: int
    traverses: int


@dataclass(frozen=True)
class Step:
    """A step is done: sums to try for y, and where growth stands, for whoever goes on with it."""

    sums: list[Sum]
    saved: State | None
    finished: bool


Answer = Ready | Piece | Step


class Growths:
    """Those of the latest turns, by arm, with the steps that they have taken."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[Growth | None, int]] = OrderedDict()

    def of(self, turn: Turn) -> Growth | None:
        growth, done = self._kept.pop(turn.arm, (None, -1))
        return growth if done == turn.done else turn.ground.growth(turn.saved)

    def keep(self, arm: int, growth: Growth | None, done: int) -> None:
        self._kept[arm] = growth, done
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)


def answers(turn: Turn, growths: Growths) -> Iterator[Piece | Step]:
    """All steps of a turn, or as many as there are, piece by piece."""
    growth = growths.of(turn)
    for number in range(turn.steps):
        if growth is None or growth.exhausted:
            yield Step([], None if growth is None else growth.state(), True)
            return
        step = growth.step()
        while True:
            try:
                next(step)
            except StopIteration as end:
                growths.keep(turn.arm, growth, turn.done + number + 1)
                yield Step(end.value, growth.state(), False)
                break
            yield Piece(growth.image.screened, growth.image.traverses)


def main() -> None:
    # Ctrl-C reaches all processes of a terminal; the one that gives the turns decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What anybody prints must not come between answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def send(answer: Answer) -> None:
        pickle.dump(answer, output)
        output.flush()

    compile_kernels()
    growths = Growths()
    try:
        send(Ready())
        with np.errstate(all="ignore"):
            while True:
                for answer in answers(pickle.load(sys.stdin.buffer), growths):
                    send(answer)
    except (EOFError, BrokenPipeError):
        os._exit(0)
