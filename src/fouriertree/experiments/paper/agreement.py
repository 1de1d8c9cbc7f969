"""Tests of agreement: whether our runs follow the same distribution as the published ones, for each of 324 cells.

A cell has two null hypotheses, "the same success probability" and "the same distribution of evaluations":

- Success: Fisher's exact test of our successes against the published ones, out of the runs behind either.
- Evaluations, where the authors' single runs are available: Mann–Whitney (location) and Kolmogorov–Smirnov (shape), a
  run without success being the largest of all values; twice the smaller p-value.
- Evaluations otherwise: the three published quartiles.  A quartile q of n successful runs lies between the order
  statistics j and j+1, j = ⌊(n−1)q⌋+1.  If our m successful runs follow the same distribution, then the number of them
  below order statistic j is beta-binomial (m; j, n+1−j), whatever the distribution is, so that the test includes the
  sampling error of the published quartile.  Ties and the position between j and j+1 are resolved in favour of
  agreement.  Three quartiles with two tails each: six times the smallest tail, at most 1.

The cell's p-value is twice the smaller of the two, and Holm's procedure bounds the family-wise error rate over all
cells by 5 %.  A cell that is not rejected *agrees*.  The power is limited: with 100 runs on either side and logarithms
of SD 1, the quartiles detect a factor of 3 in the evaluations nearly always, a factor of 2 in half of the cells and a
factor of 1.5 in one of 25.  So `drift` aggregates differences by algorithm, and the number of cells below 5 % without
correction is reported, too.  Bootstrap intervals of our quartiles are reported for information.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import betabinom, fisher_exact, ks_2samp, mannwhitneyu

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.authors import Authors
from fouriertree.experiments.paper.statistics import REACHED_AT, by_cell

Vector = NDArray[np.float64]

LEVEL = 0.05
GOAL = 310
QUARTILES = (("q1", 0.25), ("median", 0.5), ("q3", 0.75))
RESAMPLES = 2000
#: more than any number of evaluations
LATEST = 1e12
#: power of the tests of single cells
POWER = (
    "A cell agrees if it is not rejected. With 100 runs on either side, the test of a cell detects a factor of 3 in "
    "the evaluations nearly always, a factor of 2 half of the time and a factor of 1.5 rarely; smaller differences "
    "show only in the aggregates over an algorithm's cells."
)
#: (algorithm, problem, tolerance) of a cell that disagrees → one sentence, whose evidence is in docs/reproduction.md;
#: None stands for any problem or any tolerance
EXPLANATIONS: dict[tuple[str, str | None, float | None], str] = {}


def rate_p(successes: int, runs: int, published: int, published_runs: int) -> float:
    """Fisher's exact test, two-sided."""
    return float(
        fisher_exact([[successes, runs - successes], [published, published_runs - published]]).pvalue
    )


def quartile_p(ours: Vector, quartile: float, share: float, n: int) -> float:
    """p-value of one published quartile of n successful runs, given our successful runs; two-sided."""
    j = math.floor((n - 1) * share) + 1
    between = (n - 1) * share % 1.0 > 0.0
    m = len(ours)
    few = betabinom.cdf(np.sum(ours <= quartile), m, j, n + 1 - j)
    upper = min(n, j + 1) if between else j
    many = betabinom.sf(np.sum(ours < quartile) - 1, m, upper, n + 1 - upper)
    return float(min(1.0, 2.0 * min(few, many)))


def quartiles_p(ours: Vector, published: Sequence[float], n: int) -> float:
    """Bonferroni-corrected minimum over the three quartiles; 1 where either side has no success."""
    if n == 0 or len(ours) == 0:
        return 1.0
    tests = zip(published, QUARTILES, strict=True)
    return min(1.0, 3.0 * min(quartile_p(ours, q, share, n) for q, (_, share) in tests))


def single_runs_p(ours: Vector, theirs: Vector) -> float:
    """p-value of equal distributions of two samples; NaN, for runs without success, is the largest value."""
    a, b = (np.nan_to_num(x, nan=LATEST) for x in (ours, theirs))
    if len(np.union1d(a, b)) == 1:
        return 1.0
    return min(1.0, 2.0 * float(min(mannwhitneyu(a, b).pvalue, ks_2samp(a, b).pvalue)))


def holm(p_values: Sequence[float], level: float = LEVEL) -> NDArray[np.bool_]:
    """Which hypotheses Holm's step-down procedure rejects at a family-wise level.

    >>> holm([0.01, 0.04, 0.03], 0.05).tolist()
    [True, False, False]
    """
    p = np.asarray(p_values)
    order = np.argsort(p, kind="stable")
    rejected = np.empty(len(p), bool)
    rejected[order] = ~np.logical_or.accumulate(p[order] > level / np.arange(len(p), 0, -1))
    return rejected


def intervals(values: Vector, seed: int) -> dict[str, float]:
    """95 % percentile-bootstrap intervals of the quartiles of the successful runs; NaN without any."""
    bounds = np.full((3, 2), math.nan)
    if n := len(values):
        draws = np.random.default_rng(seed).integers(0, n, (RESAMPLES, n))
        quartiles = np.quantile(values[draws], [share for _, share in QUARTILES], axis=1)
        bounds = np.percentile(quartiles, [2.5, 97.5], axis=1).T
    names = [f"{name}_{side}" for name, _ in QUARTILES for side in ("low", "high")]
    return dict(zip(names, bounds.ravel().tolist(), strict=True))


def agreement(runs: Any, authors: Authors) -> Any:
    """A row per published cell: both sides, the p-values, and whether the cell agrees."""
    groups = by_cell(runs)
    cells = facts.published_table().itertuples()
    table = pd.DataFrame([compare(cell, groups[cell.problem, cell.algorithm], authors) for cell in cells])
    table["agrees"] = ~holm(table.p.to_numpy())
    table["reason"] = ["" if row.agrees else reason(row) for row in table.itertuples()]
    return table


def reason(cell: Any) -> str:
    """The most specific explanation of a cell."""
    names = ((cell.problem, cell.tolerance), (cell.problem, None), (None, None))
    found = (EXPLANATIONS.get((cell.algorithm, *name)) for name in names)
    return next(filter(None, found), "not explained yet")


def sentence(cells: Any) -> str:
    """The number of agreeing cells in words."""
    below, runs = int((cells.p <= LEVEL).sum()), int(cells.runs.max())
    caution = "; with so few runs the tests have little power" if runs < facts.RUNS else ""
    return (
        f"{int(cells.agrees.sum())} of {len(cells)} cells agree (Holm at a family-wise level of {LEVEL:.0%}; without "
        f"correction, {below} are below {LEVEL:.0%}, where up to {LEVEL * len(cells):.0f} are expected under the null "
        f"hypothesis). {runs} runs against {facts.RUNS}{caution}.\n"
    )


def compare(cell: Any, group: Any, authors: Authors) -> dict[str, Any]:
    """The row of one cell."""
    column = REACHED_AT[cell.tolerance]
    values = group[column].to_numpy()
    met = values[~np.isnan(values)]
    p_rate = rate_p(len(met), len(values), cell.successes, cell.runs)
    single = authors.ftg_runs if cell.algorithm == facts.PUBLISHED_FTG else None
    if single is not None:
        # An earlier program of the authors wrote those files; it charged refused candidates more.
        theirs = single[cell.problem][:, facts.TOLERANCES.index(cell.tolerance)]
        p_evaluations = single_runs_p(group["early_" + column].to_numpy(), theirs)
    else:
        p_evaluations = quartiles_p(met, (cell.q1, cell.median, cell.q3), cell.successes)
    ours = {name: float(np.quantile(met, share)) if len(met) else math.inf for name, share in QUARTILES}
    return {
        "tolerance": cell.tolerance,
        "problem": cell.problem,
        "algorithm": cell.algorithm,
        "published_successes": cell.successes,
        "published_runs": cell.runs,
        "successes": len(met),
        "runs": len(values),
        **{f"published_{name}": getattr(cell, name) for name, _ in QUARTILES},
        **ours,
        **intervals(met, cell.Index),
        "test": "fisher + " + ("quartiles" if single is None else "single runs"),
        "p_rate": p_rate,
        "p_evaluations": p_evaluations,
        "p": min(1.0, 2.0 * min(p_rate, p_evaluations)),
    }


def drift(cells: Any) -> Any:
    """Systematic differences, a row per algorithm, which tests of single cells have no power to detect.

    median_ratio: geometric mean of our median over the published one, over cells in which both sides have one.
    rate_difference: mean of our success rate minus the published one, in percentage points.
    Cells of one problem share their runs, so these are descriptive statistics, not tests.
    """
    return pd.DataFrame(
        {"algorithm": algorithm, **drift_row(group)}
        for algorithm, group in cells.groupby("algorithm", sort=False)
    )


def drift_row(group: Any) -> dict[str, float]:
    both = group[np.isfinite(group["median"]) & np.isfinite(group.published_median)]
    logs = np.log(both["median"] / both.published_median)
    rates = group.successes / group.runs - group.published_successes / group.published_runs
    return {
        "cells": len(group),
        "agree": int(group.agrees.sum()),
        "below_level": int((group.p <= LEVEL).sum()),
        "median_ratio": float(np.exp(logs.mean())),
        "cells_slower": int((logs > 0).sum()),
        "cells_faster": int((logs < 0).sum()),
        "rate_difference": 100.0 * float(rates.mean()),
    }
