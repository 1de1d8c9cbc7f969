"""From labels to the log-odds of classes, and from these to probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.losses import probabilities

Floats = NDArray[np.float64]

#: log-odds beyond are certainty, and would only overflow
CERTAIN = 500.0
#: log-odds of two classes each as they are: nothing is sharpened
UNCALIBRATED = (1.0, 0.0)
#: how strongly both exponents are drawn there, in rows
DRAWN = 1.0
STEPS = 50


def platt_targets(positive: NDArray[np.bool_], weights: Floats) -> Floats:
    """Labels as probabilities, by Platt's rule: near 1 and 0, the nearer the more rows there are: (n_rows,).

    >>> platt_targets(np.array([True, False, False]), np.ones(3)).round(3)
    array([0.667, 0.25 , 0.25 ])
    """
    counts = as_counts(weights)
    yes, no = float(counts[positive].sum()), float(counts[~positive].sum())
    return np.where(positive, (yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0))


def as_counts(weights: Floats) -> Floats:
    """Whole weights are counts of rows; others are relative, and count as many rows as there are."""
    return weights if (weights == np.floor(weights)).all() else weights / weights.mean()


def shares(odds: Floats, exponents: tuple[float, float] = UNCALIBRATED) -> Floats:
    """Probabilities of classes from the log-odds of each against the others: (n_rows, n_classes) both.

    With p the probabilities of the single log-odds, they are p^a/(1 − p)^b, made to add up to one.  For log-odds that
    are right, a = 1 and b = 0 give the right ones; a = b = 1 is the softmax, which is sharper.

    >>> shares(np.array([[0.0, 0.0, 0.0]])).round(3)
    array([[0.333, 0.333, 0.333]])
    """
    a, b = exponents
    logs = a * _log_p(odds) - b * _log_p(-odds)
    raised = np.exp(logs - logs.max(axis=1, keepdims=True))
    found: Floats = raised / raised.sum(axis=1, keepdims=True)
    return found


def _log_p(odds: Floats) -> Floats:
    return -np.logaddexp(0.0, -np.clip(odds, -CERTAIN, CERTAIN))


def calibration_exponents(odds: Floats, codes: NDArray[np.intp], weights: Floats) -> tuple[float, float]:
    """The exponents of `shares` with the largest likelihood of the classes `codes`, none of them negative.

    The logarithm of the likelihood is concave in them, so Newton's steps, halved where they go too far, find them.
    """
    features = np.stack([_log_p(odds), -_log_p(-odds)])
    counts, rows = as_counts(weights), np.arange(len(codes))

    def cost(exponents: Floats) -> float:
        picked = shares(odds, (exponents[0], exponents[1]))[rows, codes]
        away = exponents - UNCALIBRATED
        return float(-counts @ np.log(np.maximum(picked, 1e-300)) + 0.5 * DRAWN * away @ away)

    best = np.array(UNCALIBRATED)
    for _ in range(STEPS):
        p = shares(odds, (best[0], best[1]))
        centred = features - (features * p).sum(axis=2, keepdims=True)
        gradient = (centred[:, rows, codes] * counts).sum(axis=1) - DRAWN * (best - UNCALIBRATED)
        bend = np.einsum("ink,jnk,nk,n->ij", centred, centred, p, counts) + DRAWN * np.eye(2)
        # One that is zero and would become negative stays.
        free = (best > 0.0) | (gradient > 0.0)
        step, now = np.zeros(2), cost(best)
        step[free] = np.linalg.solve(bend[np.ix_(free, free)], gradient[free])
        tried = [np.maximum(best + step / 2.0**i, 0.0) for i in range(12)]
        better = next((new for new in tried if cost(new) < now), None)
        if better is None:
            break
        best = better
    return float(best[0]), float(best[1])


def binary_probabilities(odds: Floats) -> Floats:
    """Probabilities of two classes from the log-odds of the second: (n_rows, 2)."""
    second = probabilities(odds)
    return np.column_stack([1.0 - second, second])
