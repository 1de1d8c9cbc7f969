"""Rounds of independent tasks: what is computed next, decided from the state at the start of a round.

Baselines and a first look at products of powers come first, then tests of symmetry, then every branch, and then rounds
of successive halving: more steps for the better half of the branches, and variation of the archive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest

import numpy as np

from fouriertree.criteria.archive import CandidateArchive
from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.search.hybrid.baselines import is_univariate_polynomial_possible
from fouriertree.search.hybrid.beam import Beam, Branch
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.dictionary import SPECS
from fouriertree.search.hybrid.evaluation import EXACT, Cost, FittedCandidate, Fronts
from fouriertree.search.hybrid.reductions import (
    GOOD_ERROR,
    KEPT_ERROR,
    MAX_ERROR,
    MAX_REDUCTIONS,
    SURROGATE_TARGETS,
    Reduction,
    Slopes,
    certain_proposals,
    proposals_of,
    reduced,
    reduced_problem,
    trials,
)
from fouriertree.search.hybrid.tasks import (
    Expand,
    Guesses,
    Job,
    Linear,
    Outcome,
    Parents,
    Polynomial,
    RandomSums,
    Rational,
    SingleIndex,
    Surrogate,
    Task,
    Vary,
)
from fouriertree.search.hybrid.transforms import IDENTITY, TRANSFORMS, transform_named
from fouriertree.search.loop import Progress

#: parts of the search that can be left out
PARTS = REDUCTIONS, TRANSFORMED, RATIOS, MODULATION, FUNCTIONS, VARIATION = (
    "reductions", "transforms", "ratios", "modulation", "functions", "variation"
)  # fmt: skip
#: stages of a search
START, QUICK, REDUCE, INDEX, FIRST, ROUNDS = range(6)
#: reductions that are searched: the most reduced ones, and the given problem
MAX_SEARCHED = 3
#: transforms of the first look, and its steps
QUICK_TRANSFORMS, QUICK_STEPS = 5, 2
#: steps of every branch in the first round of successive halving, doubled in every round up to the second
FIRST_STEPS, MAX_STEPS = 2, 12
#: branches that are continued at least
MIN_BRANCHES = 4
#: steps of a task: a beam with more steps in a round is split
TASK_STEPS = 4
#: variation tasks of a round without branches
VARIATION_TASKS = 8


@dataclass(frozen=True)
class BranchState:
    """A branch with its beam, and the shortest description of y that it has given; without a beam, not begun yet."""

    branch: Branch
    beam: Beam | None = None
    best: float = np.inf
    exhausted: bool = False


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
    # The round: its tasks, the Pareto fronts at its start, the next task, and candidates of the last one.
    stage: int = START
    round: int = 0
    jobs: tuple[Job, ...] = ()
    position: int = 0
    pending: tuple[FittedCandidate, ...] = ()
    # Candidates so far.
    training: CandidateArchive = field(default_factory=CandidateArchive)
    overall: CandidateArchive = field(default_factory=CandidateArchive)
    best_without_pole: float = 1.0
    law: bool = False
    # Reductions so far, the gradient of the last one, and those of the surrogates of the round.
    reductions: tuple[Reduction, ...] = ()
    slopes: Slopes | None = None
    surrogates: tuple[Surrogated, ...] = ()
    branches: tuple[BranchState, ...] = ()
    varied: int = 0  #: variation tasks so far
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
    """The state at the start of a round."""
    fronts = state.fronts
    jobs = tuple(Job(state.context, task, fronts) for task in tasks)
    return replace(state, jobs=jobs, position=0, surrogates=(), **changes)  # type: ignore[arg-type]


# What a task has found --------------------------------------------------------------------------------------------
def merged(state: HybridState, task: Task, outcome: Outcome) -> HybridState:
    """The state after a task, before its candidates join the archive."""
    evaluation = outcome.evaluation
    state = replace(
        state, position=state.position + 1, pending=evaluation.found, cost=state.cost + evaluation.cost
    )
    if isinstance(task, Expand):
        return _with_beam(state, task.number, outcome)
    if isinstance(task, Surrogate):
        return _with_surrogate(state, task, outcome)
    if isinstance(task, SingleIndex) and outcome.reduction is not None:
        return replace(state, reductions=(*state.reductions, outcome.reduction))
    return state


def _with_beam(state: HybridState, number: int, outcome: Outcome) -> HybridState:
    known, beam = state.branches[number], outcome.beam
    if beam is not None and known.beam is not None:
        beam = known.beam.merged(beam)
    best = min(known.best, outcome.evaluation.best)
    branch = replace(known, beam=beam, best=best, exhausted=beam is None or not len(beam.starts))
    branches = (*state.branches[:number], branch, *state.branches[number + 1 :])
    return replace(state, branches=branches)


def _with_surrogate(state: HybridState, task: Surrogate, outcome: Outcome) -> HybridState:
    """With another surrogate; those that are not needed any more are skipped."""
    surrogates = (*state.surrogates, Surrogated(task.reduction, outcome.slopes))
    position = state.position
    if outcome.slopes is not None and outcome.slopes.error < GOOD_ERROR:
        position = _after(state.jobs, position, task.reduction)
    complete = _after(state.jobs, position, task.reduction) == position
    if complete and task.reduction != state.reductions[-1] and _improves(state, task.reduction, surrogates):
        position = len(state.jobs)
    return replace(state, surrogates=surrogates, position=position)


def _after(jobs: Sequence[Job], position: int, reduction: Reduction) -> int:
    """The position of the next job that is not about a reduction."""
    while position < len(jobs):
        task = jobs[position].task
        if not isinstance(task, Surrogate) or task.reduction != reduction:
            break
        position += 1
    return position


def _best_slopes(reduction: Reduction, surrogates: Sequence[Surrogated]) -> Slopes | None:
    found = [s.slopes for s in surrogates if s.reduction == reduction and s.slopes is not None]
    return min(found, key=lambda slopes: slopes.error, default=None)


def _improves(state: HybridState, trial: Reduction, surrogates: Sequence[Surrogated]) -> bool:
    """Whether an uncertain symmetry is kept: its surrogate predicts better, or there is nothing left to predict."""
    slopes = _best_slopes(trial, surrogates)
    if slopes is None:
        return not trial.variables
    return state.slopes is not None and slopes.error < KEPT_ERROR * state.slopes.error


# What comes next --------------------------------------------------------------------------------------------------
def next_round(state: HybridState) -> HybridState:
    """The state at the start of the next round that has tasks; finished if there is none."""
    while not state.jobs[state.position :] and state.finished is None:
        state = _STAGES[state.stage](state)
    return state


def _start(state: HybridState) -> HybridState:
    context = state.context
    if state.round:
        return started(state, [], stage=QUICK, round=0)
    tasks: list[Task] = [Guesses()]
    if context.data.n_features:
        tasks += [RandomSums(), Linear()]
    if is_univariate_polynomial_possible(context):
        tasks += [Polynomial(t.name) for t in TRANSFORMS if t.allowed(context.vocabulary)]
    return started(state, tasks, round=1)


def _quick(state: HybridState) -> HybridState:
    """Products of powers, for the transforms in which laws are plain most often."""
    data = state.context.data
    if not data.n_features:
        return replace(state, finished=EXHAUSTED)
    if state.round:
        given = Reduction(data.variables)
        without = REDUCTIONS in state.context.options.without
        return started(state, _about(state, given, 0, without), stage=FIRST if without else REDUCE, round=0,
                       reductions=(given,))  # fmt: skip
    # With one variable there is nothing to reduce first, so that all branches come at once.
    reduction = Reduction(data.variables)
    branches = [Branch(reduction, t.name, "powers") for t in TRANSFORMS[:QUICK_TRANSFORMS]]
    chosen = _allowed(state.context, branches if data.n_features > 1 else [])
    return _first_steps(replace(state, round=1), chosen, lambda branch: QUICK_STEPS)


def _about(state: HybridState, reduction: Reduction, number: int, rational_only: bool = False) -> list[Task]:
    """Tasks about a new reduction: its rational functions, and its surrogates."""
    options = state.context.options
    tasks: list[Task] = []
    if len(reduction.variables) <= 1 and RATIOS not in options.without:
        tasks.append(Rational(reduction))
    if reduction.variables and not rational_only:
        tasks += _surrogates(state, reduction, number)
    return tasks


def _surrogates(state: HybridState, reduction: Reduction, number: int) -> list[Task]:
    seed = int(np.random.default_rng([state.context.seed, 2, number]).integers(2**31))
    return [Surrogate(reduction, target, seed) for target in SURROGATE_TARGETS]


def _reduce(state: HybridState) -> HybridState:
    """The next reduction by certain symmetries, or trials of uncertain ones."""
    v, last, number = state.context.vocabulary, state.reductions[-1], len(state.reductions)
    tried = dict.fromkeys(s.reduction for s in state.surrogates if s.reduction != last)
    if tried:
        kept = next((trial for trial in tried if _improves(state, trial, state.surrogates)), None)
        if kept is None:
            return started(state, [], stage=INDEX, slopes=None)
        slopes = _best_slopes(kept, state.surrogates)
        state = replace(state, reductions=(*state.reductions, kept), slopes=slopes, surrogates=())
        rational = _about(state, kept, number, rational_only=True)
        if rational:
            # The surrogates of the trial are known, and the next round begins with its proposals.
            return started(state, rational)
        last = kept
    elif state.surrogates:
        state = replace(state, slopes=_best_slopes(last, state.surrogates), surrogates=())
    slopes = state.slopes
    if slopes is None or slopes.error > MAX_ERROR or not last.variables or number > MAX_REDUCTIONS:
        return started(state, [], stage=INDEX, slopes=None)
    proposals = list(proposals_of(reduced_problem(state.context.data, last), slopes, v))
    if certain := certain_proposals(proposals):
        smaller = reduced(last, certain, v)
        return started(
            state, _about(state, smaller, number), reductions=(*state.reductions, smaller), slopes=None
        )
    attempts = [reduced(last, [proposal], v) for proposal in trials(proposals)]
    tasks = list(chain.from_iterable(_surrogates(state, trial, number) for trial in attempts))
    return started(state, tasks) if tasks else started(state, [], stage=INDEX, slopes=None)


def _index(state: HybridState) -> HybridState:
    """A reduction to one variable, if sorting finds one, and its rational functions."""
    last = state.reductions[-1]
    if state.round == 0 and last.variables:
        return started(state, [SingleIndex(last)], round=1)
    tasks = _about(state, last, 0, rational_only=True) if _is_single_index(state) else []
    return started(state, tasks, stage=FIRST, round=0)


def _is_single_index(state: HybridState) -> bool:
    """Whether the last task has found a reduction to one variable."""
    task = state.jobs[-1].task if state.jobs else None
    return isinstance(task, SingleIndex) and task.reduction != state.reductions[-1]


def _first(state: HybridState) -> HybridState:
    """Every branch of the reductions that are searched; beams with large dictionaries follow in later rounds."""
    if state.round:
        return started(state, [], stage=ROUNDS, round=0)
    reductions = [r for r in state.reductions if r.variables]
    searched = (*reductions[::-1][:MAX_SEARCHED], *reductions[: 1 if len(reductions) > MAX_SEARCHED else 0])
    chosen = _allowed(state.context, list(chain.from_iterable(map(branches_of, searched))))
    late = [Branch(r, t.name, "many") for r in reductions[-1:] for t in TRANSFORMS]
    state = _first_steps(replace(state, round=1), chosen, lambda branch: SPECS[branch.dictionary].first_steps)
    waiting = tuple(map(BranchState, _allowed(state.context, late)))
    return replace(state, branches=(*state.branches, *waiting))


def _first_steps(
    state: HybridState, branches: Sequence[Branch], steps: Callable[[Branch], int]
) -> HybridState:
    """A round with the first steps of new branches."""
    known = len(state.branches)
    tasks = [Expand(known + i, branch, None, steps(branch)) for i, branch in enumerate(branches)]
    return started(state, tasks, branches=(*state.branches, *map(BranchState, branches)))


def _halving(state: HybridState) -> HybridState:
    """More steps for the better half of the branches, and as many variation tasks."""
    options = state.context.options
    if options.rounds is not None and state.round >= options.rounds:
        return replace(state, finished=EXHAUSTED)
    steps = min(FIRST_STEPS * 2**state.round, MAX_STEPS)
    alive = _alive(state.branches)
    expansions = list(chain.from_iterable(_expansions(i, state.branches[i], steps) for i in alive))
    varied = 0 if VARIATION in options.without else len(alive) or VARIATION_TASKS
    variations = _variations(state, varied)
    if not expansions and not variations:
        return replace(state, finished=EXHAUSTED)
    branches = list(state.branches)
    for i in alive:
        beam = branches[i].beam
        branches[i] = replace(branches[i], beam=None if beam is None else beam.without_starts())
    # Alternately, so that a limit of the budget cuts off as much of both.
    tasks = [task for pair in zip_longest(expansions, variations) for task in pair if task is not None]
    return started(
        state, tasks, branches=tuple(branches), round=state.round + 1, varied=state.varied + len(variations)
    )


def _alive(branches: Sequence[BranchState]) -> list[int]:
    """Numbers of the better half of the branches that can be continued, best first."""
    numbers = [i for i, branch in enumerate(branches) if not branch.exhausted]
    numbers.sort(key=lambda i: branches[i].best)
    return numbers[: max(MIN_BRANCHES, len(numbers) // 2)]


def _expansions(number: int, state: BranchState, steps: int) -> list[Task]:
    """Steps of a branch, shared by independent parts of its beam."""
    if state.beam is None:
        return [Expand(number, state.branch, None, min(steps, TASK_STEPS))]
    parts = state.beam.split(-(-steps // TASK_STEPS))
    return [Expand(number, state.branch, part, -(-steps // len(parts))) for part in parts]


def _variations(state: HybridState, count: int) -> list[Task]:
    front = state.training.front()
    if not front:
        return []
    n = state.context.data.n_rows
    lengths = [
        float(approximate_length(n, max(entry.loss, EXACT), complexity))
        for complexity, entry in front.items()
    ]
    parents = Parents(tuple(entry.candidate.expressions for entry in front.values()), tuple(lengths))
    return [Vary(state.varied + i, parents) for i in range(count)]


EXHAUSTED = "nothing is left to try"
_STAGES = {START: _start, QUICK: _quick, REDUCE: _reduce, INDEX: _index, FIRST: _first, ROUNDS: _halving}


# Branches ---------------------------------------------------------------------------------------------------------
def branches_of(reduction: Reduction) -> list[Branch]:
    """Every dictionary for every transform, the cheap ones first; of one variable, functions are as cheap."""
    names = [transform.name for transform in TRANSFORMS]
    plain = [Branch(reduction, IDENTITY.name, "plain functions")]
    functions = [Branch(reduction, name, "functions") for name in names[1:-1]]
    powers = [Branch(reduction, name, "powers") for name in names]
    ratios = [Branch(reduction, name, "ratio") for name in ("t", "t^2")]
    if len(reduction.variables) == 1:
        return [*plain, *powers, *ratios, *functions]
    modulated = [Branch(reduction, name, "modulated") for name in names[:QUICK_TRANSFORMS]]
    modulated += [Branch(reduction, IDENTITY.name, "modulated ratio")]
    return [*powers, *ratios, *modulated, *plain, *functions]


def _allowed(context: SearchContext, branches: Sequence[Branch]) -> list[Branch]:
    """Those that the operators allow, and that belong to no part that is left out."""

    def left_out(branch: Branch) -> bool:
        spec = SPECS[branch.dictionary]
        parts = {
            TRANSFORMED: branch.transform != IDENTITY.name, RATIOS: spec.ratio,
            MODULATION: spec.modulated, FUNCTIONS: spec.functions,
        }  # fmt: skip
        return any(parts.get(part, False) for part in context.options.without)

    v = context.vocabulary
    return [b for b in branches if transform_named(b.transform).allowed(v) and not left_out(b)]
