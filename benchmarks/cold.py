"""Wall times of first use: a cold `make run` in a fresh clone, and a warm `fouriertree fit`.

Run: make bench-cold.  The clone is made in a temporary folder, from what is committed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fouriertree.experiments.bars import Bar, report

ROOT = Path(__file__).resolve().parents[1]
WARM_RUNS = 5


def timed(command: list[str], folder: Path) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return time.perf_counter() - started


FIRST_CALL = """
import time
started = time.perf_counter()
import numpy as np
from fouriertree import evaluate, parse
evaluate([parse("sin(x0)")], np.zeros((1, 1)))
print(time.perf_counter() - started)
"""


def first_call(python: Path, folder: Path) -> float:
    """Seconds from `import fouriertree` to the first values, in a new process."""
    answer = subprocess.run(
        [python, "-c", FIRST_CALL], cwd=folder, check=True, capture_output=True, text=True
    )
    return float(answer.stdout)


def main() -> int:
    with tempfile.TemporaryDirectory() as temporary:
        clone = Path(temporary) / "clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        cold = timed(["make", "run", f"PYTHON={sys.executable}"], clone)
        again = timed(["make", "run"], clone)
        bin_folder = clone / ".venv" / "bin"
        target = (clone / "example.csv").read_text().splitlines()[0].split(",")[-1]
        fit = [str(bin_folder / "fouriertree"), "fit", "example.csv", "--target", target, "--seed", "0"]
        warm = min(timed(fit, clone) for _ in range(WARM_RUNS))
        first = min(first_call(bin_folder / "python", clone) for _ in range(WARM_RUNS))
    print(f"cold `make run` (environment, installation, compilation, fit, picture): {cold:.1f} s")
    print(f"second `make run`: {again:.1f} s")
    print(f"warm `fouriertree fit`, best of {WARM_RUNS}: {warm:.2f} s")
    print(
        f"import and first call of the compiled engine in a new process, best of {WARM_RUNS}: {first:.2f} s"
    )
    return report(
        [
            Bar("first-call-in-a-new-process-seconds", first, 2.0, "<="),
            Bar("second-make-run-seconds", again, 15.0, "<="),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
