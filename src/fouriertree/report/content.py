"""The content of a report, as plain data, and how it is made from a fitted regressor and its data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.criteria.errors import Measure
from fouriertree.export import ExportError
from fouriertree.fit.target import judged_note
from fouriertree.model import Model
from fouriertree.uncertainty.intervals import LEVEL, conformal_quantile

Floats = NDArray[np.float64]
#: level of the prediction interval, which needs 9 scores; 95 % would need 19
BAND_LEVEL = 0.9
#: the export targets that the report shows
SNIPPETS = ("python", "latex", "c", "javascript", "postgresql", "excel", "matlab", "r", "julia")


@dataclass(frozen=True)
class Band:
    """A prediction interval: errors of at most `half_width` cover about the share `level` of new rows."""

    half_width: float
    level: float
    measure: Measure = "absolute"  #: of the errors

    @property
    def limits(self) -> str:
        """The interval in words."""
        width = self.half_width
        if self.measure == "log":
            return f"within a factor of {np.exp(width):.4g} of"
        if self.measure == "relative":
            return f"within ±{100.0 * width:.3g} % of"
        return f"within ±{width:.5g} of"


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
    level : float
        Level of the confidence intervals.
    note : str, optional
        What the columns of the table refer to, where that is not the target.
    """

    title: str
    target: str
    names: Sequence[str]
    equations: pd.DataFrame
    chosen: int
    models: Sequence[Model]
    X: Floats | None = None
    y: Floats | None = None
    intervals: pd.DataFrame | None = None
    band: Band | None = None
    certificate: Certificate | None = None
    stability: Mapping[str, pd.DataFrame] | None = None
    provenance: Mapping[str, object] = field(default_factory=dict)
    exports: Mapping[str, str] = field(default_factory=dict)
    level: float = LEVEL
    note: str | None = None

    @property
    def model(self) -> Model:
        """The chosen equation."""
        return self.models[self.chosen]

    @property
    def data(self) -> tuple[Floats, Floats] | None:
        """(X, y) as arrays of float64, or None if there are no rows."""
        if self.X is None or self.y is None or len(self.y) == 0:
            return None
        return np.asarray(self.X, dtype=np.float64), np.asarray(self.y, dtype=np.float64)


# From a fitted regressor ----------------------------------------------------------------------------------------
def content_of(
    regressor: Any, target: str, X: Floats, y: Floats, refits: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ReportContent:  # fmt: skip
    """The report of the chosen equation; with `refits` > 0 also its stability, which takes as many fits."""
    half_width = conformal_quantile(regressor.scores_[regressor.best_index_], BAND_LEVEL)
    stability = None
    if refits:
        found = regressor.stability(refits, X, y, progress)
        stability = {"Forms over the refits": found.forms, "Terms over the refits": found.terms}
    return ReportContent(
        title=f"An equation for {target}",
        target=target,
        names=list(regressor._feature_labels),
        equations=regressor.equations_,
        chosen=regressor.best_index_,
        models=regressor.models_,
        X=X,
        y=y,
        intervals=_intervals(regressor, X, y),
        band=Band(half_width, BAND_LEVEL, regressor._measure) if np.isfinite(half_width) else None,
        certificate=_certificate(regressor),
        stability=stability,
        provenance=provenance(regressor, target),
        exports=snippets(regressor),
        note=judged_note(regressor._measure, target),
    )


def _intervals(regressor: Any, X: Floats, y: Floats) -> pd.DataFrame | None:
    try:
        return cast(pd.DataFrame, regressor.coefficient_intervals(level=LEVEL, X=X, y=y))
    except ValueError:  # fewer rows than parameters
        return None


def _certificate(regressor: Any) -> Certificate:
    certificate = regressor.certificate()
    rows = [(slope.column, slope.direction, slope.lower, slope.upper) for slope in regressor.slopes()]
    columns = ["feature", "direction", "lower bound", "upper bound"]
    slopes = pd.DataFrame(rows, columns=columns) if rows else None
    return Certificate(certificate.verdict, certificate.text(), slopes)


def provenance(regressor: Any, target: str) -> Mapping[str, object]:
    """What reproduces the fit: data, options that differ from their defaults, history and versions."""
    saved = regressor.to_record(target)
    default = type(regressor)()
    changed = {name: value for name, value in saved.parameters.items() if value != getattr(default, name)}
    return {
        "target": target,
        "rows of the fit": saved.data.get("rows"),
        "SHA-256 of the data": saved.data.get("sha256"),
        "parameters": json.dumps(changed | dict(saved.described), ensure_ascii=False),
        **{name: round(v, 2) if isinstance(v, float) else v for name, v in saved.history.items()},
        **{f"version of {name}": version for name, version in saved.versions.items()},
    }


def snippets(regressor: Any) -> dict[str, str]:
    """The chosen equation as source code, or why a language cannot express it."""
    code = {}
    for target in SNIPPETS:
        try:
            code[target] = str(regressor.export(target))
        except ExportError as error:
            code[target] = str(error)
    return code
