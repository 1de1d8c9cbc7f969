"""Goodness of fit: measured against predicted values, residuals, and the image file of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.plotting import canvas, palette
from fouriertree.plotting.canvas import MAX_POINTS, MAX_VECTOR_POINTS, new_figure, readable
from fouriertree.plotting.front import plot_front

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
#: of a prediction interval
BAND: dict[str, Any] = {"color": palette.POINTS, "alpha": 0.15, "linewidth": 0}


def plot_fit(
    measured: ArrayLike,
    predicted: ArrayLike,
    target: str,
    axes: Sequence[Axes] | None = None,
    half_width: float | None = None,
) -> tuple[Axes, Axes]:
    """Two panels: measured against predicted values, and residuals measured − predicted.

    Parameters
    ----------
    measured, predicted : array-like of shape (n_rows,)
    target : str
        Name of the target, for the labels.
    axes : pair of matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    half_width : float, optional
        Of a prediction interval ± `half_width`, drawn as a band.

    Returns
    -------
    pair of matplotlib.axes.Axes

    Examples
    --------
    >>> agreement, residuals = plot_fit([1.0, 2.0], [1.1, 1.9], "speed")
    >>> agreement.get_ylabel(), residuals.get_title()
    ('measured speed', 'residuals: measured − predicted')
    """
    left, right = new_figure(8.6, 4.2).subplots(1, 2) if axes is None else axes
    y, values = np.asarray(measured, dtype=float), np.asarray(predicted, dtype=float)
    draw_agreement(left, y, values, target, half_width)
    draw_residuals(right, y, values, target, half_width)
    return left, right


def draw_agreement(
    ax: Axes, measured: Floats, predicted: Floats, target: str, half_width: float | None = None
) -> None:
    """One point per row; those of an exact equation lie on the diagonal."""
    finite = np.isfinite(measured) & np.isfinite(predicted)
    x, y = predicted[finite], measured[finite]
    both = np.concatenate([x, y])
    ends = np.array([both.min(), both.max()]) if len(both) else np.zeros(2)
    ax.plot(ends, ends, color=palette.FAINT, linewidth=1, zorder=1)
    if half_width is not None:
        ax.fill_between(ends, ends - half_width, ends + half_width, **BAND)
    _points(ax, x, y)
    ax.set_title("measured against predicted" + _left_out(finite), fontsize=10)
    ax.set_xlabel(f"predicted {readable(target)}", parse_math=False)
    ax.set_ylabel(f"measured {readable(target)}", parse_math=False)


def draw_residuals(
    ax: Axes, measured: Floats, predicted: Floats, target: str, half_width: float | None = None
) -> None:
    """Residuals against predictions; those of a good fit show no pattern."""
    finite = np.isfinite(measured) & np.isfinite(predicted)
    x, residuals = predicted[finite], (measured - predicted)[finite]
    ax.axhline(0.0, color=palette.FAINT, linewidth=1, zorder=1)
    if half_width is not None:
        ax.axhspan(-half_width, half_width, **BAND)
    _points(ax, x, residuals)
    exact = np.abs(residuals).max(initial=0.0) <= 1e-12 * np.abs(x).max(initial=0.0)
    title = "residuals: rounding only" if exact else "residuals: measured − predicted"
    ax.set_title(title + _left_out(finite), fontsize=10)
    ax.set_xlabel(f"predicted {readable(target)}", parse_math=False)


def draw_fit(
    measured: Floats, predicted: Floats, equations: pd.DataFrame, chosen: int, target: str, kind: str = "png"
) -> bytes:
    """An image file of format `kind`: measured against predicted values, residuals, and the Pareto front."""
    figure = new_figure(12.6, 4.4)
    agreement, residuals, front = figure.subplots(1, 3)
    plot_fit(measured, predicted, target, (agreement, residuals))
    plot_front(equations, chosen, front, labels=False)
    title = readable(f"{target} = {equations['equation'].iloc[chosen]}", 120)
    figure.suptitle(title, parse_math=False)
    file = BytesIO()
    with canvas.without_glyph_warnings():
        figure.savefig(file, dpi=130, format=kind)
    return file.getvalue()


def _points(ax: Axes, x: Floats, y: Floats) -> None:
    rows = canvas.drawn_rows(len(x))
    # Few points may be large; many are small and transparent, which shows their density.
    size, alpha = (16, 0.7) if len(rows) <= MAX_VECTOR_POINTS else (6, 0.35)
    ax.scatter(
        x[rows], y[rows], s=size, alpha=alpha, color=palette.POINTS, edgecolors="none", zorder=2,
        rasterized=len(rows) > MAX_VECTOR_POINTS,
    )  # fmt: skip


def _left_out(finite: NDArray[np.bool_]) -> str:
    """A second line of the title if some rows are not drawn."""
    shown, missing = int(finite.sum()), int((~finite).sum())
    notes = [f"{MAX_POINTS:,} of {shown:,} rows drawn"] if shown > MAX_POINTS else []
    notes += [f"{missing:,} without a finite value"] if missing else []
    return "\n" + ", ".join(notes) if notes else ""
