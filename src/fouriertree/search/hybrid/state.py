"""The state of a hybrid search, and what the outcome of a task changes in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.archive import CandidateArchive
from fouriertree.search.hybrid.beam import Beam
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.evaluation import Cost, FittedCandidate, Fronts
from fouriertree.search.hybrid.reductions import GOOD_ERROR, KEPT_ERROR, Reduction, Slopes
from fouriertree.search.hybrid.tasks import Expand, Job, Outcome, SingleIndex, Surrogate, Task
from fouriertree.search.hybrid.transformed import Branch
from fouriertree.search.loop import Progress

#: stages of a search
START, QUICK, REDUCE, INDEX, FIRST, CONTINUE = range(6)


@dataclass(frozen=True)
class BranchState:
    """A branch with its beam, and the shortest description of y that it has given.

    Without a beam it has not begun, waits for its first steps, or is undefined.
    """

    branch: Branch
    beam: Beam | None = None
    best: float = np.inf
    waiting: int = 0  #: tasks of this branch that have not ended
    continued: int = 0  #: tasks after the first
    undefined: bool = False  #: its transform or its dictionary does not exist for these data

    @property
    def has_starts(self) -> bool:
        """Whether the branch has sums to expand besides those of waiting tasks, or has not been begun."""
        if self.beam is None:
            return not self.waiting and not self.undefined
        return len(self.beam.starts) > 0

    @property
    def exhausted(self) -> bool:
        return not self.waiting and not self.has_starts


@dataclass(frozen=True)
class Surrogated:
    """A reduction with the gradient of one of its surrogates."""

    reduction: Reduction
    slopes: Slopes | None


@dataclass(frozen=True, eq=False)
class HybridState:
    """The state of a search: arrays, expressions and counters."""

    context: SearchContext
    progress: Progress
    finished: str | None = None
    # Tasks that are waiting, with the Pareto fronts when they were decided, and candidates of the last one.
    stage: int = START
    round: int = 0  #: within the stage
    jobs: tuple[Job, ...] = ()
    pending: tuple[FittedCandidate, ...] = ()
    # Candidates so far.
    training: CandidateArchive = field(default_factory=CandidateArchive)
    overall: CandidateArchive = field(default_factory=CandidateArchive)
    best_without_pole: float = 1.0
    law: bool = False
    # Reductions so far, the gradient of the last one, and those of its other surrogates, or of trials.
    reductions: tuple[Reduction, ...] = ()
    slopes: Slopes | None = None
    surrogates: tuple[Surrogated, ...] = ()
    branches: tuple[BranchState, ...] = ()
    varied: int = 0  #: variation tasks so far
    #: forms of the sums whose neighbours have been fitted
    replaced: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    cost: Cost = field(default_factory=Cost)

    @property
    def fronts(self) -> Fronts:
        entries = tuple(
            (complexity, tuple(entry.loss for entry in known))
            for complexity, known in sorted(self.training.entries.items())
        )
        return Fronts(
            self.training.front_losses(), self.overall.front_losses(), entries, self.best_without_pole
        )


def started(state: HybridState, tasks: Sequence[Task], **changes: object) -> HybridState:
    """The state with other tasks waiting, and with other changes."""
    fronts = state.fronts
    jobs = tuple(Job(state.context, task, fronts) for task in tasks)
    return replace(state, jobs=(*state.jobs, *jobs), **changes)  # type: ignore[arg-type]


# What a task has found --------------------------------------------------------------------------------------------
def merged(state: HybridState, outcome: Outcome) -> HybridState:
    """The state after the first task, before its candidates join the archive."""
    evaluation, task = outcome.evaluation, state.jobs[0].task
    state = replace(state, jobs=state.jobs[1:], pending=evaluation.found, cost=state.cost + evaluation.cost)
    if isinstance(task, Expand):
        return _with_beam(state, task, outcome)
    if isinstance(task, Surrogate):
        return _with_surrogate(state, task, outcome)
    if isinstance(task, SingleIndex) and outcome.reduction is not None:
        return replace(state, reductions=(*state.reductions, outcome.reduction), round=2)
    return state


def _with_beam(state: HybridState, task: Expand, outcome: Outcome) -> HybridState:
    number = task.number
    known, beam = state.branches[number], outcome.beam
    if beam is not None and known.beam is not None and task.beam is not None:
        beam = known.beam.merged(beam, task.beam)
    best = min(known.best, outcome.evaluation.best)
    branch = replace(known, beam=beam, best=best, waiting=known.waiting - 1, undefined=beam is None)
    return with_branch(state, number, branch)


def with_branch(state: HybridState, number: int, branch: BranchState) -> HybridState:
    return replace(state, branches=(*state.branches[:number], branch, *state.branches[number + 1 :]))


def _with_surrogate(state: HybridState, task: Surrogate, outcome: Outcome) -> HybridState:
    """With another surrogate; those that are not needed any more are dropped."""
    surrogates, jobs = (*state.surrogates, Surrogated(task.reduction, outcome.slopes)), state.jobs
    if outcome.slopes is not None and outcome.slopes.error < GOOD_ERROR:
        jobs = tuple(dropwhile(lambda job: _is_about(job, task.reduction), jobs))
    is_complete = not (jobs and _is_about(jobs[0], task.reduction))
    if is_complete and task.reduction != state.reductions[-1] and improves(state, task.reduction, surrogates):
        jobs = ()
    return replace(state, surrogates=surrogates, jobs=jobs)


def _is_about(job: Job, reduction: Reduction) -> bool:
    return isinstance(job.task, Surrogate) and job.task.reduction == reduction


def best_slopes(reduction: Reduction, surrogates: Sequence[Surrogated]) -> Slopes | None:
    found = [s.slopes for s in surrogates if s.reduction == reduction and s.slopes is not None]
    return min(found, key=lambda slopes: slopes.error, default=None)


def improves(state: HybridState, trial: Reduction, surrogates: Sequence[Surrogated]) -> bool:
    """Whether an uncertain symmetry is kept: its surrogate predicts better, or there is nothing left to predict."""
    slopes = best_slopes(trial, surrogates)
    if slopes is None:
        return not trial.variables
    return state.slopes is not None and slopes.error < KEPT_ERROR * state.slopes.error
