"""The results of an experiment as a Markdown page, for quoting, with computing times and those of the authors."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pandas as pd

from fouriertree import __version__
from fouriertree.experiments.bars import Bar
from fouriertree.experiments.paper import agreement, facts, figures
from fouriertree.experiments.paper.experiment import Experiment, Results
from fouriertree.experiments.paper.table import drift_table, lsp_table, scientific, speed_table
from fouriertree.experiments.paper.tasks import TABLE, Task
from fouriertree.experiments.store import Store

DAY = 86_400.0
PACKAGES = ("numpy", "scipy", "numba", "pandas", "matplotlib")


def bar(cells: Any) -> Bar:
    """The number of agreeing cells against its goal."""
    return Bar("agreement-cells", int(cells.agrees.sum()), agreement.GOAL)


def key_numbers(experiment: Experiment, found: Results) -> Iterator[str]:
    """Sentences, the most important first."""
    if "agreement" in found:
        yield agreement.sentence(found["agreement"]).strip()
        yield from accuracy(experiment, found["errors"])
    if "heatmaps" in found:
        for name, table in (("published table", facts.published_table()), ("our runs", experiment.table)):
            ratios = figures.median_ratio(table)
            smallest = int(figures.rate_difference(table).min())
            yield f"Heat maps, {name}: largest ratio {ratios.max():.2f}, smallest difference {smallest:+d} points."
    if "lsp_ftg" in found:
        yield from polynomials(found["lsp_ftg"])
    if "speeds" in found:
        yield from duration(experiment, found["speeds"])


def accuracy(experiment: Experiment, errors: Any) -> Iterator[str]:
    runs = experiment.frame
    ftg = runs[runs.algorithm == facts.PUBLISHED_FTG]
    yield (
        f"Condition number of FTG's Gram matrix at the end: mean {scientific(float(ftg.condition.mean()))}, median "
        f"{scientific(float(ftg.condition.median()))} (the paper: mean {facts.CONDITION_NUMBER:.1e})."
    )
    for algorithm in (facts.PUBLISHED_FTG, facts.ORTHONORMAL_FTG):
        rows = errors[errors.algorithm == algorithm]
        worst = rows.loc[rows.test_mse.idxmax()]
        yield (
            f"{algorithm}: median training error {scientific(float(rows.training_mse.median()))} and test error "
            f"{scientific(float(rows.test_mse.median()))} per point in the median problem; the worst test error is "
            f"{scientific(float(worst.test_mse))} on {worst.problem}."
        )


def polynomials(rows: Any) -> Iterator[str]:
    for row in rows.itertuples():
        n_zero = row.mean_zero_terms
        zero = f", {n_zero:.0f} of them zero up to rounding" if n_zero >= 0.5 else ""
        yield (
            f"LSP degree {row.degree}, {row.algorithm}: loss {row.mean_loss:.2g} ± {row.sd_loss:.2g}, median of the "
            f"exact loss {row.median_exact_loss:.2g}, {row.mean_terms:.1f} elements{zero}, over {row.runs} runs."
        )


def duration(experiment: Experiment, speeds: Any) -> Iterator[str]:
    low, high = ratio(speeds)
    days = [speeds[column].sum() for column in ("authors_days_from", "authors_days_to")]
    wall = sum(session.seconds for session in experiment.sessions)
    # A killed process does not record its time.
    untimed = int(speeds.runs.sum()) - sum(session.runs for session in experiment.sessions)
    partly = f" (without the time of {untimed} runs, whose session was killed)" if untimed > 0 else ""
    cores = speeds.core_seconds.sum()
    yield (
        f"Time: {minutes(wall)} of wall time{partly} and {minutes(cores)} of one core for {speeds.evaluations.sum():,} "
        f"evaluations. The authors' programs would take {days[0]:.1f} to {days[1]:.1f} core-days for those of "
        f"their algorithms: {low:,.0f} to {high:,.0f} times as long."
    )


def minutes(seconds: float) -> str:
    """
    >>> minutes(95), minutes(30), minutes(2 * DAY)
    ('1.6 minutes', '30 seconds', '2.0 days')
    """
    if seconds >= DAY:
        return f"{seconds / DAY:.1f} days"
    return f"{seconds / 60:.1f} minutes" if seconds >= 60 else f"{seconds:.0f} seconds"


def as_markdown(experiment: Experiment, found: Results) -> str:
    """summary.md."""
    lines = ["# Summary of this reproduction", "", f"`{experiment.command}`", ""]
    lines += [f"- {sentence}" for sentence in key_numbers(experiment, found)]
    lines += [f"- {sentence}" for sentence in found.get("differences", ())]
    lines += ["", "Made with " + ", ".join(f"{k} {v}" for k, v in versions().items()) + ".", ""]
    if "agreement" in found:
        drift = drift_table(found["agreement"]).markdown()
        lines += ["## Agreement by algorithm", "", agreement.POWER, "", drift]
    if "lsp_comparison" in found:
        lines += ["## LSP at generation 200", "", lsp_table(found["lsp_comparison"]).markdown()]
    if "speeds" in found:
        lines += ["## Evaluations per second and core", "", speed_table(found["speeds"]).markdown()]
    return "\n".join(lines)


# Computing times -----------------------------------------------------------------------------------------------------
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
