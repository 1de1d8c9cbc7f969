"""Canonical GP: tournament selection, subtree crossover, subtree mutation, elites."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.problems import Problem
from fouriertree.search.budget import Budget
from fouriertree.search.events import Event, Progress

from .loops import canonical_generation
from .one_plus_lambda import accepted
from .state import CompiledProblem, Population, check_at_least, check_levels, compile_loops, gp_progress


@dataclass(frozen=True)
class CanonicalState:
    """The population and its nodes.  A step returns a new state and reuses the store: the old state is invalid."""

    seed: int
    compiled: CompiledProblem
    population: Population
    n_evaluated: int  #: entries with a loss; with many rows, a generation takes several steps
    expression: Expression  #: the best so far
    progress: Progress
    finished: str | None = None


@dataclass(frozen=True)
class CanonicalGP:
    """Generational GP as in the paper: binary tournaments, subtree crossover with one child, mutation, elites.

    Parameters
    ----------
    population, elites : int, default=500, 2
        Individuals per generation, and how many of the best are kept.
    crossover_rate : float, default=0.9
        Probability that an offspring is its first parent with a subtree of the second.
    mutation_rate : float, default=0.1
        Probability, at each node down the leftmost path, of replacement by a random tree of `mutation_levels`.
    init_levels : tuple of int, default=(2, 6)
        Levels of the ramped half-and-half initialization.
    mutation_levels : int, default=3
    in_place : bool, default=False
        As in the published runs, mutate a parent without crossover itself, while it keeps its stored loss, elites
        included; otherwise mutate a copy.
    watch : ndarray of int64, optional
        Running statistics of polynomial trees, see `loops.update_statistics`.
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
        compiled = CompiledProblem.of(problem, self.watch)
        population = compiled.initial_population(seed, self.population, self.init_levels)
        n_evaluated = compiled.evaluate(population, 0, np.inf, self.watch)
        progress = gp_progress(n_evaluated, float(population.losses.min()))
        best = population.best_expression(problem.grammar.primitives)
        state = CanonicalState(seed, compiled, population, n_evaluated, best, progress)
        return state, [accepted(state)]

    def step(
        self, problem: Problem, state: CanonicalState, budget: Budget
    ) -> tuple[CanonicalState, list[Event]]:
        """One generation, or a part of it if rows are many."""
        compiled, population, progress = state.compiled, state.population, state.progress
        first = state.n_evaluated
        if first == self.population:
            population, first = self._next(state), self.elites
        n_evaluated = compiled.evaluate(population, first, progress.loss, self.watch)
        loss = min(progress.loss, float(population.losses.min()))
        new = gp_progress(progress.traverses + n_evaluated - first, loss)
        state = replace(state, population=population, n_evaluated=n_evaluated, progress=new)
        if loss == progress.loss:
            return state, []
        state = replace(state, expression=population.best_expression(problem.grammar.primitives))
        return state, [accepted(state)]

    def compile(self) -> None:
        """Compile the loops before time is measured."""
        compile_loops(replace(self, watch=None))

    def _next(self, state: CanonicalState) -> Population:
        """The next generation, of which only the elites have losses."""
        compiled, before = state.compiled, state.population
        return Population(
            *canonical_generation(
                compiled.points, compiled.grammar, compiled.arity, state.seed, self.crossover_rate, self.mutation_rate,
                self.mutation_levels, self.elites, self.in_place, before.store, before.used, before.roots,
                before.tree, before.losses, state.progress.traverses,
            )
        )  # fmt: skip
