"""Residuals of many weighted linear least-squares problems with the same functions."""

from typing import Any

import numpy as np

from fouriertree.compiling import kernel

from .padded import LANES, aligned_rows, dots, fill, orthonormalise, subtract


@kernel
def residuals(functions: Any, weights: Any, targets: Any, out: Any) -> None:
    """out[i, j] = target j of problem i without its projection onto the functions times weights[i].

    functions (k, n), weights (c, n), targets (c, m, n), out (c, m, n); NaN where the problem is not finite.
    """
    k, n = functions.shape
    n_padded = LANES * (-(-n // LANES))
    Phi, Q, r = aligned_rows(k, n_padded), aligned_rows(k, n_padded), aligned_rows(1, n_padded)
    R, norms, part = np.empty((k, k)), np.empty(k), np.empty(k)
    fill(Phi.ravel(), 0.0)
    for i in range(len(weights)):
        for j in range(k):
            for t in range(n):
                Phi[j, t] = weights[i, t] * functions[j, t]
        orthonormalise(Phi, 0, Q, R, norms, part)
        defined = np.isfinite(np.sum(norms))
        for j in range(targets.shape[1]):
            fill(r[0], 0.0)
            for t in range(n):
                r[0, t] = targets[i, j, t]
            # Twice, as the first projection leaves rounding errors.
            for _ in range(2):
                dots(Q, k, r[0], part)
                subtract(Q, k, part, r[0])
            for t in range(n):
                out[i, j, t] = r[0, t] if defined else np.nan
