"""Large-scale polynomials: loss, span, tree size and depth per generation, and their values at the last one."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import ttest_ind_from_stats

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.authors import Authors
from fouriertree.experiments.paper.runs import SERIES
from fouriertree.experiments.paper.tasks import Task
from fouriertree.experiments.store import Record, Store

GENERATIONS = facts.LSP_GENERATIONS + 1
#: evaluations of one generation: the step of the axis that FTG shares with the GPs
PER_GENERATION = 500

#: by degree and algorithm
Records = dict[tuple[int, str], list[Record]]
#: by degree, algorithm and series: (runs, generations), NaN from where a run has ended
Curves = dict[tuple[int, str], dict[str, NDArray[np.float64]]]
#: our series for each of the authors' values, which are minima and maxima of the generation
SPAN = "largest_span"
COMPARED = (("loss", "generation_loss"), ("span", SPAN), ("size", "size"))
#: statistics over the runs of FTG, and the names of the values in their records
STATISTICS = {"mean": pd.Series.mean, "median": pd.Series.median, "sd": lambda values: values.std(ddof=0)}
FINAL_VALUES = (
    ("mean", "loss"), ("sd", "loss"), ("median", "exact_loss"), ("mean", "terms"), ("mean", "zero_terms"),
    ("mean", "size"), ("mean", "evaluations"), ("mean", "condition"), ("median", "condition"), ("mean", "refused"),
)  # fmt: skip


def by_curve(tasks: Sequence[Task], store: Store) -> Records:
    """The records of all runs by degree and algorithm."""
    found: Records = {}
    for task in tasks:
        found.setdefault((int(task.problem.removeprefix("lsp")), task.algorithm), []).append(store[task])
    return found


def curves(found: Records) -> Curves:
    """Every series of every run on one axis of generations."""
    return {
        key: {name: np.array([on_axis(record, name) for record in records]) for name in SERIES}
        for key, records in found.items()
    }


def on_axis(record: Record, series: str) -> NDArray[np.float64]:
    """One series by generation.  FTG has no generations: generation g is after 1 + 500·g evaluations."""
    values = np.array(record["series"][series], dtype=np.float64)
    out = np.full(GENERATIONS, np.nan)
    if "accepted_at" not in record:
        out[: min(len(values), GENERATIONS)] = values[:GENERATIONS]
        return out
    last = min(facts.LSP_GENERATIONS, math.ceil((record["evaluations"] - 1) / PER_GENERATION))
    spent = 1 + PER_GENERATION * np.arange(last + 1)
    at = np.searchsorted(record["accepted_at"], spent, side="right") - 1
    # The last value of a run that has ended.
    at[-1] = len(values) - 1
    out[: last + 1] = values[np.maximum(at, 0)]
    return out


def mean_and_sd(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Over the runs that have not ended; NaN where all have."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(values, axis=0), np.nanstd(values, axis=0)


def generations(found: Curves) -> Any:
    """Mean and SD of every series by generation, and the number of runs that have not ended."""
    frames = []
    for (degree, algorithm), series in found.items():
        columns = {"degree": degree, "algorithm": algorithm, "generation": range(GENERATIONS)}
        columns["alive"] = (~np.isnan(series["loss"])).sum(axis=0)
        for name in SERIES:
            columns[f"mean_{name}"], columns[f"sd_{name}"] = mean_and_sd(series[name])
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames)


def events(found: Records) -> dict[tuple[int, str], tuple[float, float]]:
    """Mean and SD of the number of improving individuals that enlarged the span."""
    counts = {key: [run["events"] for run in runs] for key, runs in found.items() if key[1] in facts.GP}
    return {key: (float(np.mean(n)), float(np.std(n))) for key, n in counts.items()}


def comparison(found: Records, theirs: Authors) -> Any:
    """Our and the authors' values at generation 200 by GP, with Welch's test of the means."""
    ours, counts, rows = curves(found), events(found), []
    for key, published in facts.LSP_AT_THE_END.items():
        table = theirs.lsp_generations(*key)
        # All of the authors' runs where the number of those that have not ended is not known.
        n_theirs = facts.RUNS if table is None else int(table.cnt.iloc[-1])
        for name, series in COMPARED:
            final = ours[key][series][:, -1:]
            (mean,), (sd,) = mean_and_sd(final)
            alive = int((~np.isnan(final)).sum())
            rows.append((*key, name, mean, sd, alive, *published[name], n_theirs))
        rows.append((*key, "events", *counts[key], len(found[key]), *published["events"], facts.RUNS))
    names = "degree algorithm what mean sd n published_mean published_sd published_n"
    table = pd.DataFrame(rows, columns=names.split())
    return table.assign(p=[welch(row) for row in table.itertuples()])


def welch(row: Any) -> float:
    """p-value of equal means; NaN for a single run."""
    if row.n < 2:
        return math.nan
    # Welch's test takes the SD with the divisor n − 1.
    ours, published = (math.sqrt(n / (n - 1)) for n in (row.n, row.published_n))
    test = ttest_ind_from_stats(
        row.mean, row.sd * ours, row.n, row.published_mean, row.published_sd * published, row.published_n,
        equal_var=False,
    )  # fmt: skip
    return float(test.pvalue)


def ftg_rows(found: Records) -> Any:
    """Final values of both FTGs: a row per degree and algorithm."""
    rows = []
    for key in product(facts.LSP_DEGREES, (facts.PUBLISHED_FTG, facts.ORTHONORMAL_FTG)):
        records = pd.DataFrame([{**record, "series": None} for record in found[key]])
        values = (STATISTICS[statistic](records[name]) for statistic, name in FINAL_VALUES)
        rows.append((*key, len(records), *values))
    names = ["_".join(value) for value in FINAL_VALUES]
    return pd.DataFrame(rows, columns=["degree", "algorithm", "runs", *names])
