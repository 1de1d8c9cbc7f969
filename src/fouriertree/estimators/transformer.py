"""`SymbolicTransformer`: the terms of the formulas that were found, as features for other models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fouriertree.criteria.losses import LossFunction
from fouriertree.data.checks import check_tables
from fouriertree.engine import CompiledEngine
from fouriertree.estimators.regressor import SymbolicRegressor
from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.fit.options import check_parameters
from fouriertree.model import Model

Floats = NDArray[np.float64]

DIGITS = 6
#: what is left of a feature that others explain, relative to its size, and is but rounding
DEPENDENT = 1e-7


class SymbolicTransformer(TransformerMixin, BaseEstimator):
    """Terms of formulas for y as features: what the formulas are made of, without their coefficients.

    `fit` has a `SymbolicRegressor` look for formulas, and takes the terms of all rows of its table.  Of these, the
    `n_features` that explain y best are kept: those of the chosen formula first, and one after the other, each with
    what those before it leave unexplained.  Terms that the others explain already are left out, so there may be fewer
    of them; where y tells of no formula, they are columns of X.  `terms_` are the features as expressions, and
    `regressor_` is the fitted regressor.

    On new rows on which a feature has no finite value, it is its mean.

    Parameters
    ----------
    n_features : int, default=10
        Maximum number of features that a transformer returns.
    operators, loss, quantile, max_terms, max_size, complexities, nesting, guesses : optional
        As in `SymbolicRegressor`.
    time_limit, max_evaluations, random_state, n_jobs, feature_names, progress : optional
        As in `SymbolicRegressor`.

    >>> X = np.random.default_rng(0).uniform(-3, 3, (100, 2))
    >>> y = 2 * np.sin(X[:, 0]) + X[:, 1] ** 2
    >>> features = SymbolicTransformer(n_features=2, random_state=0).fit(X, y)
    >>> sorted(features.get_feature_names_out())
    ['sin(x0)', 'x1^2']
    """

    regressor_: SymbolicRegressor
    terms_: list[Expression]
    means_: Floats
    n_features_in_: int

    def __init__(
        self,
        n_features: int = 10,
        *,
        operators: Sequence[str] | PrimitiveSet | None = None,
        loss: str | LossFunction = "squared",
        quantile: float = 0.5,
        max_terms: int | None = None,
        max_size: int = 80,
        complexities: Mapping[str, int] | None = None,
        nesting: Mapping[str, Mapping[str, int]] | None = None,
        guesses: Sequence[str] | None = None,
        time_limit: float | None = None,
        max_evaluations: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = 1,
        feature_names: Sequence[str] | None = None,
        progress: bool = False,
    ) -> None:
        self.n_features = n_features
        self.operators = operators
        self.loss = loss
        self.quantile = quantile
        self.max_terms = max_terms
        self.max_size = max_size
        self.complexities = complexities
        self.nesting = nesting
        self.guesses = guesses
        self.time_limit = time_limit
        self.max_evaluations = max_evaluations
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.feature_names = feature_names
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> SymbolicTransformer:
        """Look for formulas for y, and keep their best terms."""
        check_parameters({"n_features": self.n_features})
        check_tables(X, y)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        settings = {
            name: value for name, value in self.get_params(deep=False).items() if name != "n_features"
        }
        names = getattr(self, "feature_names_in_", None) if self.feature_names is None else self.feature_names
        settings["feature_names"] = None if names is None else list(names)
        self.regressor_ = SymbolicRegressor(**settings).fit(X, y, sample_weight)
        self._choose(*self.regressor_._training)
        return self

    def _choose(self, X: Floats, y: Floats, weights: Floats | None) -> None:
        """Features of the formulas; of the columns, where the formulas have none."""
        roots = np.ones(len(y)) if weights is None else np.sqrt(weights)
        fitted = self.regressor_
        columns = [Expression.variable(i) for i in range(self.n_features_in_)]
        preferred = len(terms_of([fitted.model_]))
        candidates = terms_of([fitted.model_, *fitted.models_]) or columns
        values = CompiledEngine().evaluate(candidates, X).astype(np.float64, copy=False)
        chosen = explaining(values, y, roots, int(self.n_features), preferred)
        self.terms_ = [candidates[i] for i in chosen] or columns[: self.n_features]
        self.means_ = np.average(CompiledEngine().evaluate(self.terms_, X), axis=1, weights=roots**2)

    def transform(self, X: Any) -> Floats:
        """Values of the features: (n_rows, n_features)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        values = CompiledEngine(n_jobs=self.n_jobs or 1).evaluate(self.terms_, X).T
        return np.where(np.isfinite(values), values, self.means_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The formulas of the features."""
        check_is_fitted(self)
        names = self.regressor_._names
        short = [term.text(names, DIGITS) for term in self.terms_]
        exact = [term.text(names) for term in self.terms_]
        texts = [text if short.count(text) == 1 else long for text, long in zip(short, exact, strict=True)]
        return np.array(texts, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def terms_of(models: Iterable[Model]) -> list[Expression]:
    """The terms of all models that depend on a column, each once, in the order of the models."""
    found = {term.text(): term for model in models for term in model.expressions if term.columns}
    return list(found.values())


def explaining(values: Floats, target: Floats, roots: Floats, most: int, preferred: int = 0) -> list[int]:
    """Which rows of `values` (k, n) explain the target best, one after the other: orthogonal matching pursuit.

    Everything is weighted by `roots`, and a constant is taken for granted.  Rows that are not finite, or that those
    before explain, are not chosen.  The first `preferred` rows have their turn before the others.
    """
    constant = roots / np.linalg.norm(roots)
    finite = np.flatnonzero(np.isfinite(values).all(axis=1))
    # Of unit size first, so that no unit matters.
    sizes = np.abs(values[finite]).max(axis=1, initial=np.finfo(float).tiny)
    basis = values[finite] / sizes[:, None] * roots
    lengths = np.linalg.norm(basis, axis=1)
    basis = basis - np.outer(basis @ constant, constant)
    residual = roots * target / max(float(np.abs(target).max()), np.finfo(float).tiny)
    residual = residual - (residual @ constant) * constant
    chosen: list[int] = []
    while len(chosen) < min(most, len(finite)):
        left = np.linalg.norm(basis, axis=1)
        new = left > DEPENDENT * lengths
        if not new.any():
            break
        if (first := new & (finite < preferred)).any():
            new = first
        cosines = np.where(new, np.abs(basis @ residual) / np.where(new, left, 1.0), -1.0)
        best = int(cosines.argmax())
        direction = basis[best] / left[best]
        basis = basis - np.outer(basis @ direction, direction)
        basis[best] = 0.0
        residual = residual - (residual @ direction) * direction
        chosen.append(int(finite[best]))
    return chosen
