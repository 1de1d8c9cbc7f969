"""The hybrid search: symmetries, transforms of the target, all-pairs screening, variable projection and variation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.archive import Candidate, CandidateArchive
from fouriertree.criteria.poles import POLE_LOSS_RATIO
from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.problems import Problem
from fouriertree.search.executors import TaskQueue
from fouriertree.search.hybrid import beam, dictionary, evaluation, reductions, tasks, transformed
from fouriertree.search.hybrid import state as states
from fouriertree.search.hybrid.context import HybridOptions, SearchContext
from fouriertree.search.hybrid.data import search_data
from fouriertree.search.hybrid.evaluation import FittedCandidate
from fouriertree.search.hybrid.scheduler import refilled
from fouriertree.search.hybrid.state import REDUCE, HybridState, merged
from fouriertree.search.hybrid.tasks import Job, perform
from fouriertree.search.loop import LAW, Accepted, Budget, Event, Progress, Reported

Floats = NDArray[np.float64]

#: parts of the state that a checkpoint has in another form: the context follows from problem, seed and options
CONVERTED = {"context", "jobs", "training", "overall", "progress"}
#: records of a state and of its tasks
RECORDS: dict[str, type] = {
    cls.__name__: cls
    for module in (beam, dictionary, evaluation, reductions, states, tasks, transformed)
    for cls in vars(module).values()
    if isinstance(cls, type) and hasattr(cls, "__dataclass_fields__")
}

#: key of the name of a record
RECORD = "record"


@dataclass(frozen=True)
class Hybrid(HybridOptions):
    """The default search of `SymbolicRegressor`.

    A step performs one task, or lets candidates of the last task join the archive.  Waiting tasks are independent of
    each other, and their results are used in order, so that a search is the same for any executor.

    Parameters
    ----------
    executor : concurrent.futures.Executor, optional
        Who performs the tasks; this process by default.  The other parameters are those of `HybridOptions`.
    """

    executor: Executor | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        # Results that have been asked for ahead of time; they follow from the state, so they are no part of it.
        object.__setattr__(self, "_queue", TaskQueue(self.executor))

    _queue: TaskQueue = field(init=False, repr=False, compare=False)
    _here: TaskQueue = field(init=False, repr=False, compare=False, default_factory=lambda: TaskQueue(None))

    def init(self, problem: Problem, seed: int) -> tuple[HybridState, list[Event]]:
        loss = float(problem.space.target @ problem.space.target)
        return HybridState(self._context(problem, seed), Progress(0, 0, 0, 0, loss)), []

    def _context(self, problem: Problem, seed: int) -> SearchContext:
        options = HybridOptions(**{f.name: getattr(self, f.name) for f in fields(HybridOptions)})
        data = search_data(problem, seed, {j for guess in self.guesses for j in guess.columns})
        return SearchContext(options, data, Vocabulary(problem.grammar.primitives), seed)

    def step(self, problem: Problem, state: HybridState, budget: Budget) -> tuple[HybridState, list[Event]]:
        if state.pending:
            state, events = _archived(problem, state)
        else:
            state, events = self._performed(state), []
        if state.law and not state.pending:
            state = replace(state, finished=LAW)
        return state, events

    def _performed(self, state: HybridState) -> HybridState:
        """The state after the next task."""
        with np.errstate(all="ignore"):
            state = refilled(state)
        if state.finished is None:
            # The first stages are over before a process could start.
            queue = self._queue if state.stage >= REDUCE else self._here
            state = merged(state, queue.first(perform, state.jobs))
        return replace(state, progress=_counted(state))

    def close(self, state: HybridState) -> None:
        """Cancel the tasks that have been submitted; the state can be continued."""
        self._queue.close()

    # Checkpoints ----------------------------------------------------------------------------------------------
    def snapshot(self, state: HybridState) -> dict[str, Any]:
        """Plain data, arrays and expressions for `restore`."""
        names = [f.name for f in fields(state) if f.name not in CONVERTED]
        return {
            **{name: to_plain(getattr(state, name)) for name in names},
            "tasks": to_plain([job.task for job in state.jobs]),
            "fronts": to_plain([job.fronts for job in state.jobs]),
            "archives": [state.training.state(), state.overall.state()],
            "progress_": to_plain(state.progress),
        }

    def restore(self, problem: Problem, seed: int, saved: Mapping[str, Any]) -> HybridState:
        context = self._context(problem, seed)
        waiting = zip(*(from_plain(saved[name], RECORDS) for name in ("tasks", "fronts")), strict=True)
        training, overall = map(CandidateArchive.from_state, saved["archives"])
        names = [f.name for f in fields(HybridState) if f.name not in CONVERTED]
        return HybridState(
            context=context,
            progress=from_plain(saved["progress_"], {"Progress": Progress}),
            jobs=tuple(Job(context, task, fronts) for task, fronts in waiting),
            training=training,
            overall=overall,
            **{name: from_plain(saved[name], RECORDS) for name in names},
        )


def _counted(state: HybridState) -> Progress:
    """The progress after a step, which is at least one pass over the data.

    The cost of a task counts when its candidates have joined the archive, so that a budget drops none of them.
    """
    before, cost = state.progress, state.cost
    if state.pending:
        return replace(before, traverses=before.traverses + 1)
    traverses = max(before.traverses + 1, cost.traverses)
    return replace(before, traverses=traverses, candidates=cost.candidates)


# The archive ------------------------------------------------------------------------------------------------------
def _archived(problem: Problem, state: HybridState) -> tuple[HybridState, list[Event]]:
    """The state after candidates have joined the archive, up to the first that is the best so far, and events."""
    events: list[Reported | Accepted] = []
    while state.pending and not any(isinstance(event, Accepted) for event in events):
        found, *rest = state.pending
        state, joined = _with_candidate(replace(state, pending=tuple(rest)), found)
        if joined and (new := _events(problem, state.progress, found)):
            events += new
            state = replace(state, progress=new[-1].progress, law=state.law or found.is_law)
    progress = _counted(state)
    counts = {"traverses": progress.traverses, "candidates": progress.candidates}
    counted: list[Event] = [replace(e, progress=replace(e.progress, **counts)) for e in events]
    return replace(state, progress=progress), counted


def _with_candidate(state: HybridState, found: FittedCandidate) -> tuple[HybridState, bool]:
    """The state with a candidate in its archives, and whether it has joined one."""
    near = state.training.accepts(found.complexity, found.loss)
    better = found.overall_loss < state.overall.best_loss(found.complexity)
    pole_is_doubtful = found.pole and found.loss > POLE_LOSS_RATIO * state.best_without_pole
    if not found.is_law and (pole_is_doubtful or not (near or better)):
        return state, False
    candidate = Candidate(found.coefficients, found.terms)
    training, overall, least = state.training, state.overall, state.best_without_pole
    if near or found.is_law:
        training = training.added(found.complexity, found.loss, candidate)
    if better:
        overall = overall.added(found.complexity, found.overall_loss, candidate)
    least = least if found.pole else min(least, found.loss)
    return replace(state, training=training, overall=overall, best_without_pole=least), True


def _events(problem: Problem, before: Progress, found: FittedCandidate) -> list[Reported | Accepted]:
    """A candidate over the problem's features, with the best coefficients on all of its points."""
    vectors = problem.space.coordinates(found.expressions)
    if not np.isfinite(vectors).all():
        return []
    # Of unit size, so that neither units nor squares that overflow matter.
    sizes = np.abs(vectors).max(axis=1)
    sizes[sizes == 0.0] = 1.0
    target = problem.space.target
    with np.errstate(all="ignore"):
        coefficients = np.linalg.lstsq((vectors / sizes[:, None]).T, target, rcond=None)[0] / sizes
        residual = target - coefficients @ vectors
        loss = float(residual @ residual)
    if not np.isfinite(coefficients).all():
        return []
    # The validation set chooses among equations without poles only.
    overall = np.inf if found.pole else loss_on_all_rows(problem, coefficients, found.expressions, loss)
    reported = Reported(before, coefficients, found.expressions, found.complexity, loss, overall)
    if not loss < before.loss:
        return [reported]
    progress = replace(before, terms=len(found.expressions), loss=loss)
    accepted = Accepted(progress, found.expressions[-1], coefficients, found.expressions)
    return [replace(reported, progress=progress), accepted]


def loss_on_all_rows(
    problem: Problem, coefficients: Floats, expressions: Sequence[Expression], loss: float
) -> float:
    """The squared error of a sum on training and validation set, scaled to the weight of the training set.

    So that it can be compared with `loss`, the squared error on the training set.
    """
    if problem.holdout is None:
        return loss
    with np.errstate(all="ignore"):
        residual = problem.holdout.target - coefficients @ problem.holdout.coordinates(expressions)
        both = loss + float(residual @ residual)
    training, other = (float(np.sum(space.samples()[-1][2])) for space in (problem.space, problem.holdout))
    return both * training / (training + other) if np.isfinite(both) else np.inf


# Records as plain data --------------------------------------------------------------------------------------------
def to_plain(value: Any) -> Any:
    """Records as dictionaries with their names, tuples as lists; all else unchanged.

    >>> from fouriertree.search.hybrid.evaluation import Cost
    >>> to_plain((Cost(1, 2), None))
    [{'record': 'Cost', 'candidates': 1, 'traverses': 2}, None]
    """
    if isinstance(value, tuple | list):
        return [to_plain(part) for part in value]
    if hasattr(value, "to_plain"):
        return {RECORD: type(value).__name__, **value.to_plain()}
    if is_dataclass(value):
        parts = {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
        return {RECORD: type(value).__name__, **parts}
    return value


def from_plain(plain: Any, records: Mapping[str, type]) -> Any:
    """The value of `to_plain`; records are made from the classes given by name, and from no others."""
    if isinstance(plain, list):
        return tuple(from_plain(part, records) for part in plain)
    if isinstance(plain, Mapping):
        record, content = (
            records[plain[RECORD]],
            {name: part for name, part in plain.items() if name != RECORD},
        )
        if hasattr(record, "from_plain"):
            return record.from_plain(content)
        return record(**{name: from_plain(part, records) for name, part in content.items()})
    return plain
