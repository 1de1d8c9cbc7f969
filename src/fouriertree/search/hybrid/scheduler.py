"""The stages of a search: which tasks come next, decided from the state.

Baselines and a first look at products of powers come first, then tests of symmetry, then every branch, those of the
most reduced problem before others; after that, `continuation` decides.  Tasks that are waiting at the same time are
independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from fouriertree.search.hybrid.baselines import is_univariate_polynomial_possible
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
    SearchContext,
)
from fouriertree.search.hybrid.continuation import EXHAUSTED, best_sums, continued, continued_once
from fouriertree.search.hybrid.dictionary import SEPARABLE, SPECS
from fouriertree.search.hybrid.polynomials import is_polynomial_possible
from fouriertree.search.hybrid.reductions import (
    MAX_ERROR,
    MAX_REDUCTIONS,
    SURROGATE_TARGETS,
    Reduction,
    certain_proposals,
    proposals_of,
    reduced,
    reduced_problem,
    trials,
    with_inverse,
)
from fouriertree.search.hybrid.state import (
    CONTINUE,
    FIRST,
    INDEX,
    QUICK,
    REDUCE,
    START,
    BranchState,
    HybridState,
    best_slopes,
    improves,
    started,
)
from fouriertree.search.hybrid.tasks import (
    Composition,
    Expand,
    FunctionFactor,
    Guesses,
    Linear,
    LogSum,
    MultivariatePolynomial,
    Polynomial,
    ProductComposition,
    RandomSums,
    Rational,
    SingleIndex,
    Surrogate,
    Task,
)
from fouriertree.search.hybrid.transformed import Branch
from fouriertree.search.hybrid.transforms import IDENTITY, TRANSFORMS, transform_named

#: reductions that are searched: the most reduced ones, and the given problem
MAX_SEARCHED = 3
#: transforms of the first look, and its steps
QUICK_TRANSFORMS, QUICK_STEPS = 5, 2
#: features beyond which those in the best sums are searched alone; so many sums, and features at most
MANY_FEATURES, USED_SUMS, MOST_USED = 9, 3, 5


def refilled(state: HybridState) -> HybridState:
    """The state with tasks waiting; finished if there are none left."""
    while state.finished is None and not state.jobs:
        state = _STAGES[state.stage](state)
    return continued(state) if state.stage == CONTINUE and state.finished is None else state


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
    for terms in best_sums(state, USED_SUMS):
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
        kept = next((trial for trial in tried if improves(state, trial, state.surrogates)), None)
        if kept is None:
            return replace(state, stage=INDEX, round=0, slopes=None, surrogates=())
        slopes = best_slopes(kept, state.surrogates)
        state = replace(state, reductions=(*state.reductions, kept), slopes=slopes, surrogates=())
        rational = _about(state, kept, number, rational_only=True)
        if rational:
            # The surrogates of the trial are known, and the next round begins with its proposals.
            return started(state, rational)
        last = kept
    elif state.surrogates:
        state = replace(state, slopes=best_slopes(last, state.surrogates), surrogates=())
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
        return continued_once(replace(state, round=2))
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


def _first_steps(
    state: HybridState, branches: Sequence[Branch], steps: Callable[[Branch], int]
) -> HybridState:
    """A round with the first steps of new branches."""
    known, new = len(state.branches), [BranchState(branch, waiting=1) for branch in branches]
    tasks = [Expand(known + i, branch, None, steps(branch)) for i, branch in enumerate(branches)]
    return started(state, tasks, branches=(*state.branches, *new))


_STAGES = {START: _start, QUICK: _quick, REDUCE: _reduce, INDEX: _index, FIRST: _first, CONTINUE: continued}


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
