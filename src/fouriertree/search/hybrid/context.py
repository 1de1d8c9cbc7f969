"""What all tasks of a search share: its options, its data, and what is derived from them once per process."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.complexity import Complexity
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.projection.batches import SumBatch
from fouriertree.projection.variable import FitData
from fouriertree.search.executors import Shared
from fouriertree.search.hybrid.data import SearchData
from fouriertree.search.nesting import Nesting
from fouriertree.tolerances import ROUNDED_TARGET

#: parts of the search that can be left out
PARTS = REDUCTIONS, TRANSFORMED, RATIOS, MODULATION, FUNCTIONS, SEPARABLE_PRODUCTS, COMPOSITIONS, VARIATION = (
    "reductions", "transforms", "ratios", "modulation", "functions", "separable products", "compositions",
    "variation",
)  # fmt: skip

T = TypeVar("T")

#: squared error of a certain law, relative to the spread of y
CERTAIN = 1e-28


@dataclass(frozen=True)
class HybridOptions:
    """Options of the hybrid search.

    Parameters
    ----------
    max_terms, max_complexity : int
        Of the sums that it builds.
    exact_terms : int
        Terms of an exact polynomial at most, where this is more.
    max_dictionary : int
        Basis functions of a dictionary at most; screening scores all their pairs.
    guesses : tuple of Expression
        Formulas over the problem's features to start from.
    complexity, nesting : Complexity, Nesting
    rounds : int, optional
        The search ends after so many tasks per branch that continue one; without an end by default.
    without : frozenset of str
        Parts to leave out, of PARTS, for ablation studies.
    """

    max_terms: int = 7
    exact_terms: int = 0
    max_complexity: int = 80
    max_dictionary: int = 3000
    guesses: tuple[Expression, ...] = ()
    complexity: Complexity = field(default_factory=Complexity)
    nesting: Nesting = field(default_factory=Nesting)
    rounds: int | None = None
    without: frozenset[str] = frozenset()

    def complexity_of(self, terms: Sequence[Expression]) -> int:
        """Of a sum with its coefficients: an addition, a multiplication and a constant per term."""
        return sum(3 + self.complexity(e) for e in terms) - 1

    def complexities(self, sums: SumBatch) -> NDArray[np.int64]:
        """As `complexity_of`, of the sums of a batch."""
        return sums.complexities(self.complexity) + 3 * sums.n_terms - 1

    @property
    def _largest(self) -> float:
        # Simplification will shorten a sum, by how much is not known yet.
        return 1.25 * self.max_complexity + 3

    def allow(self, terms: Sequence[Expression], most: int = 0) -> bool:
        """Whether a sum may be built; it may have up to `most` terms if that is more than max_terms."""
        if not 0 < len(terms) <= max(most, self.max_terms) or not self.nesting.allow(terms):
            return False
        return self.complexity_of(terms) <= self._largest

    def allowed(self, sums: SumBatch) -> SumBatch:
        """The sums of a batch that may be built."""
        small = self.complexities(sums) <= self._largest
        chosen = np.flatnonzero(small & (sums.n_terms <= self.max_terms))
        if self.nesting.limits:
            chosen = np.array([i for i in chosen if self.nesting.allow(sums.expressions(int(i)))], np.intp)
        return sums.take(chosen)


_lock = Lock()


@dataclass(frozen=True, eq=False)
class SearchContext(Shared):
    """Options, data, operators and seed of a search, which its tasks refer to."""

    options: HybridOptions
    data: SearchData
    vocabulary: Vocabulary
    seed: int

    def __getstate__(self) -> dict[str, Any]:
        # What is derived from them is not sent to other processes.
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def cached(self, kind: str, key: Hashable, size: int, make: Callable[[], T]) -> T:
        """make(), kept among the last `size` values of a kind; other threads may make the same value meanwhile."""
        with _lock:
            caches = vars(self).setdefault("_caches", defaultdict(OrderedDict))
            kept: OrderedDict[Hashable, T] = caches[kind]
            if key in kept:
                kept.move_to_end(key)
                return kept[key]
        value = make()
        with _lock:
            value = kept.setdefault(key, value)
            while len(kept) > size:
                kept.popitem(last=False)
        return value

    @cached_property
    def fit_data(self) -> FitData:
        """All rows, for fits of constants."""
        return FitData.prepare(self.data.X, self.data.y, self.data.weights)

    @cached_property
    def screening_data(self) -> FitData:
        """The rows for screening."""
        data, rows = self.data, self.data.screening
        return FitData.prepare(data.X[rows], data.y[rows], data.weights[rows])

    @cached_property
    def length2(self) -> float:
        """Σ w·y²."""
        return float(np.sum(self.data.weights * np.square(self.data.y))) or 1.0

    @cached_property
    def screening_length2(self) -> float:
        rows = self.data.screening
        return float(np.sum(self.data.weights[rows] * np.square(self.data.y[rows]))) or 1.0

    @cached_property
    def exact(self) -> float:
        """Squared error of a certain law relative to Σ w·y²: of a target far from zero, its spread is explained."""
        y, weights = self.data.y, self.data.weights
        spread2 = float(np.sum(weights * np.square(y - np.average(y, weights=weights))))
        return max(CERTAIN * spread2 / self.length2, ROUNDED_TARGET**2)
