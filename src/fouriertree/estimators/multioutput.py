"""Several targets: a regressor for each column of y."""

from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from fouriertree.data.checks import check_tables, draw_seed, output_names, target_as_numbers
from fouriertree.expr import PrimitiveSet
from fouriertree.runs.bundles import load_bundle, save_bundle

FORMAT = "fouriertree-outputs"
#: stop reasons that the user caused
ENDED_BY_USER = ("interrupted", "stopped")
#: limits that are divided among the targets
LIMITS = ("time_limit", "max_evaluations", "max_traverses")
#: attributes of a fit to one target that are lists for several
LISTED = ("equations_", "models_", "model_", "best_index_", "scores_", "stop_reason_", "guess_notes_")
#: attributes that are added up
SUMMED = ("traverses_", "evaluations_", "seconds_")
#: attributes that all targets share
SHARED = ("box_", "n_features_in_", "feature_names_in_", "_names")
#: attributes that only several targets have
OUTPUT_ATTRIBUTES = ("estimators_", "targets_")


def divided(limit: float | None, parts: int) -> float | None:
    """A limit, divided evenly; integers stay integers.

    >>> divided(10, 3), divided(1.0, 4), divided(None, 2)
    (3, 0.25, None)
    """
    if limit is None:
        return None
    return max(1, int(limit) // parts) if isinstance(limit, int | np.integer) else float(limit) / parts


class StopRelay:
    """A request to stop, passed on to the regressor that is being fitted."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.current: Any = None

    def request(self, reason: str) -> None:
        self.reason = reason
        if self.current is not None:
            self.current.stop()


def fit_outputs(regressor: Any, X: Any, y: Any, sample_weight: Any, stop: StopRelay) -> dict[str, Any]:
    """Fit a clone to every column of y, each with its share of the limits; the attributes for all targets."""
    names = output_names(y) or []
    check_tables(X)
    values = target_as_numbers(np.asarray(y))
    trial = copy(regressor)
    _, columns = validate_data(trial, X, values, dtype=np.float64, y_numeric=True, multi_output=True)
    parts, seed = regressors_for(regressor, len(names))
    for part, column, name in zip(parts, columns.T, names, strict=True):
        if stop.reason is not None:
            part.set_params(time_limit=0.0)  # a stop is meant for all targets
        stop.current = part
        part.fit(X, pd.Series(column, name=name), sample_weight)
        if part.stop_reason_ in ENDED_BY_USER:
            stop.reason = part.stop_reason_
    return attributes_of(parts) | {"seed_": seed, "targets_": names}


def regressors_for(regressor: Any, n: int) -> tuple[list[Any], int]:
    """The regressors to fit, with their share of the limits, and their seed; those of the last fit for a warm start."""
    before = getattr(regressor, "estimators_", [])
    is_warm = regressor.warm_start and len(before) == n
    seed = regressor.seed_ if is_warm else draw_seed(regressor.random_state)
    limits = {name: divided(getattr(regressor, name), n) for name in LIMITS}
    parameters = regressor.get_params(deep=False) | limits | {"random_state": seed}
    parts = [copy(part) for part in before] if is_warm else [clone(regressor) for _ in range(n)]
    return [part.set_params(**parameters) for part in parts], seed


def attributes_of(fitted: list[Any]) -> dict[str, Any]:
    """The attributes of a regressor for several targets, from those of its parts."""
    return {
        "estimators_": fitted,
        **{name: [getattr(one, name) for one in fitted] for name in LISTED},
        **{name: sum(getattr(one, name) for one in fitted) for name in SUMMED},
        **{name: getattr(fitted[0], name) for name in SHARED if hasattr(fitted[0], name)},
    }


def has_outputs(regressor: Any) -> bool:
    return hasattr(regressor, "estimators_")


def require_single_output(regressor: Any) -> None:
    """ValueError if there are several targets."""
    if has_outputs(regressor):
        names = ", ".join(regressor.targets_)
        raise ValueError(
            f"there are equations for {len(regressor.estimators_)} targets ({names}); use model.estimators_[k], the "
            "regressor of target k"
        )


def predict_outputs(regressor: Any, X: Any, index: int | None, *options: Any) -> Any:
    """Predictions (n_rows, n_targets); with an interval, three such arrays."""
    if index is not None:
        require_single_output(regressor)
    X = validate_data(regressor, X, reset=False, skip_check_array=True)
    predictions = [one.predict(X, None, *options) for one in regressor.estimators_]
    if isinstance(predictions[0], tuple):
        return type(predictions[0])(*(np.column_stack(parts) for parts in zip(*predictions, strict=True)))
    return np.column_stack(predictions)


def save_outputs(path: Path, regressor: Any) -> None:
    parts = zip(regressor.estimators_, regressor.targets_, strict=True)
    limits = {name: getattr(regressor, name) for name in LIMITS}
    save_bundle(path, FORMAT, {"limits": limits}, [one.to_record(target) for one, target in parts])


def load_outputs(cls: Any, path: Path, operators: PrimitiveSet | None) -> Any:
    """The regressor that `save_outputs` wrote."""
    facts, parts = load_bundle(path, FORMAT, operators)
    fitted = [cls.from_record(part) for part in parts]
    new = cls(**parts[0].parameters).set_params(**facts.get("limits", {}))
    vars(new).update(attributes_of(fitted), seed_=fitted[0].seed_, targets_=[part.target for part in parts])
    return new
