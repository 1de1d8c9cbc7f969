"""The LSP figure: loss, span, tree size and depth per generation, and their values at the last one."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import ttest_ind_from_stats

from fouriertree.experiments.paper import authors, facts
from fouriertree.experiments.paper.polynomials import SERIES
from fouriertree.experiments.paper.tasks import Task
from fouriertree.experiments.store import Record, Store

GENERATIONS = facts.LSP_GENERATIONS + 1
#: evaluations of one generation: the step of the axis that FTG shares with the GPs
PER_GENERATION = 500

#: by degree, algorithm and series: (runs, generations), NaN from where a run has ended
Curves = dict[tuple[int, str], dict[str, NDArray[np.float64]]]
#: our series for each of the authors' values, which are minima and maxima of the generation
SPAN = "largest_span"
COMPARED = (("loss", "generation_loss"), ("span", SPAN), ("size", "size"))


def curves(tasks: Sequence[Task], store: Store) -> Curves:
    """Every series of every run on one axis of generations."""
    grouped: dict[tuple[int, str], list[Record]] = {}
    for task in tasks:
        grouped.setdefault((int(task.problem.removeprefix("lsp")), task.algorithm), []).append(store[task])
    return {
        key: {name: np.array([on_axis(record, name) for record in records]) for name in SERIES}
        for key, records in grouped.items()
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


def events(tasks: Sequence[Task], store: Store) -> dict[tuple[int, str], tuple[float, float]]:
    """Mean and SD of the number of improving individuals that enlarged the span."""
    found: dict[tuple[int, str], list[int]] = {}
    for task in tasks:
        if task.algorithm in facts.GP:
            key = (int(task.problem.removeprefix("lsp")), task.algorithm)
            found.setdefault(key, []).append(store[task]["events"])
    return {key: (float(np.mean(n)), float(np.std(n))) for key, n in found.items()}


def comparison(tasks: Sequence[Task], store: Store, theirs: authors.Authors) -> Any:
    """Our and the authors' values at generation 200 by GP, with Welch's test of the means."""
    found, counts, rows = curves(tasks, store), events(tasks, store), []
    for (degree, algorithm), published in facts.LSP_AT_THE_END.items():
        series = found[degree, algorithm]
        runs = len(series["loss"])
        n_theirs = alive_at_the_end(theirs, degree, algorithm)
        for name, ours in COMPARED:
            final = series[ours][:, -1:]
            (mean,), (sd,) = mean_and_sd(final)
            alive = int((~np.isnan(final)).sum())
            rows.append((degree, algorithm, name, mean, sd, alive, *published[name], n_theirs))
        rows.append(
            (degree, algorithm, "events", *counts[degree, algorithm], runs, *published["events"], facts.RUNS)
        )
    names = "degree algorithm what mean sd n published_mean published_sd published_n"
    table = pd.DataFrame(rows, columns=names.split())
    return table.assign(p=[welch(row) for row in table.itertuples()])


def alive_at_the_end(theirs: authors.Authors, degree: int, algorithm: str) -> int:
    """The number of the authors' runs that have not ended; all of them where that is not known."""
    if theirs.lsp is None:
        return facts.RUNS
    table = theirs.lsp[(theirs.lsp.degree == degree) & (theirs.lsp.algorithm == algorithm)]
    return int(table.cnt.iloc[-1]) if len(table) else facts.RUNS


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


def ftg_rows(tasks: Sequence[Task], store: Store) -> Any:
    """Final values of both FTGs: a row per degree and algorithm."""
    rows = []
    for degree in facts.LSP_DEGREES:
        for algorithm in (facts.PUBLISHED_FTG, facts.ORTHONORMAL_FTG):
            chosen = [t for t in tasks if t.algorithm == algorithm and t.problem == f"lsp{degree}"]
            records = pd.DataFrame([{**store[t], "series": None} for t in chosen])
            rows.append(
                {
                    "degree": degree,
                    "algorithm": algorithm,
                    "runs": len(records),
                    "mean_loss": records.loss.mean(),
                    "sd_loss": records.loss.std(ddof=0),
                    "median_exact_loss": records.exact_loss.median(),
                    "mean_terms": records.terms.mean(),
                    "mean_zero_terms": records.zero_terms.mean(),
                    "mean_size": records["size"].mean(),
                    "mean_evaluations": records.evaluations.mean(),
                    "mean_condition": records.condition.mean(),
                    "median_condition": records.condition.median(),
                    "mean_refused": records.refused.mean(),
                }
            )
    return pd.DataFrame(rows)
