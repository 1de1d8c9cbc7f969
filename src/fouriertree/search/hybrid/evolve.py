"""Variation of what is useful: subtrees of the best sums are exchanged, grown, cut and replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fouriertree.expr import Expression
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.expr.opcodes import CONST
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search.hybrid.archive import Archive, Entry

Terms = tuple[Expression, ...]

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
        twigs = self._twigs()
        offspring = {self._child(parents, twigs): None for _ in range(OFFSPRING)}
        models = [m for m in offspring if self.archive.limits.allow(m)]
        # Those that were drawn in vain count too, or a run in which nothing is allowed would not end.
        self.archive.fits += OFFSPRING - len(models)
        best = self.archive.screen(models, QUICK, THOROUGH)
        return self.archive.offer(best)

    def _twigs(self) -> list[Expression]:
        """Small random trees."""
        self._drawn += OFFSPRING
        return list(
            RampedHalfAndHalf(1, 3).draw(self.grammar, int(self.rng.integers(2**31)), self._drawn, OFFSPRING)
        )

    def _child(self, parents: Sequence[Entry], twigs: Sequence[Expression]) -> Terms:
        rng = self.rng
        terms = list(self._pick(parents).terms)
        i = int(rng.integers(len(terms)))
        move = rng.random()
        if move < 0.15 and len(terms) > 1:
            del terms[i]
        elif move < 0.3:
            terms.append(self._material(parents, twigs))
        elif move < 0.4:
            terms[i] = self._combined(terms[i], self._material(parents, twigs))
        else:
            at = int(rng.integers(terms[i].size))
            terms[i] = terms[i].replace(at, self._material(parents, twigs))
        return tuple(e for e in terms if (e.op != CONST).any())

    def _pick(self, parents: Sequence[Entry]) -> Entry:
        """The shorter description of two."""
        a, b = (parents[int(i)] for i in self.rng.integers(len(parents), size=2))
        n = self.archive.n_rows
        return a if a.score(n) <= b.score(n) else b

    def _material(self, parents: Sequence[Entry], twigs: Sequence[Expression]) -> Expression:
        """A random small tree, or a subtree of a parent."""
        if self.rng.random() < 0.5:
            return twigs[int(self.rng.integers(len(twigs)))]
        terms = parents[int(self.rng.integers(len(parents)))].terms
        term = terms[int(self.rng.integers(len(terms)))]
        return term.subtree(int(self.rng.integers(term.size)))

    def _combined(self, a: Expression, b: Expression) -> Expression:
        operators = [p for p in self.vocabulary.primitives if p.arity == 2]
        if not operators:
            return a
        row = operators[int(self.rng.integers(len(operators)))]
        return Expression.apply(row, a, b) if self.rng.random() < 0.5 else Expression.apply(row, b, a)
