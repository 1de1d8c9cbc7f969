"""A y of several columns: a regressor for each of them, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from fouriertree.data.checks import check_tables, draw_seed, target_as_numbers
from fouriertree.expr import PrimitiveSet
from fouriertree.runs.bundles import load_bundle, save_bundle

FORMAT = "fouriertree-outputs"
#: why a search ends that somebody has ended
ENDED_BY_USER = ("interrupted", "stopped")
#: limits that the columns share
LIMITS = ("time_limit", "max_evaluations", "max_traverses")
#: what a fit of one column says, and one of several says in a list
LISTED = ("equations_", "models_", "model_", "best_index_", "scores_", "stop_reason_")
#: what they add up
SUMMED = ("traverses_", "evaluations_", "seconds_")


def output_names(y: Any) -> list[str] | None:
    """The names of the columns of y; None if it has but one."""
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # rows of unequal length, about which scikit-learn has a sentence
        return None
    if len(shape) != 2 or shape[1] < 2:
        return None
    return [str(name) for name in getattr(y, "columns", [f"y{i}" for i in range(shape[1])])]


def share(limit: float | None, parts: int) -> float | None:
    """An even part of a limit; a count stays a count.

    >>> share(10, 3), share(1.0, 4), share(None, 2)
    (3, 0.25, None)
    """
    if limit is None:
        return None
    return max(1, int(limit) // parts) if isinstance(limit, int | np.integer) else float(limit) / parts


class StopRelay:
    """The wish that a fit ends, passed on to the regressor whose turn it is."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.current: Any = None

    def ask(self, reason: str) -> None:
        self.reason = reason
        if self.current is not None:
            self.current.stop()


def fit_outputs(regressor: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Fit a clone to every column of y, each as if it were alone with its part of the limits."""
    if regressor._folder is not None:
        raise ValueError("a run has one target; give the column of y that it is about")
    names = output_names(y) or []
    check_tables(X)
    values = target_as_numbers(np.asarray(y))
    _, columns = validate_data(regressor, X, values, dtype=np.float64, y_numeric=True, multi_output=True)
    parts, seed = regressors_for(regressor, len(names))
    stop = regressor._running = StopRelay()
    try:
        for part, column, name in zip(parts, columns.T, names, strict=True):
            if stop.reason is not None:
                part.set_params(time_limit=0.0)  # who ends one search does not wait for the others
            stop.current = part
            part.fit(X, pd.Series(column, name=name), sample_weight)
            if part.stop_reason_ in ENDED_BY_USER:
                stop.reason = part.stop_reason_
    finally:
        del regressor._running
    take(regressor, parts)
    regressor.seed_, regressor.targets_ = seed, names


def regressors_for(regressor: Any, n: int) -> tuple[list[Any], int]:
    """Those to fit, with their part of the limits, and their seed; with `warm_start`, those that were fitted before."""
    before = getattr(regressor, "estimators_", [])
    again = regressor.warm_start and len(before) == n
    seed = regressor.seed_ if again else draw_seed(regressor.random_state)
    limits = {name: share(getattr(regressor, name), n) for name in LIMITS}
    settings = regressor.get_params(deep=False) | limits | {"random_state": seed}
    parts = [copy_of(part) for part in before] if again else [clone(regressor) for _ in range(n)]
    return [part.set_params(**settings) for part in parts], seed


def copy_of(regressor: Any) -> Any:
    """A regressor with all that this one has, also what a copy or a pickle leaves out."""
    twin = clone(regressor)
    vars(twin).update(vars(regressor))
    return twin


def take(regressor: Any, fitted: list[Any]) -> None:
    """What was found for the columns becomes what the regressor has found."""
    regressor.estimators_ = fitted
    for name in LISTED:
        setattr(regressor, name, [getattr(one, name) for one in fitted])
    for name in SUMMED:
        setattr(regressor, name, sum(getattr(one, name) for one in fitted))
    for name in ("box_", "n_features_in_", "_names"):
        setattr(regressor, name, getattr(fitted[0], name))


def clear_outputs(regressor: Any) -> None:
    """Of an earlier fit with several columns."""
    for name in ("estimators_", "targets_"):
        vars(regressor).pop(name, None)


def has_outputs(regressor: Any) -> bool:
    return hasattr(regressor, "estimators_")


def require_single_output(regressor: Any) -> None:
    """ValueError where one formula is asked for and there are several."""
    if has_outputs(regressor):
        names = ", ".join(regressor.targets_)
        raise ValueError(
            f"there are formulas for {len(regressor.estimators_)} targets ({names}); ask model.estimators_[k], the "
            "regressor of target k"
        )


def predict_outputs(regressor: Any, X: Any, index: int | None, *options: Any) -> Any:
    """Values (n_rows, n_outputs); with an interval, three such arrays."""
    if index is not None:
        require_single_output(regressor)
    X = validate_data(regressor, X, reset=False, skip_check_array=True)
    found = [one.predict(X, None, *options) for one in regressor.estimators_]
    if isinstance(found[0], tuple):
        return type(found[0])(*(np.column_stack(parts) for parts in zip(*found, strict=True)))
    return np.column_stack(found)


def save_outputs(path: Path, regressor: Any) -> None:
    parts = zip(regressor.estimators_, regressor.targets_, strict=True)
    limits = {name: getattr(regressor, name) for name in LIMITS}
    save_bundle(path, FORMAT, {"limits": limits}, [one.to_record(target) for one, target in parts])


def load_outputs(cls: Any, path: Path, operators: PrimitiveSet | None) -> Any:
    """The regressor that `save_outputs` wrote."""
    facts, parts = load_bundle(path, FORMAT, operators)
    fitted = [cls.from_record(part) for part in parts]
    new = cls(**parts[0].parameters).set_params(**facts.get("limits", {}))
    take(new, fitted)
    new.seed_, new.targets_ = fitted[0].seed_, [part.target for part in parts]
    if hasattr(fitted[0], "feature_names_in_"):
        new.feature_names_in_ = fitted[0].feature_names_in_
    return new
