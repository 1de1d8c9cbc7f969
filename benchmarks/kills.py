"""Kill runs at random moments, resume them, and compare with an uninterrupted run: `make bench-kills`.

Prints a line for every kill; ends with status 1 if a resumed run differs in a single bit of its model or its table.
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
from pathlib import Path

import numpy as np

from fouriertree.experiments.bars import Bar, report

ROWS, SEED = 200, 1
SETTINGS = {"max_evaluations": 8_000_000, "random_state": SEED}


def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.uniform(1.0, 5.0, (ROWS, 3))
    law = np.exp(-(X[:, 0] ** 2) / X[:, 1]) * np.sin(X[:, 2] * X[:, 1] + 0.3)
    return X, law + 0.05 * rng.normal(size=ROWS)


def fit(store: Path, loss: str, jobs: int) -> None:
    from fouriertree import SymbolicRegressor

    SymbolicRegressor(run_dir=store, loss=loss, n_jobs=jobs, **SETTINGS).fit(*table())


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


def started(store: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, *arguments, "--store", str(store)])


def wait_for_run(store: Path, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None and not (store.is_dir() and any(store.glob("*/run.json"))):
        time.sleep(0.01)


def killed(store: Path, loss: str, jobs: int, seconds: float) -> bool:
    """Whether the run was killed `seconds` after its start, before its end."""
    process = started(store, "fit", "--loss", loss, "--jobs", str(jobs))
    wait_for_run(store, process)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def killed_somewhere(
    place: Path, loss: str, jobs: int, duration: float, rng: np.random.Generator
) -> tuple[Path, float, float]:
    """The folder of a run that was killed before its end, the moment, and the estimated duration."""
    for attempt in range(100):
        store, moment = place / str(attempt), float(rng.uniform(0.0, duration))
        if killed(store, loss, jobs, moment):
            return store, moment, duration
        duration = max(moment, 0.1)
    raise RuntimeError("the runs end too soon to be killed")


def compare(kills: int, loss: str, jobs: int, rng: np.random.Generator) -> Bar:
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole"
        process = started(whole, "fit", "--loss", loss, "--jobs", str(jobs))
        wait_for_run(whole, process)
        began = time.monotonic()
        process.wait()
        duration = time.monotonic() - began
        expected = outcome(whole)
        same = 0
        for k in range(kills):
            store, moment, duration = killed_somewhere(Path(folder) / f"kill-{k}", loss, jobs, duration, rng)
            checkpoints = len(list(only_run(store).glob("checkpoint-*")))
            equal = started(store, "resume").wait() == 0 and outcome(store) == expected
            same += equal
            print(
                f"{loss}, {jobs} job(s): killed after {moment:5.2f} s of about {duration:.2f}, "
                f"{checkpoints} checkpoint(s): {'same' if equal else 'DIFFERENT'}",
                flush=True,
            )
    return Bar(f"{loss}-{jobs}-jobs-identical-of-{kills}", same, kills)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=["compare", "fit", "resume"], default="compare")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--loss", help="only this loss")
    parser.add_argument("--jobs", type=int, help="only this number of jobs")
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    os.environ.setdefault("PYTHONWARNINGS", "error")
    if options.what == "fit":
        fit(options.store, options.loss or "squared", options.jobs or 1)
    elif options.what == "resume":
        resume(options.store)
    else:
        rng = np.random.default_rng(0)
        cases = [
            ("squared", 1, options.kills),
            ("squared", 2, options.kills),
            ("huber", 1, -(-options.kills // 4)),
        ]
        chosen = [
            (kills, loss, jobs)
            for loss, jobs, kills in cases
            if options.loss in (None, loss) and options.jobs in (None, jobs)
        ]
        return report([compare(*case, rng) for case in chosen])
    return 0


if __name__ == "__main__":
    sys.exit(main())
