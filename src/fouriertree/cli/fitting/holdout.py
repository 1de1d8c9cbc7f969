"""Rows that the fit never sees, and how well formulas predict them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fouriertree.cli.errors import InputError
from fouriertree.io.tables.source import DASH

if TYPE_CHECKING:
    from fouriertree.cli.fitting.columns import Sample
    from fouriertree.model import Model

Floats = NDArray[np.float64]
#: the stream that these rows are drawn from: another one than those that the fit itself draws from
STREAM = 11


@dataclass(frozen=True)
class Unseen:
    """Which rows they are: a share of the table, its last rows or random ones, or those of another table."""

    share: float | None = None
    last: bool = False
    file: Path | None = None

    def check(self, data: Path) -> None:
        if self.share is not None and self.file is not None:
            raise InputError(
                "--validation keeps rows of the table aside, --validation-file has others; give one"
            )
        if self.last and self.share is None:
            raise InputError(
                "--validation-last says which rows are kept aside; say how many: --validation 0.2"
            )
        if self.file is not None and self.file == data == DASH:
            raise InputError(
                "the standard input cannot be both DATA and the --validation-file; name one of them"
            )


class Score(NamedTuple):
    """How well a formula predicts some rows; NaN where there is no number to say it."""

    r2: float
    rmse: float


@dataclass(frozen=True)
class HoldoutScores:
    """The scores of every formula of the table on rows that the fit never saw."""

    n_rows: int
    scores: Sequence[Score]


def split(sample: Sample, share: float, last: bool, seed: int) -> tuple[Sample, Sample]:
    """The rows to fit, in their order, and the others."""
    n = len(sample)
    held = min(max(round(share * n), 1), n - 2)
    if held < 1:
        raise InputError(f"of {n} rows none can be kept aside; a fit needs at least two")
    order = np.arange(n) if last else np.random.default_rng([seed, STREAM]).permutation(n)
    return sample.rows(np.sort(order[: n - held])), sample.rows(np.sort(order[n - held :]))


def judge(models: Sequence[Model], rows: Sample) -> HoldoutScores:
    """Score all formulas."""
    X, y = rows.X.to_numpy(), rows.y.to_numpy()
    weights = np.ones(len(y)) if rows.weights is None else rows.weights.to_numpy()
    if not weights.any():
        raise InputError("the rows that were kept aside all have the weight zero")
    return HoldoutScores(len(y), [score(y, model.predict(X), weights) for model in models])


def score(y: Floats, predicted: Floats, weights: Floats) -> Score:
    """R² and root mean square error; R² needs a target that is not the same everywhere."""
    if not np.isfinite(predicted).all():
        return Score(np.nan, np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(np.average(np.square(y - predicted), weights=weights))
        spread = float(np.average(np.square(y - np.average(y, weights=weights)), weights=weights))
    return Score(1.0 - error / spread if spread > 0.0 else np.nan, float(np.sqrt(error)))
