"""Figures as PNG and SVG files: heat maps of FTG against the best GP, and the curves of large-scale polynomials."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.authors import SERIES, Authors
from fouriertree.experiments.paper.lsp import GENERATIONS, SPAN, Curves, mean_and_sd
from fouriertree.plotting.canvas import new_figure

Grid = NDArray[np.float64]  #: (problems, tolerances)

DIFFERENCE = "(a) success rate of FTG − best GP (%)"
RATIO = "(b) median of FTG / smallest GP median"


def save(figure: Any, folder: Path, name: str) -> Path:
    """Write name.png and name.svg; the path of the first."""
    import matplotlib as mpl

    folder.mkdir(parents=True, exist_ok=True)
    # A fixed salt and no date make the files reproducible.
    with mpl.rc_context({"svg.hashsalt": "fouriertree"}):
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{name}.png", dpi=150)
    return folder / f"{name}.png"


# Heat maps -----------------------------------------------------------------------------------------------------------
def grid(table: Any, algorithm: str, column: str) -> Grid:
    """A column of a table in the published layout: (problems, tolerances)."""
    cells = table[table.algorithm == algorithm].set_index(["problem", "tolerance"])[column].to_dict()
    return np.array([[float(cells[p, t]) for t in facts.TOLERANCES] for p in facts.PROBLEMS])


def rate_difference(table: Any, algorithm: str = facts.PUBLISHED_FTG) -> Grid:
    """Rate of FTG minus the best rate of a GP."""
    best = np.max([grid(table, gp, "success_percent") for gp in facts.GP], axis=0)
    return np.asarray(grid(table, algorithm, "success_percent") - best)


def median_ratio(table: Any, algorithm: str = facts.PUBLISHED_FTG) -> Grid:
    """Median of FTG over the smallest median of a GP; 0 where no GP succeeded, infinite where only FTG failed."""
    medians = grid(table, algorithm, "median")
    smallest = np.min([grid(table, gp, "median") for gp in facts.GP], axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(smallest), 0.0, medians / smallest)


def draw_heatmaps(ours: Any, folder: Path) -> Path:
    """heatmaps.png and .svg: published, our runs of the same algorithm, orthonormal FTG."""
    published = facts.published_table()
    figure = new_figure(17.5, 9.6)
    axes = figure.subplots(2, 3, sharex=True, sharey=True)
    columns = (
        ("published table", published, facts.PUBLISHED_FTG),
        ("our runs of FTG as published", ours, facts.PUBLISHED_FTG),
        ("orthonormal FTG (ours) against the same GPs", ours, facts.ORTHONORMAL_FTG),
    )
    for j, (title, table, algorithm) in enumerate(columns):
        left = heat_map(axes[0, j], rate_difference(table, algorithm), 100.0, "Reds", "{:.0f}")
        right = heat_map(axes[1, j], median_ratio(table, algorithm), 1.0, "Reds_r", "{:.2f}")
        axes[0, j].set_title(title, fontsize=12)
        axes[1, j].set_xlabel("tolerance")
    for row, image, label in ((0, left, DIFFERENCE), (1, right, RATIO)):
        figure.colorbar(image, ax=axes[row, :], pad=0.01, aspect=28).set_label(label, fontsize=10)
    return save(figure, folder, "heatmaps")


def heat_map(axes: Any, values: Grid, top: float, colours: str, form: str) -> Any:
    """One heat map with its values in the cells."""
    image = axes.imshow(values, cmap=colours, vmin=0.0, vmax=top, aspect="auto")
    axes.set_xticks(range(len(facts.TOLERANCES)), [f"$10^{{{e}}}$" for e in facts.EXPONENTS])
    axes.set_yticks(range(len(facts.PROBLEMS)), facts.PROBLEMS)
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(len(facts.TOLERANCES) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(facts.PROBLEMS) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.2)
    axes.tick_params(which="minor", length=0)
    for (i, j), value in np.ndenumerate(values):
        red, green, blue, _ = image.cmap(image.norm(value if math.isfinite(value) else top))
        dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.55
        text = form.format(value) if math.isfinite(value) else "–"
        axes.text(j, i, text, ha="center", va="center", fontsize=9, color="white" if dark else "0.15")
    return image


# Large-scale polynomials ---------------------------------------------------------------------------------------------
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


def draw_lsp(found: Curves, events: dict[Any, tuple[float, float]], theirs: Authors, folder: Path) -> Path:
    """lsp.png and .svg."""
    figure = new_figure(12.0, 14.5)
    axes = figure.subplots(len(ROWS), len(facts.LSP_DEGREES), sharex=True)
    for j, degree in enumerate(facts.LSP_DEGREES):
        for i, (series, label) in enumerate(ROWS.items()):
            curves(axes[i, j], found, theirs, degree, series)
            axes[i, 0].set_ylabel(label, fontsize=11)
        axes[0, j].set_title(f"$\\sum_{{i=0}}^{{{degree}}} x^i$ on $[-1, 1]$", fontsize=13)
        axes[-1, j].set_xlabel("generation (500 evaluations; FTG on the same scale)")
        counts(axes[0, j], events, degree)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=10)
    return save(figure, folder, "lsp")


def curves(axes: Any, found: Curves, theirs: Authors, degree: int, series: str) -> None:
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
