"""Canonical GP: tournament selection, subtree crossover, subtree mutation, elites."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.problems import Problem
from fouriertree.search.budget import Budget
from fouriertree.search.events import Event, Progress
from fouriertree.search.gp.loops import canonical_generation, evaluated, first_population, watch_all
from fouriertree.search.gp.nodes import Store
from fouriertree.search.gp.one_plus_lambda import accepted
from fouriertree.search.gp.state import (
    Setting,
    as_expression,
    check_at_least,
    check_levels,
    check_watch,
    compile_loops,
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
    known: int  #: entries whose loss is known; where rows are many, a generation takes several steps
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
        store, used, roots = first_population(
            setting.packed, setting.points.width, setting.grammar, setting.arity, seed, self.population,
            *self.init_levels,
        )  # fmt: skip
        losses = np.full(self.population, np.inf)
        population = Population(store, int(used), roots, np.arange(self.population), losses)
        known = self._evaluate(setting, population, 0, np.inf)
        progress = gp_progress(known, float(losses.min()))
        best = population.best_expression(problem.grammar.primitives)
        state = CanonicalState(seed, setting, population, known, best, progress)
        return state, [accepted(state)]

    def step(
        self, problem: Problem, state: CanonicalState, budget: Budget
    ) -> tuple[CanonicalState, list[Event]]:
        """One generation, or as much of it as a step may take."""
        setting, population, progress, first = state.setting, state.population, state.progress, state.known
        if first == self.population:
            population, first = self._next(state), self.elites
        known = self._evaluate(setting, population, first, progress.loss)
        loss = min(progress.loss, float(population.losses.min()))
        new = gp_progress(progress.traverses + known - first, loss)
        state = replace(state, population=population, known=known, progress=new)
        if loss == progress.loss:
            return state, []
        state = replace(state, expression=population.best_expression(problem.grammar.primitives))
        return state, [accepted(state)]

    def compile(self) -> None:
        """Have everything compiled before a clock runs."""
        compile_loops(replace(self, watch=None))

    def _next(self, state: CanonicalState) -> Population:
        """The next generation; only its elites have their losses yet."""
        setting, before = state.setting, state.population
        return Population(
            *canonical_generation(
                setting.packed, setting.grammar, setting.arity, state.seed, self.crossover_rate, self.mutation_rate,
                self.mutation_levels, self.elites, self.in_place, before.store, before.used, before.roots,
                before.tree, before.losses, state.progress.traverses,
            )
        )  # fmt: skip

    def _evaluate(self, setting: Setting, population: Population, first: int, best: float) -> int:
        """Fill in losses from entry `first` on; the first that is left.  `best` is the best loss before them."""
        # What is watched is watched by generations.
        most = setting.nodes_per_step if self.watch is None else np.inf
        p = population
        known = int(evaluated(setting.packed, p.store, p.roots, p.tree, p.losses, first, most, setting.arity))
        self._watch(setting, population, first, best)
        return known

    def _watch(self, setting: Setting, population: Population, first: int, best: float) -> None:
        if self.watch is not None:
            roots = population.roots[population.tree[first:]]
            watch_all(self.watch, population.store, roots, population.losses[first:], best, setting.arity)
