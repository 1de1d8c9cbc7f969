"""How the formula answers to each column: its mean over the rows while one column runs through its range."""

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

#: values of the column, rows behind the mean, rows that are drawn as a curve, and points of data
GRID, ROWS, CURVES, POINTS = 61, 200, 30, 250
#: more panels are too small to be read
MAX_FEATURES = 12
#: numbers in the curves above which a file of lines carries them as an image
MOST_CORNERS = 5_000


@dataclass(frozen=True, eq=False)
class Response:
    """What the formula says while one column runs through `grid` and a row keeps its other values."""

    column: int
    grid: NDArray[np.float64]  #: (n_grid,)
    curves: NDArray[np.float64]  #: (n_rows, n_grid), NaN where the formula is not finite

    @property
    def mean(self) -> NDArray[np.float64]:
        """Partial dependence: the mean over the rows with a finite value."""
        finite = np.isfinite(self.curves)
        sums = np.where(finite, self.curves, 0.0).sum(axis=0)
        return np.where(finite.any(axis=0), sums / np.maximum(finite.sum(axis=0), 1), np.nan)

    @property
    def spread(self) -> float:
        """How far the mean moves."""
        mean = self.mean[np.isfinite(self.mean)]
        return float(np.ptp(mean)) if len(mean) else 0.0


def response(model: Model, X: ArrayLike, column: int) -> Response:
    """The curves of one column over its range in X (n_rows, n_columns).

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
    """The curves of these columns; by default of those in the formula, and of the most moving ones if they are many."""
    if columns is not None:
        return [response(model, X, _index(model, column)) for column in columns]
    found = [response(model, X, column) for column in model.expression.columns]
    strongest = sorted(found, key=lambda answer: -answer.spread)[:MAX_FEATURES]
    return [answer for answer in found if answer in strongest] if len(found) > MAX_FEATURES else found


def plot_response(
    model: Model,
    X: ArrayLike,
    y: ArrayLike | None = None,
    columns: Sequence[int | str] | None = None,
    figure: Figure | None = None,
) -> Figure:
    """A panel per column: the mean response as a thick line, some rows as thin ones, the data as points if y is given.

    All panels have one scale, so that a column that matters more moves more.
    """
    answers = responses(model, X, columns)
    n_across = _across(len(answers))
    n_down = max(1, -(-len(answers) // n_across))
    figure = new_figure(1.0 + 2.7 * n_across, 0.5 + 2.5 * n_down) if figure is None else figure
    panels = figure.subplots(n_down, n_across, sharey=True, squeeze=False).ravel()
    for ax, answer in zip(panels, answers, strict=False):
        draw_response(ax, answer, column_name(model, answer.column), X, y)
    for ax in panels[max(1, len(answers)) :]:
        ax.remove()
    if not answers:
        _say_constant(panels[0])
        return figure
    panels[0].set_ylim(*vertical_range(answers, y))
    for ax in panels[: len(answers) : n_across]:
        ax.set_ylabel("response")
    return figure


def draw_response(ax: Axes, answer: Response, name: str, X: ArrayLike, y: ArrayLike | None = None) -> None:
    """One panel: data, thin curves and their mean."""
    if y is not None:
        rows = drawn_rows(len(np.asarray(y)), POINTS)
        x = np.asarray(X, dtype=float)[rows, answer.column]
        ax.scatter(x, np.asarray(y)[rows], s=7, alpha=0.3, color=palette.POINTS, edgecolors="none", zorder=1)
    # A column that never changes has one value, which a line would not show.
    marker = "o" if len(answer.grid) == 1 else ""
    thin = answer.curves[:CURVES]
    if not (thin == thin[:1]).all():
        ax.plot(
            answer.grid, thin.T, color=palette.CURVES, linewidth=0.6, alpha=0.45, marker=marker, zorder=2,
            rasterized=thin.size > MOST_CORNERS,
        )  # fmt: skip
    ax.plot(answer.grid, answer.mean, color=palette.CHOSEN, linewidth=2.2, marker=marker, zorder=3)
    ax.set_xlabel(readable(name, 34), parse_math=False)
    ax.locator_params(axis="x", nbins=5)


def vertical_range(answers: Sequence[Response], y: ArrayLike | None = None) -> tuple[float, float]:
    """From the lowest to the highest mean, with most of the curves and of the data: one pole must not hide the rest."""
    means = np.concatenate([answer.mean for answer in answers])
    others = [answer.curves[:CURVES].ravel() for answer in answers]
    if y is not None:
        others.append(np.asarray(y, dtype=float))
    curves = np.concatenate(others)
    seen = [*means[np.isfinite(means)]]
    if np.isfinite(curves).any():
        seen += [*np.quantile(curves[np.isfinite(curves)], [0.01, 0.99])]
    low, high = (min(seen), max(seen)) if seen else (0.0, 1.0)
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return float(low - margin), float(high + margin)


def column_name(model: Model, column: int) -> str:
    return f"x{column}" if model.names is None else model.names[column]


def _index(model: Model, column: int | str) -> int:
    if not isinstance(column, str):
        return int(column)
    if model.names is not None and column in model.names:
        return model.names.index(column)
    known = ", ".join(model.names or ("x0, x1, ...",))
    raise ValueError(f"there is no column {column!r}; columns are {known}")


def _across(n_panels: int) -> int:
    """Panels beside each other, so that rows are full or nearly so."""
    return {0: 1, 1: 1, 2: 2, 3: 3, 4: 2}.get(n_panels, 3 if n_panels <= 9 else 4)


def _say_constant(ax: Axes) -> None:
    ax.text(0.5, 0.5, "the formula uses no column", ha="center", va="center", transform=ax.transAxes)
    ax.set_axis_off()
