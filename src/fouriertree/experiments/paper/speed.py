"""Computing times, and those of the authors' programs for the same evaluations."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pandas as pd

from fouriertree import __version__
from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.tasks import TABLE, Task
from fouriertree.experiments.store import Store

DAY = 86_400.0
PACKAGES = ("numpy", "scipy", "numba", "pandas", "matplotlib")


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
        rates = facts.RATES[part].get(algorithm, (math.nan, math.nan))
        slow, fast = (evaluations / rate / DAY for rate in rates)
        rows.append((part, algorithm, runs, evaluations, seconds, evaluations / seconds, fast, slow))
    names = "part algorithm runs evaluations core_seconds per_second authors_days_from authors_days_to"
    return pd.DataFrame(rows, columns=names.split())


def ratio(table: Any) -> list[float]:
    """Speed-up over the authors' programs in core time, from and to, for the published algorithms."""
    theirs = table[table.authors_days_from.notna()]
    ours = theirs.core_seconds.sum()
    return [float(theirs[c].sum() * DAY / ours) for c in ("authors_days_from", "authors_days_to")]


def versions() -> dict[str, str]:
    """Versions of the software and the platform."""
    found = {"fouriertree": __version__, "Python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found | {"platform": f"{platform.system()} {platform.machine()}"}
