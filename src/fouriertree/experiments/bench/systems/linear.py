"""Ordinary least squares: the linear baseline."""

from __future__ import annotations

import numpy as np

from fouriertree.experiments.bench.cases import Array


def fit(X: Array, y: Array, seconds: float, seed: int) -> str:
    """min ‖y − Xβ − c‖, with standardized features, so that units do not matter."""
    middle, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0.0] = 1.0
    beta = np.linalg.lstsq((X - middle) / scale, y - y.mean())[0] / scale
    intercept = float(y.mean() - middle @ beta)
    return " + ".join([repr(intercept), *(f"({b!r})*x{j}" for j, b in enumerate(beta.tolist()))])
