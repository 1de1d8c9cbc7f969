"""Observers of a run: the candidates so far, early stopping, a progress bar."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Self

import numpy as np

from fouriertree.criteria.archive import Candidate, CandidateArchive, Entry
from fouriertree.errors import counted
from fouriertree.search.loop import Accepted, Budget, Event, Progress, Reported, StopSearch

#: a run without limits ends after this many candidates in a row of which none was accepted
PATIENCE = 100_000
STALLED = f"none of the last {PATIENCE:,} candidates was of use"


class CandidateCollector:
    """Collects candidates as they are accepted or reported, so that an interrupt finds them complete.

    Of the accepted ones, the best of every number of terms is kept; of the reported ones, the best of every complexity
    by training loss and by loss on all rows: the longer a search runs, the more of the former overfit.
    """

    def __init__(self) -> None:
        self.accepted: dict[int, Entry] = {}
        self.by_training_loss, self.by_overall_loss = CandidateArchive(), CandidateArchive()
        self.traverses = self.candidates = self.runs = 0
        self._counted = (0, 0)
        self._earlier_targets: list[Candidate] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, Accepted):
            terms, loss = len(event.expressions), event.progress.loss
            if terms not in self.accepted or loss < self.accepted[terms].loss:
                self.accepted[terms] = Entry(loss, candidate_of(event))
        elif isinstance(event, Reported):
            candidate = candidate_of(event)
            self.by_training_loss = self.by_training_loss.added(event.complexity, event.loss, candidate)
            overall = event.loss_on_all_rows
            self.by_overall_loss = self.by_overall_loss.added(event.complexity, overall, candidate)
        elif isinstance(event, Progress):
            self.traverses = self._counted[0] + event.traverses
            self.candidates = self._counted[1] + event.candidates

    def start_next_run(self, n_rows: int | None = None) -> None:
        """Another run begins, and counts from zero.

        With `n_rows`, it has another target: losses cannot be compared with those so far, whose candidates are kept
        apart.
        """
        self._counted = self.traverses, self.candidates
        self.runs += 1
        if n_rows is not None:
            self._earlier_targets = self.best(n_rows)
            self.accepted = {}
            self.by_training_loss, self.by_overall_loss = CandidateArchive(), CandidateArchive()

    def front(self) -> dict[int, Entry]:
        """The Pareto front so far, by complexity; by number of terms for searches that report no candidates."""
        return (self.by_training_loss if self.by_training_loss.entries else self._accepted_only()).front()

    def best(self, n_rows: int) -> list[Candidate]:
        """Candidates worth finalizing, the Pareto fronts first, then by description length."""
        if self.by_training_loss.entries:
            archives = (self.by_training_loss, self.by_overall_loss)
            ranked = [rank for archive in archives for rank in archive.worth_finalizing(n_rows)]
        else:
            ranked = self._accepted_only().worth_finalizing(n_rows, near=1.0)
        ranked.sort(key=lambda rank: rank[:2])
        return list(dict.fromkeys([*(rank.candidate for rank in ranked), *self._earlier_targets]))

    def _accepted_only(self) -> CandidateArchive:
        return CandidateArchive({terms: (entry,) for terms, entry in self.accepted.items()})

    def state(self) -> dict[str, Any]:
        """Plain data and expressions, as checkpoints hold them."""
        return {
            "accepted": [[terms, *entry.to_plain()] for terms, entry in self.accepted.items()],
            "by_training_loss": self.by_training_loss.state(),
            "by_overall_loss": self.by_overall_loss.state(),
            "earlier_targets": [[*map(list, candidate)] for candidate in self._earlier_targets],
            "counts": [self.traverses, self.candidates, self.runs, *self._counted],
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        self.accepted = {terms: Entry.from_plain(plain) for terms, *plain in saved["accepted"]}
        self.by_training_loss = CandidateArchive.from_state(saved["by_training_loss"])
        self.by_overall_loss = CandidateArchive.from_state(saved["by_overall_loss"])
        self.traverses, self.candidates, self.runs, *counted = saved["counts"]
        self._counted = (counted[0], counted[1])
        self._earlier_targets = [Candidate(*map(tuple, parts)) for parts in saved["earlier_targets"]]


def candidate_of(event: Accepted | Reported) -> Candidate:
    return Candidate(tuple(event.coefficients.tolist()), event.expressions)


class Patience:
    """Early stopping: ends a run in which nothing has been accepted for a number of candidates."""

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

    The loss is the mean over rows of total weight `weight`, as in the table; `share` is the share of the search's own
    limits that is used up.  Silent where stderr is no terminal.
    """

    def __init__(
        self, budget: Budget, share: Callable[[Progress], float | None] | None = None, weight: float = 1.0
    ) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        self.budget, self.share, self.weight = budget, share, weight
        self.bar = Bar(
            TextColumn("searching"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"),
            console=console, transient=True, disable=not console.is_terminal,
        )  # fmt: skip

    def __enter__(self) -> Self:
        self.started = time.monotonic()
        self.bar.start()
        self.task = self.bar.add_task("", total=None)
        return self

    def __exit__(self, *exception: object) -> None:
        self.bar.stop()

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress):
            loss = event.loss / self.weight
            text = f"{counted(event.terms, 'term')}, loss {loss:.3g}, {event.traverses:,} traverses"
            spent = self.spent(event)
            total = None if spent is None else 1.0
            self.bar.update(self.task, description=text, total=total, completed=spent or 0.0)

    def spent(self, progress: Progress) -> float | None:
        """The share of the tightest limit that is used up, or None without limits."""
        budget, seconds = self.budget, time.monotonic() - self.started
        used = (seconds, progress.traverses, progress.candidates)
        limits = (budget.time_limit, budget.max_traverses, budget.max_candidates)
        shares = [amount / limit for amount, limit in zip(used, limits, strict=True) if limit]
        if self.share is not None and (share := self.share(progress)) is not None:
            shares.append(share)
        return min(1.0, max(shares)) if shares else None
