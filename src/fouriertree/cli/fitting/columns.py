"""From a table to the arrays of a fit: features, target and weights by the names of columns, and the hold-out set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.cli.files import as_input_errors
from fouriertree.cli.output import note
from fouriertree.criteria.errors import Measure
from fouriertree.data.checks import check_scale
from fouriertree.errors import InputError, listed
from fouriertree.fit.target import check_values, measure_of, wide_hint
from fouriertree.io.tables.reading import read_table
from fouriertree.io.tables.table import Table

if TYPE_CHECKING:
    from fouriertree.cli.fitting.arguments import FitArguments
    from fouriertree.model import Model

Floats = NDArray[np.float64]
#: the random stream of the split, which the fit does not use
STREAM = 11


@dataclass(frozen=True)
class Sample:
    """Finite values: features (n_rows, n_features), target and sample weights (n_rows,), None for equal ones."""

    X: pd.DataFrame
    y: pd.Series
    weights: pd.Series | None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def used_y(self) -> Floats:
        """The target without the rows of weight zero, which no fit uses."""
        y: Floats = self.y.to_numpy()
        return y if self.weights is None else y[self.weights.to_numpy() > 0.0]

    def rows(self, index: NDArray[np.int64]) -> Sample:
        weights = None if self.weights is None else self.weights.iloc[index]
        return Sample(self.X.iloc[index], self.y.iloc[index], weights)


def samples(arguments: FitArguments, seed: int) -> tuple[Sample, Sample | None]:
    """The training rows, and the hold-out set if there is one."""
    sample = training_sample(read_table(arguments.data, arguments.sheet), arguments)
    if arguments.validation_file is not None:
        other = same_columns(read_table(arguments.validation_file), sample)
        with as_input_errors(ValueError, after=f"{arguments.validation_file} cannot be scored: "):
            check_values(other.used_y, measure_of(vars(arguments)))
        return sample, other
    if arguments.validation is not None:
        return split(sample, arguments.validation, arguments.validation_last, seed)
    return sample, None


def training_sample(table: Table, arguments: FitArguments) -> Sample:
    """The features and the target of a fit; prints notes about a table that looks wrong."""
    target, names, weights = chosen_columns(table, arguments)
    if len(table) < 2:
        rows = "1 row" if len(table) == 1 else "no rows"
        raise InputError(f"{table.name} has {rows} below its header; a fit needs at least two")
    sample = sample_of(table, target, names, weights)
    with as_input_errors(ValueError, after=f"column {target!r} of {table.name} cannot be fitted: "):
        check_scale(sample.y.to_numpy())
        check_values(sample.used_y, measure_of(vars(arguments)))
    if not arguments.column:
        note_nameless(table, [target, *map(table.column, arguments.ignore), *([weights] if weights else [])])
    for sentence in table.notes:
        note(sentence)
    if table.starts_with_data:
        note(f"the first line of {table.name} looks like data, not names")
    return sample


def note_wide(y: pd.Series, arguments: FitArguments) -> None:
    """A suggestion where the target spans decades, unless options say how its errors are weighed."""
    plain = (
        arguments.loss == "squared"
        and measure_of(vars(arguments)) == "absolute"
        and arguments.weights is None
    )
    hint = wide_hint(y.to_numpy(), repr(y.name), "--loss relative", "--target-transform log")
    if plain and hint is not None:
        note(hint)


def same_columns(table: Table, sample: Sample) -> Sample:
    """The columns of the sample, from another table that has them in any order."""
    weights = None if sample.weights is None else table.column(str(sample.weights.name))
    names = [table.column(name) for name in sample.X.columns]
    target = table.column(str(sample.y.name))
    if len(table) == 0:
        raise InputError(f"{table.name} has no rows below its header")
    return sample_of(table, target, names, weights)


def chosen_columns(table: Table, arguments: FitArguments) -> tuple[str, list[str], str | None]:
    """The names of the target, of the features in the order of the table, and of the weights."""
    if arguments.target is None:
        raise InputError(f"name the column to predict with --target; {table.name} has {listed(table.names)}")
    target = table.column(arguments.target)
    only, ignored = [table.column(n) for n in arguments.column], [table.column(n) for n in arguments.ignore]
    weights = None if arguments.weights is None else table.column(arguments.weights)
    weighing = [] if weights is None else [weights]
    check_roles({"the target": [target], "ignored": ignored, "a --column": only, "the weights": weighing})
    allowed = (set(only) or set(table.names) - set(table.nameless)) - {target, weights, *ignored}
    names = [name for name in table.names if name in allowed]
    if not names:
        left = "left " if ignored or weighing else ""
        raise InputError(f"{table.name} has no named columns {left}besides {target!r}: there are no features")
    return target, names, weights


def check_roles(roles: dict[str, list[str]]) -> None:
    """Raise InputError for a column with two roles."""
    seen: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            if seen.setdefault(name, role) != role:
                raise InputError(f"{name!r} is both {seen[name]} and {role}; it can be one of them")


def sample_of(table: Table, target: str, names: list[str], weights: str | None) -> Sample:
    y = table.numbers([target], "; a target must be numeric")[:, 0]
    X = table.numbers(names, "; leave the column out with --ignore, or turn it into numbers")
    w = None if weights is None else checked_weights(table, weights)
    return Sample(pd.DataFrame(X, columns=names), pd.Series(y, name=target), w)


def checked_weights(table: Table, name: str) -> pd.Series:
    where = f"column {name!r} of {table.name}"
    values = table.numbers([name], "; weights must be numeric")[:, 0]
    if (values < 0.0).any():
        row = int(np.argmax(values < 0.0))
        raise InputError(f"{where} has a negative weight in row {row + 1}: {values[row]:g}")
    if not values.any():
        raise InputError(f"{where} has only zeros; some rows must count")
    return pd.Series(values, name=name)


def note_nameless(table: Table, used: list[str]) -> None:
    for name in table.nameless:
        if name not in used:
            number = table.names.index(name) + 1
            note(f"column {number} has no name, an index probably: left out; name it to use it")


# The hold-out set: rows that take no part in the fit ------------------------------------------------------------
class Score(NamedTuple):
    """Scores of an equation; NaN where they are not defined."""

    r2: float
    rmse: float


@dataclass(frozen=True)
class HoldoutScores:
    """The scores of the equations of a table on the hold-out set."""

    n_rows: int
    scores: Sequence[Score]


def split(sample: Sample, fraction: float, last: bool, seed: int) -> tuple[Sample, Sample]:
    """The training rows and the hold-out set, each in the order of the table."""
    n = len(sample)
    held = min(max(round(fraction * n), 1), n - 2)
    if held < 1:
        raise InputError(f"of {n} rows none can be held out; a fit needs at least two")
    order = np.arange(n) if last else np.random.default_rng([seed, STREAM]).permutation(n)
    return sample.rows(np.sort(order[: n - held])), sample.rows(np.sort(order[n - held :]))


def holdout_scores(models: Sequence[Model], rows: Sample, measure: Measure = "absolute") -> HoldoutScores:
    """The scores of log y if that was fitted, and those of relative errors if the loss is of these."""
    X, y = rows.X.to_numpy(), rows.y.to_numpy()
    weights = np.ones(len(y)) if rows.weights is None else rows.weights.to_numpy()
    if not weights.any():
        raise InputError("all rows of the hold-out set have weight zero")
    return HoldoutScores(len(y), [score(y, model.predict(X), weights, measure) for model in models])


def score(y: Floats, predicted: Floats, weights: Floats, measure: Measure = "absolute") -> Score:
    """Weighted R², which a constant target leaves undefined, and root mean square error."""
    with np.errstate(all="ignore"):
        if measure == "log":
            y, predicted = np.log(y), np.log(predicted)
        if not np.isfinite(predicted).all():
            return Score(np.nan, np.nan)
        squares = 1.0 / np.square(y) if measure == "relative" else np.ones_like(y)
        error = float(np.average(squares * np.square(y - predicted), weights=weights))
        mean = np.average(y, weights=squares * weights)
        spread = float(np.average(squares * np.square(y - mean), weights=weights))
    return Score(1.0 - error / spread if spread > 0.0 else np.nan, float(np.sqrt(error)))
