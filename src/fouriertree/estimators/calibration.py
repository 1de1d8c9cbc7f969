"""Calibration: labels as Platt targets, log-odds of classes as probabilities."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from fouriertree.criteria.losses import probabilities

Floats = NDArray[np.float64]

#: log-odds are clipped to this, where probabilities are 0 and 1 in float64
SATURATION = 500.0
#: exponents (a, b) of `class_probabilities` that are correct for correct log-odds
UNCALIBRATED = (1.0, 0.0)
#: weight of the quadratic penalty that shrinks the exponents to these, in rows
PENALTY = 1.0
NEWTON_STEPS, HALVINGS = 50, 12
#: smallest probability in a logarithm
TINY = 1e-300


def platt_targets(positive: NDArray[np.bool_], weights: Floats) -> Floats:
    """Platt's targets (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) for positive and negative rows: (n_rows,).

    >>> platt_targets(np.array([True, False, False]), np.ones(3)).round(3)
    array([0.667, 0.25 , 0.25 ])
    """
    counts = as_counts(weights)
    yes, no = float(counts[positive].sum()), float(counts[~positive].sum())
    return np.where(positive, (yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0))


def as_counts(weights: Floats) -> Floats:
    """Integer weights as counts of rows; others normalized to a mean of 1."""
    return weights if (weights == np.floor(weights)).all() else weights / weights.mean()


def class_probabilities(log_odds: Floats, exponents: tuple[float, float] = UNCALIBRATED) -> Floats:
    """Probabilities ∝ p^a/(1 − p)^b, where p = 1/(1 + exp(−log_odds)) of each class against the others.

    Both arrays are (n_rows, n_classes).  a = 1 and b = 0 are correct for correct log-odds; a = b = 1 is the softmax.

    >>> class_probabilities(np.array([[0.0, 0.0, 0.0]])).round(3)
    array([[0.333, 0.333, 0.333]])
    """
    a, b = exponents
    return np.asarray(softmax(a * _log_p(log_odds) - b * _log_p(-log_odds), axis=1))


def _log_p(log_odds: Floats) -> Floats:
    return -np.logaddexp(0.0, -np.clip(log_odds, -SATURATION, SATURATION))


def calibration_exponents(log_odds: Floats, codes: NDArray[np.intp], weights: Floats) -> tuple[float, float]:
    """Maximum-likelihood exponents ≥ 0 of `class_probabilities` for the classes `codes`, with a quadratic penalty.

    The log-likelihood is concave in the exponents: projected Newton steps with backtracking.
    """
    features = np.stack([_log_p(log_odds), -_log_p(-log_odds)])
    counts, rows = as_counts(weights), np.arange(len(codes))

    def objective(exponents: Floats) -> float:
        likelihoods = class_probabilities(log_odds, (exponents[0], exponents[1]))[rows, codes]
        shift = exponents - UNCALIBRATED
        return float(-counts @ np.log(np.maximum(likelihoods, TINY)) + 0.5 * PENALTY * shift @ shift)

    best = np.array(UNCALIBRATED)
    for _ in range(NEWTON_STEPS):
        p = class_probabilities(log_odds, (best[0], best[1]))
        centred = features - (features * p).sum(axis=2, keepdims=True)
        gradient = (centred[:, rows, codes] * counts).sum(axis=1) - PENALTY * (best - UNCALIBRATED)
        hessian = np.einsum("ink,jnk,nk,n->ij", centred, centred, p, counts) + PENALTY * np.eye(2)
        # Exponents at the bound 0 that would become negative are fixed.
        free = (best > 0.0) | (gradient > 0.0)
        step, current = np.zeros(2), objective(best)
        step[free] = np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
        tried = [np.maximum(best + step / 2.0**i, 0.0) for i in range(HALVINGS)]
        better = next((new for new in tried if objective(new) < current), None)
        if better is None:
            break
        best = better
    return float(best[0]), float(best[1])


def binary_probabilities(log_odds: Floats) -> Floats:
    """Probabilities of two classes from the log-odds of the second: (n_rows, 2)."""
    second = probabilities(log_odds)
    return np.column_stack([1.0 - second, second])
