"""How long it took, and how long the authors' programs would have taken for the same evaluations."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from fouriertree import __version__
from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.store import Store
from fouriertree.experiments.paper.tasks import TABLE, Task

DAY = 86_400.0
PACKAGES = ("numpy", "scipy", "numba", "pandas", "matplotlib")


@dataclass(frozen=True)
class Session:
    """One call of the command; an experiment may take several."""

    command: str
    runs: int  #: computed in this session
    jobs: int
    seconds: float  #: on the wall, figures and report not included
    started: str  #: date and time, UTC


def note_session(path: Path, session: Session) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(session)) + "\n")


def sessions(path: Path) -> list[Session]:
    """All sessions in which something was computed."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            found.append(Session(**json.loads(line)))
        except (ValueError, TypeError):
            continue  # torn by a kill
    return found


def speeds(tasks: Iterable[Task], store: Store) -> Any:
    """Per part and algorithm: evaluations, seconds of one core, and the authors' core-days for as many evaluations."""
    totals: dict[tuple[str, str], list[float]] = {}
    for task in tasks:
        record = store[task]
        total = totals.setdefault((TABLE if task.part == TABLE else task.problem, task.algorithm), [0, 0, 0])
        for i, amount in enumerate((1, record["evaluations"], record["seconds"])):
            total[i] += amount
    rows = []
    for (part, algorithm), (runs, evaluations, seconds) in totals.items():
        slow, fast = (
            evaluations / rate / DAY for rate in facts.RATES.get((part, algorithm), (float("nan"),) * 2)
        )
        rows.append((part, algorithm, runs, evaluations, seconds, evaluations / seconds, fast, slow))
    names = [
        "part",
        "algorithm",
        "runs",
        "evaluations",
        "core_seconds",
        "per_second",
        "authors_days_from",
        "to",
    ]
    return pd.DataFrame(rows, columns=names).rename(columns={"to": "authors_days_to"})


def ratio(table: Any) -> tuple[float, float]:
    """By how many times less core time than the authors' programs, from and to; for the algorithms they had."""
    theirs = table[table.authors_days_from.notna()]
    ours = theirs.core_seconds.sum()
    return tuple(float(theirs[c].sum() * DAY / ours) for c in ("authors_days_from", "authors_days_to"))  # type: ignore[return-value]


def versions() -> dict[str, str]:
    """What the numbers were made with."""
    found = {"fouriertree": __version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found | {"platform": f"{platform.system()} {platform.machine()}"}
