"""Canonical GP: tournament selection, subtree crossover, subtree mutation, elites."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.problems import Problem
from fouriertree.search.budget import Budget
from fouriertree.search.events import Event, Progress
from fouriertree.search.gp.loops import canonical_generation, first_population, watch_entries
from fouriertree.search.gp.one_plus_lambda import accepted
from fouriertree.search.gp.state import Setting, Tokens, as_expression, gp_progress


@dataclass(frozen=True)
class Population:
    """Entry i is tree number tree[i] with the stored loss losses[i]; tree t is count[t] tokens from start[t] on."""

    tokens: Tokens
    used: int
    start: NDArray[np.int64]
    count: NDArray[np.int64]
    tree: NDArray[np.int64]
    losses: NDArray[np.float64]
    evaluations: int

    @property
    def best(self) -> int:
        return int(np.argmin(self.losses))


@dataclass(frozen=True)
class CanonicalState:
    seed: int
    setting: Setting
    population: Population
    expression: Expression  #: the best so far
    progress: Progress
    finished: str | None = None


@dataclass(frozen=True)
class CanonicalGP:
    """Generational GP as configured in the paper.

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
        setting = Setting.of(problem)
        population = Population(
            *first_population(
                setting.packed, setting.grammar, setting.arity, seed, self.population, *self.init_levels
            )
        )
        self._watch(setting, population, 0, np.inf)
        progress = gp_progress(population.evaluations, float(population.losses.min()))
        state = CanonicalState(seed, setting, population, best_tree(problem, population), progress)
        return state, [accepted(state)]

    def step(
        self, problem: Problem, state: CanonicalState, budget: Budget
    ) -> tuple[CanonicalState, list[Event]]:
        """One generation."""
        setting, before = state.setting, state.population
        population = Population(
            *canonical_generation(
                setting.packed, setting.grammar, setting.arity, state.seed, self.crossover_rate,
                self.mutation_rate, self.mutation_levels, self.elites, self.in_place, before.tokens, before.used,
                before.start, before.count, before.tree, before.losses, before.evaluations,
            )
        )  # fmt: skip
        self._watch(setting, population, self.elites, state.progress.loss)
        loss = min(state.progress.loss, float(population.losses.min()))
        improved = loss < state.progress.loss
        state = replace(state, population=population, progress=gp_progress(population.evaluations, loss))
        if not improved:
            return state, []
        state = replace(state, expression=best_tree(problem, population))
        return state, [accepted(state)]

    def _watch(self, setting: Setting, population: Population, first: int, best: float) -> None:
        if self.watch is not None:
            p = population
            watch_entries(
                self.watch, p.tokens, p.start, p.count, p.tree, p.losses, first, setting.arity, best
            )


def best_tree(problem: Problem, population: Population) -> Expression:
    tree = population.tree[population.best]
    first, count = int(population.start[tree]), int(population.count[tree])
    return as_expression(population.tokens, first, count, problem.grammar.primitives)
