"""`SymbolicClassifier`: formulas for the log-odds of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from fouriertree.data.checks import check_tables, draw_seed
from fouriertree.estimators.calibration import (
    UNCALIBRATED,
    binary_probabilities,
    calibration_exponents,
    platt_targets,
    shares,
)
from fouriertree.estimators.fitted import plain_parameters
from fouriertree.estimators.multioutput import ENDED_BY_USER, LIMITS, share
from fouriertree.estimators.regressor import SymbolicRegressor
from fouriertree.expr import PrimitiveSet
from fouriertree.runs.bundles import load_bundle, save_bundle
from fouriertree.runs.model_file import ModelFileError

Floats = NDArray[np.float64]

FORMAT = "fouriertree-classifier"
#: kinds of labels that JSON can hold: booleans, whole numbers, floats, text
PLAIN_LABELS = "biufU"


class SymbolicClassifier(ClassifierMixin, BaseEstimator):
    """Formulas for the log-odds of classes in the columns of X, from simplest to most accurate.

    Of two classes, there is one table of formulas, for the log-odds of the second; of more, one for each class against
    the others.  Their searches look for the working response of logistic regression, and every formula of a table has
    the numbers of largest likelihood.  `equations_` holds all tables, with the class in its first column: `loss` is the
    mean log loss, `validation_loss` that on rows that were held back, `r2` the share of the deviance that is explained.
    `estimators_` are the tables as `SymbolicRegressor` objects, whose predictions are log-odds and which can be asked,
    exported and drawn.  Probabilities of more than two classes are made of those of the tables, p: they are
    p^a/(1 − p)^b, made to add up to one, with `exponents_` a and b of largest likelihood.

    Labels count as probabilities (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) of classes with N rows, by Platt's rule, so that
    log-odds stay finite where a formula separates the classes.

    Parameters
    ----------
    operators, model_selection, max_terms, max_size, complexities, nesting, guesses : optional
        As in `SymbolicRegressor`.
    time_limit, max_evaluations, random_state, n_jobs, feature_names, progress : optional
        As in `SymbolicRegressor`; the classes share the limits evenly.

    >>> X = np.random.default_rng(0).uniform(-2, 2, (300, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 1, "inside", "outside")
    >>> model = SymbolicClassifier(max_evaluations=20_000, random_state=0).fit(X, y)
    >>> model.predict([[0.1, 0.2], [1.5, 1.5]])
    array(['inside', 'outside'], dtype='<U7')
    """

    classes_: NDArray[Any]
    estimators_: list[SymbolicRegressor]  #: one for every class, or for the second of two
    seed_: int
    exponents_: tuple[float, float] = UNCALIBRATED  #: how the log-odds of more than two classes go together

    def __init__(
        self,
        *,
        operators: Sequence[str] | PrimitiveSet | None = None,
        model_selection: str = "mdl",
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
        self.operators = operators
        self.model_selection = model_selection
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

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> SymbolicClassifier:
        """Search for formulas for the log-odds of the classes of y."""
        check_tables(X)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        weights: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        X, y, weights = X[weights > 0.0], y[weights > 0.0], weights[weights > 0.0]
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y has only one class among the rows that count; there is nothing to tell apart")
        self.seed_ = draw_seed(self.random_state)
        asked = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        given = None if sample_weight is None else weights
        self.estimators_ = []
        for code in asked:
            targets = platt_targets(codes == code, weights)
            self.estimators_.append(self._regressor(len(asked)).fit(X, targets, given))
        if len(asked) > 1:
            self.exponents_ = calibration_exponents(self._odds(X), codes, weights)
        return self

    def _regressor(self, parts: int) -> SymbolicRegressor:
        settings: dict[str, Any] = self.get_params(deep=False)
        names = getattr(self, "feature_names_in_", None) if self.feature_names is None else self.feature_names
        settings |= {name: share(settings[name], parts) for name in LIMITS if name in settings}
        if self.estimators_ and self.estimators_[-1].stop_reason_ in ENDED_BY_USER:
            settings["time_limit"] = 0.0  # who ends one search does not wait for the others
        settings |= {"random_state": self.seed_, "feature_names": None if names is None else list(names)}
        return SymbolicRegressor(loss="logistic", **settings)

    # Predictions ----------------------------------------------------------------------------------------------
    def decision_function(self, X: Any) -> Floats:
        """Log-odds: (n_rows,) of the second of two classes, else (n_rows, n_classes) of each against the others.

        Where a formula has no value, those of the class as such.
        """
        check_is_fitted(self)
        found = self._odds(validate_data(self, X, reset=False, dtype=np.float64))
        return found[:, 0] if len(self.estimators_) == 1 else found

    def _odds(self, X: Floats) -> Floats:
        """Log-odds by every table: (n_rows, n_tables)."""
        found = np.column_stack([one.predict(X) for one in self.estimators_])
        # The first row of a table is a constant.
        typical = [one.models_[0].predict(X[:1])[0] for one in self.estimators_]
        return np.where(np.isnan(found), typical, found)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, in the order of `classes_`: (n_rows, n_classes)."""
        odds = self.decision_function(X)
        return binary_probabilities(odds) if odds.ndim == 1 else shares(odds, self.exponents_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of every row: (n_rows,)."""
        odds = self.decision_function(X)
        codes = (odds > 0.0).astype(int) if odds.ndim == 1 else odds.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    # Formulas -------------------------------------------------------------------------------------------------
    @property
    def _labels(self) -> NDArray[Any]:
        """The classes that have a table."""
        labels: NDArray[Any] = self.classes_[-len(self.estimators_) :]
        return labels

    @property
    def equations_(self) -> pd.DataFrame:
        """The tables of formulas, one below the other."""
        check_is_fitted(self)
        tables = []
        for label, one in zip(self._labels, self.estimators_, strict=True):
            table = one.equations_.copy()
            table.insert(0, "class", label)
            tables.append(table)
        return pd.concat(tables, ignore_index=True)

    def get_best(self) -> Any:
        """The chosen row of `equations_`; of more than two classes, the chosen row of each."""
        check_is_fitted(self)
        if len(self.estimators_) == 1:
            return self.equations_.iloc[self.estimators_[0].best_index_]
        rows = pd.DataFrame([one.get_best() for one in self.estimators_]).reset_index(drop=True)
        rows.insert(0, "class", self._labels)
        return rows

    def log_odds(self, label: Any = None) -> SymbolicRegressor:
        """The regressor whose formulas are the log-odds of a class; of two classes, it need not be named."""
        check_is_fitted(self)
        labels = self._labels.tolist()
        if label is None and len(labels) == 1:
            return self.estimators_[0]
        if label not in labels:
            raise ValueError(f"name one of the classes that have formulas, {labels}; got {label!r}")
        position: int = labels.index(label)
        return self.estimators_[position]

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

    # On disk --------------------------------------------------------------------------------------------------
    def save(self, path: str | Path) -> None:
        """Write the formulas of all classes to a JSON file that a person can read."""
        check_is_fitted(self)
        labels = self.classes_
        if labels.dtype.kind not in PLAIN_LABELS and not all(isinstance(label, str) for label in labels):
            raise ValueError(
                "a file holds labels that are numbers or text; fit with such labels, or use pickle"
            )
        plain, described = plain_parameters(self.get_params(deep=False))
        facts = {
            "classes": labels.tolist(),
            "labels": labels.dtype.str,
            "named": hasattr(self, "feature_names_in_"),
            "exponents": list(self.exponents_),
            "parameters": plain,
            "described": described,
        }
        parts = zip(self._labels, self.estimators_, strict=True)
        save_bundle(Path(path), FORMAT, facts, [one.to_record(str(label)) for label, one in parts])

    @classmethod
    def load(cls, path: str | Path, operators: PrimitiveSet | None = None) -> Self:
        """The classifier that `save` wrote; `operators` knows those of your own that it uses."""
        facts, parts = load_bundle(Path(path), FORMAT, operators)
        try:
            new = cls(**facts["parameters"])
            new.classes_ = np.array(facts["classes"], dtype=facts["labels"])
            a, b = map(float, facts["exponents"])
            new.exponents_, named = (a, b), bool(facts["named"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"{path} is damaged: {error}") from None
        if len(parts) != (1 if len(new.classes_) == 2 else len(new.classes_)):
            raise ModelFileError(
                f"{path} is damaged: it has {len(parts)} tables for {len(new.classes_)} classes"
            )
        new.estimators_ = [SymbolicRegressor.from_record(part) for part in parts]
        new.n_features_in_, new.seed_ = new.estimators_[0].n_features_in_, new.estimators_[0].seed_
        for one in new.estimators_:
            if hasattr(one, "feature_names_in_"):
                if named:
                    new.feature_names_in_ = one.feature_names_in_
                del one.feature_names_in_  # names are matched once, by the classifier
        return new
