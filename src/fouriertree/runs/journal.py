"""The history of a fit: what it resumes from, and how it is recorded in a run folder."""

from __future__ import annotations

import csv
import io
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pandas as pd

from fouriertree.criteria.archive import Candidate
from fouriertree.errors import reason
from fouriertree.expr import PrimitiveSet
from fouriertree.fit.pipeline import WorkingResponse
from fouriertree.problems import Problem
from fouriertree.runs import RunError, RunFolder, RunFolderWarning
from fouriertree.runs.folder import FAILED, FINISHED, FRONT, INTERRUPTED, MODEL, RUNNING, now
from fouriertree.search import Accepted, Event, Finished, Observer, Progress, Resumable, RunState, Search
from fouriertree.search.observers import CandidateCollector, Patience

#: seconds between two progress events, and between two versions of the front
SECONDS = 1.0
#: seconds between two checkpoints at least and at most, and their share of the time so far
SOONEST, LATEST, SHARE = 0.5, 30.0, 0.02
#: share of the time that writing checkpoints may take
COST = 0.05
#: stop reasons after which a search can be resumed with the same limits
UNFINISHED = ("interrupted", "stopped", "memory used up")


@dataclass(frozen=True)
class WarmStart:
    """The state of the last fit to the same data, in memory."""

    parameters: Mapping[str, Any]  #: of the estimator
    data: str  #: fingerprint
    seed: int
    collector: CandidateCollector
    state: Any  #: of the search
    response: WorkingResponse


class Journal:
    """The `History` of one fit: what it resumes from, in memory or on disk, and the run folder that records it."""

    def __init__(self, warm_start: WarmStart | None = None) -> None:
        self.collector = CandidateCollector() if warm_start is None else warm_start.collector
        self.folder: RunFolder | None = None
        self.seconds = 0.0  #: duration of the fit before it was resumed
        self._saved: Mapping[str, Any] | None = None
        self._warm_start = warm_start
        self._checkpoints: Checkpoints | None = None
        self._started = time.monotonic()

    # Start --------------------------------------------------------------------------------------------------
    def record(self, store: str | Path, metadata: Mapping[str, Any]) -> None:
        """Record the fit in a new folder of the store; a warning if it cannot be created."""
        try:
            self._write_to(RunFolder.create(Path(store), metadata))
        except OSError as error:
            message = f"cannot create a run folder in {store}: {reason(error)}; fitting without it"
            warnings.warn(message, RunFolderWarning, stacklevel=4)

    def resume(self, folder: RunFolder, primitives: PrimitiveSet, changes: Mapping[str, Any]) -> None:
        """Resume a run from its newest checkpoint, or from its start; `changes` updates its metadata."""
        checkpoint = folder.latest(primitives)
        number = None if checkpoint is None else checkpoint.number
        resumed = [*(folder.metadata.get("resumed") or []), {"at": now(), "from": number}]
        folder.update(status=RUNNING, resumed=resumed, **changes)
        folder.event("resumed", checkpoint=number)
        self._write_to(folder)
        if checkpoint is not None:
            self._saved = checkpoint.content
            self.seconds = float(self._saved["seconds"])
            self.collector.restore(self._saved["candidates"])

    def _write_to(self, folder: RunFolder) -> None:
        self.folder, self._checkpoints = folder, Checkpoints(folder)

    # Search -------------------------------------------------------------------------------------------------
    @property
    def is_warm_start(self) -> bool:
        return self._warm_start is not None

    @property
    def second_response(self) -> WorkingResponse | None:
        if self.collector.runs == 0:
            return None
        if self._warm_start is not None:
            return self._warm_start.response
        return None if self._saved is None else WorkingResponse(self._saved["target"], self._saved["weights"])

    def start(self, search: Search[Any], problem: Problem, seed: int) -> RunState[Any] | None:
        saved, warm_start = self._saved, self._warm_start
        self._saved = self._warm_start = None
        if warm_start is not None:
            return RunState(unfinished_state(search, problem, seed, warm_start.state), 0.0)
        if saved is None or not isinstance(search, Resumable):
            return None
        return RunState(search.restore(problem, seed, saved["search"]), float(saved["run_seconds"]))

    def observers(self, text_of: Callable[[Candidate], str], n_rows: int) -> list[Observer]:
        return [] if self.folder is None else [Recorder(self.folder, self.collector, text_of, n_rows)]

    def checkpointer(
        self, search: Search[Any], response: WorkingResponse, patience: Patience | None
    ) -> Callable[[RunState[Any]], None] | None:
        """A function that writes checkpoints when they are due; None for searches that cannot be resumed."""
        checkpoints = self._checkpoints
        if checkpoints is None or not isinstance(search, Resumable):
            return None
        # The working response of the first search follows from the data.
        second = {} if self.collector.runs == 0 else response._asdict()

        def write_if_due(current: RunState[Any]) -> None:
            if not checkpoints.due or (snapshot := search.snapshot(current.state)) is None:
                return
            checkpoints.write({
                "search": snapshot,
                "run_seconds": current.seconds,
                "seconds": self.seconds + time.monotonic() - self._started,
                "candidates": self.collector.state(),
                "patience": None if patience is None else patience.state(),
                **second,
            })  # fmt: skip

        return write_if_due

    def restore_patience(self, patience: Patience) -> None:
        if self._saved is not None and self._saved["patience"] is not None:
            patience.restore(self._saved["patience"])

    # End ----------------------------------------------------------------------------------------------------
    def finish(
        self, equations: pd.DataFrame, model: bytes | None, reason: str, result: Mapping[str, Any]
    ) -> None:
        """Write the table and the model file, which is None if it cannot be written."""
        if self.folder is None:
            return
        table = io.StringIO()
        equations.to_csv(table, index=False)
        files = {FRONT: table.getvalue().encode()} | ({} if model is None else {MODEL: model})
        status = INTERRUPTED if reason in UNFINISHED else FINISHED
        self.folder.event("finished", reason=reason)
        self.folder.end(files, status=status, stop_reason=reason, result=dict(result))

    def abandon(self, error: BaseException) -> None:
        """Record that the fit ended without a result."""
        if self.folder is not None:
            self.folder.event("failed", error=f"{type(error).__name__}: {error}")
            if isinstance(error, KeyboardInterrupt):
                self.folder.end({}, status=INTERRUPTED, stop_reason=INTERRUPTED)
            else:
                self.folder.end({}, status=FAILED, stop_reason=type(error).__name__)


# Recording: events as they come, the Pareto front and checkpoints at intervals ---------------------------------
class Recorder:
    """An observer of a search that writes to a run folder."""

    def __init__(
        self,
        folder: RunFolder,
        collector: CandidateCollector,
        text_of: Callable[[Candidate], str],
        n_rows: int,
    ) -> None:
        self.folder, self.collector, self.text_of, self.n_rows = folder, collector, text_of, n_rows
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
            writer.writerow([size, repr(loss / self.n_rows), self.text_of(candidate)])
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


# Resuming ---------------------------------------------------------------------------------------------------
def unfinished_state(search: Search[Any], problem: Problem, seed: int, state: Any) -> Any:
    """A state from which the search can continue: one that had ended is reopened, since limits may have changed."""
    if state.finished is None or not isinstance(search, Resumable):
        return state
    snapshot = search.snapshot(state)
    return state if snapshot is None else search.restore(problem, seed, {**snapshot, "finished": None})


def check_same_data(folder: RunFolder, found: str) -> None:
    """RunError unless the fingerprint is that of the data of the run."""
    if folder.metadata.get("data", {}).get("sha256") != found:
        raise RunError(
            f"the data are not those of run {folder.id}, which can only be resumed with the same data; start a new fit"
        )


def parameters_of(folder: RunFolder, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the regressor of a run, with changes, which must include those that a file cannot represent."""
    metadata = folder.metadata
    for name, text in metadata.get("described", {}).items():
        if name not in changes:
            raise RunError(
                f"run {folder.id} had {name}={text}, which a file cannot represent; give {name} again"
            )
    return {**metadata["parameters"], **changes, "random_state": metadata["seed"]}


def changed(before: Mapping[str, Any], after: Mapping[str, Any], free: Sequence[str]) -> bool:
    """Whether a parameter other than those in `free` has changed."""
    return any(repr(before.get(name)) != repr(after.get(name)) for name in after if name not in free)


#: parameters that are no part of a model: results do not depend on them
OF_THIS_PROCESS = ("executor",)


def plain_parameters(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The parameters that JSON can represent, and the others as text; without those of this process."""
    plain: dict[str, Any] = {}
    described: dict[str, str] = {}
    for name, value in parameters.items():
        if name in OF_THIS_PROCESS:
            continue
        if isinstance(value, PrimitiveSet):
            value = list(value.names)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            value = [str(part) for part in value]
        elif isinstance(value, np.generic):
            value = value.item()
        elif isinstance(value, PurePath):
            value = str(value)
        if is_plain(value):
            plain[name] = value
        else:
            described[name] = text_of(value)
    return plain, described


def text_of(value: Any) -> str:
    """repr(value), or the name of its class if `__repr__` fails."""
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and is_plain(part) for key, part in value.items())
    if isinstance(value, list):
        return all(map(is_plain, value))
    if isinstance(value, int | float):
        return bool(np.isfinite(value))
    return value is None or isinstance(value, str)
