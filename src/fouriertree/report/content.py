"""The content of a report, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.model import Model


@dataclass(frozen=True)
class Band:
    """A prediction interval: prediction ± `half_width` covers about the share `level` of new rows."""

    half_width: float
    level: float


@dataclass(frozen=True, eq=False)
class Certificate:
    """Whether the equation is finite on the domain: the verdict, its explanation, and derivatives by feature."""

    verdict: str
    text: str = ""
    slopes: pd.DataFrame | None = None


@dataclass(frozen=True, eq=False)
class ReportContent:
    """Everything that a report shows; what is None or empty is left out.

    Attributes
    ----------
    title, target : str
        Heading of the page, and name of the target.
    names : sequence of str
        Names of the features.
    equations : pandas.DataFrame
        The table of equations, such as `SymbolicRegressor.equations_`.
    chosen : int
        The chosen row.
    models : sequence of Model
        The equations of the table, row by row.
    X, y : arrays of shape (n_rows, n_features) and (n_rows,), optional
        The data of the figures.
    intervals : pandas.DataFrame, optional
        Confidence intervals, one row per parameter.
    band : Band, optional
        The prediction interval.
    certificate : Certificate, optional
    stability : mapping of str to pandas.DataFrame, optional
        Tables by caption.
    provenance : mapping
        What reproduces the fit: options, seed, versions, hash of the data, duration, stop reason.
    exports : mapping of str to str
        Source code by language.
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
        """The chosen equation."""
        return self.models[self.chosen]

    @property
    def data(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """(X, y) as arrays of float64, or None if there are no rows."""
        if self.X is None or self.y is None or len(self.y) == 0:
            return None
        return np.asarray(self.X, dtype=np.float64), np.asarray(self.y, dtype=np.float64)
