"""RILS-ROLS: iterated local search whose terms are refitted by ordinary least squares."""

from __future__ import annotations

from typing import Any

from fouriertree.experiments.bench.cases import Array


def fit(X: Array, y: Array, seconds: float, seed: int) -> str:
    from rils_rols.rils_rols import RILSROLSRegressor

    class Unsimplified(RILSROLSRegressor):  # type: ignore[misc]
        """Without its own simplification, which takes up to two seconds; all models are simplified alike."""

        def call_model_symplify(self) -> None:
            self.model_simp: Any = self.model

    # It stops in the first whole second after the limit.
    model = Unsimplified(max_fit_calls=10**9, max_time=max(1, round(seconds) - 1), random_state=seed)
    model.fit(X, y)
    return str(model.model)
