"""Wall times of first use: a cold `make run` in a fresh clone, then imports, a first fit, workers and a warm command.

The latter are medians over new processes with warm caches, compared with `import numba, sklearn.base` in the same run.

Run: make bench-cold.  The clone is made in a temporary folder, from what is committed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from fouriertree.experiments.bars import Bar, report

ROOT = Path(__file__).resolve().parents[1]
RUNS = 15

LIBRARIES = "import numba, sklearn.base"
IMPORT = "from fouriertree import SymbolicRegressor"
FIRST_FIT = f"""
{IMPORT}
import numpy as np
X = np.linspace(0.0, 1.0, 200)[:, None]
SymbolicRegressor(random_state=0).fit(X, 2.0 * X[:, 0] + 1.0)
"""

# Ready: both workers have loaded the kernels and answered.
POOL = f"""
{IMPORT}
import os, time
from fouriertree.search.executors import process_pool

def worker(_):
    time.sleep(0.02)
    return os.getpid()

pool, workers = process_pool(2), set()
while len(workers) < 2:
    workers |= set(pool.map(worker, range(4)))
"""


# Libraries are installed with their bytecode; where this variable is set, the package, which is not, would be compiled
# by every process.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def timed(command: Sequence[str | Path], folder: Path) -> float:
    started = time.perf_counter()
    subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    return time.perf_counter() - started


def medians(commands: Mapping[str, Sequence[str | Path]], folder: Path) -> dict[str, float]:
    """Median wall times; the commands take turns, so that all see the same state of the machine."""
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(1 + RUNS):
        for name, command in commands.items():
            found[name].append(timed(command, folder))
    # The first round writes bytecode and fills the caches.
    return {name: median(seconds[1:]) for name, seconds in found.items()}


def main() -> int:
    with tempfile.TemporaryDirectory() as temporary:
        clone = Path(temporary) / "clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        cold = timed(["make", "run", f"PYTHON={sys.executable}"], clone)
        again = timed(["make", "run"], clone)
        python, command = clone / ".venv/bin/python", clone / ".venv/bin/fouriertree"
        target = (clone / "example.csv").read_text().splitlines()[0].split(",")[-1]
        seconds = medians(
            {
                "libraries": [python, "-c", LIBRARIES],
                "import": [python, "-c", IMPORT],
                "first fit": [python, "-c", FIRST_FIT],
                "two workers": [python, "-c", POOL],
                "command": [command, "fit", "example.csv", "--target", target, "--seed", "0", "--no-run"],
            },
            clone,
        )
    libraries = seconds["libraries"]
    print(f"cold `make run` (environment, installation, compilation, fit, picture): {cold:.1f} s")
    print(f"second `make run`: {again:.1f} s")
    for name, value in seconds.items():
        print(f"{name}: {value:.2f} s in a new process, median of {RUNS}")
    return report(
        [
            Bar("second-make-run-seconds", again, 15.0, "<="),
            Bar("import-beyond-libraries-seconds", seconds["import"] - libraries, 0.15, "<="),
            Bar("first-fit-after-import-seconds", seconds["first fit"] - seconds["import"], 0.3, "<="),
            Bar("two-workers-after-import-seconds", seconds["two workers"] - seconds["import"], 2.0, "<="),
            Bar("command-beyond-libraries-seconds", seconds["command"] - libraries, 0.8, "<="),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
