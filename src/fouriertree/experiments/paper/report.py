"""report.html: all results of the reproduction on one self-contained page."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fouriertree.experiments.paper import agreement, artefacts, facts, summary, table
from fouriertree.experiments.paper.experiment import Experiment, Results
from fouriertree.experiments.paper.table import Table
from fouriertree.report.templating import render


def write(experiment: Experiment, results: Results) -> Path:
    """report.html and summary.md."""
    pages = {"report.html": page(experiment, results), "summary.md": summary.as_markdown(experiment, results)}
    artefacts.write(experiment.folder, pages)
    return experiment.folder / "report.html"


def page(experiment: Experiment, results: Results) -> str:
    """The page; a part that is not in `results` is left out."""
    compared = any("in place" in sentence for sentence in results.get("differences", ()))
    command = experiment.command
    other = command.replace(" --clean", "") if experiment.clean else f"{command} --clean"
    return render(
        "paper.html",
        experiment=experiment,
        facts=facts,
        results=results,
        key_numbers=list(summary.key_numbers(experiment, results)),
        versions=summary.versions(),
        tables=dict(tables(experiment, results)),
        agreement_sentence=agreement.sentence,
        power=agreement.POWER,
        other_command="" if compared else other,
        embedded=embedded,
    )


def tables(experiment: Experiment, results: Results) -> Iterator[tuple[str, Table | dict[float, Table]]]:
    """The tables of the page by name."""
    if "agreement" in results:
        cells = results["agreement"]
        yield "drift", table.drift_table(cells)
        yield "disagree", table.agreement_table(cells[~cells.agrees])
        yield "agree", table.agreement_table(cells[cells.agrees])
    if "table" in results:
        blocks = results["table"].groupby("tolerance", sort=False)
        yield "published", {tolerance: without_tolerance(block) for tolerance, block in blocks}
        yield "errors", table.error_table(results["errors"])
    if "lsp" in results:
        yield "lsp", table.lsp_table(results["lsp_comparison"])
        ends = results["lsp_ftg"]
        rows = [[f"{v:.3g}" if isinstance(v, float) else str(v) for v in row] for row in ends.to_numpy()]
        yield "lsp_ftg", Table([name.replace("_", " ") for name in ends.columns], rows, range(2))
    if "speeds" in results:
        yield "speeds", table.speed_table(results["speeds"])
        headings = ("Started (UTC)", "Command", "Processes", "Runs", "Wall time")
        rows = [
            [s.started, s.command, str(s.jobs), f"{s.runs:,}", summary.minutes(s.seconds)]
            for s in experiment.sessions
        ]
        yield "sessions", Table(headings, rows, range(2))


def without_tolerance(block: Any) -> Table:
    """The published layout without its first column."""
    headings, rows, _ = table.published(block)
    return Table(headings[1:], [row[1:] for row in rows], range(2))


def embedded(path: Path) -> str:
    """A PNG as the value of an <img> tag's src."""
    return "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
