"""Partial dependence: the mean prediction over the rows as one feature varies over its range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.model import Model
from fouriertree.plotting import palette
from fouriertree.plotting.canvas import drawn_rows, new_figure, readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: values of the feature, rows behind the mean, rows drawn as a curve, and points of data
GRID, ROWS, CURVES, POINTS = 61, 200, 30, 250
#: panels of a figure
MAX_FEATURES = 12


@dataclass(frozen=True, eq=False)
class Response:
    """Predictions as one feature takes the values of `grid` and each row keeps its other values (ICE curves)."""

    column: int
    grid: NDArray[np.float64]  #: (n_grid,)
    curves: NDArray[np.float64]  #: (n_rows, n_grid), NaN where the prediction is not finite

    @property
    def mean(self) -> NDArray[np.float64]:
        """Partial dependence (n_grid,): the mean over the rows with a finite prediction."""
        finite = np.isfinite(self.curves)
        sums = np.where(finite, self.curves, 0.0).sum(axis=0)
        return np.where(finite.any(axis=0), sums / np.maximum(finite.sum(axis=0), 1), np.nan)

    @property
    def spread(self) -> float:
        """Range of the partial dependence."""
        mean = self.mean[np.isfinite(self.mean)]
        return float(np.ptp(mean)) if len(mean) else 0.0


def response(model: Model, X: ArrayLike, column: int) -> Response:
    """The curves of one feature over its range in X (n_rows, n_features).

    >>> from fouriertree.expr import parse
    >>> curve = response(Model((2.0,), (parse("x0"),)), [[0.0], [1.0]], 0)
    >>> curve.mean[[0, -1]]
    array([0., 2.])
    """
    data = np.asarray(X, dtype=float)
    data = data[np.isfinite(data).all(axis=1)]
    low, high = (data[:, column].min(), data[:, column].max()) if len(data) else (0.0, 0.0)
    grid = np.linspace(low, high, GRID) if high > low else np.array([low])
    rows = data[drawn_rows(len(data), ROWS)]
    table = np.repeat(rows, len(grid), axis=0)
    table[:, column] = np.tile(grid, len(rows))
    values = model.predict(table) if len(table) else np.empty(0)
    return Response(column, grid, np.where(np.isfinite(values), values, np.nan).reshape(len(rows), len(grid)))


def responses(model: Model, X: ArrayLike, columns: Sequence[int | str] | None = None) -> list[Response]:
    """The curves of these features; by default of the model's, at most MAX_FEATURES with the largest spread."""
    if columns is not None:
        return [response(model, X, _index(model, column)) for column in columns]
    dependences = [response(model, X, column) for column in model.expression.columns]
    strongest = sorted(dependences, key=lambda dependence: -dependence.spread)[:MAX_FEATURES]
    return [dependence for dependence in dependences if dependence in strongest]


def plot_response(
    model: Model,
    X: ArrayLike,
    y: ArrayLike | None = None,
    columns: Sequence[int | str] | None = None,
    figure: Figure | None = None,
) -> Figure:
    """Partial dependence, one panel per feature: the mean as a thick line, single rows as thin lines, data as points.

    All panels have the same vertical scale.

    Parameters
    ----------
    model : Model
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,), optional
        Drawn as points.
    columns : sequence of int or str, optional
        Features to draw; by default those of the model, at most 12 with the largest effect.
    figure : matplotlib.figure.Figure, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.figure.Figure
    """
    dependences = responses(model, X, columns)
    n_across = _across(len(dependences))
    n_down = max(1, -(-len(dependences) // n_across))
    figure = new_figure(1.0 + 2.7 * n_across, 0.5 + 2.5 * n_down) if figure is None else figure
    panels = figure.subplots(n_down, n_across, sharey=True, squeeze=False).ravel()
    for ax, dependence in zip(panels, dependences, strict=False):
        draw_response(ax, dependence, feature_name(model, dependence.column), X, y)
    for ax in panels[max(1, len(dependences)) :]:
        ax.remove()
    if not dependences:
        panels[0].text(0.5, 0.5, "the equation is constant", ha="center", transform=panels[0].transAxes)
        panels[0].set_axis_off()
        return figure
    panels[0].set_ylim(*vertical_range(dependences, y))
    for ax in panels[: len(dependences) : n_across]:
        ax.set_ylabel("response")
    return figure


def draw_response(
    ax: Axes, dependence: Response, name: str, X: ArrayLike, y: ArrayLike | None = None
) -> None:
    """One panel: data, single curves and their mean."""
    if y is not None:
        rows = drawn_rows(len(np.asarray(y)), POINTS)
        x = np.asarray(X, dtype=float)[rows, dependence.column]
        ax.scatter(x, np.asarray(y)[rows], s=7, alpha=0.3, color=palette.POINTS, edgecolors="none", zorder=1)
    # A constant feature has a grid of one value, which a line would not show.
    marker = "o" if len(dependence.grid) == 1 else ""
    grid, thin = dependence.grid, dependence.curves[:CURVES]
    if not (thin == thin[:1]).all():
        ax.plot(grid, thin.T, color=palette.CURVES, linewidth=0.6, alpha=0.45, marker=marker, zorder=2)
    ax.plot(grid, dependence.mean, color=palette.CHOSEN, linewidth=2.2, marker=marker, zorder=3)
    ax.set_xlabel(readable(name, 34), parse_math=False)
    ax.locator_params(axis="x", nbins=5)


def vertical_range(dependences: Sequence[Response], y: ArrayLike | None = None) -> tuple[float, float]:
    """Limits around all means and most of the curves and of the data, so that one pole does not set the scale."""
    means = np.concatenate([dependence.mean for dependence in dependences])
    others = np.concatenate([dependence.curves[:CURVES].ravel() for dependence in dependences])
    if y is not None:
        others = np.concatenate([others, np.asarray(y, dtype=float)])
    seen = [*means[np.isfinite(means)]]
    if np.isfinite(others).any():
        seen += [*np.quantile(others[np.isfinite(others)], [0.01, 0.99])]
    low, high = (min(seen), max(seen)) if seen else (0.0, 1.0)
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return float(low - margin), float(high + margin)


def feature_name(model: Model, column: int) -> str:
    return f"x{column}" if model.names is None else model.names[column]


def _index(model: Model, column: int | str) -> int:
    if not isinstance(column, str):
        return int(column)
    if model.names is not None and column in model.names:
        return model.names.index(column)
    known = ", ".join(model.names or ("x0, x1, ...",))
    raise ValueError(f"unknown feature {column!r}; features are {known}")


def _across(n_panels: int) -> int:
    """Panels per row, so that rows are full or nearly so."""
    return {0: 1, 1: 1, 2: 2, 3: 3, 4: 2}.get(n_panels, 3 if n_panels <= 9 else 4)
