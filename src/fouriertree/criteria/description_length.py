"""Description length (MDL) of a target by an equation: errors, constants and form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fouriertree.criteria.code_lengths import (
    BARE_FEATURE,
    LINEAR_MODEL_NATS,
    NATS_PER_COMPLEXITY,
    SCALED_FEATURE,
    constant_code_length,
    constant_length,
    constant_lengths,
    feature_code_length,
    is_feature,
    subset_code_length,
)
from fouriertree.criteria.objective import Objective
from fouriertree.model import Model

#: with fewer rows, a rounded constant has the code length of a fitted one
FEW_ROWS = 20
#: rows that count at most: a longer equation must also be worth reading
MOST_ROWS = 10_000


def approximate_length(n_rows: int, loss: Any, complexity: Any) -> Any:
    """½·n·log(loss) + 1.75·complexity of candidates whose constants are not final, in nats, up to a constant."""
    return 0.5 * n_rows * np.log(np.maximum(loss, np.finfo(float).tiny)) + NATS_PER_COMPLEXITY * complexity


def description_length(model: Model, complexity: int, loss: float, objective: Objective) -> float:
    """½·n·log(r) + Σ constants + 1.75·complexity in nats, up to a constant, with r the unexplained share.

    A fitted constant is coded as precisely as the data determine it, ½·log(n) + 0.35·log(1/r); a short one has a
    shorter code.  Scaled features, and the intercept, have shorter codes than other terms, see `feature_code_length`.
    The first part is n·log(r) for absolute errors, and n·loss for log-odds.  Infinite where there are as many constants
    as rows, since they interpolate.
    """
    data, kind = objective.data, objective.loss
    n = min(data.n_rows, MOST_ROWS)
    tiny = max(objective.exact, np.finfo(float).tiny)
    baseline = max(objective.baseline, tiny)
    log_share = np.log(max(loss, tiny) / baseline)
    explained = float(max(-log_share, 0.0))
    fitted, decimals = constant_code_length(n, 0.0 if kind.logistic else explained), n >= FEW_ROWS
    constants = constant_lengths(model.expression, fitted, decimals)
    if len(constants) >= n - 1:
        return np.inf
    linear = _LinearTerms.of(model, fitted, decimals)
    form = sum(constants) + NATS_PER_COMPLEXITY * complexity
    form -= linear.discount(feature_code_length(n, explained), data.n_features)
    if linear.n_features and linear.is_all:
        form += LINEAR_MODEL_NATS
    if kind.logistic:
        # The mean loss of log-odds is in nats already.
        return float(n * (loss - baseline) + form)
    power = 1.0 if kind.name in ("absolute", "quantile") else 0.5
    return float(power * n * log_share + form)


@dataclass(frozen=True)
class _LinearTerms:
    """The features and the intercept of a sum, and the code length of each as a term like any other."""

    lengths: list[float]
    n_features: int
    is_all: bool

    @classmethod
    def of(cls, model: Model, fitted: float, decimals: bool) -> _LinearTerms:
        lengths, n_features = [], 0
        for coefficient, term in zip(model.coefficients, model.expressions, strict=True):
            if term.size == 1:
                feature = is_feature(term)
                value = coefficient if feature else coefficient * float(term.const[0])
                bare = feature and abs(value) == 1.0
                constant = 0.0 if bare or value == 0.0 else constant_length(value, fitted, decimals)
                units = SCALED_FEATURE if feature and not bare else BARE_FEATURE
                lengths.append(NATS_PER_COMPLEXITY * units + constant)
                n_features += feature
        is_all = len(lengths) == model.n_terms
        if is_all:
            lengths[0] -= NATS_PER_COMPLEXITY  # the first term needs no plus sign
        return cls(lengths, n_features, is_all)

    def discount(self, feature_length: float, n_features: int) -> float:
        """How much shorter their codes are than those of other terms."""
        saved = sum(max(0.0, length - feature_length) for length in self.lengths)
        return max(0.0, saved - subset_code_length(self.n_features, n_features))
