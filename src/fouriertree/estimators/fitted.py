"""Predictions, equations and model files of a fitted regressor."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from fouriertree.data.checks import check_tables
from fouriertree.errors import shortened
from fouriertree.estimators import multioutput
from fouriertree.estimators.inspection import Inspection
from fouriertree.expr import PrimitiveSet
from fouriertree.fit.target import judged_note, measure_of
from fouriertree.model import Model, extrapolation
from fouriertree.runs.bundles import is_bundle
from fouriertree.runs.journal import plain_parameters
from fouriertree.runs.model_file import ModelFileError, ModelRecord, library_versions, load, save
from fouriertree.selection.table import table_text
from fouriertree.uncertainty.intervals import linear_prediction_bounds, prediction_bounds

Floats = NDArray[np.float64]
#: methods for prediction intervals
METHODS = ("conformal", "linear")


class Prediction(NamedTuple):
    """Predictions with lower and upper bounds: (n_rows,) each, (n_rows, n_targets) for several targets."""

    value: Floats
    lower: Floats
    upper: Floats


class ExtrapolationWarning(UserWarning):
    """Rows lie outside of the range of the training data."""


class FittedEquations(Inspection):
    """Methods of a fitted regressor.  `index` is a row of `equations_`, the chosen one by default."""

    model_: Model
    scores_: list[Floats]
    stop_reason_: str
    guess_notes_: list[str]
    estimators_: list[Any]
    targets_: list[str]
    feature_names_in_: NDArray[np.object_]
    hint_: str | None = None
    _warned = False  #: of extrapolation

    # Predictions ------------------------------------------------------------------------------------------------
    def predict(
        self, X: Any, index: int | None = None, interval: float | None = None, method: str = "conformal"
    ) -> Any:
        """Predictions on the rows of X; warns once if rows lie outside of the range of the training data.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        index : int, optional
            Row of `equations_`.
        interval : float, optional
            Coverage of prediction intervals, such as 0.9.
        method : {"conformal", "linear"}
            Intervals from quantiles of out-of-sample errors, infinite if these are too few, or from linear theory,
            which assumes that the form of the equation is correct and that errors are independent and alike.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_targets), or Prediction
            A `Prediction` if `interval` is given.
        """
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
        if multioutput.has_outputs(self):
            return multioutput.predict_outputs(self, X, index, interval, method)
        model = self._model(index)
        check_tables(X)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        values = model.predict(X, self._engine)
        self._warn(model, X, values)
        if interval is None:
            return values
        if method == "conformal":
            scores = self.scores_[self._row(index)]
            return Prediction(values, *prediction_bounds(values, scores, interval, self._measure))
        rows = self._data(None, None)
        return Prediction(values, *linear_prediction_bounds(model, *rows, X, interval, measure=self._measure))

    def _warn(self, model: Model, X: Floats, values: Floats) -> None:
        extrapolated = None if self._warned else extrapolation(model, X, self.box_, self._feature_labels)
        if bad := int(np.count_nonzero(~np.isfinite(values))):
            message = (
                f"the equation has no finite value on {bad} of {len(values)} rows: predictions are nan or inf"
            )
            warnings.warn(message, UserWarning, stacklevel=3)
        if extrapolated is not None:
            self._warned = True
            warnings.warn(f"{extrapolated}; this warning is shown once", ExtrapolationWarning, stacklevel=3)

    # Equations ------------------------------------------------------------------------------------------------
    def sympy(self, index: int | None = None) -> Any:
        """The equation as a SymPy expression."""
        return self._model(index).sympy()

    def latex(self, index: int | None = None) -> str:
        """The equation as LaTeX."""
        return self._model(index).latex()

    def get_best(self) -> Any:
        """The chosen row of `equations_`."""
        self._row(None)
        return self.equations_.iloc[self.best_index_]

    def __str__(self) -> str:
        if not hasattr(self, "equations_"):
            return repr(self)
        if multioutput.has_outputs(self):
            parts = zip(self.targets_, self.estimators_, strict=True)
            return "\n\n".join(f"{target}\n{one}" for target, one in parts)
        table = "\n".join([table_text(self.equations_, self.best_index_), *self.guess_notes_])
        notes = judged_note(self._measure), once(self.hint_)
        return "\n\n".join([table, *filter(None, notes)])

    # Files ----------------------------------------------------------------------------------------------------
    def save(self, path: str | Path, target: str = "y") -> None:
        """Write the equations and their provenance to a readable JSON file; `target` names y."""
        if multioutput.has_outputs(self):
            multioutput.save_outputs(Path(path), self)
        else:
            save(Path(path), self.to_record(target))

    @classmethod
    def load(cls, path: str | Path, operators: PrimitiveSet | None = None) -> Self:
        """The regressor that `save` wrote, without its training data; `operators` has its user-defined operators."""
        if is_bundle(Path(path)):
            loaded: Self = multioutput.load_outputs(cls, Path(path), operators)
            return loaded
        record = load(Path(path), operators)
        try:
            return cls.from_record(record)
        except ModelFileError as damage:
            raise ModelFileError(f"{path} is damaged: {damage}") from None

    def to_record(self, target: str = "y") -> ModelRecord:
        """The content of the model file."""
        self._row(None)
        plain, described = plain_parameters(self.get_params(deep=False))
        history = {name: getattr(self, f"{name}_") for name in HISTORY}
        if self.guess_notes_:
            history[NOTES] = list(self.guess_notes_)
        return ModelRecord(
            target, self._names, int(self.best_index_), tuple(self.models_), self.equations_,
            tuple(tuple(scores.tolist()) for scores in self.scores_),
            tuple((float(low), float(high)) for low, high in self.box_),
            plain, described, history, dict(self.data_), library_versions(),
        )  # fmt: skip

    @classmethod
    def from_record(cls, record: ModelRecord) -> Self:
        """The regressor with the content of a model file."""
        new = cls(**checked_parameters(record.parameters, cls))
        new.models_, new.equations_ = list(record.models), record.equations
        new.best_index_ = record.chosen
        new.model_ = new.models_[record.chosen]
        new.scores_ = [np.array(scores) for scores in record.scores]
        new.box_ = np.array(record.box).reshape(-1, 2)
        new.n_features_in_ = len(record.box)
        new._names = record.names
        new._measure = measure_of(new.get_params(deep=False))
        if record.names is not None:
            new.feature_names_in_ = np.array(record.names, dtype=object)
        for name in HISTORY:
            setattr(new, f"{name}_", record.history.get(name))
        new.guess_notes_ = [str(note) for note in record.history.get(NOTES, ())]
        new.data_ = dict(record.data)
        return new

    data_: Mapping[str, Any]  #: shape and fingerprint of the training data

    def __getstate__(self) -> dict[str, Any]:
        """Without the training data, which may be large or confidential, and without a running fit."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in NOT_PICKLED}

    # Rows -----------------------------------------------------------------------------------------------------
    def _row(self, index: int | None) -> int:
        check_is_fitted(self)
        multioutput.require_single_output(self)
        if index is None:
            return self.best_index_
        if not 0 <= index < len(self.models_):
            raise IndexError(f"there is no row {index}; equations_ has rows 0 to {len(self.models_) - 1}")
        return index

    def _model(self, index: int | None) -> Model:
        row = self._row(index)  # first, since it raises NotFittedError
        return self.models_[row]


#: the hint that `print` has shown in this process
HINTS_SHOWN: list[str] = []


def once(hint: str | None) -> str | None:
    """The first hint of the process: it is about options, which are alike for many fits."""
    if hint is None or HINTS_SHOWN:
        return None
    HINTS_SHOWN.append(hint)
    return hint


#: attributes that a pickle leaves out: the training data, the state of the search, a running fit
NOT_PICKLED = ("_training", "_warm_start", "_stop")
#: fitted attributes that a model file records
HISTORY = ("seed", "stop_reason", "traverses", "evaluations", "seconds")
#: and what it records of guesses, if there are notes about them
NOTES = "guess_notes"


def checked_parameters(parameters: Mapping[str, Any], cls: Any) -> Mapping[str, Any]:
    """The parameters; ModelFileError for an unknown one, or for one that would make predictions fail."""
    if unknown := sorted(set(parameters) - set(cls._get_param_names())):
        raise ModelFileError(f"it has an unknown parameter {shortened(unknown[0])}")
    threads = parameters.get("n_jobs", 1)
    if not (threads is None or (type(threads) is int and threads != 0)):
        raise ModelFileError(f"its n_jobs, {shortened(threads)}, is not a number of threads")
    return parameters
