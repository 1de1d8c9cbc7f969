"""Fourier Tree Growing: the target is projected onto a span of trees that grows by one tree at a time.

Antonov, Kalkreuth, Yang, Bäck, van Stein, Kononova: A Functional Analysis Approach to Symbolic Regression.
GECCO 2024, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

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

#: why a run ends whose basis is full
ALL_TERMS = "all terms used"
#: candidates scored in one call: few at first, because most of them pass early on, and more while none does
FIRST_BATCH, LARGEST_BATCH = 16, 1024
#: node evaluations in one call at most, half a second or so: a call cannot be interrupted
LARGEST_CALL = 1_000_000_000
#: of many candidates, this many have their gain computed exactly, some at a time where rows are many
SHORTLIST = 64
LARGEST_MATRIX = 4_000_000
#: what a node costs in nats when the best of many candidates is chosen
NATS_PER_NODE = 2.0
#: relative rounding of a gain, and of the squared length of what a candidate adds to the span
ROUNDING_OF_GAIN, ROUNDING_OF_LENGTH = 1e-14, 1e-12


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
    best_of: with more than 1, look at this many candidates and take the one with the shortest description;
        fewer where rows are so many that this would take longer than a second.
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
        for name in ("max_terms", "best_of"):
            limit = getattr(self, name)
            if limit is not None and limit < 1:
                raise ValueError(f"{name} must be at least 1; got {limit}")
        one = Expression.constant(1.0)
        projection = self.projector.start(problem.space.target)
        if not projection.add(problem.space.coordinates([one])[0]):
            raise ValueError("the projector refuses even the constant 1; its tolerance is too strict")
        cost = self.projector.attempt_traverses(1) + self.projector.acceptance_traverses(1)
        progress = Progress(cost, 0, 0, 1, projection.loss)
        state = FTGState(seed, projection, (one,), progress, finished=self._limit(problem, 1))
        return state, [Accepted(progress, one, projection.coefficients, (one,))]

    def step(self, problem: Problem, state: FTGState, budget: Budget) -> tuple[FTGState, list[Event]]:
        """Look at one batch of candidates, up to the first that is accepted."""
        if self.best_of > 1:
            return self._step_best(problem, state)
        batch, scores = self._draw(problem, state, self._batch_size(problem, state, budget))
        relevant = np.flatnonzero(self._relevance.test(scores, state.progress.loss))
        for i in relevant:
            # Attempts cost too, so the budget may end before the batch does.
            if i >= self._within_budget(state, len(batch), budget):
                break
            state, accepted = self._offer(problem, state, batch, int(i))
            if accepted or self._spent(state, int(i), budget):
                return self._moved_on(state, int(i) + 1, accepted)
        return self._moved_on(state, self._within_budget(state, len(batch), budget), False)

    # To go on later ----------------------------------------------------------------------------------
    def snapshot(self, state: FTGState) -> dict[str, Any]:
        """Plain data and expressions, from which `restore` goes on."""
        return {
            "expressions": list(state.expressions),
            "progress": asdict(state.progress),
            "batch": state.batch,
            "finished": state.finished,
        }

    def restore(self, problem: Problem, seed: int, saved: Mapping[str, Any]) -> FTGState:
        """The state of a snapshot; its elements are projected onto again, one after the other."""
        projection = self.projector.start(problem.space.target)
        for expression in saved["expressions"]:
            projection.add(problem.space.coordinates([expression])[0])
        progress = Progress(**saved["progress"])
        expressions = tuple(saved["expressions"])
        return FTGState(seed, projection, expressions, progress, saved["batch"], saved["finished"])

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
        return state, [
            Accepted(progress, state.expressions[-1], state.projection.coefficients, state.expressions)
        ]

    # The best of many --------------------------------------------------------------------------------
    def _step_best(self, problem: Problem, state: FTGState) -> tuple[FTGState, list[Event]]:
        # The budget has no say here: with fewer candidates, a short run would not be the beginning of a long one.
        basis = state.projection.basis
        batch, scores = self._draw(problem, state, self._affordable(problem, state, self.best_of), basis)
        state = self._charged(state, 0 if basis is None else len(batch) * state.projection.size)
        shortlist = self._shortlist(problem, state, batch, scores)
        if len(shortlist) == 0:
            return self._moved_on(state, len(batch), False)
        gains = self._gains(problem, state, batch, shortlist)
        state = self._charged(
            state, len(shortlist) * self.projector.attempt_traverses(state.projection.size + 1)
        )
        costs = self._cost(problem, state, gains, batch.count[shortlist])
        if not np.isfinite(costs).any():
            return self._moved_on(state, len(batch), False)
        state, accepted = self._offer(problem, state, batch, int(shortlist[np.argmin(costs)]))
        return self._moved_on(state, len(batch), accepted)

    def _shortlist(
        self, problem: Problem, state: FTGState, batch: Programs, scores: Scores
    ) -> NDArray[np.intp]:
        """The most promising candidates, one of each kind: equal values have equal gains, and the shortest stays."""
        relevant = np.flatnonzero(self._relevance.test(scores, state.progress.loss))
        gains = estimated_gains(scores)[relevant]
        order = np.argsort(self._cost(problem, state, gains, batch.count[relevant]), kind="stable")
        with np.errstate(all="ignore"):
            _, kinds = np.unique(np.log(gains[order]).round(9), return_index=True)
        return relevant[order[np.sort(kinds)[:SHORTLIST]]]

    def _gains(
        self, problem: Problem, state: FTGState, batch: Programs, which: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Exact gains of some candidates of the batch."""
        at_once = max(1, LARGEST_MATRIX // len(state.projection.residual))
        parts = (which[i : i + at_once] for i in range(0, len(which), at_once))
        return np.concatenate(
            [state.projection.gains(problem.space.coordinates(batch.subset(part))) for part in parts]
        )

    def _cost(
        self, problem: Problem, state: FTGState, gains: NDArray[np.float64], sizes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Description length of residual and element, in nats and up to a constant; infinite without gain."""
        loss = state.progress.loss
        # Two gains that take the whole loss differ by rounding only, and must not be told apart by it.
        left = np.maximum(loss - gains, ROUNDING_OF_GAIN * loss)
        n = problem.space.dimension or len(state.projection.residual)
        return np.where(gains > 0.0, 0.5 * n * np.log(left / loss) + NATS_PER_NODE * sizes, np.inf)

    # Parts -------------------------------------------------------------------------------------------
    @property
    def _relevance(self) -> Relevance:
        if self.relevance is not None:
            return self.relevance
        return AbsoluteProduct() if isinstance(self.projector, GramSVD) else Cosine()

    def _draw(
        self, problem: Problem, state: FTGState, n: int, basis: NDArray[np.float64] | None = None
    ) -> tuple[Programs, Scores]:
        batch = self.generator.draw(problem.grammar, state.seed, state.progress.candidates, n)
        return batch, problem.space.scores(batch, state.projection.residual, basis)

    def _charged(self, state: FTGState, traverses: int) -> FTGState:
        return replace(
            state, progress=replace(state.progress, traverses=state.progress.traverses + traverses)
        )

    def _batch_size(self, problem: Problem, state: FTGState, budget: Budget) -> int:
        return self._within_budget(state, self._affordable(problem, state, state.batch), budget)

    def _within_budget(self, state: FTGState, n: int, budget: Budget) -> int:
        """n, or as many candidates as there are traverses left."""
        if budget.max_traverses is None:
            return n
        return max(1, min(n, budget.max_traverses - state.progress.traverses))

    def _affordable(self, problem: Problem, state: FTGState, n: int) -> int:
        """n, or as many candidates as one call may evaluate."""
        nodes = self.generator.expected_size(problem.grammar) * len(state.projection.residual)
        return max(1, min(n, int(LARGEST_CALL / nodes)))

    def _limit(self, problem: Problem, terms: int) -> str | None:
        limits = [m for m in (self.max_terms, problem.space.dimension) if m is not None]
        return ALL_TERMS if limits and terms >= min(limits) else None


def estimated_gains(scores: Scores) -> NDArray[np.float64]:
    """⟨v, r⟩²/(‖v‖² − ‖Qᵀv‖²): the gain of every v, as far as the difference has digits left."""
    with np.errstate(all="ignore"):
        outside = np.maximum(scores.norms - scores.shadows, ROUNDING_OF_LENGTH * scores.norms)
        return np.square(scores.products / np.sqrt(outside))
