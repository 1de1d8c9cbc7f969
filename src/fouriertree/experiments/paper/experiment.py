"""The whole reproduction: run the missing tasks, then write every artefact from the records."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.authors import Authors, load
from fouriertree.experiments.paper.statistics import runs_frame, table
from fouriertree.experiments.paper.tasks import Task, lsp_tasks, table_tasks
from fouriertree.experiments.paper.workers import complete, in_processes
from fouriertree.experiments.store import Store, append_line, read_lines

#: contents of the report by name; parts that were not asked for are absent
Results = dict[str, Any]
SESSIONS = "sessions.jsonl"
#: fewer polynomials, because canonical GP takes most of the time on them
QUICK_RUNS, QUICK_LSP_RUNS = 10, 5
#: a file whose presence shows that a part was written before
MARKS = {
    "table": "table.csv", "heatmaps": "figures/heatmaps.png", "lsp": "figures/lsp.png",
    "geometry": "figures/geometry-3d.png",
}  # fmt: skip
PARTS = tuple(MARKS)


class Session(NamedTuple):
    """One call of the command; an experiment may need several."""

    command: str
    runs: int  #: computed in this session
    jobs: int
    seconds: float  #: wall time without figures and report
    started: str  #: date and time, UTC


@dataclass(frozen=True)
class Experiment:
    """Options of a reproduction.  Records are stored in `folder`/journal, and none is computed twice."""

    folder: Path
    runs: int = facts.RUNS
    lsp_runs: int = facts.RUNS
    parts: tuple[str, ...] = PARTS
    clean: bool = False
    authors_folder: Path = field(default_factory=Path)
    command: str = "fouriertree paper"

    @cached_property
    def store(self) -> Store:
        return Store(self.folder / "journal")

    @cached_property
    def authors(self) -> Authors:
        return load(self.authors_folder)

    @property
    def table_tasks(self) -> list[Task]:
        return table_tasks(self.runs, self.clean) if {"table", "heatmaps"} & set(self.parts) else []

    @property
    def lsp_tasks(self) -> list[Task]:
        return lsp_tasks(self.lsp_runs, self.clean) if "lsp" in self.parts else []

    @property
    def tasks(self) -> list[Task]:
        return self.table_tasks + self.lsp_tasks

    @cached_property
    def frame(self) -> Any:
        """A row per conventional run."""
        return runs_frame(self.table_tasks, self.store)

    @cached_property
    def table(self) -> Any:
        """The published layout with our results; with `clean`, without the late date of FTG's last basis."""
        return table(self.frame, "clean_" if self.clean else "")

    def with_earlier_parts(self) -> Experiment:
        """The same experiment with the parts that the folder already has, so that the report shows them all."""
        kept = [part for part in PARTS if part in self.parts or self.has(part)]
        return replace(self, parts=tuple(kept))

    def has(self, part: str) -> bool:
        """Whether the folder has a part and all of its runs."""
        written = (self.folder / MARKS[part]).is_file()
        return written and all(task in self.store for task in replace(self, parts=(part,)).tasks)

    @property
    def comparable(self) -> bool:
        """Whether the bar of 310 cells applies: the published number of runs and the published programs."""
        return "table" in self.parts and self.runs == facts.RUNS and not self.clean

    @property
    def sessions(self) -> list[Session]:
        """All sessions in which runs were computed."""
        entries = read_lines(self.folder / SESSIONS)
        return [Session(**entry) for entry in entries if entry.keys() == set(Session._fields)]

    def compute(self, jobs: int, done: Callable[[Task], Any]) -> None:
        """Run the missing tasks and call `done` after each; an interruption keeps those that are finished."""
        started, clock, before = datetime.now(UTC), time.monotonic(), len(self.store)
        try:
            complete(self.tasks, self.store, lambda tasks: in_processes(tasks, jobs), done)
        finally:
            if computed := len(self.store) - before:
                when = started.isoformat(timespec="seconds")
                session = Session(self.command, computed, jobs, time.monotonic() - clock, when)
                append_line(self.folder / SESSIONS, session._asdict())


def command_line(arguments: Sequence[str]) -> str:
    """The command line as text for a shell."""
    return shlex.join(["fouriertree", *arguments])
