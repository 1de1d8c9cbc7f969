"""The two heat maps: FTG against the best GP, in success rate and in median evaluations."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.figures import save
from fouriertree.plotting.canvas import new_figure

Grid = NDArray[np.float64]  #: (problems, tolerances)

DIFFERENCE = "(a) success rate of FTG − best GP (%)"
RATIO = "(b) median of FTG / smallest GP median"


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


def draw(ours: Any, folder: Path) -> Path:
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
        left = panel(axes[0, j], rate_difference(table, algorithm), 100.0, "Reds", "{:.0f}")
        right = panel(axes[1, j], median_ratio(table, algorithm), 1.0, "Reds_r", "{:.2f}")
        axes[0, j].set_title(title, fontsize=12)
        axes[1, j].set_xlabel("tolerance")
    for row, image, label in ((0, left, DIFFERENCE), (1, right, RATIO)):
        figure.colorbar(image, ax=axes[row, :], pad=0.01, aspect=28).set_label(label, fontsize=10)
    return save(figure, folder, "heatmaps")


def panel(axes: Any, values: Grid, top: float, colours: str, form: str) -> Any:
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
