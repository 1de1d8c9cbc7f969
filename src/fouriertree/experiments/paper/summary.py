"""The results of an experiment as a Markdown page, for quoting."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from fouriertree.experiments.bars import Bar
from fouriertree.experiments.paper import agreement, facts, heatmaps
from fouriertree.experiments.paper.artefacts import (
    DRIFT_HEADINGS,
    POWER,
    CandidateCollector,
    agreement_sentence,
    drift_rows,
)
from fouriertree.experiments.paper.experiment import Experiment
from fouriertree.experiments.paper.speed import DAY, ratio, sessions, versions
from fouriertree.experiments.paper.table import markdown, scientific


def bar(cells: Any) -> Bar:
    """The number of agreeing cells against its goal."""
    return Bar("agreement-cells", int(cells.agrees.sum()), agreement.GOAL)


def key_numbers(experiment: Experiment, found: CandidateCollector) -> Iterator[str]:
    """Sentences, the most important first."""
    if "agreement" in found:
        yield agreement_sentence(found["agreement"]).strip()
        yield from accuracy(experiment, found["errors"])
    if "heatmaps" in found:
        for name, table in (("published table", facts.published_table()), ("our runs", experiment.table)):
            ratios = heatmaps.median_ratio(table)
            smallest = int(heatmaps.rate_difference(table).min())
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
        zero = (
            f", {row.mean_zero_terms:.0f} of them zero up to rounding" if row.mean_zero_terms >= 0.5 else ""
        )
        yield (
            f"LSP degree {row.degree}, {row.algorithm}: loss {row.mean_loss:.2g} ± {row.sd_loss:.2g}, median of the "
            f"exact loss {row.median_exact_loss:.2g}, {row.mean_terms:.1f} elements{zero}, over {row.runs} runs."
        )


def duration(experiment: Experiment, speeds: Any) -> Iterator[str]:
    low, high = ratio(speeds)
    days = [speeds[column].sum() for column in ("authors_days_from", "authors_days_to")]
    noted = sessions(experiment.folder / "sessions.jsonl")
    wall = sum(session.seconds for session in noted)
    # A killed process does not record its time.
    untimed = int(speeds.runs.sum()) - sum(session.runs for session in noted)
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


def as_markdown(experiment: Experiment, found: CandidateCollector) -> str:
    """summary.md."""
    lines = ["# Summary of this reproduction", "", f"`{experiment.command}`", ""]
    lines += [f"- {sentence}" for sentence in key_numbers(experiment, found)]
    lines += [f"- {sentence}" for sentence in found.get("differences", ())]
    lines += ["", "Made with " + ", ".join(f"{k} {v}" for k, v in versions().items()) + ".", ""]
    if "agreement" in found:
        drift = markdown(DRIFT_HEADINGS, drift_rows(found["agreement"]), 1)
        lines += ["## Agreement by algorithm", "", POWER, "", drift]
    if "lsp_comparison" in found:
        lines += ["## LSP at generation 200", "", markdown(LSP_HEADINGS, lsp_rows(found["lsp_comparison"]))]
    if "speeds" in found:
        rates = markdown(SPEED_HEADINGS, speed_rows(found["speeds"]), 2)
        lines += ["## Evaluations per second and core", "", rates]
    return "\n".join(lines)


LSP_HEADINGS = ("Degree", "Algorithm", "What", "Ours", "Runs alive", "Authors", "Runs alive", "p (Welch)")
SPEED_HEADINGS = (
    "Part", "Algorithm", "Runs", "Evaluations", "Core seconds", "Per second", "Authors' core-days",
)  # fmt: skip


def lsp_rows(table: Any) -> list[list[str]]:
    return [
        [
            str(r.degree), r.algorithm, r.what, f"{r.mean:.3g} ± {r.sd:.2g}", str(r.n),
            f"{r.published_mean:.3g} ± {r.published_sd:.2g}", str(r.published_n),
            "–" if math.isnan(r.p) else f"{r.p:.2g}",
        ]
        for r in table.itertuples()
    ]  # fmt: skip


def speed_rows(table: Any) -> list[list[str]]:
    return [
        [
            r.part, r.algorithm, f"{r.runs:,}", f"{r.evaluations:,}", f"{r.core_seconds:,.1f}", f"{r.per_second:,.0f}",
            days(r.authors_days_from, r.authors_days_to),
        ]
        for r in table.itertuples()
    ]  # fmt: skip


def days(low: float, high: float) -> str:
    if math.isnan(low):
        return "–"
    return f"{low:.2g}" if low == high else f"{low:.2g} to {high:.2g}"
