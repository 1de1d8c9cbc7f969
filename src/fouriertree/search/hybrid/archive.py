"""What the hybrid has found: for every complexity the most accurate sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.poles import POLE_LOSS_RATIO, may_have_pole
from fouriertree.expr import Expression
from fouriertree.expr.canonical import canonical
from fouriertree.expr.complexity import Complexity
from fouriertree.expr.vocabulary import ONE
from fouriertree.model import sum_of_terms
from fouriertree.projection.batches import SumBatch
from fouriertree.projection.variable import FitData, Fitted, fit_batch, fit_constants
from fouriertree.search.hybrid.explore import EXACT, NATS_PER_UNIT, structural
from fouriertree.search.hybrid.limits import straightened
from fouriertree.search.hybrid.table import Table
from fouriertree.search.nesting import Nesting

Floats = NDArray[np.float64]

#: squared error, relative to the spread of y, below which nobody doubts a law
CERTAIN = 1e-28
#: squared error, relative to Σ w·y², below which a sum is looked at for functions that have become straight
NEARLY_EXACT = 1e-6
#: on rows held back, an exact law may be this much less exact (squared): inner constants carry rounding
HELD_BACK = 1e3
#: relative error of a sum of a few numbers
ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
#: entries of one complexity, and how much worse than a simpler one an entry may be: numbers are not shortened yet
KEPT, NEAR = 3, 1.1
#: rows beyond the number of fitted numbers that make an exact fit believable where no rows are held back, and at least
#: twice as many as numbers
SPARE_ROWS = 4


@dataclass(frozen=True)
class Entry:
    """Σ coefficients·terms for y in the table's units."""

    coefficients: tuple[float, ...]
    terms: tuple[Expression, ...]
    loss: float  #: squared error relative to Σ w·y²
    complexity: int
    pole: bool = field(default=False, compare=False)  #: between the rows; known of new entries only

    def score(self, n: int) -> float:
        """Description length in nats, up to a constant."""
        return 0.5 * n * float(np.log(max(self.loss, EXACT))) + NATS_PER_UNIT * self.complexity


@dataclass(frozen=True)
class Limits:
    """Which sums are allowed."""

    max_terms: int
    max_complexity: int
    complexity: Complexity
    nesting: Nesting

    def complexity_of(self, terms: Sequence[Expression]) -> int:
        """Of the sum with its coefficients: an addition, a multiplication and a number for every term."""
        return sum(3 + self.complexity(e) for e in terms) - 1

    def allow(self, terms: Sequence[Expression], most: int = 0) -> bool:
        """Also with more terms than others, up to `most`."""
        if not 0 < len(terms) <= max(most, self.max_terms) or not self.nesting.allow(terms):
            return False
        # Simplification will shorten it, by how much is not known yet.
        return self.complexity_of(terms) <= 1.25 * self.max_complexity + 3

    def complexities(self, sums: SumBatch) -> NDArray[np.int64]:
        """As `complexity_of`, of the sums of a batch."""
        return sums.complexities(self.complexity) + 3 * sums.n_terms - 1

    def allowed(self, sums: SumBatch) -> SumBatch:
        """Those of a batch that are allowed."""
        small = self.complexities(sums) <= 1.25 * self.max_complexity + 3
        chosen = np.flatnonzero(small & (sums.n_terms <= self.max_terms))
        if self.nesting.limits:
            chosen = np.array([i for i in chosen if self.nesting.allow(sums.expressions(int(i)))], np.intp)
        return sums.take(chosen)


def passes_of(models: Sequence[Sequence[Expression]], fits: Sequence[Fitted]) -> int:
    """Passes over the rows that fits took: every term once per step, and the residual."""
    return sum((len(model) + 1) * (fit.iterations + 1) for model, fit in zip(models, fits, strict=True))


class Verified:
    """Of every complexity the best sum on all rows, those held back among them, unless a simpler one is better.

    The longer a search goes on, the more of what fits best to the rows that it sees does so by luck, and would push out
    what holds.
    """

    def __init__(self) -> None:
        self.entries: dict[int, tuple[float, Entry]] = {}

    def best_up_to(self, complexity: int) -> float:
        return min((loss for size, (loss, _) in self.entries.items() if size <= complexity), default=np.inf)

    def keep(self, entry: Entry, loss: float) -> None:
        """It is better than all that are as simple, and takes the place of those that are not simpler and no better."""
        size = entry.complexity
        self.entries = {
            other: kept for other, kept in self.entries.items() if other < size or kept[0] < loss
        } | {size: (loss, entry)}

    def identities(self) -> set[int]:
        return {id(entry) for _, entry in self.entries.values()}

    def state(self) -> list[Any]:
        return [[loss, _plain(entry)] for _, (loss, entry) in sorted(self.entries.items())]

    def restore(self, saved: Sequence[Any]) -> None:
        entries = [(loss, _entry(plain)) for loss, plain in saved]
        self.entries = {entry.complexity: (loss, entry) for loss, entry in entries}


class Archive:
    """Fits candidates to the table's rows and keeps the best of every complexity."""

    def __init__(self, table: Table, limits: Limits, n_jobs: int = 1) -> None:
        self.table, self.limits, self.n_jobs = table, limits, n_jobs
        self.data = FitData.prepare(table.X, table.y, table.weights)
        self.length2 = float(np.sum(table.weights * np.square(table.y))) or 1.0
        middle = np.average(table.y, weights=table.weights)
        spread2 = float(np.sum(table.weights * np.square(table.y - middle)))
        #: what is exact, relative to Σ w·y²: of a target far from zero, only its spread has to be explained
        self.exact = max(CERTAIN * spread2 / self.length2, ROUNDING**2)
        self.entries: dict[int, list[Entry]] = {}
        self.verified = Verified()
        self.positive = frozenset(np.flatnonzero((table.X > 0.0).all(axis=0)).tolist())
        self.new: list[Entry] = []
        self.law: Entry | None = None
        self.fits = 0
        self.traverses = 0  #: passes over the rows: for every fit, terms and steps
        self._quick: FitData | None = None
        self._best_without_pole = 1.0
        self._may_be_law = True

    @property
    def n_rows(self) -> int:
        return len(self.table.y)

    def offer(
        self,
        models: Sequence[Sequence[Expression]],
        iterations: int = 40,
        most_terms: int = 0,
        may_be_law: bool = True,
    ) -> float:
        """Fit the models and keep those that are the best of their complexity; the best score among them.

        `most_terms`: for these models, where this is more than the limit.  Models that may not be the law do not end
        the search, however exact they are.
        """
        self._may_be_law = may_be_law
        known = len(self.new)
        best = self._fit_and_take(models, iterations, most_terms)
        lines = [self._straightened(entry) for entry in self.new[known:] if entry.loss <= NEARLY_EXACT]
        return min(best, self._fit_and_take([m for m in lines if m], iterations, most_terms))

    def _fit_and_take(
        self, models: Sequence[Sequence[Expression]], iterations: int, most_terms: int
    ) -> float:
        models = [m for m in models if self.limits.allow(m, most_terms)]
        fits = fit_constants(
            models, self.data, iterations=iterations, fixed=structural(models), n_jobs=self.n_jobs
        )
        self._count(models, fits)
        return min((self._take(fit) for fit in fits), default=np.inf)

    def _straightened(self, entry: Entry) -> tuple[Expression, ...] | None:
        """With lines for functions that are straight, and the constant that they may need."""
        terms = straightened(entry.coefficients, entry.terms, self.table.X)
        return terms if terms is None or ONE in terms else (*terms, ONE)

    def screen(self, models: SumBatch, iterations: int, count: int) -> list[tuple[Expression, ...]]:
        """The models with the shortest descriptions after a quick fit to the rows for screening."""
        if not len(models):
            return []
        rows = self.table.screen
        if self._quick is None:
            self._quick = FitData.prepare(self.table.X[rows], self.table.y[rows], self.table.weights[rows])
        fits = fit_batch(models, self._quick, iterations, n_jobs=self.n_jobs)
        self.fits += len(models)
        self.traverses += int(np.sum((models.n_terms + 1) * (fits.steps + 1)))
        length2 = float(np.sum(self.table.weights[rows] * np.square(self.table.y[rows]))) or 1.0
        losses = np.maximum(fits.losses / length2, EXACT)
        scores = 0.5 * len(rows) * np.log(losses) + NATS_PER_UNIT * self.limits.complexities(models)
        best = [i for i in np.argsort(scores, kind="stable")[:count].tolist() if np.isfinite(scores[i])]
        return [fits.batch.expressions(i) for i in best]

    def projected(
        self, models: Sequence[tuple[Expression, ...]], z: Floats, weights: Floats
    ) -> list[tuple[list[float], tuple[Expression, ...]]]:
        """The coefficients with which sums are nearest to an image z of the target, without those that are rounding."""
        fits = fit_constants(models, self.table.X, z, weights, iterations=0)
        self._count(models, fits)
        found = []
        for model, fit in zip(models, fits, strict=True):
            sizes = [
                abs(c) * float(np.abs(e.evaluate(self.table.X)).max())
                for c, e in zip(fit.coefficients, model, strict=True)
            ]
            kept = [i for i, size in enumerate(sizes) if size > 1e-9 * max(sizes)]
            found.append(([float(fit.coefficients[i]) for i in kept], tuple(model[i] for i in kept)))
        return found

    def _count(self, models: Sequence[Sequence[Expression]], fits: Sequence[Fitted]) -> None:
        self.fits += len(models)
        self.traverses += passes_of(models, fits)

    def _take(self, fit: Fitted) -> float:
        if not np.isfinite(fit.loss) or not np.isfinite(fit.coefficients).all():
            return np.inf
        complexity = self._complexity(fit)
        if complexity > self.limits.max_complexity:
            return np.inf
        terms, coefficients = tuple(fit.expressions), tuple(fit.coefficients.tolist())
        pole = any(may_have_pole(e, self.table.X) for e in terms)
        entry = Entry(coefficients, terms, fit.loss / self.length2, complexity, pole)
        best, verified = self._is_one_of_the_best(entry), self._loss_if_verified(entry)
        if (best or verified is not None) and self._believable(entry):
            if best:
                self._keep(entry)
            if verified is not None:
                self.verified.keep(entry, verified)
            self.new.append(entry)
        if (
            self._may_be_law
            and entry.loss <= self.exact
            and (self.law is None or entry.complexity < self.law.complexity)
            and self._holds(entry)
        ):
            self.law = entry
        return entry.score(self.n_rows)

    def _is_one_of_the_best(self, entry: Entry) -> bool:
        """Of its complexity, on the rows that it was fitted to."""
        known = self.entries.get(entry.complexity, [])
        return len(known) < KEPT or entry.loss < known[-1].loss

    def _keep(self, entry: Entry) -> None:
        known = self.entries.get(entry.complexity, [])
        self.entries[entry.complexity] = sorted([*known, entry], key=lambda e: e.loss)[:KEPT]

    def _believable(self, entry: Entry) -> bool:
        """Whether it stays finite between the rows, or explains so much that a pole belongs to the law."""
        if entry.pole:
            return entry.loss <= POLE_LOSS_RATIO * self._best_without_pole
        self._best_without_pole = min(self._best_without_pole, entry.loss)
        return True

    def _complexity(self, fit: Fitted) -> int:
        """Of the whole formula as it would be written."""
        whole = sum_of_terms(fit.coefficients.tolist(), fit.expressions)
        return self.limits.complexity(canonical(whole, None, self.positive))

    def _holds(self, entry: Entry) -> bool:
        """Whether an exact sum is exact on rows that it was not fitted to, too."""
        if self.table.held is None:
            numbers = sum(1 + int(np.count_nonzero(e.op == 0)) for e in entry.terms)
            return self.n_rows >= max(numbers + SPARE_ROWS, 2 * numbers)
        _, y, weights = self.table.held
        return self._loss_held_back(entry) <= HELD_BACK * self.exact * float(np.sum(weights * np.square(y)))

    def _loss_if_verified(self, entry: Entry) -> float | None:
        """The loss on all rows, if there is nothing as simple that is better.

        Rows held back cannot make a loss smaller, so that most need not be looked at.  They judge poles, which they can
        only where they have not chosen among them.
        """
        best, seen = self.verified.best_up_to(entry.complexity), entry.loss * self.length2
        if self.table.held is None or seen >= best or entry.pole:
            return None
        everywhere = seen + self._loss_held_back(entry)
        return everywhere if everywhere < best else None

    def _loss_held_back(self, entry: Entry) -> float:
        assert self.table.held is not None
        X, y, weights = self.table.held
        with np.errstate(all="ignore"):
            error = y - sum(c * e.evaluate(X) for c, e in zip(entry.coefficients, entry.terms, strict=True))
            return float(np.sum(weights * np.square(error)))

    # To go on later -----------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        """Plain data and expressions; what is new must have been told."""
        entries = [[_plain(entry) for entry in known] for _, known in sorted(self.entries.items())]
        return {
            "entries": entries,
            "verified": self.verified.state(),
            "law": None if self.law is None else _plain(self.law),
            "fits": self.fits,
            "traverses": self.traverses,
            "best_without_pole": self._best_without_pole,
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        for known in saved["entries"]:
            found = [_entry(plain) for plain in known]
            self.entries[found[0].complexity] = found
        self.verified.restore(saved["verified"])
        self.law = None if saved["law"] is None else _entry(saved["law"])
        self.fits, self.traverses = saved["fits"], saved["traverses"]
        self._best_without_pole = saved["best_without_pole"]

    # Which are worth it -------------------------------------------------------------------------------------
    def front(self) -> list[Entry]:
        """Those that no simpler one beats, simplest first."""
        kept: list[Entry] = []
        for _, (entry, *_) in sorted(self.entries.items()):
            if not kept or entry.loss < kept[-1].loss:
                kept.append(entry)
        return kept

    def near_front(self) -> set[int]:
        """Identities of entries that are at most a little worse than the front: one of them may be the law."""
        found: set[int] = set()
        best = np.inf
        for _, entries in sorted(self.entries.items()):
            found |= {id(e) for e in entries if e.loss < NEAR * best}
            best = min(best, entries[0].loss)
        return found


def _plain(entry: Entry) -> list[Any]:
    return [list(entry.coefficients), list(entry.terms), entry.loss, entry.complexity]


def _entry(plain: Sequence[Any]) -> Entry:
    coefficients, terms, loss, complexity = plain
    return Entry(tuple(coefficients), tuple(terms), loss, complexity)
