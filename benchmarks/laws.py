"""All suites of laws with goals: `make bench-laws` (hours; resumable).

The laws of the generated suites are made anew from `--generator-seed`, by default the hash of the commit.  Results are
stored one by one in `--out`, and the same command resumes there; after another commit, with the seed that was printed.
Results of Operon that are stored there count, too; `--system ours --system operon` computes them for the published
suites and some of the everyday laws that are made anew.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from fouriertree.experiments.bars import report
from fouriertree.experiments.bench.bars import bars
from fouriertree.experiments.bench.names import (
    CLASSIC,
    COMPOSITIONS,
    EVERYDAY,
    FEYNMAN,
    FEYNMAN_SOLVED,
    SRSD,
    STROGATZ,
    STUDENT,
)
from fouriertree.experiments.bench.plan import FILE, Plan, Task
from fouriertree.experiments.bench.runs import complete
from fouriertree.experiments.bench.summary import rows, text_table
from fouriertree.experiments.bench.systems import OURS
from fouriertree.experiments.store import Record, Store

OPERON = "operon"
NOISES, SOME_NOISE = (0.0, 0.01, 0.1), (0.0, 0.01)
ROWS = 1000
#: number of generated everyday laws for other systems
FOR_PEERS = 48


def plans(options: argparse.Namespace, systems: Sequence[str]) -> Iterator[Plan]:
    """The benchmarks of the table of goals."""

    def plan(
        *suites: str, systems: Sequence[str] = systems, noises: Sequence[float] = NOISES, **others
    ) -> Plan:
        return Plan(
            suites, systems, noises, range(options.seeds), options.seconds, ROWS, data=options.data, **others
        )

    ours, peers = ([s for s in systems if (s == OURS) == is_ours] for is_ours in (True, False))
    made = {"disguise": True, "generator_seed": options.generator_seed}
    yield plan(CLASSIC, STROGATZ, SRSD, noises=(0.0,))
    yield plan(EVERYDAY, disguise=True)
    yield plan(EVERYDAY, disguise=True, systems=ours, noises=(0.01,), noise_kind=STUDENT)
    yield plan(FEYNMAN)
    yield plan(FEYNMAN, disguise=True)
    yield plan(FEYNMAN_SOLVED, disguise=True, noises=SOME_NOISE)
    yield plan(EVERYDAY, generate=options.everyday, systems=ours, **made)
    yield plan(EVERYDAY, generate=min(options.everyday, FOR_PEERS), systems=peers, **made)
    yield plan(COMPOSITIONS, generate=options.compositions, systems=ours, noises=SOME_NOISE, **made)


def commit_seed() -> int:
    """The first seven digits of the commit's hash as a number; 0 without git."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(done.stdout[:7], 16)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="time limit of one fit")
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds of data and search")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS", "1")), help="fits at a time")
    parser.add_argument("--everyday", type=int, default=200, help="number of generated everyday laws")
    parser.add_argument("--compositions", type=int, default=100, help="number of generated compositions")
    parser.add_argument("--generator-seed", type=int, help="seed of the generated laws")
    parser.add_argument("--system", action="append", choices=[OURS, OPERON], help="may be repeated")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with trajectories")
    parser.add_argument("--out", type=Path, default=Path("bench-results"), help="folder of the results")
    options = parser.parse_args()
    if options.generator_seed is None:
        options.generator_seed = commit_seed()
    options.data = options.data if options.data.is_dir() else None
    print(f"generated laws: --generator-seed {options.generator_seed}", flush=True)
    store = Store(options.out, FILE)
    for plan in plans(options, options.system or [OURS]):
        complete(plan.tasks(), store, plan.folder_of, options.jobs, progress)
    every = [task for plan in plans(options, [OURS, OPERON]) for task in plan.tasks()]
    records = [store[task] for task in every if task in store]
    print(text_table(rows(records)))
    return report(bars(records))


def progress(task: Task, record: Record) -> None:
    right = record.get("structure")
    verdict = "failed" if "failed" in record else "right" if right else f"not right: {record.get('formula')}"
    print(f"{task.key}: {verdict}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
