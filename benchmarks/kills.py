"""Kill runs, or their workers, at random moments, and compare with an uninterrupted run: `make bench-kills`.

A killed run is resumed.  A killed worker is replaced while the fit continues.  All are compared with an uninterrupted
run with one job: ends with status 1 if one of them differs in a single bit of its model or its table.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from fouriertree.experiments.bars import Bar, report

ROWS, SEED = 200, 1
#: evaluations of runs that are killed, and of those whose workers are
EVALUATIONS, MORE_EVALUATIONS = 60_000_000, 500_000_000
#: age of a worker, in seconds, from which on it may be killed: a new one takes two of them to load the kernels
MIN_AGE = 3.0
#: seconds between two kills of workers at most; a task that is lost again and again needs some time to end
MAX_PAUSE = 5.0
#: seconds after which a fit is taken to hang
MAX_SECONDS = 600.0


def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.uniform(1.0, 5.0, (ROWS, 3))
    law = np.exp(-(X[:, 0] ** 2) / X[:, 1]) * np.sin(X[:, 2] * X[:, 1] + 0.3)
    return X, law + 0.05 * rng.normal(size=ROWS)


def fit(store: Path, loss: str, jobs: int, evaluations: int) -> None:
    from fouriertree import SymbolicRegressor

    options = {"loss": loss, "n_jobs": jobs, "max_evaluations": evaluations, "random_state": SEED}
    SymbolicRegressor(run_dir=store, **options).fit(*table())


def resume(store: Path) -> None:
    from fouriertree import SymbolicRegressor

    SymbolicRegressor.resume(only_run(store), *table())


def only_run(store: Path) -> Path:
    [run] = [path for path in store.iterdir() if path.is_dir()]
    return run


def outcome(store: Path) -> object:
    """The model without its times and paths."""
    model = json.loads((only_run(store) / "model.json").read_bytes())
    model["history"].pop("seconds")
    return (
        model["rows"],
        model["chosen"],
        model["history"],
        model["box"],
        (only_run(store) / "front.csv").read_bytes(),
    )


@contextmanager
def started(store: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A fit or its resumption in a process, which is running with its run folder, or has ended."""
    process = subprocess.Popen([sys.executable, __file__, *arguments, "--store", str(store)])
    try:
        while process.poll() is None and not (store.is_dir() and any(store.glob("*/run.json"))):
            time.sleep(0.01)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


@dataclass
class Case:
    """Fits with a loss and a number of jobs, of which as many are killed; or their workers are."""

    loss: str
    jobs: int
    kills: int
    workers: bool = False

    @property
    def name(self) -> str:
        return f"{self.loss}-{self.jobs}-jobs{'-killed-workers' if self.workers else ''}"

    @property
    def evaluations(self) -> int:
        return MORE_EVALUATIONS if self.workers else EVALUATIONS

    def arguments(self, jobs: int | None = None) -> tuple[str, ...]:
        number = str(jobs or self.jobs)
        return "fit", "--loss", self.loss, "--jobs", number, "--evaluations", str(self.evaluations)


# Killed runs ----------------------------------------------------------------------------------------------------
def killed(store: Path, case: Case, seconds: float) -> bool:
    """Whether the run was killed `seconds` after its start, before its end."""
    with started(store, *case.arguments()) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL


def killed_somewhere(
    place: Path, case: Case, duration: float, rng: np.random.Generator
) -> tuple[Path, float, float]:
    """The folder of a run that was killed before its end, the moment, and the estimated duration."""
    for attempt in range(100):
        store, moment = place / str(attempt), float(rng.uniform(0.0, duration))
        if killed(store, case, moment):
            return store, moment, duration
        duration = max(moment, 0.1)
    raise RuntimeError("the runs end too soon to be killed")


def resumed(place: Path, case: Case, duration: float, rng: np.random.Generator) -> tuple[object, str, float]:
    """The outcome of a killed and resumed run, what happened, and the estimated duration."""
    store, moment, duration = killed_somewhere(place, case, duration, rng)
    checkpoints = len(list(only_run(store).glob("checkpoint-*")))
    with started(store, "resume") as process:
        status = process.wait(MAX_SECONDS)
    happened = f"killed after {moment:5.2f} s of about {duration:.2f}, {checkpoints} checkpoint(s)"
    return (outcome(store) if status == 0 else None), happened, duration


# Killed workers -------------------------------------------------------------------------------------------------
def workers_of(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Workers that have been there for a while."""
    found = []
    with suppress(psutil.Error):
        for child in psutil.Process(process.pid).children(recursive=True):
            is_worker = "popen_loky" in " ".join(child.cmdline())
            if is_worker and time.time() - child.create_time() > MIN_AGE:
                found.append(child)
    return found


def with_killed_workers(place: Path, case: Case, rng: np.random.Generator) -> tuple[object, str]:
    """The outcome of a fit of which a random worker is killed every few seconds, and what happened."""
    count, began = 0, time.monotonic()
    with started(place, *case.arguments()) as process:
        while process.poll() is None and time.monotonic() - began < MAX_SECONDS:
            time.sleep(float(rng.uniform(0.0, MAX_PAUSE)))
            if workers := workers_of(process):
                with suppress(psutil.NoSuchProcess):
                    workers[int(rng.integers(len(workers)))].kill()
                    count += 1
        status = process.poll()
    happened = f"{count} worker(s) killed in {time.monotonic() - began:.1f} s"
    return (outcome(place) if status == 0 and count else None), happened


# Comparison -----------------------------------------------------------------------------------------------------
def uninterrupted(place: Path, case: Case) -> tuple[object, float]:
    """The outcome of the run with one job, and its duration."""
    with started(place, *case.arguments(1)) as process:
        began = time.monotonic()
        process.wait(MAX_SECONDS)
        return outcome(place), time.monotonic() - began


def compare(case: Case, expected: object, duration: float, rng: np.random.Generator) -> Bar:
    same = 0
    with tempfile.TemporaryDirectory() as folder:
        for k in range(case.kills):
            place = Path(folder) / f"kill-{k}"
            if case.workers:
                found, happened = with_killed_workers(place, case, rng)
            else:
                found, happened, duration = resumed(place, case, duration, rng)
            equal = found is not None and found == expected
            same += equal
            print(f"{case.name}: {happened}: {'same' if equal else 'DIFFERENT'}", flush=True)
    return Bar(f"{case.name}-identical-of-{case.kills}", same, case.kills)


def compared(cases: list[Case]) -> list[Bar]:
    rng, expected = np.random.default_rng(0), {}
    bars = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            key = f"{case.loss}-{case.evaluations}"
            if key not in expected:
                expected[key] = uninterrupted(Path(folder) / key, case)
            bars.append(compare(case, *expected[key], rng))
    return bars


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["compare", "fit", "resume"], default="compare")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--loss", help="only this loss")
    parser.add_argument("--jobs", type=int, help="only this number of jobs")
    parser.add_argument("--store", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--evaluations", type=int, default=EVALUATIONS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault("PYTHONWARNINGS", "error")
    if options.what == "fit":
        fit(options.store, options.loss or "squared", options.jobs or 1, options.evaluations)
    elif options.what == "resume":
        resume(options.store)
    else:
        quarter = -(-options.kills // 4)
        cases = [
            Case("squared", 1, options.kills),
            Case("squared", 2, options.kills),
            Case("squared", 4, options.kills),
            Case("squared", 4, quarter, workers=True),
            Case("huber", 1, quarter),
            Case("huber", 4, quarter, workers=True),
        ]
        chosen = [c for c in cases if options.loss in (None, c.loss) and options.jobs in (None, c.jobs)]
        return report(compared(chosen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
