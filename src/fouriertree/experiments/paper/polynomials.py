"""One run on a large-scale polynomial: loss, span, tree size and depth, generation by generation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.exact import exact_loss, integer_polynomial
from fouriertree.experiments.paper.tasks import BUDGETS, Task, search_of
from fouriertree.expr.polynomial import Polynomial
from fouriertree.problems import LargeScalePolynomial, Problem, get_problem
from fouriertree.search import Accepted, Budget, CanonicalGP, Event, OnePlusLambda, run
from fouriertree.search.gp.loops import (
    DEPTHS,
    ENLARGEMENTS,
    GENERATION_SPAN,
    INDIVIDUALS,
    LATEST_SPAN,
    SIZES,
    WATCHED,
)

#: best loss so far, smallest loss of the generation, terms of the best so far and most terms of any individual of the
#: generation, mean number of nodes and mean depth of individuals
SERIES = ("loss", "generation_loss", "span", "largest_span", "size", "depth")


@dataclass
class WatchedGP:
    """A search that wraps a GP and records a row for every generation."""

    search: OnePlusLambda | CanonicalGP
    watch: NDArray[np.int64] = field(default_factory=lambda: np.zeros(WATCHED, np.int64))
    lines: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.search = replace(self.search, watch=self.watch)

    def init(self, problem: Problem, seed: int) -> tuple[Any, list[Event]]:
        state, events = self.search.init(problem, seed)
        self.note(state, state.progress.loss)
        return state, events

    def step(self, problem: Problem, state: Any, budget: Budget) -> tuple[Any, list[Event]]:
        self.watch[[INDIVIDUALS, SIZES, DEPTHS, GENERATION_SPAN]] = 0
        state, events = self.search.step(problem, state, budget)
        newest = state.progress.loss
        if isinstance(self.search, CanonicalGP):
            newest = float(state.population.losses[self.search.elites :].min())
        self.note(state, newest)
        return state, events

    def note(self, state: Any, generation_loss: float) -> None:
        size, depth = self.watch[[SIZES, DEPTHS]] / self.watch[INDIVIDUALS]
        spans = (int(self.watch[LATEST_SPAN]), int(self.watch[GENERATION_SPAN]))
        best = (state.progress.loss, generation_loss, *spans)
        self.lines.append([*best, float(size), float(depth)])


class Elements:
    """An observer that keeps every element that FTG accepts; the series are computed after the run."""

    def __init__(self) -> None:
        self.accepted: list[Accepted] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, Accepted):
            self.accepted.append(event)

    def lines(self, elements: Sequence[Polynomial]) -> list[list[float]]:
        """A row per element; size and depth are those of the whole sum."""
        lines: list[list[float]] = []
        powers: set[int] = set()
        best = math.inf
        sizes = [event.expression.size for event in self.accepted]
        depths = [event.expression.depth for event in self.accepted]
        for k, (event, element) in enumerate(zip(self.accepted, elements, strict=True), 1):
            # Rounded coefficients do not cancel exactly: the sum has every power that one of its elements has.
            powers |= {i for i, n in enumerate(element.numerators) if n}
            loss, span = event.progress.loss, len(powers)
            best = min(best, loss)
            lines.append([best, loss, span, span, *map(float, shape_of_sum(sizes[:k], depths[:k]))])
        return lines


def shape_of_sum(sizes: Sequence[int], depths: Sequence[int]) -> tuple[int, int]:
    """Size and depth of ((c₁·v₁ + c₂·v₂) + c₃·v₃) + … for elements of these sizes and depths.

    >>> shape_of_sum([1, 3], [1, 2])
    (9, 4)
    """
    k = len(sizes)
    depth = max(levels + 1 + min(k - 1, k - i) for i, levels in enumerate(depths))
    return sum(sizes) + 2 * k + k - 1, depth


def run_polynomial(task: Task) -> dict[str, Any]:
    """The record of one run; `series` has a row per generation of a GP, or per element of FTG."""
    lsp = get_problem(task.problem)
    assert isinstance(lsp, LargeScalePolynomial)
    return run_gp(task, lsp) if task.algorithm in facts.GP else run_ftg(task, lsp)


def run_gp(task: Task, lsp: LargeScalePolynomial) -> dict[str, Any]:
    search = WatchedGP(search_of(task))
    ended = run(search, lsp.exact_problem(), BUDGETS[task.part], seed=task.seed)
    return {
        "evaluations": ended.state.progress.traverses,
        "loss": ended.state.progress.loss,
        "size": ended.state.expression.size,
        "terms": 1,
        "events": int(search.watch[ENLARGEMENTS]),
        "seconds": ended.seconds,
        "reason": ended.reason,
        "series": transposed(search.lines),
    }


def run_ftg(task: Task, lsp: LargeScalePolynomial) -> dict[str, Any]:
    observer = Elements()
    ended = run(search_of(task), lsp.problem(), BUDGETS[task.part], [observer], task.seed)
    elements = [integer_polynomial(event.expression) for event in observer.accepted]
    best = min(observer.accepted, key=lambda event: event.progress.loss)
    coefficients = best.coefficients.tolist()
    lines = observer.lines(elements)
    return {
        "evaluations": ended.state.progress.traverses,
        "loss": best.progress.loss,
        "exact_loss": exact_loss(lsp.target, coefficients, elements[: len(coefficients)], lsp.a, lsp.b),
        "size": int(lines[-1][SERIES.index("size")]),
        "terms": ended.state.progress.terms,
        # Trees that are identically zero, such as x·(x·x) − (x·x)·x: their values are rounding errors.
        "zero_terms": sum(element.degree < 0 for element in elements),
        "condition": ended.state.projection.condition,
        "refused": ended.state.progress.refused,
        "seconds": ended.seconds,
        "reason": ended.reason,
        "accepted_at": [event.progress.traverses for event in observer.accepted],
        "series": transposed(lines),
    }


def transposed(lines: Sequence[Sequence[float]]) -> dict[str, list[float]]:
    return {name: list(column) for name, column in zip(SERIES, zip(*lines, strict=True), strict=True)}
