"""Tasks in worker processes, several at a time, each killed at its time limits.

A compared system may hang or crash, so each task has a process of its own, which a thread of an executor watches.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fouriertree.experiments.bench.plan import Task
from fouriertree.experiments.bench.systems import LINEAR
from fouriertree.experiments.bench.worker import stages
from fouriertree.experiments.store import Record, Store
from fouriertree.search.executors import completed
from fouriertree.search.processes import ONE_THREAD

#: seconds after which a process is killed, by stage: imports, compilation and warm-up; the fit, besides twice its time
#: limit; measures on the test set; structural recovery, whose fits have a shorter limit; symbolic criterion; size
LIMITS = {"ready": 240.0, "fitted": 30.0, "measured": 60.0, "structured": 60.0, "judged": 60.0, "sized": 10.0}
#: fields of a record where SymPy was out of time
UNDECIDED: dict[str, Record] = {
    "structured": {"structure": False, "symbolic": False},
    "judged": {"symbolic": False},
    "sized": {},
}


class Workers:
    """The running worker processes, so that all of them can be killed at once."""

    def __init__(self) -> None:
        self._processes: set[subprocess.Popen[str]] = set()
        self._killed = False

    @contextmanager
    def start(self, stderr: Any) -> Iterator[subprocess.Popen[str]]:
        # A new session: Ctrl-C is handled by this process only.
        command = [sys.executable, "-m", "fouriertree.experiments.bench.worker"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True,
            env=environment(), start_new_session=True,
        ) as process:  # fmt: skip
            self._processes.add(process)
            try:
                if self._killed:
                    process.kill()
                yield process
            finally:
                process.kill()
                self._processes.discard(process)

    def kill(self) -> None:
        """Kill all processes, also those that are being started."""
        self._killed = True
        for process in list(self._processes):
            process.kill()


def environment() -> dict[str, str]:
    """One thread, and this package, wherever it was imported from."""
    here = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, **ONE_THREAD, "PYTHONPATH": path}


def perform(task: Task, folder: Path | None, workers: Workers) -> Record:
    """The record of a task, from a worker that is killed when a stage exceeds its limit."""
    if task.system == LINEAR:
        # In this process, because starting another takes longer.
        return {name: value for stage in stages(task, folder) for name, value in stage.items()}
    job = {**task.to_json(), "folder": str(folder.resolve()) if folder else None}
    record: Record = {}
    with tempfile.TemporaryFile() as stderr, workers.start(stderr) as process:
        assert process.stdin is not None
        # The reason why a worker ended at once is on stderr.
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(job))
            process.stdin.close()
        limits = LIMITS | {"fitted": LIMITS["fitted"] + 2.0 * task.seconds}
        for stage, limit in limits.items():
            line = read_line(process, limit)
            record |= json.loads(line) if line else missing(stage, limit, process, stderr)
            if not line or "failed" in record:
                break
    return record


def read_line(process: subprocess.Popen[str], limit: float) -> str:
    """The worker's next line; an empty one if it ended or was killed at the limit."""
    assert process.stdout is not None
    timer = threading.Timer(limit, process.kill)
    timer.start()
    try:
        return process.stdout.readline()
    finally:
        timer.cancel()


def missing(stage: str, limit: float, process: subprocess.Popen[str], stderr: Any) -> Record:
    """The record of a stage without a result: SymPy may be out of time, anything else is a failure."""
    if stage in UNDECIDED:
        return {"undecided": f"{stage}: no result within {limit:g} s", **UNDECIDED[stage]}
    status = process.wait()
    stderr.seek(0)
    lines = stderr.read().decode(errors="replace").strip().splitlines()
    last = f"; last line of stderr: {lines[-1]}" if lines else ""
    return {"failed": f"ended with status {status} before it was {stage}, limit {limit:g} s{last}"}


def complete(
    tasks: Sequence[Task],
    store: Store,
    folder_of: Callable[[Task], Path | None],
    jobs: int,
    done: Callable[[Task, Record], Any] = lambda task, record: None,
) -> None:
    """Perform the tasks that the store does not have, `jobs` at a time; after Ctrl-C, finished ones are kept."""
    workers, pool = Workers(), ThreadPoolExecutor(jobs)
    left = [task for task in tasks if task not in store]
    try:
        for task, record in completed(lambda task: perform(task, folder_of(task), workers), left, pool):
            store.append(task, {**task.to_json(), **record})
            done(task, store[task])
    finally:
        workers.kill()
        pool.shutdown(cancel_futures=True)
