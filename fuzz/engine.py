"""Runs one target in this process: with Atheris, or with a simple loop."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, Never

#: limits of the CPU time of one case; wall time depends on other load
SLOW, HANGS = 10.0, 60.0
#: mutated inputs that the loop keeps for further mutation
MOST_KEPT = 2_000


class Guard:
    """Counts and times cases, and records failures, each kind once."""

    def __init__(self, check: Callable[[bytes], None], folder: Path) -> None:
        self.check, self.folder = check, folder
        self.cases = 0
        self.slowest = 0.0
        self.failures: dict[str, str] = {}
        signal.signal(signal.SIGPROF, _hangs)

    def __call__(self, data: bytes) -> None:
        self.cases += 1
        started = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, HANGS)
        try:
            self.check(data)
            taken = time.process_time() - started
            assert taken < SLOW, f"{taken:.1f} seconds for {len(data)} bytes"
        except Exception as error:
            self._record(data, error)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        self.slowest = max(self.slowest, time.process_time() - started)

    def _record(self, data: bytes, error: Exception) -> None:
        place = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}"
        if kind in self.failures:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(data).hexdigest()[:12]
        (self.folder / f"{name}.input").write_bytes(data)
        report = "".join(traceback.format_exception(error)).encode("utf-8", "backslashreplace")
        (self.folder / f"{name}.txt").write_bytes(report)
        self.failures[kind] = f"{self.folder / name}.input: {error!s:.200}"

    def result(self) -> dict[str, Any]:
        return {"cases": self.cases, "slowest": self.slowest, "failures": self.failures}


def _hangs(number: int, frame: FrameType | None) -> Never:
    raise TimeoutError(f"a case took more than {HANGS:.0f} seconds")


def run_loop(target: Any, guard: Guard, cases: int, seed: int) -> None:
    """All seeds, and then mutations of seeds and of earlier mutations."""
    rng = Random(seed)
    pool = list(target.seeds())
    for data in list(pool):
        guard(data)
    while guard.cases < cases:
        data = target.mutate(rng.choice(pool), rng, pool)
        guard(data)
        if len(pool) < MOST_KEPT and rng.random() < 0.1:
            pool.append(data)


def run_atheris(
    target: Any, guard: Guard, cases: int, seed: int, corpus: Path, finish: Callable[[], None]
) -> None:
    """The same under libFuzzer, which keeps the mutations that reach new code.  Does not return."""
    import atheris

    seeds = target.seeds()
    corpus.mkdir(parents=True, exist_ok=True)
    for i, data in enumerate(seeds):
        (corpus / f"seed-{i}").write_bytes(data)

    def one(data: bytes) -> None:
        guard(data)
        if guard.cases >= cases:
            finish()
            # libFuzzer would continue, and the shutdown of Python is slow.
            sys.stderr.flush()
            os._exit(0)

    def change(data: bytes, longest: int, number: int) -> bytes:
        rng = Random(number)
        changed = atheris.Mutate(data, longest) if rng.random() < 0.3 else target.mutate(data, rng, seeds)
        return bytes(changed[:longest])

    options = [f"-seed={seed + 1}", "-max_len=20000", "-timeout=300", "-rss_limit_mb=0", "-len_control=0"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], one, custom_mutator=change)
    atheris.Fuzz()


def write_result(path: Path, result: dict[str, Any]) -> None:
    path.write_text(json.dumps(result), encoding="utf-8")
