"""Which tasks come next, decided from the state; tasks that are waiting at the same time are independent of each other.

Baselines and a first look at products of powers come first, then tests of symmetry, then every branch.  After that, a
new task follows whenever one has ended: the better half of the branches is continued, and the archive is varied.  The
number of tasks that are waiting is fixed, so that the search does not depend on the number of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, dropwhile

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.archive import CandidateArchive
from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.expr import Expression
from fouriertree.projection.batches import SumBatch
from fouriertree.search.hybrid.baselines import is_univariate_polynomial_possible
from fouriertree.search.hybrid.beam import Beam
from fouriertree.search.hybrid.compositions import KINDS as COMPOSED
from fouriertree.search.hybrid.compositions import MOST as MOST_COMPOSED
from fouriertree.search.hybrid.context import (
    COMPOSITIONS,
    FUNCTIONS,
    MODULATION,
    RATIOS,
    REDUCTIONS,
    SEPARABLE_PRODUCTS,
    TRANSFORMED,
    VARIATION,
    SearchContext,
)
from fouriertree.search.hybrid.dictionary import SEPARABLE, SPECS
from fouriertree.search.hybrid.evaluation import EXACT, Cost, FittedCandidate, Fronts
from fouriertree.search.hybrid.polynomials import is_polynomial_possible
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
    with_inverse,
)
from fouriertree.search.hybrid.tasks import (
    Composition,
    Expand,
    FunctionFactor,
    Guesses,
    Job,
    Linear,
    LogSum,
    MultivariatePolynomial,
    Outcome,
    Parents,
    Polynomial,
    ProductComposition,
    RandomSums,
    Rational,
    Replace,
    SingleIndex,
    Surrogate,
    Task,
    Vary,
)
from fouriertree.search.hybrid.transformed import Branch
from fouriertree.search.hybrid.transforms import IDENTITY, TRANSFORMS, transform_named
from fouriertree.search.loop import Progress

#: stages of a search
START, QUICK, REDUCE, INDEX, FIRST, CONTINUE = range(6)
#: reductions that are searched: the most reduced ones, and the given problem
MAX_SEARCHED = 3
#: transforms of the first look, and its steps
QUICK_TRANSFORMS, QUICK_STEPS = 5, 2
#: branches that count where the number of tasks is limited: those of one reduction
BRANCHES = 40
#: branches that are continued at least
MIN_BRANCHES = 4
#: nats per row by which a description is longer of a branch that is continued half as often, and how seldom at most
GAP, MOST_SELDOM = 0.1, 7.0
#: tasks that are waiting while branches are continued: some for each of many processes
WINDOW = 32
#: features beyond which those in the best sums are searched alone; so many sums, and features at most
MANY_FEATURES, USED_SUMS, MOST_USED = 9, 3, 5
#: sums of the archive whose neighbours are fitted
VARIED = 12
#: sums of the archive whose parts are starts, and their terms at most
DIVIDED, MOST_DIVIDED = 4, 6
#: only branches with terms of more factors than this start from parts
PAIR = 2
#: one of so many tasks of such a branch starts from its own beam
PARTS_IN_TURN = 3
#: starts of a task that continues a branch
TASK_STARTS = 3
#: tasks of branches for every task of variation
EXPANSIONS_PER_VARIATION = 2


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
    return _with_branch(state, number, branch)


def _with_branch(state: HybridState, number: int, branch: BranchState) -> HybridState:
    return replace(state, branches=(*state.branches[:number], branch, *state.branches[number + 1 :]))


def _with_surrogate(state: HybridState, task: Surrogate, outcome: Outcome) -> HybridState:
    """With another surrogate; those that are not needed any more are dropped."""
    surrogates, jobs = (*state.surrogates, Surrogated(task.reduction, outcome.slopes)), state.jobs
    if outcome.slopes is not None and outcome.slopes.error < GOOD_ERROR:
        jobs = tuple(dropwhile(lambda job: _is_about(job, task.reduction), jobs))
    is_complete = not (jobs and _is_about(jobs[0], task.reduction))
    if (
        is_complete
        and task.reduction != state.reductions[-1]
        and _improves(state, task.reduction, surrogates)
    ):
        jobs = ()
    return replace(state, surrogates=surrogates, jobs=jobs)


def _is_about(job: Job, reduction: Reduction) -> bool:
    return isinstance(job.task, Surrogate) and job.task.reduction == reduction


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
def refilled(state: HybridState) -> HybridState:
    """The state with tasks waiting; finished if there are none left."""
    while state.finished is None and not state.jobs:
        state = _STAGES[state.stage](state)
    return _continued(state) if state.stage == CONTINUE and state.finished is None else state


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
    """Products of powers, for the transforms in which laws are plain most often, and products of two functions."""
    data = state.context.data
    if not data.n_features:
        return replace(state, finished=EXHAUSTED)
    if state.round:
        reductions = (Reduction(data.variables), *_of_used_features(state))
        without = REDUCTIONS in state.context.options.without
        return started(state, _about(state, reductions[-1], 0, without), stage=FIRST if without else REDUCE, round=0,
                       reductions=reductions)  # fmt: skip
    # With one variable there is nothing to reduce first, so that all branches come at once.
    reduction = Reduction(data.variables)
    branches = [Branch(reduction, t.name, "powers") for t in TRANSFORMS[:QUICK_TRANSFORMS]]
    branches.append(Branch(reduction, IDENTITY.name, "pairs of factors"))
    chosen = _allowed(state.context, branches if data.n_features > 1 else [])
    state = _first_steps(replace(state, round=1), chosen, _quick_steps)
    return _with_polynomials(state, [reduction])


def _of_used_features(state: HybridState) -> tuple[Reduction, ...]:
    """Of many features, the problem in those that the best sums so far have, if these are few."""
    data, used = state.context.data, set[int]()
    if data.n_features <= MANY_FEATURES or REDUCTIONS in state.context.options.without:
        return ()
    for terms in _best_sums(state, USED_SUMS):
        more = used | {column for e in terms for column in e.columns}
        if len(more) > MOST_USED:
            break
        used = more
    return (Reduction(tuple(data.variables[i] for i in sorted(used))),) if used else ()


def _quick_steps(branch: Branch) -> int:
    spec = SPECS[branch.dictionary]
    return spec.first_steps if spec.max_factors else QUICK_STEPS


def _about(state: HybridState, reduction: Reduction, number: int, rational_only: bool = False) -> list[Task]:
    """Tasks about a new reduction: its rational functions, and its surrogates."""
    options = state.context.options
    tasks: list[Task] = []
    if len(reduction.variables) <= 1 and RATIOS not in options.without:
        tasks.append(Rational(reduction))
    if reduction.variables and not rational_only:
        tasks += _surrogates(state, reduction, number)
    return tasks


def _surrogates(
    state: HybridState, reduction: Reduction, number: int, targets: Sequence[str] = SURROGATE_TARGETS
) -> list[Task]:
    seed = int(np.random.default_rng([state.context.seed, 2, number]).integers(2**31))
    return [Surrogate(reduction, target, seed) for target in targets]


def _reduce(state: HybridState) -> HybridState:
    """The next reduction by certain symmetries, or trials of uncertain ones."""
    v, last, number = state.context.vocabulary, state.reductions[-1], len(state.reductions)
    tried = dict.fromkeys(s.reduction for s in state.surrogates if s.reduction != last)
    if tried:
        kept = next((trial for trial in tried if _improves(state, trial, state.surrogates)), None)
        if kept is None:
            return replace(state, stage=INDEX, round=0, slopes=None, surrogates=())
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
        return replace(state, stage=INDEX, round=0, slopes=None, surrogates=())
    proposals = list(proposals_of(reduced_problem(state.context.data, last), slopes, v))
    if certain := certain_proposals(proposals):
        smaller = reduced(last, certain, v)
        return started(
            state, _about(state, smaller, number), reductions=(*state.reductions, smaller), slopes=None
        )
    attempts = [reduced(last, [proposal], v) for proposal in trials(proposals)]
    # What was predicted best before is compared with itself.
    tasks = list(
        chain.from_iterable(_surrogates(state, trial, number, (slopes.target,)) for trial in attempts)
    )
    return started(state, tasks) if tasks else replace(state, stage=INDEX, round=0, slopes=None)


def _index(state: HybridState) -> HybridState:
    """A reduction to one variable, if sorting finds one, and its rational functions."""
    last = state.reductions[-1]
    if state.round == 0 and last.variables:
        return started(state, [SingleIndex(last)], round=1)
    found = state.round == 2
    return started(state, _about(state, last, 0, rational_only=True) if found else [], stage=FIRST, round=0)


def _first(state: HybridState) -> HybridState:
    """Every branch of the reductions that are searched, the most reduced one first, which is continued a little.

    A problem in few variables takes little time, and a law is found there first if there is one.  Branches with large
    dictionaries are begun later.
    """
    context = state.context
    *larger, most_reduced = [r for r in state.reductions if r.variables]
    smallest: tuple[Reduction, ...] = (most_reduced,)
    if larger and len(most_reduced.variables) == 1:
        smallest = with_inverse(context.data, most_reduced, context.vocabulary)
    if larger and state.round == 0:
        state = _begun(replace(state, round=1), smallest)
        return _with_compositions(state, most_reduced) if len(most_reduced.variables) > 1 else state
    if larger and state.round == 1:
        return _continued_once(replace(state, round=2))
    searched = (*larger[::-1][: MAX_SEARCHED - 1], *larger[: 1 if len(larger) >= MAX_SEARCHED else 0])
    state = _begun(replace(state, stage=CONTINUE, round=0), searched if larger else smallest)
    if not larger or context.options.rounds is None:
        few = (r for r in state.reductions if len(r.variables) <= MOST_COMPOSED)
        state = _with_compositions(state, next(few, most_reduced))
    late = [Branch(r, t.name, "many") for r in smallest[:1] for t in TRANSFORMS]
    return replace(state, branches=(*state.branches, *map(BranchState, _allowed(context, late))))


def _begun(state: HybridState, reductions: Sequence[Reduction]) -> HybridState:
    """The first steps of every branch of reductions that has not begun."""
    begun = {branch.branch for branch in state.branches}
    every = [b for b in chain.from_iterable(map(branches_of, reductions)) if b not in begun]
    chosen = _allowed(state.context, every)
    state = _with_polynomials(state, [r for r in reductions if r != state.reductions[0]])
    return _first_steps(state, chosen, lambda branch: SPECS[branch.dictionary].first_steps)


def _with_polynomials(state: HybridState, reductions: Sequence[Reduction]) -> HybridState:
    """Polynomials of reduced problems in several variables."""
    possible = [r for r in reductions if is_polynomial_possible(r, state.context.vocabulary)]
    return started(state, [MultivariatePolynomial(r) for r in possible])


def _with_compositions(state: HybridState, reduction: Reduction) -> HybridState:
    """Compositions of a reduced problem."""
    if COMPOSITIONS in state.context.options.without:
        return state
    composed = (Composition(reduction, kind) for kind in COMPOSED)
    products = LogSum(reduction), ProductComposition(reduction), FunctionFactor(reduction)
    return started(state, [*products, *composed])


def _continued_once(state: HybridState) -> HybridState:
    """One more task for each of the better half of the branches."""
    numbers = sorted(range(len(state.branches)), key=lambda i: state.branches[i].best)
    for number in numbers[: max(MIN_BRANCHES, len(numbers) // 2)]:
        if state.branches[number].has_starts:
            state = _with_expansion(state, number)
    return state


def _first_steps(
    state: HybridState, branches: Sequence[Branch], steps: Callable[[Branch], int]
) -> HybridState:
    """A round with the first steps of new branches."""
    known, new = len(state.branches), [BranchState(branch, waiting=1) for branch in branches]
    tasks = [Expand(known + i, branch, None, steps(branch)) for i, branch in enumerate(branches)]
    return started(state, tasks, branches=(*state.branches, *new))


def _continued(state: HybridState) -> HybridState:
    """Tasks of the most promising branches, and some of variation among them, until enough are waiting."""
    options = state.context.options
    most = np.inf if options.rounds is None else options.rounds * min(len(state.branches), BRANCHES)
    while len(state.jobs) < WINDOW:
        number = _next_branch(state.branches, state.context.data.n_rows) if state.round < most else None
        is_turn = number is None or state.round % EXPANSIONS_PER_VARIATION == 0
        varies = is_turn and VARIATION not in options.without and state.round < most
        varies = varies and bool(state.training.entries)
        if number is None and not varies:
            reason = COMPLETE if state.round >= most else EXHAUSTED
            return replace(state, finished=None if state.jobs else reason)
        if number is not None:
            state = _with_expansion(state, number)
        if varies:
            state = _with_variation(state)
        state = replace(state, round=state.round + 1)
    return state


def _next_branch(branches: Sequence[BranchState], n_rows: int) -> int | None:
    """Of the better half of the branches, the one that is due; None if all have tasks waiting.

    The longer its shortest description, the more seldom a branch is continued.
    """
    numbers = [i for i, branch in enumerate(branches) if not branch.exhausted]
    numbers.sort(key=lambda i: branches[i].best)
    better = numbers[: max(MIN_BRANCHES, len(numbers) // 2)]

    def due(i: int) -> float:
        gap = branches[i].best - branches[better[0]].best
        behind = gap / (GAP * n_rows) if np.isfinite(gap) else np.inf
        return (1 + branches[i].continued) * (1.0 + min(behind, MOST_SELDOM))

    return min((i for i in better if branches[i].has_starts), key=due, default=None)


def _with_expansion(state: HybridState, number: int) -> HybridState:
    """The state with a task that expands the best starts of a branch."""
    known = state.branches[number]
    others: tuple[tuple[Expression, ...], ...] = ()
    part, rest = (None, None) if known.beam is None else known.beam.divided(TASK_STARTS)
    if rest is not None and known.continued % PARTS_IN_TURN and _takes_parts(state, known.branch):
        others, rest = _parts_of_best(state, rest)
    steps = SPECS[known.branch.dictionary].steps
    state = started(state, [Expand(number, known.branch, part, steps, others)])
    branch = replace(known, beam=rest, waiting=known.waiting + 1, continued=known.continued + 1)
    return _with_branch(state, number, branch)


def _takes_parts(state: HybridState, branch: Branch) -> bool:
    """Whether a branch also starts from parts of sums that others have found: those of terms of y in many factors."""
    given = set(state.reductions[0].variables)
    is_given = not branch.reduction.factor and given.issuperset(branch.reduction.variables)
    return is_given and branch.transform == IDENTITY.name and SPECS[branch.dictionary].max_factors > PAIR


def _parts_of_best(state: HybridState, beam: Beam) -> tuple[tuple[tuple[Expression, ...], ...], Beam]:
    """A part of one of the best sums of the archive that the beam has not started from, and the beam that has.

    Without one or two of the terms, or with one or two of them only: pairs of terms in the place of the others are
    screened once more.
    """
    parts: list[tuple[Expression, ...]] = []
    most = state.context.options.max_terms
    for terms in _best_sums(state, DIVIDED):
        k = len(terms)
        if 2 <= k <= MOST_DIVIDED:
            # The smaller the part, the shorter a sum may become.
            for size in dict.fromkeys((2, 1, k - 1, k - 2)):
                parts += combinations(terms, size) if 0 < size < min(k, most) else ()
    forms = SumBatch.pack(parts).shapes
    new = np.flatnonzero(~np.isin(forms, beam.started))
    if not len(new):
        return (), beam
    chosen = int(new[0])
    return (parts[chosen],), replace(beam, started=np.union1d(beam.started, forms[chosen : chosen + 1]))


def _best_sums(state: HybridState, count: int) -> list[tuple[Expression, ...]]:
    """The terms, without constants, of the sums of the archive with the shortest descriptions."""
    n, entries = state.context.data.n_rows, state.training.entries.items()
    found = [(complexity, entry) for complexity, known in entries for entry in known]
    found.sort(key=lambda item: approximate_length(n, max(item[1].loss, EXACT), item[0]))
    sums = (tuple(e for e in entry.candidate.expressions if e.columns) for _, entry in found[:count])
    return [terms for terms in sums if terms]


def _with_variation(state: HybridState) -> HybridState:
    """The state with a task that fits all neighbours of one of the best sums, or that varies the archive."""
    best = _best_sums(state, VARIED)
    forms = SumBatch.pack(best).shapes
    new = np.flatnonzero(~np.isin(forms, state.replaced))
    if len(new) and state.context.vocabulary.complete:
        chosen = int(new[0])
        replaced = np.append(state.replaced, forms[chosen])
        return started(state, [Replace(best[chosen])], replaced=replaced)
    return started(state, [Vary(state.varied, _parents(state))], varied=state.varied + 1)


def _parents(state: HybridState) -> Parents:
    front, n = state.training.front(), state.context.data.n_rows
    lengths = [
        float(approximate_length(n, max(entry.loss, EXACT), complexity))
        for complexity, entry in front.items()
    ]
    return Parents(tuple(entry.candidate.expressions for entry in front.values()), tuple(lengths))


#: why a search ends: its branches have no sums to expand, or have had their tasks
EXHAUSTED, COMPLETE = (
    "nothing is left to try",
    "all search strategies have run; set a time limit to search longer",
)
_STAGES = {START: _start, QUICK: _quick, REDUCE: _reduce, INDEX: _index, FIRST: _first, CONTINUE: _continued}


# Branches ---------------------------------------------------------------------------------------------------------
def branches_of(reduction: Reduction) -> list[Branch]:
    """Every dictionary for every transform, the cheap ones first; of one variable, functions are as cheap."""
    names = [transform.name for transform in TRANSFORMS]
    plain = [Branch(reduction, IDENTITY.name, "plain functions")]
    functions = [Branch(reduction, name, "functions") for name in names[1:-1]]
    powers = [Branch(reduction, name, "powers") for name in names]
    ratios = [Branch(reduction, name, "ratio") for name in ("t", "t^2")]
    separable = [Branch(reduction, IDENTITY.name, name) for name in SEPARABLE]
    if len(reduction.variables) == 1:
        return [*plain, *powers, *ratios, *separable, *functions]
    modulated = [Branch(reduction, name, "modulated") for name in names[:QUICK_TRANSFORMS]]
    modulated += [Branch(reduction, IDENTITY.name, "modulated ratio")]
    return [*powers, *separable, *ratios, *modulated, *plain, *functions]


def _allowed(context: SearchContext, branches: Sequence[Branch]) -> list[Branch]:
    """Those that the operators allow, and that belong to no part that is left out."""

    def left_out(branch: Branch) -> bool:
        spec = SPECS[branch.dictionary]
        parts = {
            TRANSFORMED: branch.transform != IDENTITY.name, RATIOS: spec.ratio,
            MODULATION: spec.modulated, FUNCTIONS: spec.functions, SEPARABLE_PRODUCTS: spec.max_factors > 0,
        }  # fmt: skip
        return any(parts.get(part, False) for part in context.options.without)

    v = context.vocabulary
    return [b for b in branches if transform_named(b.transform).allowed(v) and not left_out(b)]
