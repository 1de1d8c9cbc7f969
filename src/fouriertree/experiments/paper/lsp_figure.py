"""The LSP figure: a column per degree, a row per quantity, mean and SD over the runs that have not ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.authors import SERIES, Authors
from fouriertree.experiments.paper.figures import save
from fouriertree.experiments.paper.lsp import GENERATIONS, SPAN, Curves, mean_and_sd
from fouriertree.plotting.canvas import new_figure

ROWS = {
    "loss": "best loss so far", SPAN: "span: terms", "size": "tree size: nodes", "depth": "tree depth: levels",
}  # fmt: skip
#: label and colour of the algorithms, in the order in which they are drawn
STYLES = {
    facts.CANONICAL: ("canonical GP", "#7f7f7f"),
    facts.ONE_PLUS_LAMBDA: ("(1+λ)-GP", "#e8837a"),
    facts.PUBLISHED_FTG: ("FTG", "#c00000"),
    facts.ORTHONORMAL_FTG: ("orthonormal FTG (ours)", "#1f5fa8"),
}
#: lower end of a band that would reach zero, as a fraction of its mean
SHORTEST_BAND = 0.02
#: smaller losses are drawn at this value
LOSS_FLOOR = 1e-12


def draw(found: Curves, events: dict[Any, tuple[float, float]], theirs: Authors, folder: Path) -> Path:
    """lsp.png and .svg."""
    figure = new_figure(12.0, 14.5)
    axes = figure.subplots(len(ROWS), len(facts.LSP_DEGREES), sharex=True)
    for j, degree in enumerate(facts.LSP_DEGREES):
        for i, (series, label) in enumerate(ROWS.items()):
            panel(axes[i, j], found, theirs, degree, series)
            axes[i, 0].set_ylabel(label, fontsize=11)
        axes[0, j].set_title(f"$\\sum_{{i=0}}^{{{degree}}} x^i$ on $[-1, 1]$", fontsize=13)
        axes[-1, j].set_xlabel("generation (500 evaluations; FTG on the same scale)")
        counts(axes[0, j], events, degree)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=10)
    return save(figure, folder, "lsp")


def panel(axes: Any, found: Curves, theirs: Authors, degree: int, series: str) -> None:
    x = np.arange(GENERATIONS)[1:]
    for algorithm, (label, colour) in STYLES.items():
        mean, sd = (values[1:] for values in mean_and_sd(found[degree, algorithm][series]))
        mean = np.maximum(mean, LOSS_FLOOR if series == "loss" else 0.0)
        # One or two generations make a point and no line.
        marker = "o" if np.isfinite(mean).sum() <= 2 else ""
        axes.plot(
            x, mean, marker=marker, color=colour, linewidth=2, zorder=3, clip_on=not marker, label=label
        )
        low = np.maximum(mean - sd, SHORTEST_BAND * mean)
        axes.fill_between(x, low, mean + sd, color=colour, alpha=0.15, linewidth=0, zorder=1)
        if (table := theirs.lsp_generations(degree, algorithm)) is not None:
            style = {"linestyle": "--", "linewidth": 1.4, "label": f"{label}: authors", "zorder": 4}
            axes.plot("gen_number", f"av_{SERIES[series]}", data=table.iloc[1:], color=colour, **style)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1, GENERATIONS - 1)
    if series == "loss":
        axes.set_ylim(bottom=LOSS_FLOOR)
    axes.grid(which="major", color="0.9", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)


def counts(axes: Any, events: dict[Any, tuple[float, float]], degree: int) -> None:
    """Text with the numbers of improving individuals that enlarged the span."""
    lines = ["improving and of larger span:"]
    for algorithm in (facts.CANONICAL, facts.ONE_PLUS_LAMBDA):
        mean, sd = events[degree, algorithm]
        published, published_sd = facts.LSP_AT_THE_END[degree, algorithm]["events"]
        label, _ = STYLES[algorithm]
        lines.append(f"{label} {mean:.2f} ± {sd:.2f} (authors {published:.2f} ± {published_sd:.2f})")
    style = {"transform": axes.transAxes, "fontsize": 8.5, "va": "bottom", "linespacing": 1.4}
    axes.text(0.03, 0.06, "\n".join(lines), **style)
