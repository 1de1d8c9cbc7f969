"""Tasks in processes of their own, some at a time, each with limits that it cannot talk its way out of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fouriertree.experiments.bench.store import Record, Store
from fouriertree.experiments.bench.systems import LINEAR
from fouriertree.experiments.bench.tasks import STAGES, Task
from fouriertree.experiments.bench.worker import stages

#: every system computes with one thread
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
#: seconds for imports, compilers and the warm-up; for test rows; for the structure, which has a limit of its own that
#: is shorter; for the symbolic rule; for the size
START_LIMIT, MEASURE_LIMIT, STRUCTURE_LIMIT, JUDGE_LIMIT, SIZE_LIMIT = 240.0, 60.0, 60.0, 60.0, 10.0
#: what a record says where SymPy was out of time
UNDECIDED: dict[str, Record] = {
    "structured": {"structure": False, "symbolic": False},
    "judged": {"symbolic": False},
    "sized": {},
}


def limits(task: Task) -> dict[str, float]:
    """Seconds after which a process is killed, by stage."""
    fit_limit = 2.0 * task.seconds + 30.0
    after = (MEASURE_LIMIT, STRUCTURE_LIMIT, JUDGE_LIMIT, SIZE_LIMIT)
    return dict(zip(STAGES, (START_LIMIT, fit_limit, *after), strict=True))


class Crew:
    """Workers that are alive, so that all of them can be sent home at once."""

    def __init__(self) -> None:
        self._processes: set[subprocess.Popen[str]] = set()

    @contextmanager
    def worker(self, complaints: Any) -> Iterator[subprocess.Popen[str]]:
        # Out of reach of Ctrl-C, which is for the process that talks to the user.
        command = [sys.executable, "-m", "fouriertree.experiments.bench.worker"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True,
            env=environment(), start_new_session=True,
        ) as process:  # fmt: skip
            self._processes.add(process)
            try:
                yield process
            finally:
                process.kill()
                self._processes.discard(process)

    def dismiss(self) -> None:
        for process in list(self._processes):
            process.kill()


def environment() -> dict[str, str]:
    """One thread, and this very package, wherever it was imported from."""
    here = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "PYTHONPATH": path}


def perform(task: Task, folder: Path | None, crew: Crew) -> Record:
    """The record of a task."""
    return here(task, folder) if task.system == LINEAR else elsewhere(task, folder, crew)


def here(task: Task, folder: Path | None) -> Record:
    """In this process: a linear model is found sooner than a process starts."""
    record: Record = {}
    for stage in stages(task, folder):
        record |= stage
    return record


def elsewhere(task: Task, folder: Path | None, crew: Crew) -> Record:
    """In a worker that is killed when a stage takes too long."""
    job = {**task.to_json(), "folder": str(folder.resolve()) if folder else None}
    record: Record = {}
    with tempfile.TemporaryFile() as complaints, crew.worker(complaints) as process:
        assert process.stdin is not None
        # A worker that died at once says why on stderr.
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(job))
            process.stdin.close()
        for stage, limit in limits(task).items():
            line = read_line(process, limit)
            record |= json.loads(line) if line else missing(stage, limit, process, complaints)
            if not line or "failed" in record:
                break
    return record


def read_line(process: subprocess.Popen[str], limit: float) -> str:
    """The worker's next line; an empty one if it ended, or was killed here because it took too long."""
    assert process.stdout is not None
    timer = threading.Timer(limit, process.kill)
    timer.start()
    try:
        return process.stdout.readline()
    finally:
        timer.cancel()


def missing(stage: str, limit: float, process: subprocess.Popen[str], complaints: Any) -> Record:
    """What to note where a stage has no result: SymPy may be out of time, anything else is a failure."""
    if stage in UNDECIDED:
        return {"undecided": f"{stage}: no result within {limit:g} s", **UNDECIDED[stage]}
    status = process.wait()
    complaints.seek(0)
    said = complaints.read().decode(errors="replace").strip().splitlines()
    last = f"; its last words: {said[-1]}" if said else ""
    return {"failed": f"ended with status {status} before it was {stage}, limit {limit:g} s{last}"}


def complete(
    tasks: Sequence[Task],
    store: Store,
    folder_of: Callable[[Task], Path | None],
    jobs: int,
    done: Callable[[Task, Record], Any] = lambda task, record: None,
) -> None:
    """Perform the tasks that the store does not have, `jobs` at a time; Ctrl-C keeps what has ended."""
    crew, pool = Crew(), ThreadPoolExecutor(jobs)
    futures = {pool.submit(perform, task, folder_of(task), crew): task for task in tasks if task not in store}
    try:
        for future in as_completed(futures):
            store.append(futures[future], future.result())
            done(futures[future], store[futures[future]])
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        while any(not future.done() for future in futures):
            crew.dismiss()
            time.sleep(0.05)
