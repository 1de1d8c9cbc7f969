"""Two figures: recovery rate by noise level, and accuracy against size on black-box tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fouriertree.experiments.bench.summary import Row
from fouriertree.experiments.bench.systems import LINEAR, OURS
from fouriertree.plotting.canvas import new_figure

#: label, colour and marker of every system
STYLES = {
    OURS: ("fouriertree", "#1f5fa8", "o"), "operon": ("operon", "#c0392b", "s"),
    "rils-rols": ("rils-rols", "#2e8b57", "^"), "eggp": ("eggp", "#8c6bb1", "D"),
    "gplearn": ("gplearn", "#d08a1d", "v"), LINEAR: ("linear", "#7f7f7f", "X"),
}  # fmt: skip


def solved_by_noise(rows: Sequence[Row], path: Path) -> None:
    """Bar charts of recovery rates: a panel per noise level, a group per suite, a bar per system."""
    noises = sorted({row.noise for row in rows})
    suites = list(dict.fromkeys(row.suite for row in rows))
    systems = list(dict.fromkeys(row.system for row in rows))
    width = max(6.0, 1.8 + len(suites) * (0.3 + 0.26 * len(systems)))
    figure = new_figure(width, 0.6 + 2.6 * len(noises))
    panels = figure.subplots(len(noises), 1, sharex=True, squeeze=False)[:, 0]
    for axes, noise in zip(panels, noises, strict=True):
        bars(axes, [row for row in rows if row.noise == noise], suites, systems)
        axes.set_title(f"noise {noise:g}" if noise else "without noise", fontsize=10, loc="left")
        axes.set_ylabel("laws recovered (%)")
    panels[-1].set_xticks(np.arange(len(suites)), suites)
    legend(figure, panels[0])
    save(figure, path)


def bars(axes: Any, rows: Sequence[Row], suites: Sequence[str], systems: Sequence[str]) -> None:
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
