"""What a report says, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.model import Model


@dataclass(frozen=True)
class Band:
    """Predictions ± `half_width` hold about the share `level` of new rows."""

    half_width: float
    level: float


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is known about the formula between and beyond the rows: one line, the whole text, and slopes by column."""

    verdict: str
    text: str = ""
    slopes: pd.DataFrame | None = None


@dataclass(frozen=True, eq=False)
class ReportContent:
    """Everything that a report shows.  What is None or empty is left out.

    equations: the table of formulas, and `models` its formulas, row by row; `chosen` is the number of the chosen row.
    X, y: the data (n_rows, n_columns) and (n_rows,), for the pictures.
    intervals: a row per coefficient, with its lower and upper end.
    stability: tables by title.
    provenance: what is needed to do it again: parameters, seed, versions, hash of the data, seconds, why it stopped.
    exports: the formula as source code, by language.
    """

    title: str
    target: str
    names: Sequence[str]
    equations: pd.DataFrame
    chosen: int
    models: Sequence[Model]
    X: NDArray[np.float64] | None = None
    y: NDArray[np.float64] | None = None
    intervals: pd.DataFrame | None = None
    band: Band | None = None
    certificate: Certificate | None = None
    stability: Mapping[str, pd.DataFrame] | None = None
    provenance: Mapping[str, object] = field(default_factory=dict)
    exports: Mapping[str, str] = field(default_factory=dict)

    @property
    def model(self) -> Model:
        """The chosen formula."""
        return self.models[self.chosen]

    @property
    def data(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """(X, y) as arrays of float64, or None if there are no rows."""
        if self.X is None or self.y is None or len(self.y) == 0:
            return None
        return np.asarray(self.X, dtype=np.float64), np.asarray(self.y, dtype=np.float64)
