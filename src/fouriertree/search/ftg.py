"""Fourier Tree Growing: the target is projected onto a span of trees that grows by one tree at a time.

Antonov, Kalkreuth, Yang, Bäck, van Stein, Kononova: A Functional Analysis Approach to Symbolic Regression.
GECCO 2024, Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, Programs
from fouriertree.expr.generate import Generator, RampedHalfAndHalf
from fouriertree.problems import Problem
from fouriertree.projection import GramSVD, IncrementalQR, Projection, Projector
from fouriertree.search.budget import Budget
from fouriertree.search.events import Accepted, Event, Progress
from fouriertree.search.relevance import AbsoluteProduct, Cosine, Relevance
from fouriertree.space import Scores

#: candidates scored in one call: few at first, because most of them pass early on, and more while none does
FIRST_BATCH, LARGEST_BATCH = 16, 1024
#: of many candidates, this many have their gain computed exactly
SHORTLIST = 64
#: what a node costs in nats when the best of many candidates is chosen
NATS_PER_NODE = 2.0
ROUNDING = 1e-24


@dataclass(frozen=True)
class FTGState:
    """The basis and its projection, and what it cost.  A step returns a new state; the projection grows in place."""

    seed: int
    projection: Projection
    expressions: tuple[Expression, ...]
    progress: Progress
    batch: int = FIRST_BATCH
    finished: str | None = None


@dataclass(frozen=True)
class FTG:
    """Algorithm 1.  `FTG()` is orthonormal; `FTG(projector=GramSVD())` is the algorithm exactly as published.

    Candidates are looked at in the order of their numbers; one that is relevant is offered to the projector, and
    the first that the projector accepts joins the basis.

    projector: how coefficients are found and dependent candidates refused.
    generator: how candidates are drawn.
    relevance: the test ⟨F − F̂, v⟩ ≠ 0; by default |⟨r, v⟩| ≥ 1e-3 with GramSVD and a cosine of 1e-10 otherwise.
    max_terms: elements at most; by default the dimension of the space.
    best_of: with more than 1, look at this many candidates and take the one with the shortest description.
    stop_on_rise: end the run if the loss rises, as the published LSP runs did.
    """

    projector: Projector = field(default_factory=IncrementalQR)
    generator: Generator = field(default_factory=RampedHalfAndHalf)
    relevance: Relevance | None = None
    max_terms: int | None = None
    best_of: int = 1
    stop_on_rise: bool = False

    @classmethod
    def published_lsp(cls) -> FTG:
        """As the published runs on large-scale polynomials: one-sided test, residual not charged."""
        return cls(
            projector=GramSVD(charge_residual=False),
            relevance=AbsoluteProduct(signed=True),
            stop_on_rise=True,
        )

    def init(self, problem: Problem, seed: int) -> tuple[FTGState, list[Event]]:
        """The projection onto v₁ = 1."""
        one = Expression.constant(1.0)
        projection = self.projector.start(problem.space.target)
        if not projection.add(problem.space.coordinates([one])[0]):
            raise ValueError("the projector refuses even the constant 1; its tolerance is too strict")
        cost = self.projector.attempt_traverses(1) + self.projector.acceptance_traverses(1)
        progress = Progress(cost, 0, 0, 1, projection.loss)
        state = FTGState(seed, projection, (one,), progress, finished=self._limit(problem, 1))
        return state, [Accepted(progress, one, projection.coefficients)]

    def step(self, problem: Problem, state: FTGState, budget: Budget) -> tuple[FTGState, list[Event]]:
        """Look at one batch of candidates, up to the first that is accepted."""
        if self.best_of > 1:
            return self._step_best(problem, state)
        batch, scores = self._draw(problem, state, self._batch_size(state, budget))
        relevant = np.flatnonzero(self._relevance.test(scores, state.progress.loss))
        for i in relevant:
            state, accepted = self._offer(problem, state, batch, int(i))
            if accepted or self._spent(state, int(i), budget):
                return self._moved_on(state, int(i) + 1, accepted)
        return self._moved_on(state, len(batch), False)

    # One candidate after another ---------------------------------------------------------------------
    def _offer(self, problem: Problem, state: FTGState, batch: Programs, i: int) -> tuple[FTGState, bool]:
        """Offer candidate i of the batch to the projector; candidates are charged when the batch is left."""
        k = state.projection.size + 1
        accepted = state.projection.add(problem.space.coordinates(batch.subset(np.array([i])))[0])
        cost = self.projector.attempt_traverses(k)
        if accepted:
            cost += self.projector.acceptance_traverses(k)
        progress = replace(
            state.progress,
            traverses=state.progress.traverses + cost,
            refused=state.progress.refused + (not accepted),
            terms=state.projection.size,
            loss=state.projection.loss,
        )
        if not accepted:
            return replace(state, progress=progress), False
        rose = self.stop_on_rise and progress.loss > state.progress.loss
        return replace(
            state,
            progress=progress,
            expressions=(*state.expressions, batch[i]),
            finished="the loss rose" if rose else self._limit(problem, progress.terms),
        ), True

    def _spent(self, state: FTGState, i: int, budget: Budget) -> bool:
        limit = budget.max_traverses
        return limit is not None and state.progress.traverses + i + 1 >= limit

    def _moved_on(self, state: FTGState, looked_at: int, accepted: bool) -> tuple[FTGState, list[Event]]:
        """The state after `looked_at` candidates of the batch, one traverse each."""
        before = state.progress
        progress = replace(
            before, traverses=before.traverses + looked_at, candidates=before.candidates + looked_at
        )
        if not accepted:
            return replace(state, progress=progress, batch=min(2 * state.batch, LARGEST_BATCH)), []
        state = replace(state, progress=progress, batch=FIRST_BATCH)
        return state, [Accepted(progress, state.expressions[-1], state.projection.coefficients)]

    # The best of many --------------------------------------------------------------------------------
    def _step_best(self, problem: Problem, state: FTGState) -> tuple[FTGState, list[Event]]:
        batch, scores = self._draw(problem, state, self.best_of)
        relevant = np.flatnonzero(self._relevance.test(scores, state.progress.loss))
        if len(relevant) == 0:
            return self._moved_on(state, len(batch), False)
        sizes = batch.count[relevant]
        order = np.argsort(self._cost(problem, state, promise(scores, relevant), sizes), kind="stable")
        shortlist = relevant[order[:SHORTLIST]]
        gains = state.projection.gains(problem.space.coordinates(batch.subset(shortlist)))
        k = state.projection.size + 1
        spent = len(shortlist) * self.projector.attempt_traverses(k)
        state = replace(state, progress=replace(state.progress, traverses=state.progress.traverses + spent))
        if not gains.max() > 0.0:
            return self._moved_on(state, len(batch), False)
        costs = self._cost(problem, state, gains, batch.count[shortlist])
        state, accepted = self._offer(problem, state, batch, int(shortlist[np.argmin(costs)]))
        return self._moved_on(state, len(batch), accepted)

    def _cost(
        self, problem: Problem, state: FTGState, gains: NDArray[np.float64], sizes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Description length of residual and element, in nats and up to a constant; infinite without gain."""
        loss = state.progress.loss
        # Nothing falls below the rounding of the residual, so no gain counts for more than that.
        left = np.maximum(loss - gains, ROUNDING * loss)
        n = problem.space.dimension or len(state.projection.residual)
        return np.where(gains > 0.0, 0.5 * n * np.log(left / loss) + NATS_PER_NODE * sizes, np.inf)

    # Parts -------------------------------------------------------------------------------------------
    @property
    def _relevance(self) -> Relevance:
        if self.relevance is not None:
            return self.relevance
        return AbsoluteProduct() if isinstance(self.projector, GramSVD) else Cosine()

    def _draw(self, problem: Problem, state: FTGState, n: int) -> tuple[Programs, Scores]:
        batch = self.generator.draw(problem.grammar, state.seed, state.progress.candidates, n)
        return batch, problem.space.scores(batch, state.projection.residual)

    def _batch_size(self, state: FTGState, budget: Budget) -> int:
        if budget.max_traverses is None:
            return state.batch
        return max(1, min(state.batch, budget.max_traverses - state.progress.traverses))

    def _limit(self, problem: Problem, terms: int) -> str | None:
        limits = [m for m in (self.max_terms, problem.space.dimension) if m is not None]
        return "all terms used" if limits and terms >= min(limits) else None


def promise(scores: Scores, which: NDArray[np.intp]) -> NDArray[np.float64]:
    """⟨v, r⟩²/⟨v, v⟩: at most the gain of v, because v's part within the span only lengthens v."""
    with np.errstate(all="ignore"):
        found: NDArray[np.float64] = np.square(scores.products[which] / np.sqrt(scores.norms[which]))
        return found
