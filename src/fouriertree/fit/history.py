"""What a fit resumes from and records to, as the pipeline sees it; `fouriertree.runs` implements it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fouriertree.problems import Problem
from fouriertree.search import Budget, Observer, RunState, Search
from fouriertree.search.observers import CandidateCollector, Patience

Floats = NDArray[np.float64]
#: target and weights of all rows
WorkingResponse = tuple[Floats, Floats]


class History(Protocol):
    """Where a fit resumes from, if anywhere, and who records it, if anyone."""

    found: CandidateCollector

    @property
    def is_warm_start(self) -> bool:
        """Whether the search goes on from what is in memory."""
        ...

    @property
    def again(self) -> WorkingResponse | None:
        """What the second search of a fit looks for, if it is that one that goes on."""
        ...

    def standing(self, search: Search[Any], problem: Problem, seed: int) -> RunState[Any] | None:
        """Where the search goes on from, once; None for the beginning."""
        ...

    def observers(self, names: tuple[str, ...] | None, n_rows: int) -> list[Observer]: ...

    def checkpointer(
        self, search: Search[Any], response: WorkingResponse, patience: Patience | None
    ) -> Callable[[RunState[Any]], None] | None:
        """Writes checkpoints when they are due."""
        ...

    def restore_patience(self, patience: Patience) -> None: ...


def extended(budget: Budget, found: CandidateCollector) -> Budget:
    """The same limits once more, for a search that goes on: its counts begin where they stood."""

    def more(limit: int | None, spent: int) -> int | None:
        return None if limit is None else limit + spent

    return replace(
        budget,
        max_traverses=more(budget.max_traverses, found.traverses),
        max_candidates=more(budget.max_candidates, found.candidates),
    )
