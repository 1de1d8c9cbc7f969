"""The loop that runs every search, its budget and its events."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.problems import Problem

#: why a search ends by itself that has found a law
LAW = "the law is certain: exact on all rows"


@dataclass(frozen=True)
class Progress:
    """The progress of a run after a step.

    Attributes
    ----------
    traverses, candidates, refused : int
        Passes over the data, trees evaluated, and relevant candidates that the projector rejected.
    terms, loss : int, float
        Of the best approximation so far.
    """

    traverses: int
    candidates: int
    refused: int
    terms: int
    loss: float


@dataclass(frozen=True)
class Accepted:
    """A new best approximation Σ coefficients[i]·expressions[i]; `expression` is its newest element."""

    progress: Progress
    expression: Expression
    coefficients: NDArray[np.float64]
    expressions: tuple[Expression, ...]


@dataclass(frozen=True)
class Reported:
    """A candidate Σ coefficients[i]·expressions[i] for the table of equations.

    No candidate of at most its complexity has a smaller `loss`, or a smaller `loss_on_all_rows`: with the validation
    set, scaled to the same total weight.
    """

    progress: Progress
    coefficients: NDArray[np.float64]
    expressions: tuple[Expression, ...]
    complexity: int
    loss: float
    loss_on_all_rows: float


@dataclass(frozen=True)
class Finished:
    """The last event of a run, with the reason for its end."""

    progress: Progress
    reason: str
    seconds: float


Event = Progress | Accepted | Reported | Finished


class Observer(Protocol):
    """Called with every event, in order; may raise `StopSearch`."""

    def __call__(self, event: Event) -> None: ...


class StopSearch(Exception):  # noqa: N818 - like StopIteration, it is no error
    """Raised by an observer to end the run with its best result so far."""


@dataclass(frozen=True)
class Budget:
    """Limits of a run; None is no limit.

    Parameters
    ----------
    max_traverses : int, optional
        Traverses at most: passes over the data for an inner product or a loss, the unit of cost of the paper.
    time_limit : float, optional
        Seconds.
    target_loss : float, default=0.0
        The run ends when the loss is at most this.
    max_candidates : int, optional
        Candidates evaluated at most.
    stop_requested : callable, optional
        Called between steps; returns the reason to end the run, or None.
    """

    max_traverses: int | None = None
    time_limit: float | None = None
    target_loss: float = 0.0
    max_candidates: int | None = None
    stop_requested: Callable[[], str | None] | None = field(default=None, compare=False, repr=False)

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no limit but the target loss."""
        return (self.max_traverses, self.time_limit, self.max_candidates) == (None, None, None)

    def reason_to_stop(self, traverses: int, seconds: float, loss: float, candidates: int = 0) -> str | None:
        """The reason to end a run with this progress, or None."""
        if loss <= self.target_loss:
            return "target loss reached"
        if self.max_traverses is not None and traverses >= self.max_traverses:
            return "traverses used up"
        if self.max_candidates is not None and candidates >= self.max_candidates:
            return "evaluations used up"
        if self.time_limit is not None and seconds >= self.time_limit:
            return "time used up"
        return None if self.stop_requested is None else self.stop_requested()


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
