"""`SymbolicTransformer`: the terms of equations as features for other models."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fouriertree.criteria.losses import LossFunction, as_loss
from fouriertree.data.checks import check_tables
from fouriertree.engine import CompiledEngine
from fouriertree.estimators.parameters import CommonParameters
from fouriertree.estimators.regressor import regressor_like
from fouriertree.expr import Expression
from fouriertree.fit.options import check_parameters
from fouriertree.model import Model

Floats = NDArray[np.float64]

DIGITS = 6
#: a feature whose component orthogonal to the others is relatively smaller is linearly dependent
DEPENDENT = 1e-7


@dataclass(kw_only=True, eq=False, repr=False)
class SymbolicTransformer(TransformerMixin, CommonParameters):
    """Terms of equations for y as features.

    `fit` takes the terms of all equations of a `SymbolicRegressor` and selects features by orthogonal matching
    pursuit, those of the chosen equation first.  Linearly dependent terms are dropped; without any term that depends
    on a feature of X, features of X are selected.  Values that are not finite are replaced by the mean of the feature.

    Parameters
    ----------
    n_features : int, default=10
        Maximum number of features.
    operators, loss, quantile, max_terms, max_size, complexities, nesting, guesses : optional
        As in `SymbolicRegressor`.
    time_limit, max_evaluations, random_state, n_jobs, executor, feature_names, progress : optional
        As in `SymbolicRegressor`.

    Attributes
    ----------
    terms_ : list of Expression
        The features.
    means_ : ndarray of shape (len(terms_),)
        Their means on the training data.
    regressor_ : SymbolicRegressor

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(-3, 3, (100, 2))
    >>> y = 2 * np.sin(X[:, 0]) + X[:, 1] ** 2
    >>> features = SymbolicTransformer(n_features=2, random_state=0).fit(X, y)
    >>> sorted(features.get_feature_names_out())
    ['sin(x0)', 'x1^2']
    """

    n_features: int = field(default=10, kw_only=False)
    loss: str | LossFunction = "squared"
    quantile: float = 0.5

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Search for equations for y and select terms: X (n_rows, n_features), y (n_rows,)."""
        check_parameters({"n_features": self.n_features})
        check_tables(X, y)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        fitted = self.regressor_ = regressor_like(self).fit(X, y, sample_weight)
        data, loss = fitted._training, as_loss(self.loss, self.quantile)
        roots = np.sqrt(data.weights * loss.row_weights(data.y))
        # Terms of the equations, or features of X if the equations have none.
        features = [Expression.variable(i) for i in range(self.n_features_in_)]
        preferred = len(terms_of([fitted.model_]))
        candidates = terms_of([fitted.model_, *fitted.models_]) or features
        values = CompiledEngine().evaluate(candidates, data.X).astype(np.float64, copy=False)
        chosen = matching_pursuit(values, data.y, roots, int(self.n_features), preferred)
        self.terms_ = [candidates[i] for i in chosen] or features[: self.n_features]
        self.means_ = np.average(CompiledEngine().evaluate(self.terms_, data.X), axis=1, weights=roots**2)
        return self

    def transform(self, X: Any) -> Floats:
        """Values of the features: (n_rows, len(terms_))."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        values = CompiledEngine(n_jobs=self.n_jobs or 1).evaluate(self.terms_, X).T
        return np.where(np.isfinite(values), values, self.means_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The features as text."""
        check_is_fitted(self)
        names = self.regressor_._names
        short = [term.text(names, DIGITS) for term in self.terms_]
        unique = [
            text if short.count(text) == 1 else term.text(names)
            for text, term in zip(short, self.terms_, strict=True)
        ]
        return np.array(unique, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def terms_of(models: Iterable[Model]) -> list[Expression]:
    """The distinct terms that depend on a feature, in the order of the models."""
    terms = {term.text(): term for model in models for term in model.expressions if term.columns}
    return list(terms.values())


def matching_pursuit(
    values: Floats, target: Floats, roots: Floats, limit: int, preferred: int = 0
) -> list[int]:
    """Orthogonal matching pursuit: at most `limit` rows of `values` (k, n) in order of selection.

    Rows and target are weighted by `roots`, and a constant is projected out.  Rows that are not finite or linearly
    dependent are not selected; the first `preferred` rows come before the others.
    """
    constant = roots / np.linalg.norm(roots)
    finite = np.flatnonzero(np.isfinite(values).all(axis=1))
    # Rows are scaled to a maximum of 1, which avoids overflow in squares.
    scales = np.abs(values[finite]).max(axis=1, initial=np.finfo(float).tiny)
    basis = values[finite] / scales[:, None] * roots
    norms = np.linalg.norm(basis, axis=1)
    basis = basis - np.outer(basis @ constant, constant)
    residual = roots * target / max(float(np.abs(target).max()), np.finfo(float).tiny)
    residual = residual - (residual @ constant) * constant
    chosen: list[int] = []
    while len(chosen) < min(limit, len(finite)):
        orthogonal = np.linalg.norm(basis, axis=1)
        eligible = orthogonal > DEPENDENT * norms
        if not eligible.any():
            break
        if (first := eligible & (finite < preferred)).any():
            eligible = first
        cosines = np.where(eligible, np.abs(basis @ residual) / np.where(eligible, orthogonal, 1.0), -1.0)
        best = int(cosines.argmax())
        direction = basis[best] / orthogonal[best]
        basis = basis - np.outer(basis @ direction, direction)
        basis[best] = 0.0
        residual = residual - (residual @ direction) * direction
        chosen.append(int(finite[best]))
    return chosen
