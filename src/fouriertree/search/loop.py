"""The one loop of the package."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

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
Held = TypeVar("Held", contravariant=True)


class Search(Protocol[S]):
    """How new elements are proposed and kept: state goes in and comes out, with the events of the step."""

    def init(self, problem: Problem, seed: int) -> tuple[S, list[Event]]: ...

    def step(self, problem: Problem, state: S, budget: Budget) -> tuple[S, list[Event]]: ...


@runtime_checkable
class Resumable(Protocol[S]):
    """A search whose state can be written down and gone on from, in another process, to the same end bit by bit."""

    def snapshot(self, state: S) -> dict[str, Any] | None:
        """Plain data, arrays and expressions (see `runs.snapshots`); None where the state is not complete."""
        ...

    def restore(self, problem: Problem, seed: int, saved: Mapping[str, Any]) -> S: ...


@runtime_checkable
class Closing(Protocol[Held]):
    """A search that holds something while it runs, such as other processes, and is told when it does not."""

    def close(self, state: Held) -> None: ...


@dataclass(frozen=True)
class Run(Generic[S]):
    """How a run ended."""

    state: S
    reason: str
    seconds: float


@dataclass(frozen=True)
class RunState(Generic[S]):
    """Where a run stands: its state, and the seconds that it has had."""

    state: S
    seconds: float


def run(
    search: Search[S],
    problem: Problem,
    budget: Budget,
    observers: Sequence[Observer] = (),
    seed: int = 0,
    *,
    start: RunState[S] | None = None,
    keep: Callable[[RunState[S]], None] | None = None,
) -> Run[S]:
    """Search until the budget is spent, the search is finished, an observer stops it or Ctrl-C is pressed.

    Whatever ends it, the state with the best result so far comes back.  With `start`, an earlier run goes on, whose
    events are not told again; `keep` is told where the run stands after every step.
    """
    started = time.monotonic() - (0.0 if start is None else start.seconds)
    state, events = search.init(problem, seed) if start is None else (start.state, [])
    try:
        notify(observers, [*events, state.progress])
        while (reason := _reason_to_stop(state, budget, started)) is None:
            state, events = search.step(problem, state, budget)
            notify(observers, [*events, state.progress])
            if keep is not None:
                keep(RunState(state, time.monotonic() - started))
    except KeyboardInterrupt:
        reason = "interrupted"
    except StopSearch as stop:
        reason = str(stop) or "stopped by an observer"
    finally:
        if isinstance(search, Closing):
            search.close(state)
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
