"""Canonical GP: tournament selection, subtree crossover, subtree mutation, elites."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.problems import Problem
from fouriertree.search.budget import Budget
from fouriertree.search.events import Event, Progress
from fouriertree.search.gp.loops import canonical_generation, evaluate_losses, update_all_statistics
from fouriertree.search.gp.nodes import Store
from fouriertree.search.gp.one_plus_lambda import accepted
from fouriertree.search.gp.state import (
    CompiledProblem,
    as_expression,
    check_at_least,
    check_levels,
    check_watch,
    compile_loops,
    gp_progress,
)


@dataclass(frozen=True)
class Population:
    """Entry i is tree tree[i], with the root roots[tree[i]] and the stored loss losses[i]."""

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
        check_watch(self.watch, problem)
        compiled = CompiledProblem.of(problem)
        store, used, roots = compiled.initial_population(seed, self.population, self.init_levels)
        losses = np.full(self.population, np.inf)
        population = Population(store, int(used), roots, np.arange(self.population), losses)
        n_evaluated = self._evaluate(compiled, population, 0, np.inf)
        progress = gp_progress(n_evaluated, float(losses.min()))
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
        n_evaluated = self._evaluate(compiled, population, first, progress.loss)
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

    def _evaluate(self, compiled: CompiledProblem, population: Population, first: int, best: float) -> int:
        """Compute losses from entry `first` on and return the first without one; `best` is the best loss before."""
        p = population
        n_evaluated = evaluate_losses(
            compiled.points, p.store, p.roots, p.tree, p.losses, first, compiled.max_nodes(self.watch), compiled.arity
        )  # fmt: skip
        if self.watch is not None:
            roots, losses = p.roots[p.tree[first:]], p.losses[first:]
            update_all_statistics(self.watch, p.store, roots, losses, best, compiled.arity)
        return int(n_evaluated)
