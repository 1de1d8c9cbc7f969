"""`SymbolicClassifier`: equations for the log-odds of classes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from fouriertree.data.checks import check_tables, draw_seed
from fouriertree.estimators import calibration
from fouriertree.estimators.multioutput import ENDED_BY_USER, LIMITS, divided
from fouriertree.estimators.parameters import CommonParameters
from fouriertree.estimators.regressor import SymbolicRegressor, regressor_like
from fouriertree.expr import PrimitiveSet
from fouriertree.runs.bundles import load_bundle, save_bundle
from fouriertree.runs.journal import plain_parameters
from fouriertree.runs.model_file import ModelFileError

Floats = NDArray[np.float64]

FORMAT = "fouriertree-classifier"
#: kinds of labels that JSON can represent: booleans, integers, floats, strings
PLAIN_LABELS = "biufU"


@dataclass(kw_only=True, eq=False, repr=False)
class SymbolicClassifier(ClassifierMixin, CommonParameters):
    """Equations for the log-odds of classes, from the simplest to the most accurate.

    For two classes, one table of equations approximates the log-odds of the second; for more, one table for each class
    against the others.  Searches approximate the working response of logistic regression, and the constants of every
    equation are maximum-likelihood estimates.  Labels are replaced by Platt's targets (N₊ + 1)/(N₊ + 2) and
    1/(N₋ + 2), so that log-odds are finite for separable classes.  With more than two classes, probabilities are
    ∝ p^a/(1 − p)^b, where p are the probabilities by the single tables and a, b maximize the likelihood.

    Parameters
    ----------
    operators, model_selection, max_terms, max_size, complexities, nesting, guesses : optional
        As in `SymbolicRegressor`.
    time_limit, max_evaluations, random_state, n_jobs, executor, feature_names, progress : optional
        As in `SymbolicRegressor`; the limits are divided evenly among the tables.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : list of SymbolicRegressor
        The tables, which predict log-odds: one for every class, or for the second of two.
    equations_ : DataFrame
        All tables, with the class in the first column; `loss` is the mean log loss, `validation_loss` that on the
        validation set, `r2` the fraction of deviance explained.
    exponents_ : tuple of float
        a and b.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(-2, 2, (300, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 1, "inside", "outside")
    >>> model = SymbolicClassifier(max_evaluations=20_000, random_state=0).fit(X, y)
    >>> model.predict([[0.1, 0.2], [1.5, 1.5]])
    array(['inside', 'outside'], dtype='<U7')
    """

    model_selection: str = "mdl"
    exponents_ = calibration.UNCALIBRATED

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Search for equations for the log-odds of the classes of y: X (n_rows, n_features), y (n_rows,)."""
        check_tables(X)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        weights: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        X, y, weights = X[weights > 0.0], y[weights > 0.0], weights[weights > 0.0]
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y has only one class among the rows of positive weight")
        self.seed_ = draw_seed(self.random_state)
        modeled = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        self.estimators_: list[SymbolicRegressor] = []
        for code in modeled:
            targets = calibration.platt_targets(codes == code, weights)
            regressor = self._regressor(len(modeled))
            self.estimators_.append(regressor.fit(X, targets, None if sample_weight is None else weights))
        if len(modeled) > 1:
            self.exponents_ = calibration.calibration_exponents(self._log_odds(X), codes, weights)
        return self

    def _regressor(self, parts: int) -> SymbolicRegressor:
        limits = {name: divided(getattr(self, name), parts) for name in LIMITS if hasattr(self, name)}
        if self.estimators_ and self.estimators_[-1].stop_reason_ in ENDED_BY_USER:
            limits["time_limit"] = 0.0  # an interrupt ends the remaining searches, too
        return regressor_like(self, loss="logistic", random_state=self.seed_, **limits)

    def decision_function(self, X: Any) -> Floats:
        """Log-odds: (n_rows,) of the second of two classes, else (n_rows, n_classes) of each against the others.

        Where an equation has no finite value, the log-odds of the prior.
        """
        check_is_fitted(self)
        log_odds = self._log_odds(validate_data(self, X, reset=False, dtype=np.float64))
        return log_odds[:, 0] if len(self.estimators_) == 1 else log_odds

    def _log_odds(self, X: Floats) -> Floats:
        """Log-odds by every table: (n_rows, n_tables)."""
        log_odds = np.column_stack([one.predict(X) for one in self.estimators_])
        # The first equation of a table is a constant, the prior.
        prior = [one.models_[0].predict(X[:1])[0] for one in self.estimators_]
        return np.where(np.isnan(log_odds), prior, log_odds)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, in the order of `classes_`: (n_rows, n_classes)."""
        values = self.decision_function(X)
        if values.ndim == 1:
            return calibration.binary_probabilities(values)
        return calibration.class_probabilities(values, self.exponents_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of every row: (n_rows,)."""
        log_odds = self.decision_function(X)
        codes = (log_odds > 0.0).astype(int) if log_odds.ndim == 1 else log_odds.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    @property
    def _labels(self) -> NDArray[Any]:
        """The classes that have a table."""
        return np.asarray(self.classes_[-len(self.estimators_) :])

    @property
    def equations_(self) -> pd.DataFrame:
        """The tables of equations, concatenated."""
        check_is_fitted(self)
        tables = []
        for label, one in zip(self._labels, self.estimators_, strict=True):
            table = one.equations_.copy()
            table.insert(0, "class", label)
            tables.append(table)
        return pd.concat(tables, ignore_index=True)

    @property
    def guess_notes_(self) -> list[str]:
        """Why guesses are not in the tables."""
        check_is_fitted(self)
        return [sentence for one in self.estimators_ for sentence in one.guess_notes_]

    def get_best(self) -> Any:
        """The chosen row of `equations_`; the chosen row of each class if there are more than two."""
        check_is_fitted(self)
        if len(self.estimators_) == 1:
            return self.equations_.iloc[self.estimators_[0].best_index_]
        rows = pd.DataFrame([one.get_best() for one in self.estimators_]).reset_index(drop=True)
        rows.insert(0, "class", self._labels)
        return rows

    def log_odds(self, label: Any = None) -> SymbolicRegressor:
        """The regressor for the log-odds of a class; `label` is optional for two classes."""
        check_is_fitted(self)
        labels = self._labels.tolist()
        if label is None and len(labels) == 1:
            return self.estimators_[0]
        if label not in labels:
            raise ValueError(f"label must be one of the classes with equations, {labels}; got {label!r}")
        return self.estimators_[int(labels.index(label))]

    def sympy(self, label: Any = None, index: int | None = None) -> Any:
        """The log-odds of a class as a SymPy expression."""
        return self.log_odds(label).sympy(index)

    def latex(self, label: Any = None, index: int | None = None) -> str:
        """The log-odds of a class as LaTeX."""
        return self.log_odds(label).latex(index)

    def __str__(self) -> str:
        if not hasattr(self, "estimators_"):
            return repr(self)
        tables = zip(self._labels, self.estimators_, strict=True)
        return "\n\n".join(f"log-odds of {label}\n{one}" for label, one in tables)

    def save(self, path: str | Path) -> None:
        """Write the equations of all classes to a readable JSON file."""
        check_is_fitted(self)
        labels = self.classes_
        if labels.dtype.kind not in PLAIN_LABELS and not all(isinstance(label, str) for label in labels):
            raise ValueError("labels in a file must be numbers or strings; use such labels, or pickle")
        plain, described = plain_parameters(self.get_params(deep=False))
        facts = {
            "classes": labels.tolist(), "labels": labels.dtype.str, "named": hasattr(self, "feature_names_in_"),
            "exponents": list(self.exponents_), "parameters": plain, "described": described,
        }  # fmt: skip
        parts = zip(self._labels, self.estimators_, strict=True)
        save_bundle(Path(path), FORMAT, facts, [one.to_record(str(label)) for label, one in parts])

    @classmethod
    def load(cls, path: str | Path, operators: PrimitiveSet | None = None) -> Self:
        """The classifier that `save` wrote; `operators` has its user-defined operators."""
        facts, parts = load_bundle(Path(path), FORMAT, operators)
        try:
            new = cls(**facts["parameters"])
            new.classes_ = np.array(facts["classes"], dtype=facts["labels"])
            a, b = map(float, facts["exponents"])
            new.exponents_, named = (a, b), bool(facts["named"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"{path} is damaged: {error}") from None
        if len(parts) != (1 if len(new.classes_) == 2 else len(new.classes_)):
            raise ModelFileError(f"{path} is damaged: {len(parts)} tables for {len(new.classes_)} classes")
        new.estimators_ = [SymbolicRegressor.from_record(part) for part in parts]
        new.n_features_in_, new.seed_ = new.estimators_[0].n_features_in_, new.estimators_[0].seed_
        for one in new.estimators_:
            if hasattr(one, "feature_names_in_"):
                if named:
                    new.feature_names_in_ = one.feature_names_in_
                del one.feature_names_in_  # names are checked once, by the classifier
        return new
