"""What a running search writes down: events as they come, the front now and then, checkpoints now and then."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Mapping
from typing import Any

from fouriertree.model import Model
from fouriertree.runs.folder import FRONT, RunFolder
from fouriertree.search import Accepted, Event, Finished, Progress
from fouriertree.search.observers import CandidateCollector

#: seconds between two lines about progress, and between two versions of the front
SECONDS = 1.0
#: a checkpoint comes after so many seconds at least and at most, and after this share of the time so far
SOONEST, LATEST, SHARE = 0.5, 30.0, 0.02
#: checkpoints may take up this share of the time
COST = 0.05


class Recorder:
    """An observer of a search that writes to a run folder."""

    def __init__(
        self, folder: RunFolder, found: CandidateCollector, names: tuple[str, ...] | None, n_rows: int
    ) -> None:
        self.folder, self.found, self.names, self.n_rows = folder, found, names, n_rows
        self._told = self._drawn = 0.0
        self._stale = True

    def __call__(self, event: Event) -> None:
        moment = time.monotonic()
        if isinstance(event, Accepted):
            self._stale = True
            self.folder.event("accepted", **about(event.progress))
        elif isinstance(event, Progress) and moment - self._told >= SECONDS:
            self._told = moment
            self.folder.event("progress", **about(event))
        elif isinstance(event, Finished):
            self.folder.event("search ended", reason=event.reason, **about(event.progress))
        if self._stale and (moment - self._drawn >= SECONDS or isinstance(event, Finished)):
            self._drawn, self._stale = moment, False
            self.folder.write(FRONT, self._front())

    def _front(self) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["complexity", "loss", "equation"])
        rows = {size: known[0] for size, known in sorted(self.found.seen.groups.items())} or dict(
            sorted(self.found.by_length.items())
        )
        for size, (loss, (coefficients, expressions)) in rows.items():
            writer.writerow(
                [size, repr(loss / self.n_rows), Model(coefficients, expressions, self.names).text()]
            )
        return text.getvalue().encode()


class Checkpoints:
    """Decides when a checkpoint is due: often at first, seldom in long runs, and never for much of the time."""

    def __init__(self, folder: RunFolder, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder, self.clock = folder, clock
        self._started = self._last = clock()
        self._cost = 0.0

    @property
    def due(self) -> bool:
        now = self.clock()
        pause = min(LATEST, max(SOONEST, SHARE * (now - self._started)))
        return now - self._last >= max(pause, self._cost / COST)

    def keep(self, content: Mapping[str, Any]) -> None:
        began = self.clock()
        self.folder.keep(content)
        self._last = self.clock()
        self._cost = self._last - began


def about(progress: Progress) -> dict[str, Any]:
    return {
        "traverses": progress.traverses,
        "candidates": progress.candidates,
        "terms": progress.terms,
        "loss": progress.loss,
    }
