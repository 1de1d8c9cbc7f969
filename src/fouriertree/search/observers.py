"""Observers of a run: a progress bar, patience, and what has been found so far."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from fouriertree.criteria.archive import Candidate, CandidateArchive, entry_of, plain_entry
from fouriertree.search.budget import Budget
from fouriertree.search.events import Accepted, Event, Progress, Reported, StopSearch

#: a run without limits ends after this many candidates in a row of which none was accepted
PATIENCE = 100_000
STALLED = f"none of the last {PATIENCE:,} candidates was of use"


class CandidateCollector:
    """Collects sums when they are accepted or offered, so that any interrupt finds them complete.

    Of the accepted ones the best of every length, of the offered ones some of the best of every complexity: when their
    numbers are made short, the second may be the first.  The best on the rows that a search sees, and the best on all:
    the longer it goes on, the more of the former owe it to luck.
    """

    def __init__(self) -> None:
        self.by_length: dict[int, tuple[float, Candidate]] = {}
        self.seen, self.everywhere = CandidateArchive(), CandidateArchive()
        self.traverses = self.candidates = self.runs = 0
        self._earlier = (0, 0)
        self._set_aside: list[Candidate] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, Accepted):
            length, loss = len(event.expressions), event.progress.loss
            if length not in self.by_length or loss < self.by_length[length][0]:
                terms = tuple(event.coefficients.tolist()), event.expressions
                self.by_length[length] = loss, terms
        elif isinstance(event, Reported):
            terms = tuple(event.coefficients.tolist()), event.expressions
            self.seen.add(event.complexity, event.loss, terms)
            self.everywhere.add(event.complexity, event.loss_on_all_rows, terms)
        elif isinstance(event, Progress):
            self.traverses = self._earlier[0] + event.traverses
            self.candidates = self._earlier[1] + event.candidates

    # To go on later -----------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        return {
            "by_length": [[length, *plain_entry(entry)] for length, entry in self.by_length.items()],
            "seen": self.seen.state(),
            "everywhere": self.everywhere.state(),
            "set_aside": [[list(coefficients), list(terms)] for coefficients, terms in self._set_aside],
            "counts": [self.traverses, self.candidates, self.runs, *self._earlier],
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        self.by_length = {length: entry_of(plain) for length, *plain in saved["by_length"]}
        self.seen.restore(saved["seen"])
        self.everywhere.restore(saved["everywhere"])
        self.traverses, self.candidates, self.runs, *earlier = saved["counts"]
        self._earlier = (earlier[0], earlier[1])
        self._set_aside = [(tuple(numbers), tuple(terms)) for numbers, terms in saved["set_aside"]]

    def start_next_run(self, n_rows: int | None = None) -> None:
        """Another run begins, and counts from zero.

        With `n_rows`, it has another target, and its losses say nothing of the sums so far, which are set aside.
        """
        self._earlier = self.traverses, self.candidates
        self.runs += 1
        if n_rows is not None:
            self._set_aside = self.sums(n_rows)
            self.by_length, self.seen, self.everywhere = {}, CandidateArchive(), CandidateArchive()

    def sums(self, n_rows: int) -> list[Candidate]:
        """The offered ones, or the accepted ones, without those that a simpler or shorter one beats clearly."""
        if self.seen.groups:
            kept = self.seen.worth_finalizing(n_rows) + self.everywhere.worth_finalizing(n_rows)
        else:
            accepted = CandidateArchive()
            accepted.groups = {length: [entry] for length, entry in self.by_length.items()}
            kept = accepted.worth_finalizing(n_rows, near=1.0)
        # First the fronts themselves, then the others by description.
        kept.sort(key=lambda entry: entry[:2])
        return list(dict.fromkeys([*(terms for _, _, terms in kept), *self._set_aside]))


class Patience:
    """Ends a run in which nothing is accepted any more: the columns may have nothing left to say."""

    def __init__(self, candidates: int = PATIENCE) -> None:
        self.candidates = candidates
        self.last = Progress(0, 0, 0, 0, np.inf)

    def __call__(self, event: Event) -> None:
        if not isinstance(event, Progress):
            return
        if (event.terms, event.loss) != (self.last.terms, self.last.loss):
            self.last = event
        elif event.candidates - self.last.candidates >= self.candidates:
            raise StopSearch(STALLED)

    def state(self) -> dict[str, Any]:
        return asdict(self.last)

    def restore(self, saved: Mapping[str, Any]) -> None:
        self.last = Progress(**saved)


class ProgressBar:
    """An observer that draws a bar on stderr: how much of the budget is spent, terms and loss so far.

    The loss is the mean over rows of total weight `weight`, as in the table.  Silent where stderr is no terminal.
    """

    def __init__(self, budget: Budget, max_terms: int | None = None, weight: float = 1.0) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        self.budget, self.max_terms, self.weight = budget, max_terms, weight
        self.bar = Bar(
            TextColumn("searching"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"),
            console=console, transient=True, disable=not console.is_terminal,
        )  # fmt: skip

    def __enter__(self) -> ProgressBar:
        self.started = time.monotonic()
        self.bar.start()
        self.task = self.bar.add_task("", total=None)
        return self

    def __exit__(self, *exception: object) -> None:
        self.bar.stop()

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress):
            loss = event.loss / self.weight
            text = f"{event.terms} terms, loss {loss:.3g}, {event.traverses:,} traverses"
            spent = self.spent(event)
            total = None if spent is None else 1.0
            self.bar.update(self.task, description=text, total=total, completed=spent or 0.0)

    def spent(self, progress: Progress) -> float | None:
        """The share of the tightest limit that is used up, or None without limits."""
        shares = [
            used / limit
            for used, limit in (
                (time.monotonic() - self.started, self.budget.time_limit),
                (progress.traverses, self.budget.max_traverses),
                (progress.candidates, self.budget.max_candidates),
                (progress.terms, self.max_terms),
            )
            if limit
        ]
        return min(1.0, max(shares)) if shares else None
