"""How long the description of a table by a formula is: the errors, the numbers and the form."""

from __future__ import annotations

from dataclasses import dataclass

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
from fouriertree.criteria.rows import Rows
from fouriertree.model import Model

#: with fewer rows, a rounded number is as dear as a fitted one
FEW_ROWS = 20
#: rows that count at most: a longer formula must be worth it to a reader, too
MOST_ROWS = 10_000


def description_length(model: Model, complexity: int, loss: float, rows: Rows, exact: float) -> float:
    """In nats, up to a constant: ½·n·log(r) + Σ numbers + 1.75·complexity, with r the share that is left unexplained.

    A fitted number is written down as precisely as the data know it, ½·log(n) + 0.35·log(1/r); a short one costs less.
    Scaled features, and the constant, cost less than other terms, see `feature_code_length`.  The first part is
    twice as long for absolute errors, and n·loss for log-odds; there is no end where numbers are as many as the rows,
    which they interpolate.
    """
    n = min(len(rows.space.y), MOST_ROWS)
    tiny = max(exact, np.finfo(float).tiny)
    spread = max(rows.baseline_loss(), tiny)
    log_share = np.log(max(loss, tiny) / spread)
    explained = float(max(-log_share, 0.0))
    fitted, decimals = constant_code_length(n, 0.0 if rows.loss.logistic else explained), n >= FEW_ROWS
    numbers = constant_lengths(model.expression, fitted, decimals)
    if len(numbers) >= n - 1:
        return np.inf
    plain = _Plain.terms_of(model, fitted, decimals)
    form = sum(numbers) + NATS_PER_COMPLEXITY * complexity
    form -= plain.discount(feature_code_length(n, explained), rows.space.n_columns)
    if plain.columns and plain.is_all:
        form += LINEAR_MODEL_NATS
    if rows.loss.logistic:
        # The mean loss of log-odds is in nats already.
        return float(n * (loss - spread) + form)
    power = 1.0 if rows.loss.name in ("absolute", "quantile") else 0.5
    return float(power * n * log_share + form)


@dataclass(frozen=True)
class _Plain:
    """The columns and the constant of a sum, and what each costs as a term of its size."""

    costs: list[float]
    columns: int
    is_all: bool

    @classmethod
    def terms_of(cls, model: Model, fitted: float, decimals: bool) -> _Plain:
        costs, columns = [], 0
        for coefficient, term in zip(model.coefficients, model.expressions, strict=True):
            if term.size == 1:
                column = is_feature(term)
                value = coefficient if column else coefficient * float(term.const[0])
                bare = column and abs(value) == 1.0
                number = 0.0 if bare or value == 0.0 else constant_length(value, fitted, decimals)
                units = SCALED_FEATURE if column and not bare else BARE_FEATURE
                costs.append(NATS_PER_COMPLEXITY * units + number)
                columns += column
        is_all = len(costs) == model.n_terms
        if is_all:
            costs[0] -= NATS_PER_COMPLEXITY  # which is added to nothing
        return cls(costs, columns, is_all)

    def discount(self, price: float, of_columns: int) -> float:
        """By how much they are cheaper than other terms."""
        cheaper = sum(max(0.0, cost - price) for cost in self.costs)
        return max(0.0, cheaper - subset_code_length(self.columns, of_columns))
