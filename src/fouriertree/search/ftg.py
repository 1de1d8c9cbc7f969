"""Fourier Tree Growing: projections of the target onto the span of a growing set of trees.

Antonov, Kalkreuth, Yang, Bäck, van Stein, Kononova: A Functional Analysis Approach to Symbolic Regression.
GECCO 2024, Algorithm 1.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.expr import Expression, Programs
from fouriertree.expr.generate import Generator, RampedHalfAndHalf
from fouriertree.problems import Problem
from fouriertree.projection import GramSVD, IncrementalQR, Projection, Projector
from fouriertree.search.loop import Accepted, Budget, Event, Progress
from fouriertree.space import Scores

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: the reason for the end of a run with max_terms elements
ALL_TERMS = "all terms used"
#: candidates scored in one call: it doubles while none is accepted
FIRST_BATCH, MAX_BATCH = 16, 1024
#: maximum node evaluations in one call, about half a second: a call cannot be interrupted
MAX_NODES_PER_CALL = 1_000_000_000
#: candidates whose gain is computed exactly, and maximum entries of the matrix of their coordinates
SHORTLIST, MAX_MATRIX = 64, 4_000_000
#: relative rounding error of a gain, and of a squared norm orthogonal to the span; decimals of equal log-gains
GAIN_ROUNDING, NORM_ROUNDING, LOG_GAIN_DECIMALS = 1e-14, 1e-12, 9


class Relevance(Protocol):
    """A test on ⟨v, r⟩ for many candidates v at once."""

    def test(self, scores: Scores, loss: float) -> NDArray[np.bool_]:
        """Which candidates pass: (n,); `loss` is ‖r‖².  Candidates with NaN scores never pass."""


@dataclass(frozen=True)
class AbsoluteProduct:
    """|⟨v, r⟩| ≥ eps2, as published; with `signed` ⟨v, r⟩ ≥ eps2, as in the published LSP runs."""

    eps2: float = 1e-3
    signed: bool = False

    def test(self, scores: Scores, loss: float) -> NDArray[np.bool_]:
        size = scores.products if self.signed else np.abs(scores.products)
        return size >= self.eps2


@dataclass(frozen=True)
class Cosine:
    """|⟨v, r⟩| > eps2·‖v‖·‖r‖: invariant to the scales of v and r, with a tolerance for rounding."""

    eps2: float = 1e-10

    def test(self, scores: Scores, loss: float) -> NDArray[np.bool_]:
        with np.errstate(all="ignore"):
            limits = self.eps2 * np.sqrt(scores.norms) * np.sqrt(loss)
            passed: NDArray[np.bool_] = np.abs(scores.products) > limits
            return passed & np.isfinite(scores.norms)


@dataclass(frozen=True)
class FTGState:
    """The basis, its projection and the progress.  A step returns a new state; the projection changes in place."""

    seed: int
    projection: Projection
    expressions: tuple[Expression, ...]
    progress: Progress
    batch: int = FIRST_BATCH
    finished: str | None = None


@dataclass(frozen=True)
class FTG:
    """Fourier Tree Growing: F̂ = Σ α_i·v_i is the projection of the target F onto span(v_1 … v_k), and v_1 = 1.

    Random trees v are tested in order.  The first that is not orthogonal to the residual r = F − F̂ and that the
    projector accepts becomes v_{k+1}.  `FTG(projector=GramSVD())` is the published algorithm.

    Parameters
    ----------
    projector : Projector, default=IncrementalQR()
        Computes the coefficients and rejects linearly dependent candidates.
    generator : Generator, default=RampedHalfAndHalf()
        Draws the candidates.
    relevance : Relevance, optional
        The test ⟨r, v⟩ ≠ 0; `AbsoluteProduct()` with `GramSVD` and `Cosine()` with other projectors by default.
    max_terms : int, optional
        Elements at most; the dimension of the space by default.
    best_of : int, default=1
        With more than 1, add the one of this many candidates with the shortest description length; fewer where their
        evaluation would take longer than a second.
    stop_on_rise : bool, default=False
        End the run if the loss increases, as the published LSP runs did.
    """

    projector: Projector = field(default_factory=IncrementalQR)
    generator: Generator = field(default_factory=RampedHalfAndHalf)
    relevance: Relevance | None = None
    max_terms: int | None = None
    best_of: int = 1
    stop_on_rise: bool = False

    @classmethod
    def published_lsp(cls) -> Self:
        """The configuration of the published LSP runs: one-sided test, residual not charged."""
        projector = GramSVD(charge_residual=False)
        return cls(projector, relevance=AbsoluteProduct(signed=True), stop_on_rise=True)

    def init(self, problem: Problem, seed: int) -> tuple[FTGState, list[Event]]:
        """The projection onto v₁ = 1."""
        for name in ("max_terms", "best_of"):
            limit = getattr(self, name)
            if limit is not None and limit < 1:
                raise ValueError(f"{name} must be at least 1; got {limit}")
        one = Expression.constant(1.0)
        projection = self.projector.start(problem.space.target)
        if not projection.add(problem.space.coordinates([one])[0]):
            raise ValueError("the projector rejects the constant 1; its tolerance is too strict")
        cost = self.projector.attempt_traverses(1) + self.projector.acceptance_traverses(1)
        progress = Progress(cost, 0, 0, 1, projection.loss)
        state = FTGState(seed, projection, (one,), progress, finished=self._limit(problem, 1))
        return state, [Accepted(progress, one, projection.coefficients, (one,))]

    def step(self, problem: Problem, state: FTGState, budget: Budget) -> tuple[FTGState, list[Event]]:
        """Test one batch of candidates, up to the first that is accepted."""
        if self.best_of > 1:
            return self._step_best(problem, state)
        limit = budget.max_traverses
        size = self._within_budget(state, self._affordable(problem, state, state.batch), budget)
        batch, scores = self._draw(problem, state, size)
        relevant = np.flatnonzero(self._relevance.test(scores, state.progress.loss))
        for i in relevant:
            # Attempts take traverses, too, so the budget may end within the batch.
            if i >= self._within_budget(state, len(batch), budget):
                break
            state, accepted = self._try(problem, state, batch, int(i))
            if accepted or (limit is not None and state.progress.traverses + i + 1 >= limit):
                return self._after(state, int(i) + 1, accepted)
        return self._after(state, self._within_budget(state, len(batch), budget), False)

    def snapshot(self, state: FTGState) -> dict[str, Any]:
        """Plain data and expressions for `restore`."""
        return {
            "expressions": list(state.expressions),
            "progress": asdict(state.progress),
            "batch": state.batch,
            "finished": state.finished,
        }

    def restore(self, problem: Problem, seed: int, saved: Mapping[str, Any]) -> FTGState:
        """The state of a snapshot; the projection is computed again, element by element."""
        projection = self.projector.start(problem.space.target)
        expressions = tuple(saved["expressions"])
        for expression in expressions:
            projection.add(problem.space.coordinates([expression])[0])
        progress = Progress(**saved["progress"])
        return FTGState(seed, projection, expressions, progress, saved["batch"], saved["finished"])

    def _try(self, problem: Problem, state: FTGState, batch: Programs, i: int) -> tuple[FTGState, bool]:
        """Add candidate i of the batch if the projector accepts it; `_after` counts the candidates."""
        k = state.projection.size + 1
        accepted = state.projection.add(problem.space.coordinates(batch.subset(np.array([i])))[0])
        before, after = state.progress, state.projection
        cost = self.projector.attempt_traverses(k) + accepted * self.projector.acceptance_traverses(k)
        refused = before.refused + (not accepted)
        progress = Progress(before.traverses + cost, before.candidates, refused, after.size, after.loss)
        state = replace(state, progress=progress)
        if accepted:
            rose = self.stop_on_rise and progress.loss > before.loss
            finished = "the loss rose" if rose else self._limit(problem, progress.terms)
            state = replace(state, expressions=(*state.expressions, batch[i]), finished=finished)
        return state, accepted

    def _after(self, state: FTGState, tested: int, accepted: bool) -> tuple[FTGState, list[Event]]:
        """The state after `tested` candidates of the batch, one traverse each."""
        before = state.progress
        progress = replace(before, traverses=before.traverses + tested, candidates=before.candidates + tested)
        if not accepted:
            return replace(state, progress=progress, batch=min(2 * state.batch, MAX_BATCH)), []
        expressions = state.expressions
        event = Accepted(progress, expressions[-1], state.projection.coefficients, expressions)
        return replace(state, progress=progress, batch=FIRST_BATCH), [event]

    def _step_best(self, problem: Problem, state: FTGState) -> tuple[FTGState, list[Event]]:
        """Add the best of many candidates."""
        # The budget is ignored here: with fewer candidates, a short run would not be a prefix of a long one.
        basis = state.projection.basis
        batch, scores = self._draw(problem, state, self._affordable(problem, state, self.best_of), basis)
        state = self._charged(state, 0 if basis is None else len(batch) * state.projection.size)
        shortlist = self._shortlist(problem, state, batch, scores)
        if len(shortlist) == 0:
            return self._after(state, len(batch), False)
        gains = self._gains(problem, state, batch, shortlist)
        attempt = self.projector.attempt_traverses(state.projection.size + 1)
        state = self._charged(state, len(shortlist) * attempt)
        lengths = self._description_length(problem, state, gains, batch.count[shortlist])
        if not np.isfinite(lengths).any():
            return self._after(state, len(batch), False)
        state, accepted = self._try(problem, state, batch, int(shortlist[np.argmin(lengths)]))
        return self._after(state, len(batch), accepted)

    def _shortlist(self, problem: Problem, state: FTGState, batch: Programs, scores: Scores) -> Indices:
        """The candidates of shortest estimated description length; of equal gains, the shortest candidate only."""
        relevant = np.flatnonzero(self._relevance.test(scores, state.progress.loss))
        gains = estimated_gains(scores)[relevant]
        lengths = self._description_length(problem, state, gains, batch.count[relevant])
        order = np.argsort(lengths, kind="stable")
        with np.errstate(all="ignore"):
            _, distinct = np.unique(np.log(gains[order]).round(LOG_GAIN_DECIMALS), return_index=True)
        return relevant[order[np.sort(distinct)[:SHORTLIST]]]

    def _gains(self, problem: Problem, state: FTGState, batch: Programs, which: Indices) -> Floats:
        """Exact gains of some candidates of the batch."""
        at_once = max(1, MAX_MATRIX // len(state.projection.residual))
        parts = (batch.subset(which[i : i + at_once]) for i in range(0, len(which), at_once))
        return np.concatenate([state.projection.gains(problem.space.coordinates(part)) for part in parts])

    def _description_length(self, problem: Problem, state: FTGState, gains: Floats, sizes: Any) -> Floats:
        """½·n·log(loss) + code length of the element, in nats and up to a constant; infinite without gain."""
        loss = state.progress.loss
        # Gains that equal the loss up to rounding must give the same length.
        left = np.maximum(loss - gains, GAIN_ROUNDING * loss)
        n = problem.space.dimension or len(state.projection.residual)
        return np.where(gains > 0.0, approximate_length(n, left / loss, sizes), np.inf)

    @property
    def _relevance(self) -> Relevance:
        if self.relevance is not None:
            return self.relevance
        return AbsoluteProduct() if isinstance(self.projector, GramSVD) else Cosine()

    def _draw(
        self, problem: Problem, state: FTGState, n: int, basis: Floats | None = None
    ) -> tuple[Programs, Scores]:
        batch = self.generator.draw(problem.grammar, state.seed, state.progress.candidates, n)
        return batch, problem.space.scores(batch, state.projection.residual, basis)

    def _charged(self, state: FTGState, traverses: int) -> FTGState:
        progress = replace(state.progress, traverses=state.progress.traverses + traverses)
        return replace(state, progress=progress)

    def _within_budget(self, state: FTGState, n: int, budget: Budget) -> int:
        """n, or the number of traverses left."""
        if budget.max_traverses is None:
            return n
        return max(1, min(n, budget.max_traverses - state.progress.traverses))

    def _affordable(self, problem: Problem, state: FTGState, n: int) -> int:
        """n, or the number of candidates that one call may evaluate."""
        nodes = self.generator.expected_size(problem.grammar) * len(state.projection.residual)
        return max(1, min(n, int(MAX_NODES_PER_CALL / nodes)))

    def share(self, progress: Progress) -> float | None:
        """The share of the elements that have been found; None without max_terms."""
        return None if self.max_terms is None else progress.terms / self.max_terms

    def _limit(self, problem: Problem, terms: int) -> str | None:
        limits = [m for m in (self.max_terms, problem.space.dimension) if m is not None]
        return ALL_TERMS if limits and terms >= min(limits) else None


def estimated_gains(scores: Scores) -> Floats:
    """⟨v, r⟩²/(‖v‖² − ‖Qᵀv‖²): the gain of every v, up to cancellation in the denominator."""
    with np.errstate(all="ignore"):
        orthogonal = np.maximum(scores.norms - scores.projected_norms, NORM_ROUNDING * scores.norms)
        return np.square(scores.products / np.sqrt(orthogonal))
