"""Which branches are continued: those with short descriptions more often; and which sums are varied.

The number of tasks that are waiting is fixed, so that the search does not depend on the number of processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.expr import Expression
from fouriertree.projection.batches import SumBatch
from fouriertree.search.hybrid.beam import Beam
from fouriertree.search.hybrid.context import VARIATION
from fouriertree.search.hybrid.dictionary import SPECS
from fouriertree.search.hybrid.evaluation import EXACT
from fouriertree.search.hybrid.state import BranchState, HybridState, started, with_branch
from fouriertree.search.hybrid.tasks import Expand, Parents, Replace, Vary
from fouriertree.search.hybrid.transformed import Branch
from fouriertree.search.hybrid.transforms import IDENTITY

#: branches that count at most where the number of tasks is limited
BRANCHES = 24
#: branches that are continued at least
MIN_BRANCHES = 4
#: nats per row by which a description is longer of a branch that is continued half as often, and how seldom at most
GAP, MOST_SELDOM = 0.1, 7.0
#: tasks that are waiting while branches are continued: some for each of many processes
WINDOW = 32
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
#: why a search ends: its branches have no sums to expand, or have had their tasks
EXHAUSTED, COMPLETE = (
    "nothing is left to try",
    "all search strategies have run; set a time limit to search longer",
)


def continued(state: HybridState) -> HybridState:
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
    return with_branch(state, number, branch)


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
    for terms in best_sums(state, DIVIDED):
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


def best_sums(state: HybridState, count: int) -> list[tuple[Expression, ...]]:
    """The terms, without constants, of the sums of the archive with the shortest descriptions."""
    n, entries = state.context.data.n_rows, state.training.entries.items()
    found = [(complexity, entry) for complexity, known in entries for entry in known]
    found.sort(key=lambda item: approximate_length(n, max(item[1].loss, EXACT), item[0]))
    sums = (tuple(e for e in entry.candidate.expressions if e.columns) for _, entry in found[:count])
    return [terms for terms in sums if terms]


def _with_variation(state: HybridState) -> HybridState:
    """The state with a task that fits all neighbours of one of the best sums, or that varies the archive."""
    best = best_sums(state, VARIED)
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


def continued_once(state: HybridState) -> HybridState:
    """One more task for each of the better half of the branches."""
    numbers = sorted(range(len(state.branches)), key=lambda i: state.branches[i].best)
    for number in numbers[: max(MIN_BRANCHES, len(numbers) // 2)]:
        if state.branches[number].has_starts:
            state = _with_expansion(state, number)
    return state
