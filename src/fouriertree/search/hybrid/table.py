"""The data as the hybrid sees them: few columns, in an order and in units of their own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.opcodes import USER_OPCODE_START
from fouriertree.problems import Problem

Floats = NDArray[np.float64]

#: columns that are looked at, where there are more: those that a forest of random trees finds most useful
MOST_COLUMNS = 12
#: rows that candidates are fitted on, and rows that they are screened on
FIT_ROWS, SCREEN_ROWS = 1500, 300
#: rows and trees of that forest, and columns that a split looks at: so few that a wide table takes less than a second
FOREST_ROWS, MOST_TREES, FEWEST_TREES, SPLIT_COLUMNS = 2000, 60, 20, 40
#: columns of that forest, where there are more: the most correlated ones
FOREST_COLUMNS = 300


@dataclass(frozen=True)
class Table:
    """Rows that candidates are fitted on, in units in which every column and y have mean square one.

    Neither names nor the order nor the units of the columns are left: the same table in other clothes is the same.
    """

    X: Floats  #: (n_rows, n_columns)
    y: Floats
    weights: Floats
    columns: NDArray[np.intp]  #: column i here is columns[i] of the problem
    scales: Floats  #: and scales[i] times as large there
    y_scale: float
    screen: NDArray[np.intp]  #: rows for screening
    held: tuple[Floats, Floats, Floats] | None  #: X, y, weights of rows held back, in the same units

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])

    @property
    def variables(self) -> tuple[Expression, ...]:
        return tuple(Expression.variable(i) for i in range(self.n_columns))


def make_table(problem: Problem, seed: int, wanted: Collection[int] = ()) -> Table:
    """The table of a problem's weighted points; the columns `wanted` are in it."""
    rng = np.random.default_rng([seed, 1])
    X, y, weights = problem.space.samples()[-1]
    rows = np.sort(rng.permutation(len(y))[:FIT_ROWS]) if len(y) > FIT_ROWS else np.arange(len(y))
    columns = np.union1d(useful_columns(X, y, weights, rng), np.array(sorted(wanted), np.intp)).astype(
        np.intp
    )
    part = X[np.ix_(rows, columns)]
    scales = root_mean_squares(part)
    y_scale = float(np.sqrt(np.mean(np.square(y[rows])))) or 1.0
    if (problem.grammar.primitives.opcodes >= USER_OPCODE_START).any():
        # The numbers inside of the user's own functions are not fitted, so their arguments keep the units they have.
        scales[:] = 1.0
    order = order_of_columns(part / scales)
    columns, scales = columns[order], scales[order]
    screen = np.sort(rng.permutation(len(rows))[:SCREEN_ROWS])
    held = None
    if problem.holdout is not None:
        X_held, y_held, w_held = problem.holdout.samples()[-1]
        # Of many rows only some are fitted to; those held back weigh against them as they do among all.
        share = len(rows) / (len(y) * weights[rows].mean())
        held = X_held[:, columns] / scales, y_held / y_scale, share * w_held
    return Table(
        np.ascontiguousarray(X[np.ix_(rows, columns)] / scales), y[rows] / y_scale,
        weights[rows] / weights[rows].mean(), columns, scales, y_scale, screen, held,
    )  # fmt: skip


def root_mean_squares(part: Floats) -> Floats:
    """Of every column, without squares that overflow; one for a column of zeros."""
    largest = np.abs(part).max(axis=0, initial=0.0)
    largest[largest == 0.0] = 1.0
    sizes: Floats = largest * np.sqrt(np.mean(np.square(part / largest), axis=0))
    return np.where(sizes == 0.0, 1.0, sizes)


def order_of_columns(part: Floats) -> NDArray[np.intp]:
    """An order that depends on the columns' values only: by their quantiles."""
    quantiles = np.quantile(part, [0.5, 0.1, 0.9, 0.25, 0.75], axis=0)
    return np.lexsort(np.round(quantiles, 9)[::-1])


def useful_columns(X: Floats, y: Floats, weights: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """The columns that vary, and of many those that a forest of random trees splits on most."""
    varying = np.flatnonzero((X.max(axis=0) > X.min(axis=0)) & np.isfinite(X).all(axis=0))
    if len(varying) <= MOST_COLUMNS:
        return varying if len(varying) else np.zeros(0, np.intp)
    from sklearn.ensemble import ExtraTreesRegressor

    rows = rng.permutation(len(y))[:FOREST_ROWS]
    ranks = np.argsort(np.argsort(y[rows])) / len(rows)
    # Trees draw columns by number; in an order of their own, the choice does not depend on the given one.
    standard = (X[rows] - X[rows].mean(axis=0)) / (X[rows].std(axis=0) + 1e-300)
    ordered = varying[order_of_columns(standard[:, varying])]
    if len(ordered) > FOREST_COLUMNS:
        ordered = ordered[most_correlated(standard[:, ordered], (ranks, y[rows]), FOREST_COLUMNS)]
    n = len(ordered)
    trees = min(MOST_TREES, max(FEWEST_TREES, MOST_TREES * SPLIT_COLUMNS // n))
    importance = np.zeros(n)
    for target in (ranks, y[rows]):
        forest = ExtraTreesRegressor(
            trees, max_features=min(0.5, SPLIT_COLUMNS / n), min_samples_leaf=3, random_state=0
        )
        importance += forest.fit(standard[:, ordered], target, weights[rows]).feature_importances_
    return np.sort(ordered[np.argsort(-importance, kind="stable")[:MOST_COLUMNS]])


def most_correlated(standard: Floats, targets: Sequence[Floats], count: int) -> NDArray[np.intp]:
    """The columns which, or whose squares, are most correlated with one of the targets, in the order they have.

    Of thousands of columns, a tree would hardly ever look at the right one.
    """
    best = np.zeros(standard.shape[1])
    squares = np.square(standard)
    for columns in (standard, squares - squares.mean(axis=0)):
        lengths = np.linalg.norm(columns, axis=0) + 1e-300
        for target in targets:
            best = np.maximum(
                best, np.abs((target - target.mean()) @ columns) / lengths / (target.std() + 1e-300)
            )
    return np.sort(np.argsort(-best, kind="stable")[:count])
