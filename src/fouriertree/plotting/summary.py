"""The image file of a fit: three panels side by side."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fouriertree.plotting.canvas import new_figure, readable, without_glyph_warnings
from fouriertree.plotting.fit import plot_fit
from fouriertree.plotting.front import plot_front

if TYPE_CHECKING:
    import pandas as pd


def draw_fit(
    measured: NDArray[np.float64],
    predicted: NDArray[np.float64],
    equations: pd.DataFrame,
    chosen: int,
    target: str,
    kind: str = "png",
) -> bytes:
    """An image file of format `kind`: measured against predicted values, residuals, and the Pareto front."""
    figure = new_figure(12.6, 4.4)
    agreement, residuals, front = figure.subplots(1, 3)
    plot_fit(measured, predicted, target, (agreement, residuals))
    plot_front(equations, chosen, front, labels=False)
    title = readable(f"{target} = {equations['equation'].iloc[chosen]}", 120)
    figure.suptitle(title, parse_math=False)
    file = BytesIO()
    with without_glyph_warnings():
        figure.savefig(file, dpi=130, format=kind)
    return file.getvalue()
