"""Two pictures: laws found as noise grows, and accuracy against size on tables of measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fouriertree.bench.summary import Row
from fouriertree.bench.systems import OURS

COLOURS = {
    OURS: "#1f5fa8",
    "operon": "#c0392b",
    "rils-rols": "#2e8b57",
    "eggp": "#8c6bb1",
    "gplearn": "#d08a1d",
    "linear": "#7f7f7f",
}
MARKERS = {OURS: "o", "operon": "s", "rils-rols": "^", "eggp": "D", "gplearn": "v", "linear": "X"}
LABELS = {OURS: "fouriertree"}


def style(system: str) -> dict[str, Any]:
    return {"color": COLOURS.get(system, "#444444"), "marker": MARKERS.get(system, "o")}


def solved_by_noise(rows: Sequence[Row], path: Path) -> None:
    """Bars: the share of laws found, a group per suite and level of noise, a bar per system."""
    groups = list(dict.fromkeys((row.suite, row.noise) for row in rows))
    systems = list(dict.fromkeys(row.system for row in rows))
    figure = new_figure(max(6.0, 1.2 + len(groups) * (0.5 + 0.26 * len(systems))), 4.2)
    axes = figure.subplots()
    width = 0.8 / len(systems)
    for k, system in enumerate(systems):
        shares = {(row.suite, row.noise): 100.0 * row.solved for row in rows if row.system == system}
        heights = [shares.get(group, np.nan) for group in groups]
        bars = axes.bar(
            np.arange(len(groups)) + (k + 0.5) * width - 0.4, heights, 0.92 * width,
            color=COLOURS.get(system, "#444444"), label=LABELS.get(system, system),
        )  # fmt: skip
        axes.bar_label(bars, fmt="%.0f", fontsize=8, padding=1)
    axes.set_xticks(np.arange(len(groups)), [f"{suite}\nnoise {noise:g}" for suite, noise in groups])
    axes.set_ylim(0.0, 105.0)
    axes.set_ylabel("laws found (%)")
    finish(figure, axes, path)


def accuracy_by_size(rows: Sequence[Row], path: Path) -> None:
    """Points: the median R² on test rows against the median number of nodes, one per system."""
    figure = new_figure(6.6, 4.2)
    axes = figure.subplots()
    for row in rows:
        label = LABELS.get(row.system, row.system)
        axes.scatter([row.size], [row.r2], s=90, label=label, alpha=0.85, zorder=3, **style(row.system))
    axes.set_xscale("log")
    sizes, accuracies = [row.size for row in rows], [row.r2 for row in rows]
    axes.set_xlim(0.7 * min(sizes), 1.4 * max(sizes))
    room = max(0.02, 0.15 * (max(accuracies) - min(accuracies)))
    axes.set_ylim(min(accuracies) - room, max(accuracies) + room)
    whole_numbers(axes.xaxis)
    axes.set_xlabel("median size of the formula (nodes)")
    axes.set_ylabel("median R² on test rows")
    axes.set_title("up and to the left is better", fontsize=10)
    finish(figure, axes, path)


def whole_numbers(axis: Any) -> None:
    """10, 20, 50 on a logarithmic axis, and not 2 × 10¹."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_formatter(NullFormatter())


def new_figure(width: float, height: float) -> Any:
    """A figure of its own, without pyplot: no window system, no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def finish(figure: Any, axes: Any, path: Path) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.9", zorder=0)
    axes.set_axisbelow(True)
    figure.legend(loc="outside right upper", frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
