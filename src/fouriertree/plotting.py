"""The picture of a fit."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

#: more points only make the file large and the cloud opaque
MOST_POINTS = 20_000


def draw_fit(
    measured: NDArray[np.float64],
    predicted: NDArray[np.float64],
    equations: pd.DataFrame,
    chosen: int,
    target: str,
    kind: str = "png",
) -> bytes:
    """A picture file: measured against predicted, the residuals, and the loss of every row of the table."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # A figure of its own, without pyplot: no window system, no global state.
    figure = Figure(figsize=(12.6, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    agreement, residuals, front = figure.subplots(1, 3)
    _agreement(agreement, measured, predicted, target)
    _residuals(residuals, predicted, measured - predicted, target)
    _front(front, equations, chosen)
    figure.suptitle(_shortened(f"{target} = {equations['equation'].iloc[chosen]}"), parse_math=False)
    file = BytesIO()
    figure.savefig(file, dpi=130, format=kind)
    return file.getvalue()


def _agreement(axes: Any, measured: NDArray[np.float64], predicted: NDArray[np.float64], target: str) -> None:
    both = np.concatenate([measured, predicted[np.isfinite(predicted)]])
    ends = [both.min(), both.max()]
    axes.plot(ends, ends, color="0.6", linewidth=1, zorder=1)
    drawn = _drawn(len(measured))
    axes.scatter(predicted[drawn], measured[drawn], s=16, alpha=0.7, edgecolors="none", zorder=2)
    axes.set_title("measured against predicted" + _share(len(measured)), fontsize=10)
    axes.set_xlabel(f"predicted {target}", parse_math=False)
    axes.set_ylabel(f"measured {target}", parse_math=False)


def _residuals(
    axes: Any, predicted: NDArray[np.float64], residuals: NDArray[np.float64], target: str
) -> None:
    axes.axhline(0.0, color="0.6", linewidth=1, zorder=1)
    drawn = _drawn(len(residuals))
    axes.scatter(predicted[drawn], residuals[drawn], s=16, alpha=0.7, edgecolors="none", zorder=2)
    exact = np.abs(residuals).max() <= 1e-12 * np.abs(predicted).max()
    title = "residuals: rounding only" if exact else "residuals: measured − predicted"
    axes.set_title(title + _share(len(residuals)), fontsize=10)
    axes.set_xlabel(f"predicted {target}", parse_math=False)


def _front(axes: Any, equations: pd.DataFrame, chosen: int) -> None:
    """Loss of every formula; those that are exactly zero are drawn at the bottom."""
    from matplotlib.ticker import MaxNLocator

    losses = equations["loss"].to_numpy()
    floor = losses[losses > 0.0].min(initial=1.0) / 10.0
    heights = np.maximum(losses, floor)
    axes.semilogy(equations.index, heights, color="0.6", linewidth=1, marker="o", markersize=5, zorder=1)
    axes.semilogy([chosen], [heights[chosen]], marker="o", markersize=10, color="C3", linestyle="none")
    axes.annotate(
        "chosen", (chosen, heights[chosen]), xytext=(-10, 10), textcoords="offset points", ha="right"
    )
    axes.set_title("loss of every formula", fontsize=10)
    axes.set_xlabel("row of the table")
    # Whole numbers, as many as there is room for.
    axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True))


def _drawn(n_rows: int) -> NDArray[np.int64] | slice:
    """The rows that become points: all, or the same random ones in every panel."""
    if n_rows <= MOST_POINTS:
        return slice(None)
    return np.random.default_rng(0).choice(n_rows, MOST_POINTS, replace=False)


def _share(n_rows: int) -> str:
    return f"\n{MOST_POINTS:,} of {n_rows:,} rows drawn" if n_rows > MOST_POINTS else ""


def _shortened(text: str, length: int = 120) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
