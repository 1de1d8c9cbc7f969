"""Records a running search: events as they come, the Pareto front and checkpoints at intervals."""

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

#: seconds between two progress events, and between two versions of the front
SECONDS = 1.0
#: seconds between two checkpoints at least and at most, and their share of the time so far
SOONEST, LATEST, SHARE = 0.5, 30.0, 0.02
#: share of the time that writing checkpoints may take
COST = 0.05


class Recorder:
    """An observer of a search that writes to a run folder."""

    def __init__(
        self, folder: RunFolder, collector: CandidateCollector, names: tuple[str, ...] | None, n_rows: int
    ) -> None:
        self.folder, self.collector, self.names, self.n_rows = folder, collector, names, n_rows
        self._reported = self._written = 0.0
        self._stale = True

    def __call__(self, event: Event) -> None:
        moment = time.monotonic()
        if isinstance(event, Accepted):
            self._stale = True
            self.folder.event("accepted", **fields(event.progress))
        elif isinstance(event, Progress) and moment - self._reported >= SECONDS:
            self._reported = moment
            self.folder.event("progress", **fields(event))
        elif isinstance(event, Finished):
            self.folder.event("search ended", reason=event.reason, **fields(event.progress))
        if self._stale and (moment - self._written >= SECONDS or isinstance(event, Finished)):
            self._written, self._stale = moment, False
            self.folder.write(FRONT, self._front())

    def _front(self) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["complexity", "loss", "equation"])
        for size, (loss, candidate) in self.collector.front().items():
            writer.writerow([size, repr(loss / self.n_rows), Model(*candidate, self.names).text()])
        return text.getvalue().encode()


class Checkpoints:
    """Decides when a checkpoint is due: often at first, seldom in long runs, for at most `COST` of the time."""

    def __init__(self, folder: RunFolder, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder, self.clock = folder, clock
        self._started = self._last = clock()
        self._cost = 0.0

    @property
    def due(self) -> bool:
        now = self.clock()
        pause = min(LATEST, max(SOONEST, SHARE * (now - self._started)))
        return now - self._last >= max(pause, self._cost / COST)

    def write(self, content: Mapping[str, Any]) -> None:
        started = self.clock()
        self.folder.write_checkpoint(content)
        self._last = self.clock()
        self._cost = self._last - started


def fields(progress: Progress) -> dict[str, Any]:
    return {name: getattr(progress, name) for name in ("traverses", "candidates", "terms", "loss")}
