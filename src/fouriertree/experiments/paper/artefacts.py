"""Result files, written from the records of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from fouriertree.experiments.paper import agreement, facts, geometry, heatmaps, lsp, lsp_figure, table
from fouriertree.experiments.paper.differences import differences
from fouriertree.experiments.paper.experiment import Experiment
from fouriertree.experiments.paper.polynomials import SERIES
from fouriertree.experiments.paper.speed import speeds
from fouriertree.experiments.paper.statistics import errors

#: contents of the report by name; parts that were not asked for are absent
CandidateCollector = dict[str, Any]


def write_all(experiment: Experiment) -> CandidateCollector:
    """Write every artefact that was asked for, and return their contents for the report."""
    folder = experiment.folder
    folder.mkdir(parents=True, exist_ok=True)
    found: CandidateCollector = {}
    if experiment.table_tasks:
        write_csv(folder / "runs.csv", experiment.frame)
    if "table" in experiment.parts:
        found |= write_table(experiment)
    if "heatmaps" in experiment.parts:
        found["heatmaps"] = heatmaps.draw(experiment.table, folder / "figures")
    if "lsp" in experiment.parts:
        found |= write_lsp(experiment)
    if "geometry" in experiment.parts:
        found["geometry"] = geometry.draw(folder / "figures")
    if experiment.tasks:
        found["speeds"] = speeds(experiment.tasks, experiment.store)
        write_csv(folder / "speeds.csv", found["speeds"])
    return found


def write_table(experiment: Experiment) -> CandidateCollector:
    """The table, its errors, and the tests of agreement."""
    folder, runs = experiment.folder, experiment.frame
    full = table.with_test_errors(experiment.table, runs)
    write_text(folder / "table.csv", table.as_csv(experiment.table))
    write_text(folder / "table.md", table.as_markdown(full))
    write_text(folder / "table.tex", table.as_latex(full))
    cells = agreement.agreement(runs, experiment.authors)
    write_csv(folder / "agreement.csv", cells)
    write_text(folder / "agreement.md", agreement_markdown(cells))
    found_errors = errors(runs)
    write_csv(folder / "errors.csv", found_errors)
    return {
        "table": full,
        "errors": found_errors,
        "agreement": cells,
        "differences": differences(runs, experiment.store),
    }


def write_lsp(experiment: Experiment) -> CandidateCollector:
    """The figure, its curves, and the values at the last generation."""
    folder, tasks, store = experiment.folder, experiment.lsp_tasks, experiment.store
    curves, events = lsp.curves(tasks, store), lsp.events(tasks, store)
    figure = lsp_figure.draw(curves, events, experiment.authors, folder / "figures")
    compared = lsp.comparison(tasks, store, experiment.authors)
    ends = lsp.ftg_rows(tasks, store)
    write_csv(folder / "lsp_generations.csv", generations(curves))
    write_csv(folder / "lsp_runs.csv", lsp_runs(experiment))
    write_csv(folder / "lsp_comparison.csv", compared)
    write_csv(folder / "lsp_ftg.csv", ends)
    return {"lsp": figure, "lsp_comparison": compared, "lsp_ftg": ends}


def lsp_runs(experiment: Experiment) -> Any:
    """A row per LSP run."""
    rows = []
    for task in experiment.lsp_tasks:
        record = {k: v for k, v in experiment.store[task].items() if k not in ("series", "accepted_at")}
        rows.append({"algorithm": task.algorithm, "problem": task.problem, "seed": task.seed, **record})
    return pd.DataFrame(rows)


def generations(curves: lsp.Curves) -> Any:
    """Mean and SD of every series by generation, and the number of runs that have not ended."""
    frames = []
    for (degree, algorithm), series in curves.items():
        columns: dict[str, Any] = {
            "degree": degree,
            "algorithm": algorithm,
            "generation": range(lsp.GENERATIONS),
        }
        columns["alive"] = (series["loss"] == series["loss"]).sum(axis=0)
        for name in SERIES:
            columns[f"mean_{name}"], columns[f"sd_{name}"] = lsp.mean_and_sd(series[name])
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames)


def agreement_markdown(cells: Any) -> str:
    """The disagreeing cells first, then the agreeing ones."""
    parts = [agreement_sentence(cells), POWER + "\n", table.markdown(DRIFT_HEADINGS, drift_rows(cells), 1)]
    for title, chosen in (
        ("Cells that disagree", cells[~cells.agrees]),
        ("Cells that agree", cells[cells.agrees]),
    ):
        parts += [f"\n## {title}\n", table.markdown(AGREEMENT_HEADINGS, agreement_rows(chosen))]
    return "\n".join(parts)


AGREEMENT_HEADINGS = (
    "Tolerance", "Problem", "Algorithm", "Published", "Ours", "Published quartiles", "Our quartiles", "p rate",
    "p evaluations", "Reason",
)  # fmt: skip


#: power of the tests of single cells
POWER = (
    "A cell agrees if it is not rejected. With 100 runs on either side, the test of a cell detects a factor of 3 in "
    "the evaluations nearly always, a factor of 2 half of the time and a factor of 1.5 rarely; smaller differences "
    "show only in the aggregates over an algorithm's cells."
)
DRIFT_HEADINGS = (
    "Algorithm", "Cells", "Agree", "Below 5 % uncorrected", "Our median / published", "Cells slower", "Cells faster",
    "Our rate − published (points)",
)  # fmt: skip


def drift_rows(cells: Any) -> list[list[str]]:
    return [
        [
            r.algorithm, str(r.cells), str(r.agree), str(r.below_level), f"{r.median_ratio:.2f}", str(r.cells_slower),
            str(r.cells_faster), f"{r.rate_difference:+.1f}",
        ]
        for r in agreement.drift(cells).itertuples()
    ]  # fmt: skip


def agreement_rows(cells: Any) -> list[list[str]]:
    return [
        [
            f"{c.tolerance:g}", c.problem, c.algorithm, f"{c.published_successes}/{c.published_runs}",
            f"{c.successes}/{c.runs}", quartiles(c.published_q1, c.published_median, c.published_q3),
            quartiles(c.q1, c.median, c.q3), f"{c.p_rate:.2g}", f"{c.p_evaluations:.2g}", c.reason,
        ]
        for c in cells.itertuples()
    ]  # fmt: skip


def quartiles(*values: float) -> str:
    return " · ".join("∞" if v == float("inf") else f"{v:.0f}" for v in values)


def agreement_sentence(cells: Any) -> str:
    below = int((cells.p <= agreement.LEVEL).sum())
    runs = int(cells.runs.max())
    caution = "; with so few runs the tests have little power" if runs < facts.RUNS else ""
    return (
        f"{int(cells.agrees.sum())} of {len(cells)} cells agree (Holm at a family-wise level of {agreement.LEVEL:.0%}; "
        f"without correction, {below} are below {agreement.LEVEL:.0%}, where up to {agreement.LEVEL * len(cells):.0f} "
        f"are expected under the null hypothesis). {runs} runs against {facts.RUNS}{caution}.\n"
    )


def write_csv(path: Path, frame: Any) -> None:
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))


def write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
