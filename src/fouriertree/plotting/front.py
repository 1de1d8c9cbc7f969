"""The front: what accuracy each formula buys with its complexity."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.plotting import palette
from fouriertree.plotting.canvas import axes_or_new, readable, without_glyph_warnings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: losses that differ by less are easier to compare on a linear scale
NARROW = 20.0
#: letters of a formula beside its point
LABEL = 30
#: where a label may stand beside its point, best first: (offset in points, alignments)
PLACES = (
    ((7, 5), "left", "bottom"),
    ((7, -5), "left", "top"),
    ((-7, -5), "right", "top"),
    ((-7, 5), "right", "bottom"),
    ((0, 9), "center", "bottom"),
    ((0, -9), "center", "top"),
)


def plot_front(equations: pd.DataFrame, chosen: int, ax: Axes | None = None, labels: bool = True) -> Axes:
    """Loss of every formula against its complexity, with the chosen one marked.

    Losses that are exactly zero are drawn at the bottom.  `labels` writes formulas beside their points, the chosen one
    and the simplest first, as long as there is room.
    """
    ax = axes_or_new(ax, 6.4, 4.6)
    complexity = equations["complexity"].to_numpy(dtype=float)
    losses = _losses(equations)
    _set_scale(ax, np.concatenate(list(losses.values())))
    floor = _floor(np.concatenate(list(losses.values())))
    for (name, values), colour, marker in zip(
        losses.items(), (palette.POINTS, palette.VALIDATION), "os", strict=False
    ):
        heights = np.maximum(values, floor)
        ax.plot(complexity, heights, color=colour, marker=marker, linewidth=1.2, markersize=5, label=name)
    ring = _first_finite([values[chosen] for values in losses.values()])
    ax.plot(
        complexity[chosen], max(ring, floor), label="chosen", color=palette.CHOSEN, marker="o", markersize=13,
        fillstyle="none", markeredgewidth=2, linestyle="none", zorder=3,
    )  # fmt: skip
    _frame(ax)
    if labels:
        _label(ax, equations, chosen, np.maximum(next(iter(losses.values())), floor))
    return ax


def _losses(equations: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    """The losses to draw by name: on the rows that the search saw, and on those held back if there are any."""
    seen = "training_loss" if "training_loss" in equations else "loss"
    losses = {"training" if seen != "loss" else "loss": _column(equations, seen)}
    if "validation_loss" in equations and np.isfinite(_column(equations, "validation_loss")).any():
        losses["validation"] = _column(equations, "validation_loss")
    return losses


def _column(equations: pd.DataFrame, name: str) -> NDArray[np.float64]:
    values: NDArray[np.float64] = equations[name].to_numpy(dtype=float)
    return np.where(np.isfinite(values), values, np.nan)


def _first_finite(values: list[float]) -> float:
    return next((value for value in values if np.isfinite(value)), np.nan)


def _floor(losses: NDArray[np.float64]) -> float:
    positive = losses[losses > 0.0]
    return float(positive.min(initial=1.0) / 10.0) if (losses == 0.0).any() else 0.0


def _set_scale(ax: Axes, losses: NDArray[np.float64]) -> None:
    """A logarithmic scale for losses of different size, with plain numbers at it."""
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
    # Whole numbers, as many as there is room for.
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True))
    ax.legend(loc="upper right", fontsize=8, frameon=False, labelcolor="linecolor")


def _label(ax: Axes, equations: pd.DataFrame, chosen: int, heights: NDArray[np.float64]) -> None:
    """Formulas beside their points, where none covers another, a line or the legend."""
    figure: Any = ax.figure
    with without_glyph_warnings():
        figure.draw_without_rendering()
        taken = _occupied(ax)
        order = [chosen, *(i for i in range(len(equations)) if i != chosen)]
        for i in order:
            if np.isfinite(heights[i]):
                point = (float(equations["complexity"].iloc[i]), float(heights[i]))
                box = _place(ax, readable(equations["equation"].iloc[i], LABEL), point, taken)
                if box is not None:
                    taken.append(box)


def _place(ax: Axes, text: str, point: tuple[float, float], taken: list[Any]) -> Any:
    """The box of the label, at the first place that is free; None if none is."""
    inside = ax.get_window_extent()
    for offset, horizontal, vertical in PLACES:
        label: Any = ax.annotate(
            text, point, xytext=offset, textcoords="offset points", ha=horizontal, va=vertical, fontsize=8,
            parse_math=False,
        )  # fmt: skip
        box = label.get_window_extent()
        fits = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
        if fits and not any(box.overlaps(other) for other in taken):
            return box
        label.remove()
    return None


def _occupied(ax: Axes) -> list[Any]:
    """Boxes of the legend and along the lines, in pixels."""
    from matplotlib.transforms import Bbox

    legend: Any = ax.get_legend()
    boxes = [legend.get_window_extent()]
    for line in ax.get_lines():
        corners = ax.transData.transform(np.column_stack([line.get_xdata(), line.get_ydata()]))
        for start, end in pairwise(corners):
            for share in np.linspace(0.0, 1.0, 40):
                x, y = start + share * (end - start)
                if np.isfinite(x + y):
                    boxes.append(Bbox([[x - 2, y - 2], [x + 2, y + 2]]))
    return boxes
