"""The loop: reasons for the end of a run, and the events of observers."""

from dataclasses import dataclass, replace
from itertools import pairwise
from types import SimpleNamespace

import pytest

from fouriertree.problems import CONVENTIONAL
from fouriertree.search import FTG, Accepted, Budget, Finished, Progress, StopSearch, loop, run
from fouriertree.testing.searches import accepted, recorded


@pytest.fixture
def problem():
    return CONVENTIONAL["koza1"].problem(0)


@dataclass(frozen=True)
class Counter:
    """The state of a search that only counts its steps."""

    progress: Progress
    finished: str | None = None


@dataclass(frozen=True)
class Counting:
    """A search whose n-th step costs 10 traverses and leaves a loss of 1/n."""

    steps: int = 1000
    interrupt_at: int | None = None

    def init(self, problem, seed):
        return Counter(Progress(0, 0, 0, 0, 1.0)), []

    def step(self, problem, state, budget):
        n = state.progress.traverses // 10 + 1
        if n == self.interrupt_at:
            raise KeyboardInterrupt
        progress = Progress(10 * n, n, 0, n, 1.0 / (n + 1))
        return Counter(progress, "nothing is left" if n == self.steps else None), []


class Clock:
    """A clock that a run reads as `time`: every look at it takes a second."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        self.now += 1.0
        return self.now


@pytest.mark.parametrize(
    ("budget", "reason", "traverses"),
    [
        (Budget(max_traverses=95), "traverses used up", 100),
        (Budget(max_traverses=100), "traverses used up", 100),
        (Budget(max_traverses=0), "traverses used up", 0),
        (Budget(target_loss=0.1), "target loss reached", 90),
        (Budget(target_loss=1.0), "target loss reached", 0),
        (Budget(), "nothing is left", 10_000),
        (Budget(max_traverses=100, target_loss=0.1), "target loss reached", 90),
    ],
)
def test_a_run_ends_with_the_first_limit_that_is_reached(budget, reason, traverses):
    result = run(Counting(), None, budget)
    assert (result.reason, result.state.progress.traverses) == (reason, traverses)


@pytest.mark.parametrize("limit", [1.0, 5.0, 20.0])
def test_a_run_ends_at_its_time_limit(monkeypatch, limit):
    monkeypatch.setattr(loop, "time", Clock())
    result = run(Counting(), None, Budget(time_limit=limit))
    assert result.reason == "time used up"
    # One look at the start, one before every step, one at the end.
    assert result.state.progress.traverses == 10 * (limit - 1)
    assert result.seconds == limit + 1


def test_a_search_of_trees_ends_at_its_time_limit(monkeypatch, problem):
    monkeypatch.setattr(loop, "time", Clock())
    result, events = recorded(FTG(), problem, Budget(time_limit=8.0), 0)
    assert result.reason == "time used up"
    assert sum(isinstance(event, Progress) for event in events) == 8


def test_a_clock_that_does_not_advance_never_ends_a_run(monkeypatch):
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: 7.0))
    result = run(Counting(), None, Budget(time_limit=1e-9))
    assert (result.reason, result.seconds) == ("nothing is left", 0.0)


def test_an_interrupt_within_a_step_leaves_the_state_before_it():
    result = run(Counting(interrupt_at=7), None, Budget())
    assert (result.reason, result.state.progress.traverses) == ("interrupted", 60)


def test_an_interrupt_while_trees_are_drawn_leaves_a_consistent_state(problem):
    class Interrupted:
        def __init__(self, generator):
            self.generator, self.draws = generator, 0

        def expected_size(self, grammar):
            return self.generator.expected_size(grammar)

        def draw(self, *arguments):
            self.draws += 1
            if self.draws == 4:
                raise KeyboardInterrupt
            return self.generator.draw(*arguments)

    result, events = recorded(replace(FTG(), generator=Interrupted(FTG().generator)), problem, Budget(), 0)
    assert result.reason == "interrupted"
    state = result.state
    assert len(state.expressions) == state.projection.size == state.progress.terms == len(accepted(events))
    assert isinstance(events[-1], Finished)


def test_other_exceptions_are_not_swallowed(problem):
    def broken(event):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(FTG(), problem, Budget(max_traverses=100), [broken])


def test_every_observer_gets_every_event_in_the_same_order(problem):
    first, second = [], []
    run(FTG(), problem, Budget(max_traverses=300), [first.append, second.append])
    assert first == second
    assert first[0].__class__ is Accepted
    assert first[1].__class__ is Progress
    assert sum(isinstance(event, Finished) for event in first) == 1
    assert isinstance(first[-1], Finished)


def test_one_progress_follows_every_step(problem):
    _, events = recorded(FTG(), problem, Budget(max_traverses=300), 0)
    for event, following in pairwise(events):
        if isinstance(event, Accepted):
            assert following == event.progress


def test_a_run_without_observers_is_the_same_run(problem):
    alone = run(FTG(), problem, Budget(max_traverses=300), seed=3)
    watched, _ = recorded(FTG(), problem, Budget(max_traverses=300), 3)
    assert alone.state.progress == watched.state.progress
    assert alone.state.expressions == watched.state.expressions


@pytest.mark.parametrize(
    "exception", [StopSearch("that will do"), KeyboardInterrupt()], ids=["stop", "Ctrl-C"]
)
def test_an_observer_can_end_a_run_before_its_first_step(problem, exception):
    def stop(event):
        if isinstance(event, Accepted):
            raise exception

    result, events = recorded(FTG(), problem, Budget(), 0, stop)
    assert result.reason == ("that will do" if isinstance(exception, StopSearch) else "interrupted")
    assert result.state.progress.terms == 1
    assert isinstance(events[-1], Finished)


def test_the_reason_to_stop_is_the_loss_before_the_traverses_before_the_time():
    budget = Budget(max_traverses=10, time_limit=1.0, target_loss=0.5)
    assert budget.reason_to_stop(10, 1.0, 0.5) == "target loss reached"
    assert budget.reason_to_stop(10, 1.0, 0.6) == "traverses used up"
    assert budget.reason_to_stop(9, 1.0, 0.6) == "time used up"
    assert budget.reason_to_stop(9, 0.9, 0.6) is None
    assert Budget().reason_to_stop(10**12, 1e12, 1e-300) is None
