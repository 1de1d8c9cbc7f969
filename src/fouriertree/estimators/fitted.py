"""What can be done with the formulas of a fitted regressor: predict, question, draw, write down, save."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from fouriertree.data.checks import check_tables
from fouriertree.engine import CompiledEngine
from fouriertree.errors import shortened
from fouriertree.estimators.inspection import Inspection
from fouriertree.estimators.multioutput import (
    has_outputs,
    load_outputs,
    predict_outputs,
    require_single_output,
    save_outputs,
)
from fouriertree.expr import PrimitiveSet
from fouriertree.model import Model
from fouriertree.runs.bundles import is_bundle
from fouriertree.runs.model_file import ModelFileError, ModelRecord, library_versions, load, save
from fouriertree.selection.table import table_text
from fouriertree.uncertainty.intervals import linear_prediction_bounds, prediction_bounds

Floats = NDArray[np.float64]
#: how bounds are made
METHODS = ("conformal", "linear")


class Prediction(NamedTuple):
    """Values with the bounds of an interval around each: (n_rows,) three times."""

    value: Floats
    lower: Floats
    upper: Floats


class ExtrapolationWarning(UserWarning):
    """Rows lie outside of the data that a formula was fitted to."""


class FittedEquations(Inspection):
    """Methods of a regressor that has been fitted.  `index` is a row of `equations_`; the chosen one if None."""

    equations_: pd.DataFrame
    models_: list[Model]
    model_: Model
    best_index_: int
    box_: Floats  #: smallest and largest value of every column: (n_columns, 2)
    scores_: list[Floats]  #: of every row: sorted sizes of its errors on rows that it was not fitted to
    stop_reason_: str
    estimators_: list[Any]  #: only where y had several columns: the regressor of each
    targets_: list[str]  #: and their names
    feature_names_in_: NDArray[np.object_]
    n_jobs: int | None
    _warned_outside = False

    # Values ---------------------------------------------------------------------------------------------------
    def predict(
        self, X: Any, index: int | None = None, interval: float | None = None, method: str = "conformal"
    ) -> Any:
        """Values on the rows of X: (n_rows,); with `interval`, such as 0.9, a `Prediction` with bounds, too.

        So large a share of new rows like those of the fit lies between the bounds.  By the method "conformal" they are
        as far apart as errors on rows that were held back, whatever these errors are like, and infinite where they were
        too few; by "linear" they are those of linear theory, which takes the form for certain and the errors for alike.
        Warns once if rows lie outside of the range of the data.
        """
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
        if has_outputs(self):
            return predict_outputs(self, X, index, interval, method)
        model = self._model(index)
        check_tables(X)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        values = model.predict(X, self._engine)
        self._warn(model, X, values)
        if interval is None:
            return values
        if method == "conformal":
            return Prediction(values, *prediction_bounds(values, self.scores_[self._row(index)], interval))
        return Prediction(values, *linear_prediction_bounds(model, *self._data(None, None), X, interval))

    def _warn(self, model: Model, X: Floats, values: Floats) -> None:
        outside_of = None if self._warned_outside else outside(model, X, self.box_, self._column_texts)
        if bad := int(np.count_nonzero(~np.isfinite(values))):
            message = f"the formula has no finite value on {bad} of {len(values)} rows; their prediction is nan or inf"
            warnings.warn(message, UserWarning, stacklevel=3)
        if outside_of is not None:
            self._warned_outside = True
            warnings.warn(outside_of, ExtrapolationWarning, stacklevel=3)

    # Formulas -------------------------------------------------------------------------------------------------
    def sympy(self, index: int | None = None) -> Any:
        """The formula as a SymPy expression."""
        return self._model(index).sympy()

    def latex(self, index: int | None = None) -> str:
        """The formula as LaTeX."""
        return self._model(index).latex()

    def get_best(self) -> Any:
        """The chosen row of `equations_`."""
        self._row(None)
        return self.equations_.iloc[self.best_index_]

    def __str__(self) -> str:
        if not hasattr(self, "equations_"):
            return repr(self)
        if has_outputs(self):
            return "\n\n".join(
                f"{target}\n{one}" for target, one in zip(self.targets_, self.estimators_, strict=True)
            )
        return table_text(self.equations_, self.best_index_)

    # On disk --------------------------------------------------------------------------------------------------
    def save(self, path: str | Path, target: str = "y") -> None:
        """Write the formulas, and how they came about, to a JSON file that a person can read."""
        if has_outputs(self):
            save_outputs(Path(path), self)
        else:
            save(Path(path), self.to_record(target))

    @classmethod
    def load(cls, path: str | Path, operators: PrimitiveSet | None = None) -> Self:
        """The regressor that `save` wrote; `operators` knows those of your own that it uses.

        It predicts and answers like the one that was saved, but it has no data to refit to.
        """
        if is_bundle(Path(path)):
            loaded: Self = load_outputs(cls, Path(path), operators)
            return loaded
        saved = load(Path(path), operators)
        try:
            return cls.from_record(saved)
        except ModelFileError as damage:
            raise ModelFileError(f"{path} is damaged: {damage}") from None

    def to_record(self, target: str = "y") -> ModelRecord:
        """All that a file holds."""
        self._row(None)
        plain, described = plain_parameters(self.get_params(deep=False))  # type: ignore[attr-defined]
        history = {name: getattr(self, f"{name}_") for name in HISTORY}
        return ModelRecord(
            target, self._names, int(self.best_index_), tuple(self.models_), self.equations_,
            tuple(tuple(scores.tolist()) for scores in self.scores_),
            tuple((float(low), float(high)) for low, high in self.box_),
            plain, described, history, dict(self.data_), library_versions(),
        )  # fmt: skip

    @classmethod
    def from_record(cls, saved: ModelRecord) -> Self:
        new = cls(**checked_parameters(saved.parameters, cls))
        new.models_, new.equations_ = list(saved.models), saved.equations
        new.best_index_ = saved.chosen
        new.model_ = new.models_[saved.chosen]
        new.scores_ = [np.array(scores) for scores in saved.scores]
        new.box_ = np.array(saved.box).reshape(-1, 2)
        new.n_features_in_ = len(saved.box)
        new._names = saved.names
        if saved.names is not None:
            new.feature_names_in_ = np.array(saved.names, dtype=object)
        for name in HISTORY:
            setattr(new, f"{name}_", saved.history.get(name))
        new.data_ = dict(saved.data)
        return new

    data_: Mapping[str, Any]  #: rows, columns and fingerprint of the table of the fit

    def __copy__(self) -> Self:
        """A shallow copy with everything that a pickle leaves out."""
        new = type(self).__new__(type(self))
        vars(new).update(vars(self))
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Without the data of the fit, which may be large and are not ours to pass on, and without a fit that runs."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name not in NOT_PICKLED}

    @property
    def _engine(self) -> CompiledEngine:
        return CompiledEngine(n_jobs=1 if self.n_jobs is None else self.n_jobs)

    # Which row ------------------------------------------------------------------------------------------------
    def _row(self, index: int | None) -> int:
        check_is_fitted(self)
        require_single_output(self)
        if index is None:
            return self.best_index_
        if not 0 <= index < len(self.models_):
            raise IndexError(f"there is no row {index}; equations_ has rows 0 to {len(self.models_) - 1}")
        return index

    def _model(self, index: int | None) -> Model:
        row = self._row(index)
        return self.models_[row]


def absolute_errors(errors: Floats) -> Floats:
    """|errors| in order; of many, as many order statistics as tell any interval, rather too large than too small.

    Where a formula has no value, its error is infinite.
    """
    sizes = np.sort(np.nan_to_num(np.abs(errors), nan=np.inf, posinf=np.inf))
    if len(sizes) <= MAX_SCORES:
        return sizes
    ranks = np.ceil(np.linspace(0.0, 1.0, MAX_SCORES + 1)[1:] * len(sizes)).astype(int) - 1
    kept: Floats = sizes[ranks]
    return kept


#: what stays behind when a regressor is pickled: the data of the fit, and the search that could go on
NOT_PICKLED = ("_training", "_warm_start", "_stop")
#: errors that are remembered of a formula
MAX_SCORES = 399
#: what is told of a search
HISTORY = ("seed", "stop_reason", "traverses", "evaluations", "seconds")


def outside(model: Model, X: Floats, box: Floats, names: Sequence[str]) -> str | None:
    """A sentence about rows beyond the range of the data, in the columns of the formula; None if there are none."""
    columns = sorted({column for expression in model.expressions for column in expression.columns})
    beyond = (X[:, columns] < box[columns, 0]) | (X[:, columns] > box[columns, 1])
    if not (count := int(np.count_nonzero(beyond.any(axis=1)))):
        return None
    ranges = [
        f"{names[column]} from {box[column, 0]:.6g} to {box[column, 1]:.6g}"
        for column, there in zip(columns, beyond.T, strict=True)
        if there.any()
    ]
    return (
        f"{count} of {len(X)} rows lie outside of the data of the fit ({', '.join(ranges)}), where nothing is known of "
        "the formula; said once"
    )


def checked_parameters(parameters: Mapping[str, Any], cls: Any) -> Mapping[str, Any]:
    """The parameters; ModelFileError if there is no such parameter, or if it would break predictions later."""
    unknown = sorted(set(parameters) - set(cls._get_param_names()))
    if unknown:
        raise ModelFileError(f"it has a parameter {shortened(unknown[0])}, which is none of a regressor")
    threads = parameters.get("n_jobs", 1)
    if not (threads is None or (type(threads) is int and threads != 0)):
        raise ModelFileError(f"its n_jobs, {shortened(threads)}, is no number of threads")
    return parameters


def plain_parameters(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Those that JSON can hold, and the others as text."""
    plain: dict[str, Any] = {}
    described: dict[str, str] = {}
    for name, value in parameters.items():
        if isinstance(value, PrimitiveSet):
            value = list(value.names)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            value = [str(part) for part in value]
        elif isinstance(value, np.generic):
            value = value.item()
        elif isinstance(value, PurePath):
            value = str(value)
        if is_plain(value):
            plain[name] = value
        else:
            described[name] = text_of(value)
    return plain, described


def text_of(value: Any) -> str:
    """How Python writes it; an object whose own `__repr__` fails is named by its class."""
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and is_plain(part) for key, part in value.items())
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value is None or (
        isinstance(value, bool | int | float | str) and value == value and abs_is_finite(value)
    )


def abs_is_finite(value: Any) -> bool:
    return isinstance(value, bool | str) or bool(np.isfinite(value))
