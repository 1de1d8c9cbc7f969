"""The interface for resuming and recording a fit, which `fouriertree.runs` implements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fouriertree.problems import Problem
from fouriertree.search import Budget, Observer, RunState, Search
from fouriertree.search.observers import CandidateCollector, Patience

Floats = NDArray[np.float64]


class WorkingResponse(NamedTuple):
    """A target and weights of all rows, whose squared errors a search minimizes."""

    target: Floats
    weights: Floats


class History(Protocol):
    """The state that a fit resumes from, if any, and its record."""

    collector: CandidateCollector

    @property
    def is_warm_start(self) -> bool:
        """Whether the search continues from a state in memory."""

    @property
    def second_response(self) -> WorkingResponse | None:
        """The working response of the second search of a fit, if that is the one to resume."""

    def start(self, search: Search[Any], problem: Problem, seed: int) -> RunState[Any] | None:
        """The state to resume from, once; None for a new search."""

    def observers(self, names: tuple[str, ...] | None, n_rows: int) -> list[Observer]: ...

    def checkpointer(
        self, search: Search[Any], response: WorkingResponse, patience: Patience | None
    ) -> Callable[[RunState[Any]], None] | None:
        """A function that writes checkpoints when they are due."""

    def restore_patience(self, patience: Patience) -> None: ...


def extended(budget: Budget, collector: CandidateCollector) -> Budget:
    """The same limits once more, for a warm start, which continues the counts."""

    def more(limit: int | None, spent: int) -> int | None:
        return None if limit is None else limit + spent

    return replace(
        budget,
        max_traverses=more(budget.max_traverses, collector.traverses),
        max_candidates=more(budget.max_candidates, collector.candidates),
    )
