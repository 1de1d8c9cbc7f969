"""From a fitted regressor and its data to the content of a report."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.export import TARGETS, ExportError
from fouriertree.report import Band, Certificate, ReportContent
from fouriertree.uncertainty.intervals import conformal_quantile

Floats = NDArray[np.float64]
#: of the prediction band, and of the intervals of numbers
LEVEL = 0.9
#: languages that are shown; all others are an export away
SNIPPETS = ("python", "latex", "c", "javascript", "postgresql", "excel", "matlab", "r", "julia")


def content_of(
    regressor: Any, target: str, X: Floats, y: Floats, refits: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ReportContent:  # fmt: skip
    """All parts of the report of the chosen formula; with `refits`, its stability, too, which takes so many fits."""
    half_width = conformal_quantile(regressor.scores_[regressor.best_index_], LEVEL)
    stability = regressor.stability(refits, X, y, progress) if refits else None
    return ReportContent(
        title=f"A formula for {target}",
        target=target,
        names=list(regressor._column_texts),
        equations=regressor.equations_,
        chosen=regressor.best_index_,
        models=regressor.models_,
        X=X,
        y=y,
        intervals=_intervals(regressor, X, y),
        band=Band(half_width, LEVEL) if np.isfinite(half_width) else None,
        certificate=_certificate(regressor),
        stability=None if stability is None else {"Forms": stability.forms, "Terms": stability.terms},
        provenance=provenance(regressor, target),
        exports=snippets(regressor),
    )


def _intervals(regressor: Any, X: Floats, y: Floats) -> pd.DataFrame | None:
    try:
        found: pd.DataFrame = regressor.coefficient_intervals(level=LEVEL, X=X, y=y)
    except ValueError:  # fewer rows than numbers
        return None
    return found


def _certificate(regressor: Any) -> Certificate:
    found = regressor.certificate()
    rows = [
        {"column": s.column, "direction": s.direction, "slope from": s.lower, "to": s.upper}
        for s in regressor.slopes()
    ]
    return Certificate(found.verdict, found.text(), pd.DataFrame(rows) if rows else None)


def provenance(regressor: Any, target: str) -> Mapping[str, object]:
    """What is needed to do it again."""
    saved = regressor.to_record(target)
    given = {name: value for name, value in saved.parameters.items() if value != _default(regressor, name)}
    return {
        "target": target,
        "rows of the fit": saved.data.get("rows"),
        "SHA-256 of the data": saved.data.get("sha256"),
        "parameters": json.dumps(given | dict(saved.described), ensure_ascii=False),
        **{name: round(v, 2) if isinstance(v, float) else v for name, v in saved.history.items()},
        **{f"version of {name}": number for name, number in saved.versions.items()},
    }


def _default(regressor: Any, name: str) -> object:
    return getattr(type(regressor)(), name)


def snippets(regressor: Any) -> dict[str, str]:
    """The chosen formula in the languages that can express it."""
    found = {}
    for target in SNIPPETS:
        if target in TARGETS:
            try:
                found[target] = str(regressor.export(target))
            except ExportError as refusal:
                found[target] = str(refusal)
    return found
