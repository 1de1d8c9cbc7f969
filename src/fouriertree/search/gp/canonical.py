"""Canonical GP: tournament selection, subtree crossover, subtree mutation, elites."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.problems import Problem
from fouriertree.search.budget import Budget
from fouriertree.search.events import Event, Progress
from fouriertree.search.gp.loops import canonical_generation, first_population, watch_all
from fouriertree.search.gp.nodes import Store
from fouriertree.search.gp.one_plus_lambda import accepted
from fouriertree.search.gp.state import (
    Setting,
    as_expression,
    check_at_least,
    check_levels,
    check_watch,
    gp_progress,
)


@dataclass(frozen=True)
class Population:
    """Entry i is tree number tree[i], whose root is roots[tree[i]], with the stored loss losses[i]."""

    store: Store
    used: int
    roots: NDArray[np.int64]
    tree: NDArray[np.int64]
    losses: NDArray[np.float64]

    def expression(self, i: int, primitives: PrimitiveSet) -> Expression:
        """The tree of entry i."""
        return as_expression(self.store, int(self.roots[self.tree[i]]), primitives)

    def best_expression(self, primitives: PrimitiveSet) -> Expression:
        return self.expression(int(np.argmin(self.losses)), primitives)


@dataclass(frozen=True)
class CanonicalState:
    """The population and its nodes.  A step returns a new state and reuses the store: the old state is spent."""

    seed: int
    setting: Setting
    population: Population
    expression: Expression  #: the best so far
    progress: Progress
    finished: str | None = None


@dataclass(frozen=True)
class CanonicalGP:
    """Generational GP as configured in the paper: binary tournaments, one child per crossover, elites kept.

    crossover_rate: chance that an offspring is its first parent with a subtree of the second.
    mutation_rate: chance, at each node on the way down the leftmost spine, to be replaced by a tree of up to
        mutation_levels levels.
    in_place: as in the published runs, a parent that skips crossover is mutated itself and shared with the offspring,
        while its stored loss stays (elites included); False copies it first.
    watch: running statistics of polynomial trees, see `loops.watched`; None for none.
    """

    population: int = 500
    elites: int = 2
    crossover_rate: float = 0.9
    mutation_rate: float = 0.1
    init_levels: tuple[int, int] = (2, 6)
    mutation_levels: int = 3
    in_place: bool = False
    watch: NDArray[np.int64] | None = field(default=None, compare=False)

    def init(self, problem: Problem, seed: int) -> tuple[CanonicalState, list[Event]]:
        check_at_least("elites", self.elites, 0)
        for name in ("crossover_rate", "mutation_rate"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} must be a probability, from 0 to 1; got {getattr(self, name)}")
        check_at_least("population", self.population, self.elites + 1)
        check_levels("init_levels", *self.init_levels)
        check_levels("mutation_levels", 1, self.mutation_levels)
        check_watch(self.watch, problem)
        setting = Setting.of(problem)
        store, used, roots, losses = first_population(
            setting.packed, setting.points.width, setting.grammar, setting.arity, seed, self.population,
            *self.init_levels,
        )  # fmt: skip
        population = Population(store, int(used), roots, np.arange(self.population), losses)
        self._watch(setting, population, 0, np.inf)
        progress = gp_progress(self.population, float(losses.min()))
        best = population.best_expression(problem.grammar.primitives)
        state = CanonicalState(seed, setting, population, best, progress)
        return state, [accepted(state)]

    def step(
        self, problem: Problem, state: CanonicalState, budget: Budget
    ) -> tuple[CanonicalState, list[Event]]:
        """One generation."""
        setting, before, progress = state.setting, state.population, state.progress
        population = Population(
            *canonical_generation(
                setting.packed, setting.grammar, setting.arity, state.seed, self.crossover_rate, self.mutation_rate,
                self.mutation_levels, self.elites, self.in_place, before.store, before.used, before.roots,
                before.tree, before.losses, progress.traverses,
            )
        )  # fmt: skip
        self._watch(setting, population, self.elites, progress.loss)
        loss = min(progress.loss, float(population.losses.min()))
        evaluations = progress.traverses + self.population - self.elites
        state = replace(state, population=population, progress=gp_progress(evaluations, loss))
        if loss == progress.loss:
            return state, []
        state = replace(state, expression=population.best_expression(problem.grammar.primitives))
        return state, [accepted(state)]

    def _watch(self, setting: Setting, population: Population, first: int, best: float) -> None:
        if self.watch is not None:
            roots = population.roots[population.tree[first:]]
            watch_all(self.watch, population.store, roots, population.losses[first:], best, setting.arity)
