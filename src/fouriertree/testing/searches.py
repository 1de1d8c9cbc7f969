"""The contract of searches under `run`.

    for check in fouriertree.testing.searches.CHECKS:
        check(MySearch(), problem, numpy.random.default_rng(0))

The search must improve on the problem within some hundred candidates.  Each check draws seeds from
`rng` and raises AssertionError where the contract is broken.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, pairwise
from typing import Any

import numpy as np

from fouriertree.expr import Expression
from fouriertree.problems import Problem
from fouriertree.runs.snapshots import from_bytes, to_bytes
from fouriertree.search import Budget, Search
from fouriertree.search.loop import (
    Accepted,
    Event,
    Finished,
    Observer,
    Progress,
    Resumable,
    Run,
    RunState,
    StopSearch,
    run,
)

Rng = np.random.Generator
Check = Callable[[Search[Any], Problem, Rng], None]
BUDGET = Budget(max_traverses=600, target_loss=1e-8)


def recorded(
    search: Search[Any], problem: Problem, budget: Budget, seed: int, *others: Observer
) -> tuple[Run[Any], list[Event]]:
    """A run and all of its events; `others` observe it too."""
    events: list[Event] = []

    def record(event: Event) -> None:
        events.append(event)

    return run(search, problem, budget, [record, *others], seed), events


def accepted(events: list[Event]) -> list[Accepted]:
    return [event for event in events if isinstance(event, Accepted)]


def check_loss_strictly_decreases_with_every_accepted_element(
    search: Search[Any], problem: Problem, rng: Rng
) -> None:
    losses = [e.progress.loss for e in _accepted(search, problem, _seed(rng))]
    assert len(losses) > 2, "the problem is too hard or too easy for this check"
    assert all(later < earlier for earlier, later in pairwise(losses))


def check_every_accepted_combination_has_the_loss_of_its_event(
    search: Search[Any], problem: Problem, rng: Rng
) -> None:
    target = problem.space.target
    for event in _accepted(search, problem, _seed(rng)):
        assert event.coefficients.shape == (len(event.expressions),)
        assert event.expression in event.expressions
        vectors = problem.space.coordinates(event.expressions)
        residual = target - event.coefficients @ vectors
        size = np.abs(event.coefficients) @ np.linalg.norm(vectors, axis=1) + np.linalg.norm(target)
        assert abs(np.linalg.norm(residual) - np.sqrt(event.progress.loss)) <= 1e-12 * size


def check_events_are_ordered_and_end_with_finished(search: Search[Any], problem: Problem, rng: Rng) -> None:
    result, events = recorded(search, problem, BUDGET, _seed(rng))
    assert [isinstance(event, Finished) for event in events] == [False] * (len(events) - 1) + [True]
    last = events[-1]
    assert isinstance(last, Finished)
    assert (last.progress, last.reason) == (result.state.progress, result.reason)
    assert accepted(events)[-1].progress.loss == result.state.progress.loss
    for earlier, later in pairwise(event for event in events if isinstance(event, Progress)):
        assert later.traverses > earlier.traverses
        assert later.candidates >= earlier.candidates
        assert later.refused >= earlier.refused
        assert later.loss <= earlier.loss


def check_same_seed_same_run_other_seed_other_run(search: Search[Any], problem: Problem, rng: Rng) -> None:
    seed = _seed(rng)
    first, again, other = (_steps(_accepted(search, problem, s)) for s in (seed, seed, seed + 1))
    assert first == again
    assert first != other


def check_a_smaller_budget_gives_a_prefix_of_the_same_run(
    search: Search[Any], problem: Problem, rng: Rng
) -> None:
    seed = _seed(rng)
    whole = _accepted(search, problem, seed)
    limit = int(rng.integers(whole[0].progress.traverses, 400))
    result, events = recorded(search, problem, Budget(limit, target_loss=BUDGET.target_loss), seed)
    part = accepted(events)
    assert _steps(part) == _steps(whole[: len(part)])
    assert all(e.progress.traverses >= limit for e in whole[len(part) :])
    if result.reason == "traverses used up":
        assert result.state.progress.traverses >= limit


def check_a_target_loss_that_is_met_ends_the_run(search: Search[Any], problem: Problem, rng: Rng) -> None:
    seed = _seed(rng)
    losses = [e.progress.loss for e in _accepted(search, problem, seed)]
    wanted = losses[len(losses) // 2]
    result, events = recorded(search, problem, Budget(target_loss=wanted), seed)
    assert result.reason == "target loss reached"
    assert [e.progress.loss for e in accepted(events)] == losses[: len(losses) // 2 + 1]


def check_an_observer_can_stop_the_run(search: Search[Any], problem: Problem, rng: Rng) -> None:
    exceptions = (StopSearch("enough"), StopSearch(), KeyboardInterrupt())
    reasons = ("enough", "stopped by an observer", "interrupted")
    for exception, reason in zip(exceptions, reasons, strict=True):
        result, events = recorded(search, problem, BUDGET, 0, _raised_at_the_third_element(exception))
        assert result.reason == reason
        assert len(accepted(events)) == 3
        assert result.state.progress == accepted(events)[-1].progress
        assert isinstance(events[-1], Finished)
        assert events[-1].reason == reason


def check_a_run_resumes_from_a_snapshot_to_the_same_end(
    search: Search[Any], problem: Problem, rng: Rng
) -> None:
    if not isinstance(search, Resumable):
        return
    seed, kept = _seed(rng), []

    def keep(current: RunState[Any]) -> None:
        snapshot = search.snapshot(current.state)
        if snapshot is not None:
            kept.append(from_bytes(to_bytes(snapshot), problem.grammar.primitives))

    whole = run(search, problem, BUDGET, seed=seed, checkpoint=keep)
    assert kept, "the search gave no snapshot"
    for snapshot in (kept[0], kept[len(kept) // 2], kept[-1]):
        state = search.restore(problem, seed, snapshot)
        again = run(search, problem, BUDGET, seed=seed, start=RunState(state, 0.0))
        assert (again.state.progress, again.reason) == (whole.state.progress, whole.reason)


CHECKS: list[Check] = [check for name, check in list(globals().items()) if name.startswith("check_")]


def _seed(rng: Rng) -> int:
    return int(rng.integers(2**31))


def _accepted(search: Search[Any], problem: Problem, seed: int) -> list[Accepted]:
    return accepted(recorded(search, problem, BUDGET, seed)[1])


def _steps(events: list[Accepted]) -> list[tuple[Progress, Expression]]:
    return [(event.progress, event.expression) for event in events]


def _raised_at_the_third_element(exception: BaseException) -> Observer:
    number = count(1)

    def observe(event: Event) -> None:
        if isinstance(event, Accepted) and next(number) == 3:
            raise exception

    return observe
