"""report.html: everything on one page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from fouriertree.experiments.paper import facts, table
from fouriertree.experiments.paper.artefacts import (
    AGREEMENT_HEADINGS,
    DRIFT_HEADINGS,
    POWER,
    CandidateCollector,
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

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; max-width: 1180px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; margin-top: 2.4rem; border-bottom: 1px solid #ddd; }
table { border-collapse: collapse; font-size: 13px; margin: .7rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .18rem .6rem; border-bottom: 1px solid #eee; text-align: right; white-space: nowrap; }
th { background: #f4f4f4; position: sticky; top: 0; } .l1 td:nth-child(1), .l1 th:nth-child(1),
.l2 td:nth-child(-n+2), .l2 th:nth-child(-n+2), .l3 td:nth-child(-n+3), .l3 th:nth-child(-n+3) { text-align: left; }
td:last-child { white-space: normal; } tr.ours td { background: #eef4fb; } tr.ftg td { font-weight: 600; }
figure { margin: 1rem 0; } img { max-width: 100%; } figcaption, .note { color: #555; font-size: 13.5px; }
code, pre { background: #f4f4f4; border-radius: 3px; padding: .1rem .3rem; }
summary { cursor: pointer; margin: .3rem 0; }
.scroll { overflow-x: auto; }
"""

SPAN_NOTE = "The span is the largest number of terms in the generation, as in the authors' files."
CAPTIONS = {
    "heatmaps": "Published table, our runs of the same algorithms, and orthonormal FTG. The redder, the better for "
    "FTG. In (b), 0 stands for cells in which no GP succeeded.",
    "lsp": f"Mean and SD over the runs still alive. {SPAN_NOTE} For FTG, span, size and depth are those of the whole "
    "sum. FTG has no generations: generation g is "
    "where 1 + 500·g evaluations are spent. Dashed: the authors' runs, where their file was given; their loss is that "
    "of the generation, not the best so far.",
}


def write(experiment: Experiment, found: CandidateCollector) -> Path:
    """report.html and summary.md."""
    path = experiment.folder / "report.html"
    write_text(path, "\n".join(page(experiment, found)))
    write_text(experiment.folder / "summary.md", as_markdown(experiment, found))
    return path


def page(experiment: Experiment, found: CandidateCollector) -> Iterator[str]:
    title = "A Functional Analysis Approach to Symbolic Regression: reproduction"
    yield f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    yield f"<style>{STYLE}</style></head><body><h1>{title}</h1>"
    yield "<p class=note>Antonov, Kalkreuth, Yang, Bäck, van Stein, Kononova, GECCO 2024.</p>"
    yield bullets(key_numbers(experiment, found))
    yield setting(experiment)
    if "agreement" in found:
        yield from agreement_section(found["agreement"])
        yield from differences_section(experiment, found["differences"])
    if "heatmaps" in found:
        yield "<h2>Heat maps</h2>" + figure(found["heatmaps"], CAPTIONS["heatmaps"])
    if "table" in found:
        yield from table_section(found["table"])
        yield from errors_section(found["errors"])
    if "lsp" in found:
        yield from lsp_section(found)
    if "geometry" in found:
        yield "<h2>Geometry of the first steps</h2>"
        yield from (
            figure(path, "From a real run: elements, span, projection and residual.")
            for path in found["geometry"]
        )
    if "speeds" in found:
        yield from time_section(experiment, found["speeds"])
    yield "</body></html>"


def setting(experiment: Experiment) -> str:
    kind = "copied before mutation" if experiment.clean else "changed in place, as in the published runs"
    parts = [
        f"Command: <code>{escape(experiment.command)}</code>.",
        f"{experiment.runs} runs per cell with seeds 0 to {experiment.runs - 1}, which give points and trees;",
        f"{experiment.lsp_runs} runs per LSP curve." if "lsp" in experiment.parts else "no LSP.",
        f"Budget {facts.EVALUATIONS:,} evaluations. Parents in canonical GP are {kind}.",
        "Made with " + ", ".join(f"{k} {escape(v)}" for k, v in versions().items()) + ".",
    ]
    return f"<p class=note>{' '.join(parts)}</p>"


def agreement_section(cells: Any) -> Iterator[str]:
    yield "<h2>Agreement with the published table</h2>"
    yield f"<p>{escape(agreement_sentence(cells))}</p>"
    yield (
        "<p class=note>Per cell: Fisher's exact test of the success rate, and a test of the evaluations (the authors' "
        "single runs where they are given, otherwise an exact test of the three published quartiles against our runs). "
        f"{escape(POWER)}</p>"
    )
    yield html_table(DRIFT_HEADINGS, drift_rows(cells), left=1)
    for title, chosen, is_open in (
        ("disagree", cells[~cells.agrees], " open"),
        ("agree", cells[cells.agrees], ""),
    ):
        body = html_table(AGREEMENT_HEADINGS, agreement_rows(chosen))
        yield f"<details{is_open}><summary>{len(chosen)} cells {title}</summary>{body}</details>"


def differences_section(experiment: Experiment, sentences: Sequence[str]) -> Iterator[str]:
    yield "<h2>What the authors' programs did differently from the text</h2>" + bullets(sentences)
    if not any("in place" in sentence for sentence in sentences):
        other = experiment.command if experiment.clean else f"{experiment.command} --clean"
        other = other.replace(" --clean", "") if experiment.clean else other
        yield (
            "<p class=note>To see what mutation in place does to canonical GP, run "
            f"<code>{escape(other)}</code> too, into the same folder.</p>"
        )


def table_section(full: Any) -> Iterator[str]:
    yield "<h2>The published tables with our numbers</h2>"
    yield (
        "<p class=note>Over successful runs; FE: evaluations. The last column, which the paper does not have, is the "
        "median over those runs of the mean squared error on 1,000 fresh points. Files: table.csv, .md and .tex.</p>"
    )
    for tolerance, block in full.groupby("tolerance", sort=False):
        rows = [[r[1], r[2], *table.cells(r[3:])] for r in block.itertuples(index=False)]
        body = html_table((*table.HEADINGS[1:], table.TEST_HEADING), rows, left=2)
        shown = " open" if tolerance == facts.TOLERANCES[-1] else ""
        yield f"<details{shown}><summary>loss ≤ {tolerance:g}</summary>{body}</details>"


def errors_section(errors: Any) -> Iterator[str]:
    yield "<h2>Training error, test error, conditioning</h2>"
    yield (
        "<p class=note>Mean squared errors, medians over runs. A sum of 20 elements passes through any 20 points: a "
        "small training error beside a large test error is interpolation.</p>"
    )
    headings = (
        "Problem", "Algorithm", "Training MSE", "Test MSE", "Runs at 1e-8", "Test MSE of those", "Nodes", "Terms",
        "Condition: mean", "median", "Refused: mean",
    )  # fmt: skip
    rows = [
        [
            r.problem, r.algorithm, table.scientific(r.training_mse), table.scientific(r.test_mse),
            str(row["runs_at_1e-8"]), table.scientific(r.test_mse_of_those), f"{r.size:.0f}", f"{r.terms:.0f}",
            table.scientific(r.mean_condition), table.scientific(r.median_condition),
            "–" if r.mean_refused != r.mean_refused else f"{r.mean_refused:.1f}",
        ]
        for r, (_, row) in zip(errors.itertuples(), errors.iterrows(), strict=True)
    ]  # fmt: skip
    yield html_table(headings, rows, left=2)


def lsp_section(found: CandidateCollector) -> Iterator[str]:
    yield "<h2>Large-scale polynomials</h2>" + figure(found["lsp"], CAPTIONS["lsp"])
    yield "<p>At generation 200, runs still alive; events are improving individuals that enlarged the span.</p>"
    yield html_table(LSP_HEADINGS, lsp_rows(found["lsp_comparison"]))
    yield "<p>FTG at its end; the exact loss is that of the finished formula in rational arithmetic.</p>"
    ends = found["lsp_ftg"]
    rows = [
        [f"{v:.3g}" if isinstance(v, float) else str(v) for v in row] for row in ends.itertuples(index=False)
    ]
    yield html_table([name.replace("_", " ") for name in ends.columns], rows, left=2)
    yield from authors_ftg()


def authors_ftg() -> Iterator[str]:
    sentences = [
        f"Authors' FTG, degree {degree}, 8 seeds: loss {mean:g} ± {sd:g}, {terms} elements, size {size}."
        for degree, (mean, sd, terms, size) in facts.LSP_FTG.items()
    ]
    yield f"<p class=note>{' '.join(sentences)}</p>"


def time_section(experiment: Experiment, speeds: Any) -> Iterator[str]:
    yield "<h2>Time</h2>" + html_table(SPEED_HEADINGS, speed_rows(speeds), left=2)
    rows = [
        [s.started, s.command, str(s.jobs), f"{s.runs:,}", minutes(s.seconds)]
        for s in sessions(experiment.folder / "sessions.jsonl")
    ]
    yield html_table(("Started (UTC)", "Command", "Processes", "Runs", "Wall time"), rows, left=2)


def figure(path: Path, caption: str) -> str:
    return (
        f'<figure><img src="{embedded(path)}" alt="{escape(path.stem)}">'
        f"<figcaption>{escape(caption)} Files: figures/{path.stem}.png and .svg.</figcaption></figure>"
    )


def bullets(sentences: Iterator[str] | Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def html_table(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int = 3) -> str:
    """Rows of FTG are set in bold, those of orthonormal FTG in colour."""
    head = "".join(f"<th>{escape(str(heading))}</th>" for heading in headings)
    body = "".join(
        f"<tr{row_class(row)}>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f'<div class=scroll><table class="l{left}"><tr>{head}</tr>{body}</table></div>'


def row_class(row: Sequence[str]) -> str:
    if facts.ORTHONORMAL_FTG in row:
        return ' class="ours"'
    return ' class="ftg"' if facts.PUBLISHED_FTG in row else ""
