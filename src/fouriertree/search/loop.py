"""The one loop of the package."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from fouriertree.problems import Problem
from fouriertree.search.budget import Budget
from fouriertree.search.events import Event, Finished, Observer, Progress, StopSearch


class State(Protocol):
    """What every search's state tells the loop."""

    @property
    def progress(self) -> Progress: ...

    @property
    def finished(self) -> str | None:
        """Why the search itself can go no further, or None."""
        ...


S = TypeVar("S", bound=State)


class Search(Protocol[S]):
    """How new elements are proposed and kept: state goes in and comes out, with the events of the step."""

    def init(self, problem: Problem, seed: int) -> tuple[S, list[Event]]: ...

    def step(self, problem: Problem, state: S, budget: Budget) -> tuple[S, list[Event]]: ...


@dataclass(frozen=True)
class Run(Generic[S]):
    """How a run ended."""

    state: S
    reason: str
    seconds: float


def run(
    search: Search[S], problem: Problem, budget: Budget, observers: Sequence[Observer] = (), seed: int = 0
) -> Run[S]:
    """Search until the budget is spent, the search is finished, an observer stops it or Ctrl-C is pressed.

    Whatever ends it, the state with the best result so far comes back.
    """
    started = time.monotonic()
    state, events = search.init(problem, seed)
    try:
        notify(observers, [*events, state.progress])
        while (reason := _reason_to_stop(state, budget, started)) is None:
            state, events = search.step(problem, state, budget)
            notify(observers, [*events, state.progress])
    except KeyboardInterrupt:
        reason = "interrupted"
    except StopSearch as stop:
        reason = str(stop) or "stopped by an observer"
    seconds = time.monotonic() - started
    notify(observers, [Finished(state.progress, reason, seconds)])
    return Run(state, reason, seconds)


def _reason_to_stop(state: Any, budget: Budget, started: float) -> str | None:
    progress = state.progress
    seconds = time.monotonic() - started
    return (
        budget.reason_to_stop(progress.traverses, seconds, progress.loss, progress.candidates)
        or state.finished
    )


def notify(observers: Sequence[Observer], events: Sequence[Event]) -> None:
    for event in events:
        for observer in observers:
            observer(event)
