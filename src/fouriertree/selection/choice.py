"""Which row of the table is chosen: one function per model-selection criterion.

A new criterion is a function here, a row in CRITERIA, and a choice of the option `model_selection` in `fit/options.py`.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: from the table, its losses and the eligible rows, (n_rows,) each, to scores (n_rows,), of which the smallest is best
Criterion = Callable[[pd.DataFrame, Floats, NDArray[np.bool_]], Floats]

#: the criterion "best" looks at losses up to this ratio to the smallest one
NEAR_BEST = 1.5


def steepest_fall(table: pd.DataFrame, loss: Floats, eligible: NDArray[np.bool_]) -> Floats:
    """The steepest fall of log(loss) per unit of complexity, among losses near the smallest one."""
    logs = np.log(np.maximum(loss, np.finfo(float).tiny))
    falls = np.diff(logs, prepend=logs[0]) / np.maximum(np.diff(table["complexity"], prepend=0), 1)
    return np.where(loss <= NEAR_BEST * loss[eligible].min(), falls, np.inf)


CRITERIA: dict[str, Criterion] = {
    "mdl": lambda table, loss, eligible: table["description_length"].to_numpy(),
    "best": steepest_fall,
    "accuracy": lambda table, loss, eligible: loss,
}


def choose(table: pd.DataFrame, n_rows: int, selection: str = "mdl", preferred: Sequence[bool] = ()) -> int:
    """The number of the chosen row by the criterion `selection`; with "mdl", a `preferred` row takes precedence.

    The loss of a row is its validation loss, or its loss without a validation set.  Equations with more terms, or more
    fitted constants, than the rows allow are not eligible, since they interpolate; an exact one may have more terms,
    but not more constants.
    """
    exact = table["r2"].to_numpy() == 1.0
    eligible = exact | (table["n_terms"].to_numpy() <= max_terms_for(n_rows))
    eligible &= np.isfinite(table["description_length"].to_numpy())
    if not eligible.any():
        return 0
    loss = table["validation_loss"].to_numpy()
    if not np.isfinite(loss).all():
        loss = table["loss"].to_numpy()
    scores = CRITERIA[selection](table, loss, eligible)
    if selection == "mdl" and any(preferred):
        scores = np.where(preferred, -np.inf, scores)
    return int(np.argmin(np.where(eligible, scores, np.inf)))


def max_terms_for(n_rows: int) -> int:
    """Terms that so many rows can distinguish from noise, generously: one for three rows, and two at least."""
    return max(2, n_rows // 3)
