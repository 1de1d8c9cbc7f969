"""Beam search over sums of basis functions and of their products, for one transformed target.

`expand(context, branch, beam, steps, fronts)` is a pure function: screening of all pairs proposes sums with one or two
terms more than the most promising one so far, variable projection fits their constants, and the best are assembled for
y and evaluated.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.archive import pareto_front
from fouriertree.engine.screen import first_of_each
from fouriertree.expr import Expression
from fouriertree.expr.programs import ranges
from fouriertree.expr.vocabulary import ONE
from fouriertree.projection.batches import SumBatch, joined_programs
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.evaluation import Cost, Evaluation, Fronts, evaluate
from fouriertree.search.hybrid.transformed import (
    SHORT,
    Branch,
    Fits,
    Sum,
    TransformedProblem,
    transformed_problem,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Hashes = NDArray[np.uint64]
Singles = NDArray[np.float32]

#: a sum that was found before is new if its loss is less than this share of the loss it had
BETTER = 0.999
#: squared error, relative to the transformed target, below which a sum may be exact with fewer terms
NEARLY_EXACT = 1e-9
#: new sums of a step that are expanded later, that are expanded without one of their terms, and that are evaluated
EXPANDED, EXCHANGED, EVALUATED = 4, 2, 3
#: description length, per row, by which a sum with a term removed is ranked behind the sum
EXCHANGE_NATS = 0.1
#: starts that a beam keeps
MAX_STARTS = 64


@dataclass(frozen=True, eq=False)
class Starts:
    """Sums to expand, in arrays: a beam travels between processes; those with the smallest ranks come first."""

    sums: SumBatch
    coefficients: Floats  #: (n_terms,) of all sums
    losses: Floats  #: (n_sums,)
    ranks: Floats  #: (n_sums,)
    forms: Hashes  #: (n_sums,)

    @classmethod
    def pack(cls, starts: Sequence[tuple[float, Sum]]) -> Starts:
        return cls(
            SumBatch.pack([s.expressions for _, s in starts]),
            np.array([c for _, s in starts for c in s.coefficients], np.float64),
            np.array([s.loss for _, s in starts], np.float64),
            np.array([rank for rank, _ in starts], np.float64),
            np.array([s.form for _, s in starts], np.uint64),
        )

    def __len__(self) -> int:
        return len(self.ranks)

    def sum(self, i: int) -> Sum:
        terms = slice(self.sums.first[i], self.sums.last[i])
        coefficients = tuple(self.coefficients[terms].tolist())
        return Sum(self.sums.expressions(i), coefficients, float(self.losses[i]), int(self.forms[i]))

    def take(self, which: Any) -> Starts:
        chosen = np.arange(len(self))[which]
        terms = ranges(self.sums.first[chosen], self.sums.n_terms[chosen])
        coefficients, losses, ranks = self.coefficients[terms], self.losses[chosen], self.ranks[chosen]
        return Starts(self.sums.take(chosen), coefficients, losses, ranks, self.forms[chosen])

    def merged(self, other: Starts) -> Starts:
        """The best of both, one of every form."""
        programs = joined_programs([self.sums.programs, other.sums.programs])
        sums = SumBatch(programs, np.concatenate([self.sums.n_terms, other.sums.n_terms]))
        names = ("coefficients", "losses", "ranks", "forms")
        arrays = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        both = Starts(sums, **arrays)
        order = np.argsort(both.ranks, kind="stable")
        return both.take(order[first_of_each(both.forms[order], MAX_STARTS)])

    def to_plain(self) -> dict[str, Any]:
        """Plain data and expressions, as checkpoints hold them."""
        sums = [list(self.sums.expressions(i)) for i in range(len(self))]
        return {"sums": sums, "coefficients": self.coefficients, "losses": self.losses, "ranks": self.ranks}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Starts:
        sums = SumBatch.pack(plain["sums"])
        arrays = {name: plain[name] for name in ("coefficients", "losses", "ranks")}
        return cls(sums, **arrays, forms=sums.shapes)


@dataclass(frozen=True, eq=False)
class Beam:
    """The state of the search in one branch: sums to expand, and the forms found so far with their losses."""

    starts: Starts
    forms: Hashes
    losses: Floats
    started: Hashes  #: forms of all sums that have been starts

    def divided(self, n: int) -> tuple[Beam, Beam]:
        """A beam with the best n starts, and one with the others; they can be expanded independently."""
        first, rest = self.starts.take(slice(n)), self.starts.take(slice(n, None))
        return replace(self, starts=first), replace(self, starts=rest)

    def merged(self, other: Beam, given: Beam) -> Beam:
        """This beam and `other`, which a task has made of `given`, as one.

        What the task has found, and another one meanwhile, is not a start twice.
        """
        twice = np.isin(other.starts.forms, self.started) & ~np.isin(other.starts.forms, given.starts.forms)
        other = replace(other, starts=other.starts.take(~twice))
        forms = np.union1d(self.forms, other.forms)
        losses = np.full(len(forms), np.inf)
        for beam in (self, other):
            np.minimum.at(losses, np.searchsorted(forms, beam.forms), beam.losses)
        starts, started = self.starts.merged(other.starts), np.union1d(self.started, other.started)
        return Beam(starts, forms, losses, started)


@dataclass(frozen=True)
class Expansion:
    """The beam after some steps, and their candidates for y; without a beam, there is nothing to search."""

    beam: Beam | None
    evaluation: Evaluation


def expand(
    context: SearchContext, branch: Branch, beam: Beam | None, steps: int, fronts: Fronts,
    others: Sequence[Sequence[Expression]] = (),
) -> Expansion:  # fmt: skip
    """Expand other sums, and the most promising starts of a beam, or of a new one; a certain law is the end."""
    problem = transformed_problem(context, branch)
    if problem is None:
        return Expansion(None, Evaluation())
    # The arrays are shared with other tasks, the cost is not.
    problem = copy(problem)
    problem.cost = Cost()
    frontier = _Frontier(problem, beam, others)
    total = Evaluation()
    for _ in range(steps):
        if not frontier.starts:
            break
        models = [problem.terms_for_target(s) for s in frontier.step()]
        evaluation = evaluate(context, [m for m in models if m is not None], fronts)
        total, fronts = total + evaluation, evaluation.lowered(fronts)
        if evaluation.has_law:
            break
    return Expansion(frontier.beam(), total + Evaluation(cost=problem.cost))


class _Frontier:
    """A beam while it is being expanded."""

    def __init__(
        self, problem: TransformedProblem, beam: Beam | None, others: Sequence[Sequence[Expression]]
    ) -> None:
        self.problem = problem
        self.starts: list[tuple[float, int, Sum]] = []
        self._count = 0
        self._losses: dict[int, float] = {}
        self._started: set[int] = set()
        if beam is None:
            self._begin()
        else:
            self._losses = dict(zip(beam.forms.tolist(), beam.losses.tolist(), strict=True))
            self._started = set(beam.started.tolist())
            ranks = beam.starts.ranks.tolist()
            self.starts = [(rank, i, beam.starts.sum(i)) for i, rank in enumerate(ranks)]
            self._count = len(self.starts)
        for start in problem.fitted(others, SHORT):
            self._push(start, -np.inf)

    def _begin(self) -> None:
        self._push(Sum(), -np.inf)
        for constant in self.problem.fitted([(ONE,)], 0):
            self._losses[constant.form] = constant.loss
            self._push(constant, -np.inf)
        for linear in self.problem.fitted(self.problem.linear_starts, 0):
            self._push(linear, -np.inf)

    def _push(self, start: Sum, rank: float) -> None:
        if start.form not in self._started and len(start.expressions) < self.problem.options.max_terms:
            self._started.add(start.form)
            heapq.heappush(self.starts, (rank, self._count, start))
            self._count += 1

    def step(self) -> list[Sum]:
        """Expand one start; the new sums that are worth evaluating for y."""
        problem, ranking = self.problem, self.problem.ranking
        _, _, start = heapq.heappop(self.starts)
        fits = problem.extensions(start)
        new = fits.take([i for i in range(len(fits)) if self._is_new(fits, i)])
        best = [new.sum(i) for i in range(len(new))[: max(EXPANDED, EXCHANGED, EVALUATED)]]
        for s in best[:EXPANDED]:
            self._push(s, s.length(*ranking))
        for s in best[:EXCHANGED]:
            k = len(s.expressions)
            shorter = [s.expressions[:i] + s.expressions[i + 1 :] for i in range(k if k > 1 else 0)]
            for rest in problem.fitted(shorter, SHORT):
                self._push(rest, s.length(*ranking) + EXCHANGE_NATS * problem.n_rows)
        return self._promising(new, best)

    def _is_new(self, fits: Fits, i: int) -> bool:
        form, loss, most = fits.forms[i], float(fits.losses[i]), self.problem.options.max_terms
        new = fits.batch.n_terms[i] <= most and loss < BETTER * self._losses.get(form, np.inf)
        if new:
            self._losses[form] = loss
        return bool(new)

    def _promising(self, new: Fits, best: Sequence[Sum]) -> list[Sum]:
        losses, complexities = new.losses.tolist(), new.complexities.tolist()
        front = pareto_front(
            range(len(new)), lambda i: complexities[i], lambda i: losses[i],
            lambda i, last: losses[i] < BETTER * losses[last],
        )  # fmt: skip
        chosen = {s.form: s for s in (*best[:EVALUATED], *map(new.sum, front[::-1][:EVALUATED]))}
        if best and len(best[0].expressions) > 2 and best[0].loss < NEARLY_EXACT:
            chosen |= {s.form: s for s in self.problem.pruned(best[0])}
        return list(chosen.values())

    def beam(self) -> Beam:
        best = heapq.nsmallest(MAX_STARTS, self.starts, key=lambda start: start[:2])
        return Beam(
            Starts.pack([(rank, s) for rank, _, s in best]),
            np.array(list(self._losses), np.uint64),
            np.array(list(self._losses.values())),
            np.array(sorted(self._started), np.uint64),
        )
