"""The Pareto front: loss against complexity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.plotting import palette
from fouriertree.plotting.canvas import new_figure, readable, without_glyph_warnings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: ratio of the largest to the smallest loss below which the scale is linear
NARROW = 20.0
#: letters of an equation beside its point
LABEL = 30
#: positions of a label around its point, best first: (offset in points, alignments)
POSITIONS = (
    ((7, 5), "left", "bottom"),
    ((7, -5), "left", "top"),
    ((-7, -5), "right", "top"),
    ((-7, 5), "right", "bottom"),
    ((0, 9), "center", "bottom"),
    ((0, -9), "center", "top"),
)


def plot_front(equations: pd.DataFrame, chosen: int, ax: Axes | None = None, labels: bool = True) -> Axes:
    """Loss of every equation against its complexity, on the training set and on the validation set.

    Losses of exactly zero are drawn at the bottom.  Guesses of the user that are not on the Pareto front are crosses.

    Parameters
    ----------
    equations : pandas.DataFrame
        The table of equations, such as `SymbolicRegressor.equations_`.
    chosen : int
        The row to mark.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    labels : bool
        Whether to write equations beside their points where there is room, the chosen and the simplest ones first.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = new_figure(6.4, 4.6).subplots() if ax is None else ax
    complexity = equations["complexity"].to_numpy(dtype=float)
    losses = _losses(equations)
    values = np.concatenate(list(losses.values()))
    _set_scale(ax, values)
    heights = {name: np.maximum(loss, _floor(values)) for name, loss in losses.items()}
    front = _on_front(equations)
    for name, height in heights.items():
        colour, marker = (palette.VALIDATION, "s") if name == "validation" else (palette.POINTS, "o")
        ax.plot(
            complexity[front],
            height[front],
            color=colour,
            marker=marker,
            linewidth=1.2,
            markersize=5,
            label=name,
        )
        if not front.all():
            ax.plot(
                complexity[~front], height[~front], color=colour, marker="x", markersize=6, linestyle="none"
            )
    marked = next((height[chosen] for height in heights.values() if np.isfinite(height[chosen])), np.nan)
    ax.plot(
        complexity[chosen], marked, label="chosen", color=palette.CHOSEN, marker="o", markersize=13,
        fillstyle="none", markeredgewidth=2, linestyle="none", zorder=3,
    )  # fmt: skip
    _frame(ax)
    if labels:
        _label(ax, equations, chosen, next(iter(heights.values())))
    return ax


def _on_front(equations: pd.DataFrame) -> NDArray[np.bool_]:
    """Rows of the Pareto front; guesses of the user may be others."""
    if "guess" not in equations:
        return np.ones(len(equations), np.bool_)
    losses = equations["loss"].to_numpy(dtype=float)
    best_before = np.minimum.accumulate(np.append(np.inf, losses[:-1]))
    return np.asarray(equations["guess"].isna().to_numpy() | (losses < best_before))


def _losses(equations: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    """Losses by name: on the training set, and on the validation set if there is one."""
    key, name = ("training_loss", "training") if "training_loss" in equations else ("loss", "loss")
    losses = {name: _column(equations, key)}
    if "validation_loss" in equations and np.isfinite(_column(equations, "validation_loss")).any():
        losses["validation"] = _column(equations, "validation_loss")
    return losses


def _column(equations: pd.DataFrame, name: str) -> NDArray[np.float64]:
    values: NDArray[np.float64] = equations[name].to_numpy(dtype=float)
    return np.where(np.isfinite(values), values, np.nan)


def _floor(losses: NDArray[np.float64]) -> float:
    """Where losses of zero are drawn: a decade below the smallest positive one."""
    positive = losses[losses > 0.0]
    return float(positive.min(initial=1.0) / 10.0) if (losses == 0.0).any() else 0.0


def _set_scale(ax: Axes, losses: NDArray[np.float64]) -> None:
    """A logarithmic scale with plain tick labels for losses of different orders of magnitude."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    positive = losses[losses > 0.0]
    if not len(positive) or positive.max() < NARROW * positive.min():
        return
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_locator(NullLocator())


def _frame(ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.margins(0.08, 0.14)
    ax.set_title("accuracy against complexity", fontsize=10)
    ax.set_xlabel("complexity")
    ax.set_ylabel("loss")
    low, high = ax.get_xlim()
    if high - low < 4.0:
        ax.set_xlim((low + high) / 2 - 2.0, (low + high) / 2 + 2.0)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True))
    ax.legend(loc="upper right", fontsize=8, frameon=False, labelcolor="linecolor")


def _label(ax: Axes, equations: pd.DataFrame, chosen: int, heights: NDArray[np.float64]) -> None:
    """Equations beside their points, where none covers another, a line or the legend."""
    figure: Any = ax.figure
    legend: Any = ax.get_legend()
    with without_glyph_warnings():
        figure.draw_without_rendering()
        occupied = [legend.get_window_extent()]
        for i in [chosen, *(i for i in range(len(equations)) if i != chosen)]:
            if np.isfinite(heights[i]):
                point = (float(equations["complexity"].iloc[i]), float(heights[i]))
                occupied += _place(ax, readable(equations["equation"].iloc[i], LABEL), point, occupied)


def _place(ax: Axes, text: str, point: tuple[float, float], occupied: list[Any]) -> list[Any]:
    """Write the label at the first free position: its box, or no box if none is free."""
    lines = [line.get_path().transformed(line.get_transform()) for line in ax.get_lines()]
    for offset, horizontal, vertical in POSITIONS:
        label: Any = ax.annotate(
            text, point, xytext=offset, textcoords="offset points", ha=horizontal, va=vertical, fontsize=8,
            parse_math=False,
        )  # fmt: skip
        box = label.get_window_extent()
        inside = all(ax.get_window_extent().contains(x, y) for x, y in box.corners())
        crossed = any(line.intersects_bbox(box.padded(2.0), filled=False) for line in lines)
        if inside and not crossed and not box.count_overlaps(occupied):
            return [box]
        label.remove()
    return []
