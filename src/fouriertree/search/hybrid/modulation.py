"""Modulators: the function C of one variable for which y ≈ A(rest) + B(rest)·C is best, whatever A and B are.

A and B are left to polynomials of the other variables.  The right C shows even if A and B are not polynomials, because
wrong ones leave far more: so waves and the like are found one variable at a time.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search.hybrid.functions import BasisFunction, function_values, nonlinear_functions, single

Floats = NDArray[np.float64]

#: terms of the polynomials at most, so that twice as many stay well below the number of rows
MOST_TERMS = 28


def polynomials(V: Floats, most: int) -> Floats:
    """Products of standardised logarithms (or values, where not positive), by degree: (n_rows, n_terms ≤ most)."""
    positive = np.all(V > 0.0, axis=1)
    z = np.where(positive[:, None], np.log(np.where(V > 0.0, V, 1.0)), V)
    z = (z - z.mean(axis=1, keepdims=True)) / (z.std(axis=1, keepdims=True) + 1e-300)
    columns = [np.ones(V.shape[1])]
    for degree in range(1, 5):
        new = [
            np.prod(z[list(which)], axis=0) for which in combinations_with_replacement(range(len(z)), degree)
        ]
        if len(columns) + len(new) > most:
            break
        columns += new
    return np.stack(columns, axis=1)


def modulators(
    V: Floats, z: Floats, roots: Floats, v: Vocabulary, periods: int, per_variable: int
) -> list[tuple[BasisFunction, Floats]]:
    """The best modulators of every variable of V (d, n), one of each function, with refined inner constants."""
    d, n = V.shape
    found: list[tuple[BasisFunction, Floats]] = []
    for i in range(d):
        rest = polynomials(np.delete(V, i, axis=0), min(MOST_TERMS, n // 6)) * roots[:, None]
        fit = _Modulation(rest, roots * z)
        best: dict[str, tuple[float, BasisFunction]] = {}
        for _, function, values in nonlinear_functions(V, v, [single(d, i, 1.0)], periods):
            loss = fit.loss(values)
            if np.isfinite(loss) and (function.name not in best or loss < best[function.name][0]):
                best[function.name] = loss, function
        refined = [
            _refined(function, V[i], fit)
            for _, function in sorted(best.values(), key=lambda b: b[0])[: 2 * per_variable]
        ]
        refined.sort(key=lambda entry: entry[0])
        found += [(function, values) for _, function, values in refined[:per_variable]]
    return found


class _Modulation:
    """Squared error of A + B·C for polynomials A, B and a given C."""

    def __init__(self, rest: Floats, target: Floats) -> None:
        self.rest = rest
        self.basis = np.linalg.qr(rest)[0]
        self.residual = target - self.basis @ (self.basis.T @ target)

    def loss(self, values: Floats) -> float:
        modulated = self.rest * values[:, None]
        modulated -= self.basis @ (self.basis.T @ modulated)
        inner = np.linalg.qr(modulated)[0]
        left = self.residual - inner @ (inner.T @ self.residual)
        return float(left @ left)


def _refined(function: BasisFunction, u: Floats, fit: _Modulation) -> tuple[float, BasisFunction, Floats]:
    """The basis function with the best inner constant near that of the grid."""

    def values(constant: float) -> Floats:
        return function_values(function.name, constant, u)

    def loss(constant: float) -> float:
        with np.errstate(all="ignore"):
            value = fit.loss(values(constant)) if np.isfinite(values(constant)).all() else np.inf
        return value if np.isfinite(value) else 1e300

    k = function.constant
    if k == 0.0:
        return loss(k), function, values(k)
    reach = 0.5 * np.pi / float(np.abs(u).max()) if function.name.startswith(("sin", "cos")) else 0.5 * abs(k)
    run = minimize_scalar(loss, bounds=(k - reach, k + reach), method="bounded", options={"maxiter": 16})
    best = float(run.x) if run.fun < loss(k) else k
    return loss(best), replace(function, constant=best), values(best)
