"""What a fit writes down while it runs, and what an earlier one has left for it to go on from."""

from __future__ import annotations

import io
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.expr import PrimitiveSet
from fouriertree.fit.history import WorkingResponse
from fouriertree.problems import Problem
from fouriertree.runs import RunError, RunFolder, RunFolderWarning
from fouriertree.runs.folder import FAILED, FINISHED, FRONT, INTERRUPTED, MODEL, RUNNING, now, reason_of
from fouriertree.runs.recorder import Checkpoints, Recorder
from fouriertree.search import Observer, Resumable, RunState, Search
from fouriertree.search.observers import CandidateCollector, Patience

Floats = NDArray[np.float64]

#: why a search ends that nobody has ended before its time; others can go on
UNFINISHED = ("interrupted", "stopped", "memory used up")


@dataclass(frozen=True)
class WarmStart:
    """What an earlier fit to the same data left in memory."""

    settings: Mapping[str, Any]  #: parameters that may not have changed
    data: str  #: fingerprint
    seed: int
    found: CandidateCollector
    state: Any  #: of the search
    response: WorkingResponse  #: what it looked for


class Journal:
    """The one place where a fit and its past meet: the run folder, if any, and where to go on from, if anywhere."""

    def __init__(self, found: CandidateCollector) -> None:
        self.found = found
        self.folder: RunFolder | None = None
        self.seconds = 0.0  #: that the fit has had before
        self._saved: Mapping[str, Any] | None = None
        self._earlier: WarmStart | None = None
        self._checkpoints: Checkpoints | None = None
        self._began = time.monotonic()

    # Beginnings ---------------------------------------------------------------------------------------------
    def record(self, store: str | Path, about: Mapping[str, Any]) -> None:
        """Write to a new folder in the store; if the disk refuses, warn and do without."""
        try:
            self._write_to(RunFolder.create(Path(store), about))
        except OSError as error:
            message = f"cannot keep a run in {store}: {reason_of(error)}; the fit goes on without it"
            warnings.warn(message, RunFolderWarning, stacklevel=4)

    def resume(self, folder: RunFolder, primitives: PrimitiveSet, about: Mapping[str, Any]) -> None:
        """Go on with a run from its newest checkpoint, or from its start if there is none.

        `about` is what has changed of what the run tells of itself: its limits may be others now.
        """
        checkpoint = folder.latest(primitives)
        number = None if checkpoint is None else checkpoint.number
        resumed = [*(folder.about.get("resumed") or []), {"at": now(), "from": number}]
        folder.tell(status=RUNNING, resumed=resumed, **about)
        folder.event("resumed", checkpoint=number)
        self._write_to(folder)
        if checkpoint is not None:
            self._saved = checkpoint.content
            self.seconds = float(self._saved["seconds"])
            self.found.restore(self._saved["found"])

    def go_on(self, earlier: WarmStart) -> None:
        """Go on from what is in memory."""
        self._earlier = earlier

    def _write_to(self, folder: RunFolder) -> None:
        self.folder, self._checkpoints = folder, Checkpoints(folder)

    # While it runs ------------------------------------------------------------------------------------------
    @property
    def is_warm_start(self) -> bool:
        """Whether the search goes on from what is in memory."""
        return self._earlier is not None

    @property
    def again(self) -> WorkingResponse | None:
        """What the second search of a fit looks for, if it is that one that goes on."""
        if self.found.runs == 0:
            return None
        if self._earlier is not None:
            return self._earlier.response
        return None if self._saved is None else (self._saved["target"], self._saved["weights"])

    def standing(self, search: Search[Any], problem: Problem, seed: int) -> RunState[Any] | None:
        """Where the search goes on from, once; None for the beginning."""
        saved, earlier = self._saved, self._earlier
        self._saved = self._earlier = None
        if earlier is not None:
            return RunState(unfinished_state(search, problem, seed, earlier.state), 0.0)
        if saved is None or not isinstance(search, Resumable):
            return None
        return RunState(search.restore(problem, seed, saved["search"]), float(saved["run_seconds"]))

    def observers(self, names: tuple[str, ...] | None, n_rows: int) -> list[Observer]:
        return [] if self.folder is None else [Recorder(self.folder, self.found, names, n_rows)]

    def checkpointer(
        self, search: Search[Any], response: WorkingResponse, patience: Patience | None
    ) -> Callable[[RunState[Any]], None] | None:
        """Writes checkpoints when they are due; of searches that cannot be gone on with, there are none."""
        checkpoints = self._checkpoints
        if checkpoints is None or not isinstance(search, Resumable):
            return None
        # What the first search looks for follows from the data.
        second = {} if self.found.runs == 0 else {"target": response[0], "weights": response[1]}

        def keep(standing: RunState[Any]) -> None:
            if not checkpoints.due or (snapshot := search.snapshot(standing.state)) is None:
                return
            content = {
                "search": snapshot,
                "run_seconds": standing.seconds,
                "seconds": self.seconds + time.monotonic() - self._began,
                "found": self.found.state(),
                "patience": None if patience is None else patience.state(),
                **second,
            }
            checkpoints.keep(content)

        return keep

    def restore_patience(self, patience: Patience) -> None:
        if self._saved is not None and self._saved["patience"] is not None:
            patience.restore(self._saved["patience"])

    # The end ------------------------------------------------------------------------------------------------
    def finish(
        self, equations: pd.DataFrame, model: bytes | None, reason: str, result: Mapping[str, Any]
    ) -> None:
        """Write the table and the model down; None for a model that cannot be written."""
        if self.folder is None:
            return
        table = io.StringIO()
        equations.to_csv(table, index=False)
        self.folder.write(FRONT, table.getvalue().encode())
        if model is not None:
            self.folder.write(MODEL, model)
        status = INTERRUPTED if reason in UNFINISHED else FINISHED
        self.folder.tell(status=status, ended=now(), stop_reason=reason, result=dict(result))
        self.folder.event("finished", reason=reason)
        self.folder.close()

    def abandon(self, error: BaseException) -> None:
        """The fit ends without a result."""
        if self.folder is not None:
            self.folder.event("failed", error=f"{type(error).__name__}: {error}")
            status = INTERRUPTED if isinstance(error, KeyboardInterrupt) else FAILED
            self.folder.tell(status=status, ended=now(), stop_reason=f"failed: {type(error).__name__}")
            self.folder.close()


def unfinished_state(search: Search[Any], problem: Problem, seed: int, state: Any) -> Any:
    """A state with which the search can go on; one that had nothing left to try may have, under other limits."""
    if state.finished is None or not isinstance(search, Resumable):
        return state
    snapshot = search.snapshot(state)
    return state if snapshot is None else search.restore(problem, seed, {**snapshot, "finished": None})


def check_same_data(folder: RunFolder, found: str) -> None:
    """RunError unless the fingerprint is that of the run's data."""
    expected = folder.about.get("data", {}).get("sha256")
    if expected != found:
        raise RunError(
            f"the data are not those of run {folder.id}, which can only go on with the same table; fit them anew"
        )


def parameters_of(folder: RunFolder, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Of the regressor of a run, with some changed; those that a file cannot hold must be given."""
    about = folder.about
    missing = [name for name in about.get("described", {}) if name not in changes]
    if missing:
        raise RunError(
            f"run {folder.id} had {missing[0]}={about['described'][missing[0]]}, which a file cannot hold; "
            f"give {missing[0]} again"
        )
    return {**about["parameters"], **changes, "random_state": about["seed"]}


def changed(before: Mapping[str, Any], after: Mapping[str, Any], free: Sequence[str]) -> bool:
    """Whether a parameter other than the free ones is another one now."""
    return any(repr(before.get(name)) != repr(after.get(name)) for name in after if name not in free)
