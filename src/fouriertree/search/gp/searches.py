"""The searches: (1+λ)-GP, in which the best of λ mutants replaces its parent if it is better, and canonical GP."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.problems import Problem
from fouriertree.search.loop import Accepted, Budget, Event, Progress

from .loops import canonical_generation, one_plus_lambda
from .nodes import Store
from .state import CompiledProblem, Population, as_expression, check_at_least, check_levels, compile_loops

#: offspring per call: some milliseconds, since a call cannot be interrupted
OFFSPRING_PER_STEP = 5000
#: of a partial generation: offspring done, the best of them, its loss, nodes in use before them
NO_PARTIAL = (0, -1, np.inf, 0)


def gp_progress(evaluations: int, loss: float) -> Progress:
    """The progress after some evaluations, one traverse each."""
    return Progress(evaluations, evaluations, 0, 1, loss)


def accepted(state: Any) -> Accepted:
    return Accepted(state.progress, state.expression, np.ones(1), (state.expression,))


@dataclass(frozen=True)
class OnePlusLambdaState:
    """The parent and its nodes.  A step returns a new state and reuses the store: the old state is invalid."""

    seed: int
    compiled: CompiledProblem
    store: Store
    used: int
    parent: int  #: its root in the store
    expression: Expression
    progress: Progress
    partial: tuple[int, int, float, int] = NO_PARTIAL
    finished: str | None = None


@dataclass(frozen=True)
class OnePlusLambda:
    """Mutation-only GP with one parent, as in the paper.

    Each offspring is the parent with the subtree at a uniformly chosen node, the root included, replaced by a random
    tree; the best offspring replaces the parent only if its loss is smaller.

    Parameters
    ----------
    offspring : int, default=500
        λ; 1 is the (1+1)-GP.
    init_levels, mutation_levels : tuple of int, default=(2, 6), (1, 3)
        Levels of ramped half-and-half for the first parent and for mutations.
    generations_per_step : int, optional
        Generations between two checks of the budget; some thousand offspring by default.
    watch : ndarray of int64, optional
        Running statistics of polynomial trees, see `loops.update_statistics`.
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
        compiled = CompiledProblem.of(problem, self.watch)
        only = compiled.initial_population(seed, 1, self.init_levels)
        compiled.evaluate(only, 0, np.inf, self.watch)
        expression = only.best_expression(problem.grammar.primitives)
        progress, root = gp_progress(1, float(only.losses[0])), int(only.roots[0])
        state = OnePlusLambdaState(seed, compiled, only.store, only.used, root, expression, progress)
        return state, [accepted(state)]

    def step(
        self, problem: Problem, state: OnePlusLambdaState, budget: Budget
    ) -> tuple[OnePlusLambdaState, list[Event]]:
        """Some generations, or a part of one; the events are the progress of every improvement and the parent."""
        compiled, before = state.compiled, state.progress
        watch = np.zeros(0, np.int64) if self.watch is None else self.watch
        store, used, parent, loss, evaluations, partial, improved_at, losses = one_plus_lambda(
            compiled.points, compiled.grammar, compiled.arity, state.seed, self.offspring,
            self._generations(state, budget), *self.mutation_levels, state.store, state.used, state.parent,
            before.loss, before.traverses, float(budget.target_loss), watch, compiled.max_nodes(self.watch),
            state.partial,
        )  # fmt: skip
        progress = gp_progress(evaluations, loss)
        state = replace(state, store=store, used=used, parent=parent, progress=progress, partial=partial)
        if len(improved_at) == 0:
            return state, []
        state = replace(state, expression=as_expression(store, parent, problem.grammar.primitives))
        # The loop itself reports the progress at the end of the step.
        earlier = [(int(e), float(x)) for e, x in zip(improved_at, losses, strict=True) if e < evaluations]
        events: list[Event] = [gp_progress(e, x) for e, x in earlier]
        return state, [*events, accepted(state)]

    def compile(self) -> None:
        """Compile the loops before time is measured."""
        compile_loops(replace(self, watch=None))

    def _generations(self, state: OnePlusLambdaState, budget: Budget) -> int:
        offspring = int(min(OFFSPRING_PER_STEP, state.compiled.nodes_per_step / state.expression.size))
        n = self.generations_per_step or max(1, offspring // self.offspring)
        if budget.max_traverses is None:
            return n
        return max(1, min(n, -(-(budget.max_traverses - state.progress.traverses) // self.offspring)))


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
