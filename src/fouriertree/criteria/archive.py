"""An archive of candidates: of every complexity some of the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fouriertree.expr import Expression

#: offered sums of one complexity that are kept, and how much worse than a simpler one they may be
KEPT, NEAR = 3, 1.1
#: sums beside a front that are finished at most
MOST_OTHERS = 20

Candidate = tuple[tuple[float, ...], tuple[Expression, ...]]


class CandidateArchive:
    """Of every complexity some of the best sums, by one of their losses."""

    def __init__(self) -> None:
        self.groups: dict[int, list[tuple[float, Candidate]]] = {}

    def add(self, complexity: int, loss: float, terms: Candidate) -> None:
        known = self.groups.setdefault(complexity, [])
        known.append((loss, terms))
        known.sort(key=lambda entry: entry[0])
        del known[KEPT:]

    def worth_finalizing(self, n_rows: int, near: float = NEAR) -> list[tuple[bool, float, Candidate]]:
        """(whether it is beside the front, description, sum), without those that a simpler one beats clearly.

        All of the front, and of many others those with the shortest descriptions.
        """
        front: list[tuple[bool, float, Candidate]] = []
        others: list[tuple[bool, float, Candidate]] = []
        best = np.inf
        for size, entries in sorted(self.groups.items()):
            for i, (loss, terms) in enumerate(entries):
                if loss < near * best:
                    beside = i > 0 or loss >= best
                    description = 0.5 * n_rows * float(np.log(max(loss, np.finfo(float).tiny))) + 1.5 * size
                    (others if beside else front).append((beside, description, terms))
            best = min(best, entries[0][0])
        return front + sorted(others, key=lambda entry: entry[1])[:MOST_OTHERS]

    def state(self) -> list[Any]:
        return [[size, list(map(plain_entry, known))] for size, known in self.groups.items()]

    def restore(self, saved: Sequence[Any]) -> None:
        self.groups = {size: list(map(entry_of, known)) for size, known in saved}


def plain_entry(entry: tuple[float, Candidate]) -> list[Any]:
    loss, (coefficients, expressions) = entry
    return [loss, list(coefficients), list(expressions)]


def entry_of(plain: Sequence[Any]) -> tuple[float, Candidate]:
    loss, coefficients, expressions = plain
    return loss, (tuple(coefficients), tuple(expressions))
