"""The folder of a run: run.json, events.jsonl, front.csv, model.json and the two newest checkpoints.

Files are replaced atomically (temporary file, fsync, rename), except for events.jsonl, to which lines are appended.  A
write that fails does not end the search: there is one warning, and nothing more is written until the run ends.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from fouriertree.errors import reason
from fouriertree.expr import PrimitiveSet
from fouriertree.io.files import write_atomically
from fouriertree.io.strict_json import encoded
from fouriertree.runs.snapshots import SnapshotError, from_bytes, to_bytes

FORMAT, VERSION = "fouriertree-run", 1
RUN, EVENTS, FRONT, MODEL, LOCK = "run.json", "events.jsonl", "front.csv", "model.json", "lock"
CHECKPOINT = re.compile(r"checkpoint-(\d{6})\.ftc")
#: checkpoints that are kept: a run with a damaged newest one resumes from the one before it
GENERATIONS = 2
#: types of the values in run.json
KINDS: dict[str, Any] = {
    "id": str, "created": str, "status": str, "target": str, "seed": int, "columns": list, "data": dict,
    "parameters": dict, "described": dict, "versions": dict,
    # Optional keys.
    "result": dict | None, "command": dict | None, "stop_reason": str | None, "resumed": list | None,
}  # fmt: skip
RUNNING, FINISHED, INTERRUPTED, FAILED = "running", "finished", "interrupted", "failed"


class RunError(ValueError):
    """A run that cannot be read or resumed; the message is one sentence for the user."""


class RunFolderWarning(UserWarning):
    """A run folder could not be written, or not all of it could be read."""


class Checkpoint(NamedTuple):
    number: int
    content: Mapping[str, Any]


class RunFolder:
    """One run on disk, written only by the process that holds its lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metadata: dict[str, Any] = {}
        self.writing = True  #: False after a write has failed
        self._lock: IO[str] | None = None

    # Creating and opening -----------------------------------------------------------------------------------
    @classmethod
    def create(cls, store: Path, metadata: Mapping[str, Any]) -> RunFolder:
        """A new folder in the store, named by date and time; OSError if it cannot be created."""
        store.mkdir(parents=True, exist_ok=True)
        while True:
            name = f"{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
            with suppress(FileExistsError):
                (store / name).mkdir()
                break
        folder = cls(store / name)
        folder.lock()
        folder.update(format=FORMAT, version=VERSION, id=name, created=now(), status=RUNNING, **metadata)
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """The run in a folder; RunError if there is none."""
        folder = cls(path)
        try:
            metadata = json.loads((path / RUN).read_bytes())
        except OSError as error:
            raise RunError(f"{path} holds no run: cannot read {RUN}: {reason(error)}") from None
        except (ValueError, RecursionError):
            raise RunError(f"{path / RUN} is damaged: it is not JSON") from None
        if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
            raise RunError(f"{path / RUN} does not describe a run")
        if metadata.get("version") != VERSION:
            found = metadata.get("version")
            raise RunError(f"{path} is a run of version {found}; this program reads version {VERSION}")
        for name, kind in KINDS.items():
            if not isinstance(metadata.get(name), kind):
                raise RunError(f"{path / RUN} is damaged: {name} has the wrong type")
        folder.metadata = metadata
        return folder

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def status(self) -> str:
        """The status in run.json; "killed" for a run that is recorded as running and is not locked."""
        recorded = str(self.metadata.get("status", "unknown"))
        return "killed" if recorded == RUNNING and not self.is_locked() else recorded

    # One writer at a time -----------------------------------------------------------------------------------
    def lock(self) -> None:
        """Acquire the lock, which the end of the process releases; RunError if another process has it."""
        if self._lock is not None:
            return
        file = (self.path / LOCK).open("w")
        if not _lock(file):
            file.close()
            raise RunError(f"run {self.id} is still running; wait for it, or stop it first")
        self._lock = file
        # The process that had the lock may have ended the run since run.json was read.
        if self.metadata:
            self.metadata = RunFolder.open(self.path).metadata

    def is_locked(self) -> bool:
        try:
            with (self.path / LOCK).open("r+") as file:
                return not _lock(file)
        except OSError:
            return False

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # Writing ------------------------------------------------------------------------------------------------
    def update(self, **metadata: Any) -> None:
        """Add to run.json."""
        self.metadata |= metadata
        self.write(RUN, encoded(self.metadata, indent=1))

    def write(self, name: str, content: bytes) -> None:
        self._try(write_atomically, self.path / name, content)

    def event(self, kind: str, **details: Any) -> None:
        """Add a line to events.jsonl."""
        self._try(self._append, encoded({"time": now(), "event": kind, **details}))

    def _append(self, line: bytes) -> None:
        path = self.path / EVENTS
        size = path.stat().st_size if path.exists() else 0
        try:
            with path.open("ab") as file:
                file.write(line)
        except OSError:
            # A partial line would make the file unreadable.
            with suppress(OSError):
                os.truncate(path, size)
            raise

    def write_checkpoint(self, content: Mapping[str, Any]) -> None:
        """Write a checkpoint, and delete all but the newest two."""
        self._try(self._write_checkpoint, content)

    def _write_checkpoint(self, content: Mapping[str, Any]) -> None:
        numbers = self.checkpoints()
        write_atomically(self._checkpoint(max(numbers, default=0) + 1), to_bytes(content))
        for old in numbers[: 1 - GENERATIONS]:
            self._checkpoint(old).unlink(missing_ok=True)

    def end(self, files: Mapping[str, bytes], **metadata: Any) -> None:
        """Write the last files and the status, which may fit where a checkpoint did not, and release the lock."""
        with suppress(OSError):
            # On a full disk, the result is worth more than the older checkpoint.
            for old in () if self.writing else self.checkpoints()[:-1]:
                self._checkpoint(old).unlink(missing_ok=True)
        self.metadata |= {"ended": now(), **metadata}
        lost = {}
        for name, content in {**files, RUN: encoded(self.metadata, indent=1)}.items():
            try:
                write_atomically(self.path / name, content)
            except OSError as error:
                lost[name] = reason(error)
        if lost:
            killed = "; the run will be listed as killed" if RUN in lost else ""
            message = f"cannot write {', '.join(lost)} to {self.path}: {next(iter(lost.values()))}{killed}"
            warnings.warn(message, RunFolderWarning, stacklevel=5)
        self.close()

    def _try(self, write: Callable[..., None], *arguments: Any) -> None:
        if not self.writing:
            return
        try:
            write(*arguments)
        except OSError as error:
            self.writing = False
            message = "the search continues, but this run can only be resumed from what has been written"
            message = f"cannot write to {self.path}: {reason(error)}; {message}"
            warnings.warn(message, RunFolderWarning, stacklevel=4)

    # Reading ------------------------------------------------------------------------------------------------
    def checkpoints(self) -> list[int]:
        """Numbers of the checkpoints, oldest first."""
        found = (CHECKPOINT.fullmatch(entry.name) for entry in self.path.iterdir())
        return sorted(int(match[1]) for match in found if match)

    def latest(self, primitives: PrimitiveSet | None = None) -> Checkpoint | None:
        """The newest checkpoint that is not damaged, with a warning for every damaged one; None if there is none."""
        for number in reversed(self.checkpoints()):
            path = self._checkpoint(number)
            try:
                return Checkpoint(number, from_bytes(path.read_bytes(), primitives))
            except SnapshotError as error:
                problem = str(error)
            except OSError as error:
                problem = f"cannot be read: {reason(error)}"
            message = f"{path} {problem}; resuming from the checkpoint before it, or from the start"
            warnings.warn(message, RunFolderWarning, stacklevel=2)
        return None

    def _checkpoint(self, number: int) -> Path:
        return self.path / f"checkpoint-{number:06d}.ftc"


# A store is a folder of run folders ---------------------------------------------------------------------------
def list_runs(store: Path) -> list[RunFolder]:
    """The runs of a store, oldest first, without those that cannot be read."""
    found = []
    for path in sorted(store.iterdir()) if store.is_dir() else ():
        if (path / RUN).is_file():
            with suppress(RunError):
                found.append(RunFolder.open(path))
    return sorted(found, key=lambda folder: (str(folder.metadata.get("created")), folder.id))


def find_run(store: Path, wanted: str) -> RunFolder:
    """The run with this ID, or the only one whose ID starts or ends with it; "last" is the newest."""
    runs = list_runs(store)
    if not runs:
        raise RunError(f"there are no runs in {store}")
    if wanted == "last":
        return runs[-1]
    matching = [run for run in runs if run.id == wanted]
    if not matching and wanted:
        matching = [run for run in runs if run.id.startswith(wanted) or run.id.endswith(wanted)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise RunError(f"{wanted!r} may be {', '.join(run.id for run in matching)}; give more of the ID")
    raise RunError(f"there is no run {wanted!r} in {store}; the newest is {runs[-1].id}")


def remove_run(folder: RunFolder) -> None:
    """Delete the folder of a run that is not running."""
    folder.lock()
    folder.close()
    try:
        shutil.rmtree(folder.path)
    except OSError as error:
        raise RunError(f"cannot remove {folder.path}: {reason(error)}") from None


def now() -> str:
    return datetime.now().astimezone().isoformat(timespec="milliseconds")


def _lock(file: IO[str]) -> bool:
    """Acquire the lock of an open file; False if another process has it."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows has no such locks; a second writer is not detected there
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
