"""This package with its defaults."""

from __future__ import annotations

from fouriertree import SymbolicRegressor
from fouriertree.experiments.bench.cases import Array


def fit(X: Array, y: Array, seconds: float, seed: int) -> str:
    model = SymbolicRegressor(time_limit=seconds, random_state=seed, n_jobs=1).fit(X, y)
    return str(model.model_)
