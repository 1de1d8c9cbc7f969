"""How errors are measured: as differences, relative to the prediction, or as logarithms of ratios.

Intervals have one half-width for all rows in the measure in which errors of all rows are alike.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Measure = Literal["absolute", "relative", "log"]


def errors_of(y: Floats, predicted: Floats, measure: Measure) -> Floats:
    """y − p, (y − p)/|p| or log(y/p): (n_rows,).

    Relative to the prediction and not to y, which is not known for new rows.

    >>> errors_of(np.array([4.0]), np.array([2.0]), "relative")
    array([1.])
    """
    with np.errstate(all="ignore"):
        if measure == "log":
            return np.log(y) - np.log(predicted)
        return (y - predicted) / unit_of_errors(predicted, measure)


def unit_of_errors(predicted: Floats, measure: Measure) -> Floats:
    """The change of y per unit of the error, near the prediction: 1, or |p|."""
    return np.ones_like(predicted) if measure == "absolute" else np.abs(predicted)


def bounds_of_errors(
    predicted: Floats, half_widths: Floats | float, measure: Measure
) -> tuple[Floats, Floats]:
    """The values of y whose errors are at most h: p ± h, p ± h·|p|, or from p·e^(−h) to p·e^h.

    >>> [bound.round(3) for bound in bounds_of_errors(np.array([2.0]), np.log(2.0), "log")]
    [array([1.]), array([4.])]
    """
    with np.errstate(all="ignore"):
        if measure == "log":
            return predicted * np.exp(-np.asarray(half_widths)), predicted * np.exp(half_widths)
        widths = half_widths * unit_of_errors(predicted, measure)
        # Infinite times zero is no number, but the interval has no bounds.
        widths = np.where(np.isnan(widths) & np.isfinite(predicted), np.inf, widths)
        return predicted - widths, predicted + widths
