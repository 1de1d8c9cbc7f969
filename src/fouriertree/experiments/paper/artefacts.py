"""Result files, written from the records of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from fouriertree.experiments.paper import agreement, figures, geometry, lsp, table
from fouriertree.experiments.paper.differences import differences
from fouriertree.experiments.paper.experiment import Experiment, Results
from fouriertree.experiments.paper.statistics import errors
from fouriertree.experiments.paper.summary import speeds


def write_all(experiment: Experiment) -> Results:
    """Write every artefact that was asked for, and return their contents for the report."""
    folder = experiment.folder
    folder.mkdir(parents=True, exist_ok=True)
    found: Results = {}
    if experiment.table_tasks:
        write(folder, {"runs.csv": experiment.frame})
    if "table" in experiment.parts:
        found |= write_table(experiment)
    if "heatmaps" in experiment.parts:
        found["heatmaps"] = figures.draw_heatmaps(experiment.table, folder / "figures")
    if "lsp" in experiment.parts:
        found |= write_lsp(experiment)
    if "geometry" in experiment.parts:
        found["geometry"] = geometry.draw(folder / "figures")
    if experiment.tasks:
        found["speeds"] = speeds(experiment.tasks, experiment.store)
        write(folder, {"speeds.csv": found["speeds"]})
    return found


def write(folder: Path, contents: dict[str, Any]) -> None:
    """Write texts and frames to the files of these names."""
    for name, content in contents.items():
        text = content if isinstance(content, str) else content.to_csv(index=False, lineterminator="\n")
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def write_table(experiment: Experiment) -> Results:
    """The table, its errors, and the tests of agreement."""
    runs = experiment.frame
    full = table.with_test_errors(experiment.table, runs)
    cells = agreement.agreement(runs, experiment.authors)
    found = {"table": full, "errors": errors(runs), "agreement": cells}
    files = {
        "table.csv": table.as_csv(experiment.table),
        "table.md": table.published(full).markdown(),
        "table.tex": table.as_latex(full),
        "agreement.csv": cells,
        "agreement.md": agreement_markdown(cells),
        "errors.csv": found["errors"],
    }
    write(experiment.folder, files)
    return found | {"differences": differences(runs, experiment.store)}


def agreement_markdown(cells: Any) -> str:
    """The disagreeing cells first, then the agreeing ones."""
    parts = [agreement.sentence(cells), agreement.POWER + "\n", table.drift_table(cells).markdown()]
    for verdict, chosen in (("disagree", cells[~cells.agrees]), ("agree", cells[cells.agrees])):
        parts += [f"\n## Cells that {verdict}\n", table.agreement_table(chosen).markdown()]
    return "\n".join(parts)


def write_lsp(experiment: Experiment) -> Results:
    """The figure, its curves, and the values at the last generation."""
    records = lsp.by_curve(experiment.lsp_tasks, experiment.store)
    curves, authors = lsp.curves(records), experiment.authors
    figure = figures.draw_lsp(curves, lsp.events(records), authors, experiment.folder / "figures")
    found = {"lsp_comparison": lsp.comparison(records, authors), "lsp_ftg": lsp.ftg_rows(records)}
    files = {"lsp_generations": lsp.generations(curves), "lsp_runs": lsp_runs(experiment), **found}
    write(experiment.folder, {f"{name}.csv": frame for name, frame in files.items()})
    return {"lsp": figure, **found}


def lsp_runs(experiment: Experiment) -> Any:
    """A row per LSP run."""
    rows = []
    for task in experiment.lsp_tasks:
        record = {k: v for k, v in experiment.store[task].items() if k not in ("series", "accepted_at")}
        rows.append({"algorithm": task.algorithm, "problem": task.problem, "seed": task.seed, **record})
    return pd.DataFrame(rows)
