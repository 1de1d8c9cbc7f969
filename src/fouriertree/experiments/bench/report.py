"""The results as a Markdown page with two figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fouriertree.experiments.bars import Bar
from fouriertree.experiments.bench.names import NOISY
from fouriertree.experiments.bench.summary import (
    HEADINGS,
    TEXTS,
    Row,
    cells,
    has_law,
    kind_of_noise,
    noise_text,
    rows,
    solved,
)
from fouriertree.experiments.bench.systems import LINEAR, OURS
from fouriertree.experiments.store import Record
from fouriertree.plotting.canvas import new_figure

INTRODUCTION = """\
# Benchmarks

Systems for symbolic regression on ground-truth problems, whose law they should recover, and on black-box tables, which
they should predict. Every fit has its own process, one thread and the same time limit; imports and compilation are not
timed. Features are called x0, x1, …. Noise is SRBench's: Normal(0, level · rms(y)) on the training target, none on the
test target; student noise is level · rms(y) · T/√3 with Student's t of 3 degrees of freedom.

*Solved* is SRBench's criterion: after simplification and rounding of constants, model − law is a constant, or model/law
is a constant other than zero. Constants are rounded to three decimals, as there; and, so that constants of nature and
odd units survive, also to four significant digits and to three decimals in units of powers of ten. Without noise a
model also counts if it is equivalent to the law, by 30-digit arithmetic on points outside the training set, and has at
most twice the law's nodes and ten. The rate of solved cases is over those with a known law, all but
first_principles_absorption. *Structure* is right if only constants differ: every constant of the model except
exponents becomes a free parameter, also the factor 1 of a term of a sum, fitted to 200 clean rows from its value and
from four starts jittered by 10 %; then the largest relative error on 200 other rows is below 1e-6, and the model has at
most twice the law's nodes and ten. *Exact* is a relative error of at most 1e-6 on the test set, with noise 1e-3. *R²*
and *size* are medians of the test R² and of the nodes of the simplified model; *s* is the median time of a fit in
seconds, *s solved* that of the solved ones. Operon, RILS-ROLS and eggp always use the whole time limit.

*Disguise* multiplies every variable and the target by a random factor, log-uniform between 0.2 and 5, and permutes the
features: no constant stays round, as in measured units. The suite everyday has laws as engineers write them: sums of
two or three terms, each a coefficient times a product of simple functions of different variables. The suite
compositions has functions of several variables, times a power law, plus a simple term; feynman-solved has the laws of
feynman, solved for one of their variables."""


def write(path: Path, records: Sequence[Record], bars: Sequence[Bar], command: str) -> None:
    """Write the page, and its figures to the folder `images` beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(sections(path, records, bars, command)) + "\n", encoding="utf-8")


def sections(path: Path, records: Sequence[Record], bars: Sequence[Bar], command: str) -> Iterator[str]:
    table = rows(records)
    yield INTRODUCTION
    yield f"```sh\n{command}\n```"
    for suite in dict.fromkeys(row.suite for row in table):
        yield f"## {suite}"
        rule = ["---" if heading in TEXTS else "---:" for heading in HEADINGS[1:]]
        yield markdown([HEADINGS[1:], rule, *(cells(row)[1:] for row in table if row.suite == suite)])
    yield from figures(path, table)
    if bars:
        yield "## Goals\n\n```text\n" + "\n".join(bar.line() for bar in bars) + "\n```"
    yield from case_by_case(records)


def markdown(lines: Iterable[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def figures(path: Path, table: Sequence[Row]) -> Iterator[str]:
    laws = [row for row in table if row.suite not in NOISY and row.system != LINEAR]
    tables = [row for row in table if row.suite in NOISY and math.isfinite(row.r2)]
    if laws:
        solved_by_noise(laws, path.parent / "images" / "bench-solved.png")
        yield "## Laws recovered\n\n![Recovery rate by suite, noise and system](images/bench-solved.png)"
    if tables:
        accuracy_by_size(tables, path.parent / "images" / "bench-accuracy.png")
        yield "## Accuracy and size\n\n![Median R² against median size](images/bench-accuracy.png)"


def case_by_case(records: Sequence[Record]) -> Iterator[str]:
    """One table per suite with laws: which system solved which case at which level of noise."""
    systems = list(dict.fromkeys(record["system"] for record in records))
    for suite in dict.fromkeys(r["suite"] for r in records if r["suite"] not in NOISY):
        marks: dict[tuple[str, str], dict[str, list[bool]]] = {}
        for record in (record for record in records if record["suite"] == suite):
            case = record["case"] + (" (disguised)" if record["disguise"] else "")
            noise = noise_text(record["noise"], kind_of_noise(record))
            of_case = marks.setdefault((case, noise), {system: [] for system in systems})
            if has_law(record):
                of_case[record["system"]].append(solved(record))
        lines = [["case", "noise", *systems], ["---"] * (len(systems) + 2)]
        lines += [[case, noise, *map(mark, found.values())] for (case, noise), found in marks.items()]
        yield f"## {suite}, case by case\n\n" + markdown(lines)


def mark(solutions: list[bool]) -> str:
    """✓ for solved, nothing for unsolved, a fraction where seeds disagree, a dash without fits or a known law.

    >>> mark([True]), mark([False]), mark([True, False]), mark([])
    ('✓', '', '1/2', '–')
    """
    if not solutions:
        return "–"
    if all(solutions):
        return "✓"
    return f"{sum(solutions)}/{len(solutions)}" if any(solutions) else ""


# Figures -------------------------------------------------------------------------------------------------------------
#: label, colour and marker of every system
STYLES = {
    OURS: ("fouriertree", "#1f5fa8", "o"), "operon": ("operon", "#c0392b", "s"),
    "rils-rols": ("rils-rols", "#2e8b57", "^"), "eggp": ("eggp", "#8c6bb1", "D"),
    "gplearn": ("gplearn", "#d08a1d", "v"), LINEAR: ("linear", "#7f7f7f", "X"),
}  # fmt: skip


def solved_by_noise(rows: Sequence[Row], path: Path) -> None:
    """Bar charts of recovery rates: a panel per noise level, a group per suite, a bar per system."""
    noises = sorted({(row.noise, row.noise_kind) for row in rows})
    suites = list(dict.fromkeys(row.suite for row in rows))
    systems = list(dict.fromkeys(row.system for row in rows))
    width = max(6.0, 1.8 + len(suites) * (0.3 + 0.26 * len(systems)))
    figure = new_figure(width, 0.6 + 2.6 * len(noises))
    panels = figure.subplots(len(noises), 1, sharex=True, squeeze=False)[:, 0]
    for axes, noise in zip(panels, noises, strict=True):
        grouped_bars(axes, [row for row in rows if (row.noise, row.noise_kind) == noise], suites, systems)
        axes.set_title(
            f"noise {noise_text(*noise)}" if noise[0] else "without noise", fontsize=10, loc="left"
        )
        axes.set_ylabel("laws recovered (%)")
    panels[-1].set_xticks(np.arange(len(suites)), suites)
    legend(figure, panels[0])
    save(figure, path)


def grouped_bars(axes: Any, rows: Sequence[Row], suites: Sequence[str], systems: Sequence[str]) -> None:
    """A group of labelled bars per suite."""
    width = 0.8 / len(systems)
    for k, system in enumerate(systems):
        label, colour, _ = STYLES[system]
        shares = {row.suite: 100.0 * row.solved for row in rows if row.system == system}
        heights = [shares.get(suite, np.nan) for suite in suites]
        places = np.arange(len(suites)) + (k + 0.5) * width - 0.4
        drawn = axes.bar(places, heights, 0.92 * width, color=colour, label=label)
        axes.bar_label(drawn, ["" if np.isnan(h) else f"{h:.0f}" for h in heights], fontsize=8, padding=1)
    axes.set_ylim(0.0, 108.0)
    axes.set_yticks([0, 25, 50, 75, 100])
    plain(axes)


def accuracy_by_size(rows: Sequence[Row], path: Path) -> None:
    """Scatter plot of median test R² against median number of nodes, a point per system."""
    figure = new_figure(6.6, 4.2)
    axes = figure.subplots()
    for row in rows:
        label, colour, marker = STYLES[row.system]
        axes.scatter([row.size], [row.r2], 90, colour, marker=marker, alpha=0.85, zorder=3, label=label)
    axes.set_xscale("log")
    sizes, accuracies = [row.size for row in rows], [row.r2 for row in rows]
    axes.set_xlim(0.7 * min(sizes), 1.4 * max(sizes))
    margin = max(0.02, 0.15 * (max(accuracies) - min(accuracies)))
    axes.set_ylim(min(accuracies) - margin, max(accuracies) + margin)
    integer_ticks(axes.xaxis)
    axes.set_xlabel("median size (nodes)")
    axes.set_ylabel("median test R²")
    axes.set_title("up and to the left is better", fontsize=10)
    plain(axes)
    legend(figure, axes)
    save(figure, path)


def integer_ticks(axis: Any) -> None:
    """Ticks 10, 20, 50 on a logarithmic axis, not 2 × 10¹."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_formatter(NullFormatter())


def plain(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.9", zorder=0)
    axes.set_axisbelow(True)


def legend(figure: Any, axes: Any) -> None:
    """A legend beside the axes."""
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", frameon=False)


def save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
