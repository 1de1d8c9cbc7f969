"""The hold-out set: rows that take no part in the fit, and the scores of the equations on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fouriertree.errors import InputError

if TYPE_CHECKING:
    from fouriertree.cli.fitting.columns import Sample
    from fouriertree.model import Model

Floats = NDArray[np.float64]
#: the random stream of the split, which the fit does not use
STREAM = 11


class Score(NamedTuple):
    """Scores of an equation; NaN where they are not defined."""

    r2: float
    rmse: float


@dataclass(frozen=True)
class HoldoutScores:
    """The scores of the equations of a table on the hold-out set."""

    n_rows: int
    scores: Sequence[Score]


def split(sample: Sample, fraction: float, last: bool, seed: int) -> tuple[Sample, Sample]:
    """The training rows and the hold-out set, each in the order of the table."""
    n = len(sample)
    held = min(max(round(fraction * n), 1), n - 2)
    if held < 1:
        raise InputError(f"of {n} rows none can be held out; a fit needs at least two")
    order = np.arange(n) if last else np.random.default_rng([seed, STREAM]).permutation(n)
    return sample.rows(np.sort(order[: n - held])), sample.rows(np.sort(order[n - held :]))


def holdout_scores(models: Sequence[Model], rows: Sample) -> HoldoutScores:
    X, y = rows.X.to_numpy(), rows.y.to_numpy()
    weights = np.ones(len(y)) if rows.weights is None else rows.weights.to_numpy()
    if not weights.any():
        raise InputError("all rows of the hold-out set have weight zero")
    return HoldoutScores(len(y), [score(y, model.predict(X), weights) for model in models])


def score(y: Floats, predicted: Floats, weights: Floats) -> Score:
    """Weighted R², which a constant target leaves undefined, and root mean square error."""
    if not np.isfinite(predicted).all():
        return Score(np.nan, np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(np.average(np.square(y - predicted), weights=weights))
        spread = float(np.average(np.square(y - np.average(y, weights=weights)), weights=weights))
    return Score(1.0 - error / spread if spread > 0.0 else np.nan, float(np.sqrt(error)))
