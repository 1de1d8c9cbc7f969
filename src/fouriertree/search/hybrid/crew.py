"""Processes that take turns of arms ahead of the search, which uses what they found in the order of the plan.

What an arm grows depends on nothing but the arm, so that it does not matter who grows it, nor when: the search comes to
the same end with any number of processes, and wherever it is cut short.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from fouriertree.search.hybrid.arms import Arm
from fouriertree.search.hybrid.explore import Sums
from fouriertree.search.hybrid.worker import Answer, Piece, Ready, Step, Turn

#: one thread for a process: there are as many processes as processors may be used
SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

PROGRAM = "from fouriertree.search.hybrid.worker import main; main()"


@dataclass(eq=False)
class Order:
    """A turn that a process may take, and what it has answered."""

    arm: Arm
    number: int
    steps: int
    answers: SimpleQueue[Piece | Step | None] = field(default_factory=SimpleQueue)  #: None is the last
    given: bool = False  #: to a process


class Crew:
    """Some processes, and the turns that wait for them."""

    def __init__(self, size: int) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Order] = deque()
        self._orders: dict[int, Order] = {}
        self._members = [_Member(self) for _ in range(size)]

    def begin(self, arms: Sequence[Arm], turns: Sequence[Sequence[int]]) -> None:
        """These turns come next, in this order: numbers of arms, and steps."""
        orders = [Order(arms[number], number, steps) for number, steps in turns if not arms[number].finished]
        with self._lock:
            self._orders = {order.number: order for order in orders}
            self._waiting = deque(orders)
        for member in self._members:
            member.work()

    def next_turn(self) -> tuple[Order, Turn] | None:
        """For a process that has nothing to do."""
        with self._lock:
            if not self._waiting:
                return None
            order = self._waiting.popleft()
            order.given = True
            arm = order.arm
            return order, Turn(order.number, arm.ground(), arm.saved(), arm.steps, order.steps)

    def takes(self, number: int) -> bool:
        """Whether a process has the turn of an arm; if none has yet, none will have it any more."""
        with self._lock:
            order = self._orders.get(number)
            if order is not None and not order.given:
                self._waiting.remove(self._orders.pop(number))
                return False
            return order is not None

    def grown(self, number: int) -> Sums:
        """What the process that has an arm's turn has found in its next step."""
        order = self._orders[number]
        while True:
            answer = order.answers.get()
            if answer is None:
                # The process is gone; what it has not answered is done here.
                del self._orders[number]
                return (yield from order.arm.grown())
            if isinstance(answer, Step):
                order.arm.move_to(answer.saved, answer.finished)
                return answer.sums
            order.arm.count(answer.screened, answer.traverses)
            yield

    def close(self) -> None:
        for member in self._members:
            member.close()


class _Member:
    """One process, and the thread that listens to it."""

    def __init__(self, crew: Crew) -> None:
        self._crew, self._order, self._ready = crew, None, False
        self._lock = threading.Lock()
        home = str(Path(__file__).parents[3])
        path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **SINGLE, "PYTHONPATH": path},
        )  # fmt: skip
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    _order: Order | None

    def work(self) -> None:
        """Take the next turn, if there is one and nothing else to do."""
        with self._lock:
            if not self._ready or self._order is not None or (next_turn := self._crew.next_turn()) is None:
                return
            self._order, turn = next_turn
            try:
                pickle.dump(turn, self._process.stdin)  # type: ignore[arg-type]
                self._process.stdin.flush()  # type: ignore[union-attr]
            except OSError:
                self._end()

    def _listen(self) -> None:
        left = 0
        while True:
            try:
                answer: Answer = pickle.load(self._process.stdout)  # type: ignore[arg-type]
            except Exception:
                # Whatever is wrong with what it says, it cannot be believed any more.
                with self._lock:
                    self._end()
                return
            if isinstance(answer, Ready):
                self._ready = True
                self.work()
            elif (order := self._order) is not None:
                order.answers.put(answer)
                if isinstance(answer, Step):
                    left = (left or order.steps) - 1
                    if left == 0 or answer.finished:
                        left, self._order = 0, None
                        self.work()

    def _end(self) -> None:
        self._ready = False
        if self._order is not None:
            self._order.answers.put(None)
            self._order = None

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
