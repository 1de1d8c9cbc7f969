"""The loop that runs every search."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from fouriertree.problems import Problem
from fouriertree.search.budget import Budget
from fouriertree.search.events import Event, Finished, Observer, Progress, StopSearch


class State(Protocol):
    """The part of a search's state that the loop reads."""

    @property
    def progress(self) -> Progress: ...

    @property
    def finished(self) -> str | None:
        """Why the search has ended by itself, or None."""


S = TypeVar("S", bound=State)


class Search(Protocol[S]):
    """A search.  Both methods return the new state and its events; the loop checks the budget between steps."""

    def init(self, problem: Problem, seed: int) -> tuple[S, list[Event]]: ...

    def step(self, problem: Problem, state: S, budget: Budget) -> tuple[S, list[Event]]: ...


@runtime_checkable
class Resumable(Protocol[S]):
    """A search whose state can be saved: a resumed run ends with the same result, bit for bit."""

    def snapshot(self, state: S) -> dict[str, Any] | None:
        """Plain data, arrays and expressions (see `runs.snapshots`); None if the state cannot be saved now."""

    def restore(self, problem: Problem, seed: int, saved: Mapping[str, Any]) -> S: ...


@runtime_checkable
class Closing(Protocol):
    """A search that holds resources while it runs, such as processes, which `close` releases."""

    def close(self, state: Any) -> None: ...


@dataclass(frozen=True)
class Run(Generic[S]):
    """The result of a run: the final state, the reason for its end, and its seconds."""

    state: S
    reason: str
    seconds: float


@dataclass(frozen=True)
class RunState(Generic[S]):
    """The state of a run, and the seconds it has taken."""

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
    checkpoint: Callable[[RunState[S]], None] | None = None,
) -> Run[S]:
    """Run a search until its budget is spent, it has finished, an observer stops it or Ctrl-C is pressed.

    Parameters
    ----------
    search, problem, budget : Search, Problem, Budget
    observers : sequence of Observer
    seed : int, default=0
    start : RunState, optional
        Resume from this state, without repeating its events.
    checkpoint : callable, optional
        Called with the `RunState` after every step.

    Returns
    -------
    Run
        With the best result so far, whatever the reason for the end.
    """
    started = time.monotonic() - (0.0 if start is None else start.seconds)
    state, events = search.init(problem, seed) if start is None else (start.state, [])
    try:
        notify(observers, [*events, state.progress])
        while (reason := _reason_to_stop(state, budget, started)) is None:
            state, events = search.step(problem, state, budget)
            notify(observers, [*events, state.progress])
            if checkpoint is not None:
                checkpoint(RunState(state, time.monotonic() - started))
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


def _reason_to_stop(state: State, budget: Budget, started: float) -> str | None:
    p, seconds = state.progress, time.monotonic() - started
    return budget.reason_to_stop(p.traverses, seconds, p.loss, p.candidates) or state.finished


def notify(observers: Sequence[Observer], events: Sequence[Event]) -> None:
    for event in events:
        for observer in observers:
            observer(event)
