"""Variation of what is useful: subtrees of the best sums are exchanged, grown, cut and replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fouriertree.expr import Programs
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.projection.batches import SumBatch
from fouriertree.search.hybrid.archive import Archive
from fouriertree.search.hybrid.variation import offspring

#: candidates of a generation, and how many of them are fitted thoroughly
OFFSPRING, THOROUGH = 200, 24
#: quick steps of variable projection for all of them
QUICK = 5


class Evolution:
    """Generations of offspring of the archive's front, polished by variable projection."""

    def __init__(self, archive: Archive, vocabulary: Vocabulary, seed: int) -> None:
        self.archive, self.vocabulary = archive, vocabulary
        self.rng = np.random.default_rng([seed, 3])
        self.grammar = Grammar(
            vocabulary.primitives, archive.table.n_columns, constant_share=0.25, constants=(0.2, 2.0)
        )
        self._drawn = 0

    def state(self) -> dict[str, Any]:
        return {"rng": self.rng.bit_generator.state, "drawn": self._drawn}

    def restore(self, saved: Mapping[str, Any]) -> None:
        self.rng.bit_generator.state = saved["rng"]
        self._drawn = saved["drawn"]

    def step(self) -> float:
        """One generation; the best score among the offspring that were offered to the archive."""
        parents = self.archive.front()
        if not parents:
            return np.inf
        n = self.archive.n_rows
        batch, scores = SumBatch.pack([p.terms for p in parents]), np.array([p.score(n) for p in parents])
        children = offspring(batch, scores, self._twigs(), self.vocabulary.primitives, self.rng, OFFSPRING)
        models = self.archive.limits.allowed(children)
        # Those that were drawn in vain count too, or a run in which nothing is allowed would not end.
        self.archive.fits += OFFSPRING - len(models)
        return self.archive.offer(self.archive.screen(models, QUICK, THOROUGH))

    def _twigs(self) -> Programs:
        """Small random trees."""
        self._drawn += OFFSPRING
        return RampedHalfAndHalf(1, 3).draw(
            self.grammar, int(self.rng.integers(2**31)), self._drawn, OFFSPRING
        )
