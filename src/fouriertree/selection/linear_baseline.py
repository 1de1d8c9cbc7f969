"""Linear models as candidates, and the full linear model (OLS) as the baseline of every equation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from fouriertree.criteria.archive import Candidate
from fouriertree.criteria.losses import Objective
from fouriertree.data.training import TrainingData
from fouriertree.expr import Expression
from fouriertree.projection.forward import (
    INDEPENDENT,
    forward_selection,
    largest,
    standardised,
    weighted_differences,
)
from fouriertree.selection.finalize import Equation

Floats = NDArray[np.float64]

#: features that are looked at, those with the largest correlations, where there are more
MAX_FEATURES = 300
#: rows per feature from which on the errors of the full linear model are informative
ROWS_PER_FEATURE = 3
#: expected R² by which the full linear model has to be better, and the significance level of the F-test
R2_TOLERANCE, SIGNIFICANCE = 0.01, 0.02


def linear_models(data: TrainingData, most_terms: int) -> list[Candidate]:
    """c + a·x_i, c + a·x_i + b·x_j, … by forward selection, with coefficients fitted to the training set.

    Features are selected with all rows: where rows are few, the training set alone shows too little of weak effects.
    """
    near = correlated(data.X, data.y, data.weights)
    order = near[forward_selection(data.X[:, near], data.y, data.weights, most_terms - 1)].tolist()
    rows = data.training
    terms = [Expression.constant(1.0), *map(Expression.variable, order)]
    values = np.column_stack([np.ones(data.n_training), data.X[rows][:, order]])
    with np.errstate(over="ignore"):  # the coefficient of a subnormal feature
        fits = nested_fits(values, data.y[rows], data.weights[rows])
    return [
        Candidate(tuple(fit.tolist()), tuple(terms[: len(fit)])) for fit in fits if np.isfinite(fit).all()
    ]


def nested_fits(values: Floats, y: Floats, weights: Floats) -> list[Floats]:
    """Least-squares coefficients of the first two columns of `values` (n, k), of the first three, …, by one QR."""
    roots, scales = np.sqrt(weights), largest(values)
    Q, R = np.linalg.qr(roots[:, None] * (values / scales))
    projected = Q.T @ (roots * y)
    # lstsq and not a triangular solve: features may be nearly collinear on the training set alone.
    return [
        np.linalg.lstsq(R[:k, :k], projected[:k], rcond=None)[0] / scales[:k]
        for k in range(2, values.shape[1] + 1)
    ]


def correlated(X: Floats, y: Floats, weights: Floats) -> NDArray[np.intp]:
    """The features of X (n, p) with the largest correlations with y, in their order."""
    if X.shape[1] <= MAX_FEATURES:
        return np.arange(X.shape[1])
    scaled = X / largest(X)
    centred = scaled - np.average(scaled, axis=0, weights=weights)
    products = np.abs((weights * (y - np.average(y, weights=weights))) @ centred)
    lengths = np.sqrt(weights @ np.square(centred))
    correlations = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0.0)
    return np.sort(np.argsort(-correlations, kind="stable")[:MAX_FEATURES])


@dataclass(frozen=True)
class FullLinearModel:
    """Ordinary least squares with all features: none of them was selected, so there is no selection bias."""

    unexplained: float  #: share of the variance
    n_parameters: int
    n_rows: float

    def beats(self, unexplained: float, n_parameters: int) -> bool:
        """Whether an equation with this unexplained share and so many fitted parameters is worse.

        Its expected out-of-sample R² is lower by more than 0.01, and an F-test for the additional parameters of the
        linear model rejects at 2 %.
        """
        expected = self._out_of_sample(unexplained, n_parameters)
        if expected <= self._out_of_sample(self.unexplained, self.n_parameters) + R2_TOLERANCE:
            return False
        spare = (self.n_rows - self.n_parameters) / 2.0
        additional = max(self.n_parameters - n_parameters, 1) / 2.0
        return bool(betainc(spare, additional, self.unexplained / unexplained) < SIGNIFICANCE)

    def _out_of_sample(self, unexplained: float, n_parameters: int) -> float:
        """Expected unexplained share on new rows: r·(n + p)/(n − p)."""
        return unexplained * (self.n_rows + n_parameters) / max(self.n_rows - n_parameters, 1.0)


def full_linear_model(objective: Objective) -> FullLinearModel | None:
    """None where there are too few rows for it, and for other losses than squares."""
    data, weights = objective.data, objective.weights
    n = effective_rows(data.X, data.y, data.weights)
    if not objective.loss.squared or data.n_features > min(MAX_FEATURES, n / ROWS_PER_FEATURE):
        return None
    features = standardised(data.X, weights)
    target = weighted_differences(data.y, weights)
    variance = float(target @ target)
    if variance == 0.0:
        return None
    values, vectors = np.linalg.eigh(features.T @ features)
    independent = values > INDEPENDENT**2
    basis = features @ (vectors[:, independent] / np.sqrt(values[independent]))
    errors = target - basis @ (basis.T @ target)
    return FullLinearModel(float(errors @ errors) / variance, 1 + basis.shape[1], n)


def compared_with_linear(equations: Sequence[Equation], full: FullLinearModel) -> list[Equation]:
    """The same equations, marked where the full linear model is better."""
    return [
        replace(equation, worse_than_linear=full.beats(1.0 - equation.r2, equation.n_parameters))
        for equation in equations
    ]


def effective_rows(X: Floats, y: Floats, weights: Floats) -> float:
    """(Σ w)² / Σ w², the effective sample size.  Copies of a row are one row of larger weight."""
    if len(np.unique(y)) < len(y):
        _, copies = np.unique(np.column_stack([y, X]), axis=0, return_inverse=True)
        weights = np.asarray(np.bincount(copies.ravel(), weights), np.float64)
    return float(weights.sum() ** 2 / (weights @ weights))
