"""One fit of one target: from the input of `SymbolicRegressor.fit` to its fitted attributes."""

import time
import warnings
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight, validate_data

from fouriertree.criteria.losses import Objective, as_loss, check_probabilities
from fouriertree.data import checks
from fouriertree.data.training import TrainingData
from fouriertree.engine.compiled import one_blas_thread
from fouriertree.estimators.fitted import FittedEquations
from fouriertree.fit.config import FitConfig, as_primitives
from fouriertree.fit.pipeline import FitPipeline, compile_kernels_of
from fouriertree.fit.stopping import Stop, memory_watch, uninterrupted
from fouriertree.fit.target import Target, measure_of, wide_hint
from fouriertree.runs import RunFolder, model_file
from fouriertree.runs.journal import Journal, WarmStart, changed, check_same_data, plain_parameters
from fouriertree.selection.table import DIGITS, EquationTable
from fouriertree.uncertainty.intervals import absolute_errors, cross_validation_scores, min_scores_for

Floats = NDArray[np.float64]

#: validation errors that suffice for intervals; with fewer, errors come from cross-validation with so many folds
MIN_SCORES, FOLDS = min_scores_for(0.95), 10
#: parameters that may change between a fit and its warm start
CHANGEABLE = (
    "model_selection", "time_limit", "max_evaluations", "max_traverses", "memory_limit", "target_loss", "n_jobs",
    "executor", "random_state", "run_dir", "warm_start", "progress",
)  # fmt: skip


@dataclass
class RunContext:
    """How a fit is recorded: a locked run to resume, else the one that it creates, and more for run.json."""

    folder: RunFolder | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Input:
    """Valid input: arrays, names, and the fingerprint of the data."""

    X: Floats
    y: Floats
    weights: Floats | None
    target: str
    names: tuple[str, ...] | None
    validated: Mapping[str, Any]  #: attributes that scikit-learn's validation sets
    sha256: str

    @property
    def used_y(self) -> Floats:
        """y without the rows of weight zero, which no fit uses."""
        return self.y if self.weights is None else self.y[self.weights != 0.0]

    @property
    def data(self) -> dict[str, Any]:
        return {"rows": len(self.y), "columns": self.X.shape[1], "sha256": self.sha256}


def fit_single(
    estimator: FittedEquations, X: Any, y: Any, sample_weight: Any, stop: Stop, context: RunContext
) -> dict[str, Any]:
    """The attributes of the fitted estimator, which itself is not changed."""
    parameters: dict[str, Any] = estimator.get_params(deep=False)
    checks.check_operators(as_primitives(parameters["operators"]))
    loss = as_loss(parameters["loss"], parameters["quantile"])
    inputs = _validated(estimator, X, y, sample_weight)
    check_probabilities(loss, inputs.y)
    Target(parameters["target_transform"]).check(inputs.used_y, loss)
    warm_start = _warm_start(estimator, parameters, inputs.sha256)
    seed = checks.draw_seed(parameters["random_state"]) if warm_start is None else warm_start.seed
    config = FitConfig.from_parameters(parameters, inputs.names, inputs.X.shape[1], seed)
    # The first time on a machine takes some seconds, which the time limit does not include.
    uninterrupted(lambda: compile_kernels_of(config.engine, config.search))
    stop.start_search(memory_watch(parameters["memory_limit"], len(inputs.y)))
    began = time.monotonic()
    journal = _journal(parameters, inputs, seed, warm_start, context)
    try:
        started = began - journal.seconds
        data = TrainingData.from_arrays(inputs.X, inputs.y, inputs.weights, seed)
        objective = Objective(config.target.of(data), loss, config.engine)
        pipeline = FitPipeline(config, objective, stop, journal, started)
        with one_blas_thread():
            reason = pipeline.search()
            fitted = _table_attributes(pipeline.table(), objective, config)
        attributes = {
            **inputs.validated,
            "_names": inputs.names,
            "seed_": seed,
            "data_": inputs.data,
            "stop_reason_": reason,
            "traverses_": journal.collector.traverses,
            "evaluations_": journal.collector.candidates,
            **fitted,
            "hint_": _hint(parameters, inputs),
            "_measure": measure_of(parameters),
            "_training": data,
            "_warned": False,
            "seconds_": time.monotonic() - started,
        }
        if parameters["warm_start"] and pipeline.last is not None:
            last = pipeline.last
            attributes["_warm_start"] = WarmStart(parameters, inputs.sha256, seed, journal.collector, *last)
        return attributes | _finish(estimator, attributes, inputs.target, journal)
    except BaseException as error:
        journal.abandon(error)
        raise


# Input ----------------------------------------------------------------------------------------------------------
def _validated(estimator: FittedEquations, X: Any, y: Any, sample_weight: Any) -> _Input:
    target = str(getattr(y, "name", None) or "y")
    checks.check_tables(X, y)
    # scikit-learn's validation sets attributes, which the estimator gets only if the fit succeeds.
    trial = copy(estimator)
    y = checks.target_as_numbers(y)
    X, y = validate_data(trial, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
    checks.check_scale(y)
    weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
    validated = {name: value for name, value in vars(trial).items() if name in VALIDATED}
    names = _feature_names(trial, X.shape[1])
    return _Input(X, y, weights, target, names, validated, model_file.fingerprint(X, y, weights))


#: attributes that `validate_data` sets
VALIDATED = ("n_features_in_", "feature_names_in_")


def given_names(estimator: Any) -> Any:
    """The feature names that the user passed, else those of a DataFrame, else None."""
    names = estimator.feature_names
    return getattr(estimator, "feature_names_in_", None) if names is None else names


def _feature_names(estimator: Any, n_features: int) -> tuple[str, ...] | None:
    if (names := given_names(estimator)) is None:
        return None
    texts = tuple(map(str, names))
    if len(texts) != n_features:
        raise ValueError(f"feature_names has {len(texts)} names, but X has {n_features} columns")
    checks.check_unique_names(texts)
    checks.check_names(texts)
    return texts


# History --------------------------------------------------------------------------------------------------------
def _warm_start(estimator: Any, parameters: Mapping[str, Any], sha256: str) -> WarmStart | None:
    """The state of the last fit, if it is to be continued: same data, same parameters but for limits."""
    last: WarmStart | None = vars(estimator).get("_warm_start") if parameters["warm_start"] else None
    if last is None or last.data != sha256 or changed(last.parameters, parameters, CHANGEABLE):
        return None
    return last


def _journal(
    parameters: Mapping[str, Any], inputs: _Input, seed: int, last: WarmStart | None, context: RunContext
) -> Journal:
    journal = Journal(last)
    plain, described = plain_parameters(parameters)
    metadata: dict[str, Any] = {"parameters": plain, "described": described}
    if context.folder is not None:
        check_same_data(context.folder, inputs.sha256)
        journal.resume(context.folder, as_primitives(parameters["operators"]), metadata)
    elif parameters["run_dir"] is not None:
        metadata |= {
            "seed": seed,
            "versions": model_file.library_versions(),
            "data": inputs.data,
            "columns": list(inputs.names or (f"x{i}" for i in range(inputs.X.shape[1]))),
            "target": inputs.target,
            **context.metadata,
        }
        journal.record(parameters["run_dir"], metadata)
        context.folder = journal.folder
    return journal


def _finish(
    estimator: FittedEquations, attributes: Mapping[str, Any], target: str, journal: Journal
) -> dict[str, Any]:
    """Write the result to the run, if there is one."""
    if journal.folder is None:
        return {}
    fitted = copy(estimator)
    fitted.__dict__.update(attributes)
    chosen = fitted.get_best()
    result = {
        "formula": fitted.model_.text(),
        "equation": str(chosen["equation"]),
        "loss": float(chosen["loss"]),
        "complexity": int(chosen["complexity"]),
        "seconds": attributes["seconds_"],
        "evaluations": attributes["evaluations_"],
    }
    path = journal.folder.path
    journal.finish(fitted.equations_, _model_file(fitted, target), attributes["stop_reason_"], result)
    return {"run_path_": path}


def _model_file(fitted: FittedEquations, target: str) -> bytes | None:
    """The content of the run's model file; None, with a warning, if it cannot be made."""
    try:
        return model_file.encoded_record(model_file.writable_part(fitted.to_record(target)))
    except Exception as error:  # whatever it is, the equations are worth more than their copy in the run
        message = f"the run keeps the table of equations, but no model file: {type(error).__name__}: {error}"
        warnings.warn(message, model_file.ModelFileWarning, stacklevel=5)
        return None


# Attributes -----------------------------------------------------------------------------------------------------
def _table_attributes(table: EquationTable, objective: Objective, config: FitConfig) -> dict[str, Any]:
    data, scores = objective.data, _scores(table, objective)
    fitted = [equation.model for equation in table.equations]
    models = [config.target.model(model, config.primitives, data.positive) for model in fitted]
    return {
        "equations_": table.frame.assign(equation=[model.text(DIGITS) for model in models]),
        "best_index_": table.chosen,
        "guess_notes_": list(table.notes),
        "models_": models,
        "model_": models[table.chosen],
        "scores_": scores,
        "box_": np.column_stack([data.X.min(axis=0), data.X.max(axis=0)]),
    }


def _scores(table: EquationTable, objective: Objective) -> list[Floats]:
    """Sorted sizes of the errors of every equation on rows that it was not fitted to."""
    data, loss = objective.data, objective.loss
    scores = [absolute_errors(equation.validation_errors) for equation in table.equations]
    if loss.logistic or any(len(errors) >= MIN_SCORES for errors in scores):
        return scores
    X, y, weights = data.without_repetitions
    rows = X, y, weights * loss.row_weights(y)
    expressions = [equation.model.expression for equation in table.equations]
    return [absolute_errors(cross_validation_scores(e, *rows, FOLDS, loss.measure)) for e in expressions]


def _hint(parameters: Mapping[str, Any], inputs: _Input) -> str | None:
    """A suggestion for these data, unless the parameters say how errors are weighed."""
    plain = parameters["loss"] == "squared" and parameters["target_transform"] is None
    if not plain or inputs.weights is not None:
        return None
    return wide_hint(inputs.y, inputs.target, 'loss="relative"', 'target_transform="log"')
