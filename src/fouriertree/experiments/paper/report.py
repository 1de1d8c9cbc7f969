"""report.html: all results of the reproduction on one self-contained page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fouriertree.experiments.paper import facts, table
from fouriertree.experiments.paper.artefacts import (
    AGREEMENT_HEADINGS,
    DRIFT_HEADINGS,
    POWER,
    agreement_rows,
    agreement_sentence,
    drift_rows,
    write_text,
)
from fouriertree.experiments.paper.experiment import Experiment
from fouriertree.experiments.paper.figures import embedded
from fouriertree.experiments.paper.speed import sessions, versions
from fouriertree.experiments.paper.summary import (
    LSP_HEADINGS,
    SPEED_HEADINGS,
    as_markdown,
    key_numbers,
    lsp_rows,
    minutes,
    speed_rows,
)
from fouriertree.report.templating import render

ERROR_HEADINGS = (
    "Problem", "Algorithm", "Training MSE", "Test MSE", "Runs at 1e-8", "Test MSE of those", "Nodes", "Terms",
    "Condition: mean", "median", "Rejected: mean",
)  # fmt: skip
SESSION_HEADINGS = ("Started (UTC)", "Command", "Processes", "Runs", "Wall time")

#: headings, rows, and the left-aligned columns
Table = tuple[Sequence[str], Sequence[Sequence[str]], range]


def write(experiment: Experiment, results: dict[str, Any]) -> Path:
    """report.html and summary.md."""
    path = experiment.folder / "report.html"
    write_text(path, page(experiment, results))
    write_text(experiment.folder / "summary.md", as_markdown(experiment, results))
    return path


def page(experiment: Experiment, results: dict[str, Any]) -> str:
    """The page; a part that is not in `results` is left out."""
    compared = any("in place" in sentence for sentence in results.get("differences", ()))
    command = experiment.command
    other = command.replace(" --clean", "") if experiment.clean else f"{command} --clean"
    return render(
        "paper.html",
        experiment=experiment,
        facts=facts,
        results=results,
        key_numbers=list(key_numbers(experiment, results)),
        versions=versions(),
        tables=dict(tables(experiment, results)),
        agreement_sentence=agreement_sentence,
        power=POWER,
        other_command="" if compared else other,
        embedded=embedded,
    )


def tables(
    experiment: Experiment, results: Mapping[str, Any]
) -> Iterator[tuple[str, Table | dict[float, Table]]]:
    """The tables of the page by name."""
    if "agreement" in results:
        cells = results["agreement"]
        yield "drift", (DRIFT_HEADINGS, drift_rows(cells), range(1))
        yield "disagree", (AGREEMENT_HEADINGS, agreement_rows(cells[~cells.agrees]), range(3))
        yield "agree", (AGREEMENT_HEADINGS, agreement_rows(cells[cells.agrees]), range(3))
    if "table" in results:
        blocks = results["table"].groupby("tolerance", sort=False)
        yield "published", {tolerance: published_table(block) for tolerance, block in blocks}
        yield "errors", (ERROR_HEADINGS, list(error_rows(results["errors"])), range(2))
    if "lsp" in results:
        yield "lsp", (LSP_HEADINGS, lsp_rows(results["lsp_comparison"]), range(3))
        ends = results["lsp_ftg"]
        rows = [[f"{v:.3g}" if isinstance(v, float) else str(v) for v in row] for row in ends.to_numpy()]
        yield "lsp_ftg", ([name.replace("_", " ") for name in ends.columns], rows, range(2))
    if "speeds" in results:
        yield "speeds", (SPEED_HEADINGS, speed_rows(results["speeds"]), range(2))
        noted = sessions(experiment.folder / "sessions.jsonl")
        rows = [[s.started, s.command, str(s.jobs), f"{s.runs:,}", minutes(s.seconds)] for s in noted]
        yield "sessions", (SESSION_HEADINGS, rows, range(2))


def published_table(block: Any) -> Table:
    """The rows of one tolerance in the published layout, with the test error."""
    rows = [[r[1], r[2], *table.cells(r[3:])] for r in block.itertuples(index=False)]
    return (*table.HEADINGS[1:], table.TEST_HEADING), rows, range(2)


def error_rows(errors: Any) -> Iterator[list[str]]:
    for row in errors.to_dict("records"):
        yield [
            row["problem"], row["algorithm"], table.scientific(row["training_mse"]), table.scientific(row["test_mse"]),
            str(row["runs_at_1e-8"]), table.scientific(row["test_mse_of_those"]), f"{row['size']:.0f}",
            f"{row['terms']:.0f}", table.scientific(row["mean_condition"]), table.scientific(row["median_condition"]),
            "–" if row["mean_refused"] != row["mean_refused"] else f"{row['mean_refused']:.1f}",
        ]  # fmt: skip
