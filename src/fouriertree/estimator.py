"""`SymbolicRegressor`: validate → problem → run → table of formulas → model."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from fouriertree.checks import check_operators, check_scale, draw_seed, nth_seed, numeric_target, refuse_text
from fouriertree.engine import CompiledEngine, Engine, ReferenceEngine
from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf
from fouriertree.front import ROUNDING, choose, describe, mean_square, presentable, table_text, terms_for
from fouriertree.model import Model
from fouriertree.observers import STALLED, Found, Patience, ProgressBar, Terms
from fouriertree.problems import Problem
from fouriertree.search import ALL_TERMS, FTG, Budget, Observer, Search, run
from fouriertree.space import EmpiricalSpace

#: levels of the trees of the default searches, which take turns; so many rounds, and fewer where rows are many
LEVELS = (3, 4, 5)
ROUNDS, ROUNDS_TIMES_ROWS = 2, 20_000


class SymbolicRegressor(RegressorMixin, BaseEstimator):
    """A formula for y in the columns of X: a sum of expression trees with the best coefficients.

    `equations_` has a row for every length of the sum that the search went through.  The chosen row, `best_index_`,
    is the one with the shortest description of its errors, coefficients and trees together.
    `models_` are the rows as Model objects and `model_` is the chosen one; `stop_reason_` says why the search ended.
    A loss in the table is the mean squared error (weighted) of the model's own predictions.

    search: how elements are found; by default several searches in turn, each taking the best of 10,000 small trees for
        one term after another, until one is exact or the limits are reached; without limits, six searches.
    operators: names or symbols, or a PrimitiveSet; by default ``PrimitiveSet.default()``.
    max_terms: elements at most, and never more than a third of the rows; a `search` of your own has its own limit.
    time_limit, max_traverses: seconds, and passes over the data; None is no limit.  Without either, a fit also ends
        when 100,000 candidates in a row were of no use.
    target_loss: the sum of squared errors to be content with; None asks for a formula exact to rounding.
    random_state: an integer, a RandomState, or None for fresh entropy; the integer that was used is `seed_`.
    n_jobs: threads, -1 for one per processor; the result is the same for any number.
    feature_names: names in formulas; by default those of a DataFrame's columns, or x0, x1, ...
    progress: show a progress bar on stderr.

    >>> X = np.linspace(-2, 2, 50)[:, None]
    >>> model = SymbolicRegressor(feature_names=["angle"], random_state=0).fit(X, 3 * np.sin(X[:, 0]))
    >>> model.get_best()["equation"]
    '3*sin(angle)'
    """

    def __init__(
        self,
        search: Search[Any] | None = None,
        *,
        operators: Sequence[str] | PrimitiveSet | None = None,
        max_terms: int = 10,
        time_limit: float | None = None,
        max_traverses: int | None = None,
        target_loss: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = 1,
        feature_names: Sequence[str] | None = None,
        progress: bool = False,
    ) -> None:
        self.search = search
        self.operators = operators
        self.max_terms = max_terms
        self.time_limit = time_limit
        self.max_traverses = max_traverses
        self.target_loss = target_loss
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.feature_names = feature_names
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> SymbolicRegressor:
        """Search for formulas; Ctrl-C ends the search and keeps what it has found."""
        self._check_limits()
        check_operators(self._primitives)
        refuse_text(X, y)
        y = numeric_target(y)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        check_scale(y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        self._names = self._column_names()
        self.seed_ = draw_seed(self.random_state)
        space = EmpiricalSpace(X, y, sample_weight, self._engine)
        exact = ROUNDING**2 * float(space.target @ space.target)
        target = exact if self.target_loss is None else float(self.target_loss)
        problem = Problem(space, Grammar(self._primitives, X.shape[1]))
        found = Found()
        traverses = None if self.max_traverses is None else int(self.max_traverses)
        budget = Budget(traverses, self.time_limit, target)
        self.stop_reason_ = self._run(problem, budget, found, float(space.weights.sum()))
        self.traverses_ = found.traverses
        self._tabulate(space, found.sums)
        return self

    def predict(self, X: Any, index: int | None = None) -> NDArray[np.float64]:
        """Values of the chosen formula, or of row `index` of `equations_`, on the rows of X: (n_rows,)."""
        model = self._model(index)
        values = model.predict(validate_data(self, X, reset=False, dtype=np.float64), self._engine)
        if bad := int(np.count_nonzero(~np.isfinite(values))):
            message = f"the formula has no finite value on {bad} of {len(values)} rows; their prediction is nan or inf"
            warnings.warn(message, UserWarning, stacklevel=2)
        return values

    def sympy(self, index: int | None = None) -> Any:
        """The chosen formula, or that of row `index`, as a SymPy expression."""
        return self._model(index).sympy()

    def latex(self, index: int | None = None) -> str:
        """The chosen formula, or that of row `index`, as LaTeX."""
        return self._model(index).latex()

    def get_best(self) -> Any:
        """The chosen row of `equations_`."""
        check_is_fitted(self)
        return self.equations_.iloc[self.best_index_]

    def __str__(self) -> str:
        if not hasattr(self, "equations_"):
            return repr(self)
        return table_text(self.equations_, self.best_index_)

    # Before the search -------------------------------------------------------------------------------
    def _check_limits(self) -> None:
        if not (isinstance(self.max_terms, Integral) and self.max_terms >= 1):
            raise ValueError(f"max_terms must be a whole number of at least 1; got {self.max_terms!r}")
        for name in ("time_limit", "max_traverses", "target_loss"):
            limit = getattr(self, name)
            if limit is not None and not (isinstance(limit, Real) and limit >= 0):
                raise ValueError(f"{name} must be None or a number that is not negative; got {limit!r}")

    def _column_names(self) -> tuple[str, ...] | None:
        given = getattr(self, "feature_names_in_", None) if self.feature_names is None else self.feature_names
        if given is None:
            return None
        names = tuple(map(str, given))
        if len(names) != self.n_features_in_:
            raise ValueError(f"feature_names has {len(names)} names, but X has {self.n_features_in_} columns")
        name, times = Counter(names).most_common(1)[0]
        if times > 1:
            raise ValueError(f"{times} columns are called {name!r}, and a formula could not tell them apart")
        return names

    @property
    def _engine(self) -> CompiledEngine:
        return CompiledEngine(n_jobs=1 if self.n_jobs is None else self.n_jobs)

    @property
    def _primitives(self) -> PrimitiveSet:
        if self.operators is None:
            return PrimitiveSet.default()
        return self.operators if isinstance(self.operators, PrimitiveSet) else PrimitiveSet(self.operators)

    # The search and after ----------------------------------------------------------------------------
    def _run(self, problem: Problem, budget: Budget, found: Found, weight: float) -> str:
        """Run the search, or several default ones after each other; why the last one ended."""
        searches = [self.search] if self.search is not None else self._default_searches(problem)
        unlimited = budget.time_limit is None and budget.max_traverses is None
        started = time.monotonic()
        with ExitStack() as stack:
            observers: list[Observer] = [found]
            if self.progress:
                longest = getattr(searches[0], "max_terms", None)
                observers.append(stack.enter_context(ProgressBar(budget, longest, weight)))
            k, reason = 0, ALL_TERMS
            while reason in (ALL_TERMS, STALLED) and (k < len(searches) or not (unlimited or self.search)):
                patience = [Patience()] if unlimited or self.search is None else []
                left = remaining(budget, time.monotonic() - started, found.traverses)
                try:
                    search = searches[k % len(searches)]
                    reason = run(
                        search, problem, left, [*observers, *patience], nth_seed(self.seed_, k)
                    ).reason
                except KeyboardInterrupt:
                    # The loop catches those between its first and its last event.
                    return "interrupted"
                found.next_run()
                k += 1
            return reason

    def _default_searches(self, problem: Problem) -> list[Search[Any]]:
        """Small trees and less small ones, in turn: none is the best for every law."""
        rows = len(problem.space.target)
        max_terms = min(self.max_terms, terms_for(rows))
        rounds = max(1, min(ROUNDS, ROUNDS_TIMES_ROWS // rows))
        return [
            FTG(generator=RampedHalfAndHalf(1, levels), best_of=10_000, max_terms=max_terms)
            for _ in range(rounds)
            for levels in LEVELS
        ]

    def _tabulate(self, space: EmpiricalSpace, sums: list[Terms]) -> None:
        engine: Engine = self._engine
        mean = float(np.average(space.y, weights=space.weights))
        if not sums:
            # Interrupted while the engine was being compiled: the mean needs none, and nobody waits again.
            engine, sums = ReferenceEngine(), [((mean,), (Expression.constant(1.0),))]
        self.models_ = [presentable(space, *terms, self._names, engine) for terms in sums]
        rows = [describe(model, space, engine) for model in self.models_]
        self.equations_ = pd.DataFrame(rows, columns=["n_terms", "complexity", "loss", "r2", "equation"])
        self.best_index_ = choose(self.equations_, len(space.y), mean_square(space, space.y))
        self.model_ = self.models_[self.best_index_]

    def _model(self, index: int | None) -> Model:
        check_is_fitted(self)
        if index is None:
            return self.model_
        if not 0 <= index < len(self.models_):
            raise IndexError(f"there is no row {index}; equations_ has rows 0 to {len(self.models_) - 1}")
        return self.models_[index]


def remaining(budget: Budget, seconds: float, traverses: int) -> Budget:
    """What is left of a budget after runs before this one."""
    time_limit = None if budget.time_limit is None else max(0.0, budget.time_limit - seconds)
    max_traverses = None if budget.max_traverses is None else max(0, budget.max_traverses - traverses)
    return Budget(max_traverses, time_limit, budget.target_loss)
