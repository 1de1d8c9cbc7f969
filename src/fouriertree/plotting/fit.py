"""Goodness of fit: measured against predicted values, and residuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.plotting import palette
from fouriertree.plotting.canvas import MAX_POINTS, MAX_VECTOR_POINTS, drawn_rows, new_figure, readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    ax: Axes,
    measured: NDArray[np.float64],
    predicted: NDArray[np.float64],
    target: str,
    half_width: float | None = None,
) -> None:
    """One point per row; those of an exact equation lie on the diagonal."""
    finite = np.isfinite(measured) & np.isfinite(predicted)
    x, y = predicted[finite], measured[finite]
    both = np.concatenate([x, y])
    ends = np.array([both.min(), both.max()]) if len(both) else np.zeros(2)
    ax.plot(ends, ends, color=palette.FAINT, linewidth=1, zorder=1)
    if half_width is not None:
        ax.fill_between(
            ends, ends - half_width, ends + half_width, color=palette.POINTS, alpha=0.15, linewidth=0
        )
    _points(ax, x, y)
    ax.set_title("measured against predicted" + _left_out(finite), fontsize=10)
    ax.set_xlabel(f"predicted {readable(target)}", parse_math=False)
    ax.set_ylabel(f"measured {readable(target)}", parse_math=False)


def draw_residuals(
    ax: Axes,
    measured: NDArray[np.float64],
    predicted: NDArray[np.float64],
    target: str,
    half_width: float | None = None,
) -> None:
    """Residuals against predictions; those of a good fit show no pattern."""
    finite = np.isfinite(measured) & np.isfinite(predicted)
    x, residuals = predicted[finite], (measured - predicted)[finite]
    ax.axhline(0.0, color=palette.FAINT, linewidth=1, zorder=1)
    if half_width is not None:
        ax.axhspan(-half_width, half_width, color=palette.POINTS, alpha=0.15, linewidth=0)
    _points(ax, x, residuals)
    exact = np.abs(residuals).max(initial=0.0) <= 1e-12 * np.abs(x).max(initial=0.0)
    title = "residuals: rounding only" if exact else "residuals: measured − predicted"
    ax.set_title(title + _left_out(finite), fontsize=10)
    ax.set_xlabel(f"predicted {readable(target)}", parse_math=False)


def _points(ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    rows = drawn_rows(len(x))
    # Few points may be large; many are small and transparent, which shows their density.
    size, alpha = (16, 0.7) if len(rows) <= MAX_VECTOR_POINTS else (6, 0.35)
    ax.scatter(
        x[rows], y[rows], s=size, alpha=alpha, color=palette.POINTS, edgecolors="none", zorder=2,
        rasterized=len(rows) > MAX_VECTOR_POINTS,
    )  # fmt: skip


def _left_out(finite: NDArray[np.bool_]) -> str:
    """A second line of the title if some rows are not drawn."""
    shown, missing = int(finite.sum()), int((~finite).sum())
    notes = []
    if shown > MAX_POINTS:
        notes.append(f"{MAX_POINTS:,} of {shown:,} rows drawn")
    if missing:
        notes.append(f"{missing:,} without a finite value")
    return "\n" + ", ".join(notes) if notes else ""
