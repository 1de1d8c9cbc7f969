"""Computing times, and those of the authors' programs for the same evaluations."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from fouriertree import __version__
from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.tasks import TABLE, Task
from fouriertree.experiments.store import Store, append_line, read_lines

DAY = 86_400.0
PACKAGES = ("numpy", "scipy", "numba", "pandas", "matplotlib")


@dataclass(frozen=True)
class Session:
    """One call of the command; an experiment may need several."""

    command: str
    runs: int  #: computed in this session
    jobs: int
    seconds: float  #: wall time without figures and report
    started: str  #: date and time, UTC


def note_session(path: Path, session: Session) -> None:
    append_line(path, asdict(session))


def sessions(path: Path) -> list[Session]:
    """All sessions in which runs were computed."""
    names = {field.name for field in fields(Session)}
    return [Session(**entry) for entry in read_lines(path) if entry.keys() == names]


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
    names = "part algorithm runs evaluations core_seconds per_second authors_days_from authors_days_to"
    return pd.DataFrame(rows, columns=names.split())


def ratio(table: Any) -> tuple[float, float]:
    """Speed-up over the authors' programs in core time, from and to, for the published algorithms."""
    theirs = table[table.authors_days_from.notna()]
    ours = theirs.core_seconds.sum()
    return tuple(float(theirs[c].sum() * DAY / ours) for c in ("authors_days_from", "authors_days_to"))  # type: ignore[return-value]


def versions() -> dict[str, str]:
    """Versions of the software and the platform."""
    found = {"fouriertree": __version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found | {"platform": f"{platform.system()} {platform.machine()}"}
