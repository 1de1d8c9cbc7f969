"""`python -m fuzz`: attack all targets, or those that are named; prints cases, coverage and failures."""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from .targets import TARGETS


def main() -> int:
    options = parsed()
    engine = "loop" if options.plain or importlib.util.find_spec("atheris") is None else "atheris"
    print(
        f"{'target':<12} {'cases':>8} {'seconds':>8} {'per s':>7} {'slowest':>8} {'coverage':>9} {'failures':>9}"
    )
    results = []
    for name in options.targets or TARGETS:
        cases = options.cases or max(1, int(TARGETS[name].cases * options.scale))
        results.append(attack(name, cases, options.seed, options.out, engine))
    cases, failures = sum(r["cases"] for r in results), sum(len(r["failures"]) for r in results)
    print(f"{cases:,} cases with {engine}, {failures} kinds of failure")
    for result in results:
        for kind, where in result["failures"].items():
            print(f"  {kind}: {where}")
    return 1 if failures else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--cases", type=int, help="cases of every target; the default depends on the target")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of the default number of cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="without Atheris, even where it is installed")
    parser.add_argument("--out", type=Path, default=Path("fuzz-results"), help="folder of inputs that fail")
    return parser.parse_args()


def attack(name: str, cases: int, seed: int, folder: Path, engine: str) -> dict[str, Any]:
    """Run one target in its own process, and print its line."""
    folder.mkdir(parents=True, exist_ok=True)
    found, log = folder / f"{name}.json", folder / f"{name}.log"
    found.unlink(missing_ok=True)
    started = time.monotonic()
    command = [sys.executable, "-m", "fuzz.worker", name, str(cases), str(seed), str(folder), engine]
    with log.open("wb") as file:
        status = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False).returncode
    seconds = time.monotonic() - started
    text = log.read_text(encoding="utf-8", errors="replace")
    if found.exists():
        result = json.loads(found.read_text(encoding="utf-8"))
    else:
        result = {
            "cases": 0,
            "slowest": 0.0,
            "failures": {f"the process ended with status {status}": str(log)},
        }
    covered = re.findall(r"cov: (\d+)", text)
    print(
        f"{name:<12} {result['cases']:>8,} {seconds:>8.0f} {result['cases'] / seconds:>7.0f} {result['slowest']:>7.2f}s"
        f" {covered[-1] if covered else '–':>9} {len(result['failures']):>9}",
        flush=True,
    )
    return result


if __name__ == "__main__":
    sys.exit(main())
