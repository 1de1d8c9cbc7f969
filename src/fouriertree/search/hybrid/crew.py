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
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from fouriertree.search.hybrid.arms import Arm
from fouriertree.search.hybrid.explore import Sums
from fouriertree.search.hybrid.worker import Answer, Growths, Piece, Ready, Step, Turn, answers

#: one thread for a process: there are as many processes as processors may be used
SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

PROGRAM = "from fouriertree.search.hybrid.worker import main; main()"


@dataclass(eq=False)
class Order:
    """A turn that somebody is to take, and what they have answered."""

    arm: Arm
    number: int
    steps: int  #: that are left
    answers: SimpleQueue[Piece | Step | None] = field(
        default_factory=SimpleQueue
    )  #: None: whoever had it is gone
    given: bool = False  #: to another process

    def turn(self) -> Turn:
        arm = self.arm
        return Turn(self.number, arm.ground(), arm.saved(), arm.steps, self.steps)


class Crew:
    """Some processes, this one among them, and the turns that wait for them.

    Others take turns ahead of the search.  Where it comes to a turn that somebody else is busy with, this process takes
    one of the next in the meantime.
    """

    def __init__(self, size: int) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Order] = deque()
        self._orders: dict[int, Order] = {}
        self._growths = Growths()
        self._here: dict[
            Order, Iterator[Piece | Step]
        ] = {}  #: turns of this process, as far as they are taken
        self._members = [_Member(self) for _ in range(size)]

    def begin(self, arms: Sequence[Arm], turns: Sequence[Sequence[int]]) -> None:
        """These turns come next, in this order: numbers of arms, and steps."""
        orders = [Order(arms[number], number, steps) for number, steps in turns if not arms[number].finished]
        with self._lock:
            self._orders = {order.number: order for order in orders}
            self._waiting = deque(orders)
            self._here.clear()
        for member in self._members:
            member.work()

    def next_order(self, elsewhere: bool) -> Order | None:
        """For whoever has nothing to do, here or in another process."""
        with self._lock:
            if not self._waiting:
                return None
            order = self._waiting.popleft()
            order.given = elsewhere
            return order

    def grown(self, number: int) -> Sums:
        """The next step of an arm, whoever takes it."""
        order = self._orders[number]
        while True:
            answer = self._answer(order)
            if isinstance(answer, Step):
                order.arm.move_to(answer.saved, answer.finished)
                order.steps -= 1
                return answer.sums
            if answer is not None:
                order.arm.count(answer.screened, answer.traverses)
                yield
            else:
                # The process is gone; what it has not answered is done here.
                order.given = False

    def _answer(self, order: Order) -> Piece | Step | None:
        while order.answers.empty():
            if self._is_ours(order):
                self._go_on(order)
            elif (other := self._meanwhile()) is not None:
                self._go_on(other)
            else:
                break
        return order.answers.get()

    def _is_ours(self, order: Order) -> bool:
        """Whether this process takes the turn; it does if it comes before the others."""
        with self._lock:
            if order.given:
                return False
            if order in self._waiting:
                self._waiting.remove(order)
        if order not in self._here:
            self._here[order] = answers(order.turn(), self._growths)
        return True

    def _meanwhile(self) -> Order | None:
        """A turn for this process, while another one is waited for."""
        if not self._here and (order := self.next_order(False)) is not None:
            self._here[order] = answers(order.turn(), self._growths)
        return next(iter(self._here), None)

    def _go_on(self, order: Order) -> None:
        """One more piece of a turn of this process."""
        answer = next(self._here[order], None)
        if answer is None:
            del self._here[order]
        else:
            order.answers.put(answer)

    def close(self) -> None:
        for member in self._members:
            member.close()


class _Member:
    """One process, and the thread that listens to it."""

    def __init__(self, crew: Crew) -> None:
        self._crew, self._order, self._ready, self._steps = crew, None, False, 0
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
            if not self._ready or self._order is not None or (order := self._crew.next_order(True)) is None:
                return
            self._order, self._steps = order, order.steps
            try:
                pickle.dump(order.turn(), self._process.stdin)  # type: ignore[arg-type]
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
                    left = (left or self._steps) - 1
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
