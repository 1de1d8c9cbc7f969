"""The statistics of the published tables, from the records of single runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.tasks import Task
from fouriertree.experiments.store import Store

#: the column of evaluations to each tolerance
REACHED_AT = {t: f"reached_1e{e}" for t, e in zip(facts.TOLERANCES, facts.EXPONENTS, strict=True)}
REACHED = tuple(REACHED_AT.values())


class Summary(NamedTuple):
    """Evaluations to a tolerance over the successful runs; the last seven columns of the published tables."""

    mean_fe: float
    sd: float
    sem: float
    q1: float
    median: float
    q3: float
    success_percent: int


def summary(evaluations: Sequence[float] | NDArray[np.float64], runs: int) -> Summary:
    """Statistics of the successful ones among `runs` runs; NaN stands for a run without success.

    The SD divides by n, the SEM is SD/√successes, percentiles are linear, and the rate is truncated to whole per cents.

    >>> summary([10, 20, 30, math.nan], 4)._replace(sd=0, sem=0)
    Summary(mean_fe=20.0, sd=0, sem=0, q1=15.0, median=20.0, q3=25.0, success_percent=75)
    """
    values = np.asarray(evaluations, dtype=np.float64)
    values = values[~np.isnan(values)]
    n = len(values)
    if n == 0:
        return Summary(math.inf, 0.0, 0.0, math.inf, math.inf, math.inf, 0)
    sd = float(values.std())
    q1, median, q3 = (float(q) for q in np.percentile(values, [25, 50, 75]))
    return Summary(float(values.mean()), sd, sd / math.sqrt(n), q1, median, q3, 100 * n // runs)


def runs_frame(tasks: Iterable[Task], store: Store) -> Any:
    """A row per run; evaluations to tolerances as the published statistics count them, NaN for never.

    Columns `clean_…` count without the late date of FTG's last basis, `early_…` as the authors' earlier program.
    """
    rows = []
    for task in tasks:
        record = dict(store[task])
        clean, early = record.pop("reached"), record.pop("reached_early", None)
        as_run = record.pop("reached_as_run", clean)
        row = {"algorithm": task.algorithm, "problem": task.problem, "seed": task.seed, **record}
        rows.append(row | columns_of(clean, "clean_") | columns_of(as_run) | columns_of(early, "early_"))
    return pd.DataFrame(rows)


def columns_of(reached: Sequence[int | None] | None, prefix: str = "") -> dict[str, float]:
    if reached is None:
        return {}
    return {
        prefix + name: math.nan if n is None else float(n) for name, n in zip(REACHED, reached, strict=True)
    }


def by_cell(runs: Any) -> dict[tuple[str, str], Any]:
    """The runs of every problem and algorithm, in the order of the published tables."""
    groups = dict(iter(runs.groupby(["problem", "algorithm"], sort=False)))
    return {cell: groups[cell] for cell in product(facts.PROBLEMS, facts.ALGORITHMS) if cell in groups}


def table(runs: Any, prefix: str = "") -> Any:
    """The published layout, from a row per run: by tolerance, then problem, then algorithm."""
    rows = [
        (tolerance, *cell, *summary(group[prefix + column].to_numpy(), len(group)))
        for (tolerance, column), (cell, group) in product(REACHED_AT.items(), by_cell(runs).items())
    ]
    return pd.DataFrame(rows, columns=list(facts.COLUMNS))


def errors(runs: Any) -> Any:
    """Training and test error and the shape of the models, a row per algorithm and problem.

    Errors are mean squared errors, comparable for 20 training and 1,000 test points; medians over runs.
    """
    return pd.DataFrame(
        {"problem": problem, "algorithm": algorithm, **error_row(group)}
        for (problem, algorithm), group in by_cell(runs).items()
    )


def error_row(group: Any) -> dict[str, float]:
    solved = group[group.loss <= facts.TOLERANCES[-1]]
    row = {
        "training_mse": float((group.loss / facts.POINTS).median()),
        "test_mse": float(group.test_mse.median()),
        "runs_at_1e-8": len(solved),
        "test_mse_of_those": float(solved.test_mse.median()),
        "size": float(group["size"].median()),
        "terms": float(group.terms.median()),
        "evaluations_per_second": float(group.evaluations.sum() / group.seconds.sum()),
    }
    if "condition" in group and group.condition.notna().any():
        row["mean_condition"] = float(group.condition.mean())
        row["median_condition"] = float(group.condition.median())
        row["mean_refused"] = float(group.refused.mean())
    return row
