"""(1+λ)-GP: the best of λ mutants replaces the parent if it is better."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.problems import Problem
from fouriertree.search.budget import Budget
from fouriertree.search.events import Accepted, Event, Progress
from fouriertree.search.gp.loops import evaluated, first_population, one_plus_lambda, watch_all
from fouriertree.search.gp.nodes import Store
from fouriertree.search.gp.state import (
    Setting,
    as_expression,
    check_at_least,
    check_levels,
    check_watch,
    compile_loops,
    gp_progress,
)

#: offspring per call: some milliseconds, so that Ctrl-C and time limits are heard
OFFSPRING_PER_STEP = 5000
#: of a generation that was cut: offspring that are done, the best of them, its loss, nodes in use before them
NOT_CUT = (0, -1, np.inf, 0)


@dataclass(frozen=True)
class OnePlusLambdaState:
    """The parent and its nodes.  A step returns a new state and reuses the store: the old state is spent."""

    seed: int
    setting: Setting
    store: Store
    used: int
    parent: int  #: its root in the store
    expression: Expression
    progress: Progress
    cut: tuple[int, int, float, int] = NOT_CUT
    finished: str | None = None


@dataclass(frozen=True)
class OnePlusLambda:
    """Mutation-only GP with one parent, as configured in the paper.

    Each offspring is the parent with a uniformly chosen node, the root included, replaced by a tree of
    init(mutation_levels); the best replaces the parent only if its loss is smaller.

    offspring: λ; 1 is the (1+1)-GP.
    init_levels, mutation_levels: (lo, hi) of ramped half-and-half for the first parent and for mutations.
    generations_per_step: generations between two looks at the budget; by default some thousand offspring.
    watch: running statistics of polynomial trees, see `loops.watched`; None for none.
    """

    offspring: int = 500
    init_levels: tuple[int, int] = (2, 6)
    mutation_levels: tuple[int, int] = (1, 3)
    generations_per_step: int | None = None
    watch: NDArray[np.int64] | None = field(default=None, compare=False)

    def init(self, problem: Problem, seed: int) -> tuple[OnePlusLambdaState, list[Event]]:
        check_at_least("offspring", self.offspring, 1)
        check_levels("init_levels", *self.init_levels)
        check_levels("mutation_levels", *self.mutation_levels)
        check_watch(self.watch, problem)
        setting = Setting.of(problem)
        store, used, roots = first_population(
            setting.packed, setting.points.width, setting.grammar, setting.arity, seed, 1, *self.init_levels
        )
        losses, only = np.empty(1), np.zeros(1, np.int64)
        evaluated(setting.packed, store, roots, only, losses, 0, np.inf, setting.arity)
        if self.watch is not None:
            watch_all(self.watch, store, roots, losses, np.inf, setting.arity)
        expression = as_expression(store, roots[0], problem.grammar.primitives)
        progress = gp_progress(1, float(losses[0]))
        state = OnePlusLambdaState(seed, setting, store, int(used), int(roots[0]), expression, progress)
        return state, [accepted(state)]

    def step(
        self, problem: Problem, state: OnePlusLambdaState, budget: Budget
    ) -> tuple[OnePlusLambdaState, list[Event]]:
        """Some generations, or a part of one; a progress event for each that improved the parent, then the parent."""
        setting, before = state.setting, state.progress
        watch = np.zeros(0, np.int64) if self.watch is None else self.watch
        # What is watched is watched by generations.
        most = setting.nodes_per_step if self.watch is None else np.inf
        store, used, parent, loss, evaluations, cut, when, losses = one_plus_lambda(
            setting.packed, setting.grammar, setting.arity, state.seed, self.offspring,
            self._generations(state, budget), *self.mutation_levels, state.store, state.used, state.parent,
            before.loss, before.traverses, float(budget.target_loss), watch, most, state.cut,
        )  # fmt: skip
        progress = gp_progress(int(evaluations), float(loss))
        state = replace(state, store=store, used=int(used), parent=int(parent), progress=progress, cut=cut)
        if len(when) == 0:
            return state, []
        state = replace(state, expression=as_expression(store, parent, problem.grammar.primitives))
        # The loop itself tells where the run stands at the end of the step.
        earlier = [(int(e), float(x)) for e, x in zip(when, losses, strict=True) if e < evaluations]
        events: list[Event] = [gp_progress(e, x) for e, x in earlier]
        return state, [*events, accepted(state)]

    def compile(self) -> None:
        """Have everything compiled before a clock runs."""
        compile_loops(replace(self, watch=None))

    def _offspring_per_step(self, state: OnePlusLambdaState) -> int:
        return int(min(OFFSPRING_PER_STEP, state.setting.nodes_per_step / state.expression.size))

    def _generations(self, state: OnePlusLambdaState, budget: Budget) -> int:
        n = self.generations_per_step or max(1, self._offspring_per_step(state) // self.offspring)
        if budget.max_traverses is None:
            return n
        return max(1, min(n, -(-(budget.max_traverses - state.progress.traverses) // self.offspring)))


def accepted(state: Any) -> Accepted:
    return Accepted(state.progress, state.expression, np.ones(1), (state.expression,))
