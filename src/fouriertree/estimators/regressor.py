"""`SymbolicRegressor`, the scikit-learn regressor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin

from fouriertree.criteria.losses import LossFunction
from fouriertree.data.checks import check_kinds
from fouriertree.estimators.fitted import FittedEquations
from fouriertree.estimators.multioutput import OUTPUT_ATTRIBUTES, StopRelay, fit_outputs, output_names
from fouriertree.estimators.single_fit import VALIDATED, RunContext, fit_single
from fouriertree.expr import PrimitiveSet
from fouriertree.fit.memory import check_memory
from fouriertree.fit.stopping import Stop
from fouriertree.runs import RunFolder
from fouriertree.runs.journal import parameters_of
from fouriertree.search import Search

SELECTIONS = ("mdl", "best", "accuracy")


class SymbolicRegressor(FittedEquations, RegressorMixin, BaseEstimator):
    """Equations for y in the columns of X, from simplest to most accurate.

    `equations_` is the front over complexity and error: a row for every complexity worth it, with the loss on all rows,
    on the rows that the search saw and on those that were held back to verify (`validation_loss`), and the description
    length.  The chosen row is `best_index_`; `models_` are the rows as Model objects and `model_` is the chosen one.
    `stop_reason_` says why the search ended.  Losses are means over rows (weighted), of the model's own predictions.

    search: how formulas are found; `Hybrid` unless told otherwise, which uses the limits below.
    operators: names or symbols, or a PrimitiveSet; by default ``PrimitiveSet.default()``.
    model_selection: "mdl" takes the row with the shortest description, "accuracy" the one with the smallest validation
        loss, "best" the one after which more complexity gains little.
    loss: "squared", "absolute", "huber", "quantile" (of `quantile`), or a function of the arrays (y, predicted) that
        returns what every row costs; "logistic" where y is a probability and formulas are to be its log-odds.
    max_size: complexity of a formula at most.
    max_terms: terms of a formula at most; None is ten, and no limit for a line through many columns.
    complexities: your own complexity for some operators, such as ``{"sin": 5}``.
    nesting: what may not stand inside of what, such as ``{"sin": {"sin": 0, "exp": 1}}``: no sine, and one exp at most.
    guesses: formulas to start from, such as ``["a*sin(x0)"]``; names that are no columns are numbers to be fitted.
    time_limit, max_evaluations: seconds, and candidates looked at; None is no limit.  Without any limit, a fit ends
        when every way to look for a law has had its turn.
    memory_limit: megabytes that the process and its helpers may hold; the search ends when they hold more.
    max_traverses: passes over the data, the paper's unit of cost, for the searches of the paper.
    target_loss: the sum of squared errors to be content with; None asks for a formula exact to rounding.
    random_state: an integer, a RandomState, or None for fresh entropy; the integer that was used is `seed_`.
    n_jobs: processes, -1 for one per processor; the result is the same for any number.
    feature_names: names in formulas; by default those of a DataFrame's columns, or x0, x1, ...
    run_dir: a folder in which every fit leaves a folder of its own, `run_path_`, with its events, its formulas so far
        and checkpoints from which `resume` goes on should the process be killed; None writes nothing.
    warm_start: go on from where the last fit to the same data ended, with the same limits once more.
    progress: show a progress bar on stderr.

    >>> X = np.linspace(-2, 2, 50)[:, None]
    >>> model = SymbolicRegressor(feature_names=["angle"], random_state=0).fit(X, 3 * np.sin(X[:, 0]))
    >>> model.get_best()["equation"]
    '3*sin(angle)'
    """

    _stop: Stop | StopRelay  #: only during a fit
    run_path_: Path

    def __init__(
        self,
        search: Search[Any] | None = None,
        *,
        operators: Sequence[str] | PrimitiveSet | None = None,
        model_selection: str = "mdl",
        loss: str | LossFunction = "squared",
        quantile: float = 0.5,
        max_terms: int | None = None,
        max_size: int = 80,
        complexities: Mapping[str, int] | None = None,
        nesting: Mapping[str, Mapping[str, int]] | None = None,
        guesses: Sequence[str] | None = None,
        time_limit: float | None = None,
        max_evaluations: int | None = None,
        memory_limit: float | None = None,
        max_traverses: int | None = None,
        target_loss: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = 1,
        feature_names: Sequence[str] | None = None,
        run_dir: str | Path | None = None,
        warm_start: bool = False,
        progress: bool = False,
    ) -> None:
        self.search = search
        self.operators = operators
        self.model_selection = model_selection
        self.loss = loss
        self.quantile = quantile
        self.max_terms = max_terms
        self.max_size = max_size
        self.complexities = complexities
        self.nesting = nesting
        self.guesses = guesses
        self.time_limit = time_limit
        self.max_evaluations = max_evaluations
        self.memory_limit = memory_limit
        self.max_traverses = max_traverses
        self.target_loss = target_loss
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.feature_names = feature_names
        self.run_dir = run_dir
        self.warm_start = warm_start
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Search for equations; Ctrl-C or `stop` ends the search and keeps its result, another Ctrl-C leaves at once.

        For a y of several columns, `estimators_` are the regressors of each, which share the limits evenly.  Whatever
        ends a fit, the regressor is fitted, or as it was before.
        """
        return self.fit_run(X, y, sample_weight)

    def fit_run(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        context: RunContext | None = None,
        stop: Stop | None = None,
    ) -> Self:
        """As `fit`, for programs that resume a run, add to its metadata, or stop it by a `Stop` of their own."""
        self._check_parameters()
        if output_names(y) is not None:
            if context is not None and context.folder is not None:
                raise ValueError("a run has one target; give the column of y that it is about")
            relay = self._stop = StopRelay()
            try:
                attributes = fit_outputs(self, X, y, sample_weight, relay)
            finally:
                del self._stop
        else:
            stop = self._stop = Stop() if stop is None else stop
            try:
                with stop.on_interrupt():
                    attributes = fit_single(self, X, y, sample_weight, stop, context or RunContext())
            finally:
                del self._stop
        for name in (*OUTPUT_ATTRIBUTES, *VALIDATED):
            self.__dict__.pop(name, None)
        self.__dict__.update(attributes)
        return self

    @classmethod
    def resume(
        cls, run: str | Path, X: Any, y: Any, sample_weight: ArrayLike | None = None, **changes: Any
    ) -> Self:
        """Resume a run that was killed or interrupted, from its folder and the data that it was given.

        Without a time limit, the equations are those of an uninterrupted run, bit for bit.  `changes` are parameters
        to set: a larger limit, or those that a file cannot hold.
        """
        folder = RunFolder.open(Path(run))
        try:
            regressor = cls.of_run(folder, **changes)
            return regressor.fit_run(X, y, sample_weight, context=RunContext(folder))
        finally:
            folder.close()

    @classmethod
    def of_run(cls, folder: RunFolder, **changes: Any) -> Self:
        """The regressor of a run, which is locked, so that no other process can resume it meanwhile."""
        regressor = cls(**parameters_of(folder, changes))
        folder.lock()
        return regressor

    def stop(self) -> bool:
        """End the fit that runs in another thread, which keeps its result; False if there is none.

        Can be called from any thread at any time, and returns at once: `fit` returns after its current step.
        """
        running: Stop | StopRelay | None = vars(self).get("_stop")
        if running is not None:
            running.request("stopped")
        return running is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _check_parameters(self) -> None:
        for name in ("max_terms", "max_size"):
            value = getattr(self, name)
            if name == "max_terms" and value is None:
                continue
            if not (isinstance(value, Integral) and int(value) >= 1):
                raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}")
        for name in ("time_limit", "max_evaluations", "memory_limit", "max_traverses", "target_loss"):
            limit = getattr(self, name)
            if limit is not None and not (isinstance(limit, Real) and float(limit) >= 0.0):
                raise ValueError(f"{name} must be None or a number that is not negative; got {limit!r}")
        if not (isinstance(self.model_selection, str) and self.model_selection in SELECTIONS):
            raise ValueError(
                f"model_selection must be one of {', '.join(SELECTIONS)}; got {self.model_selection!r}"
            )
        check_kinds(self)
        check_memory(self.memory_limit)
