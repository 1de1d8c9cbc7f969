"""`SymbolicRegressor`: validate → problem → run → table of formulas → model."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import _check_sample_weight, validate_data

from fouriertree.criteria.losses import LossFunction, as_loss, check_probabilities
from fouriertree.criteria.rows import split
from fouriertree.data.checks import (
    check_names,
    check_operators,
    check_scale,
    check_tables,
    check_unique_names,
    draw_seed,
    target_as_numbers,
)
from fouriertree.data.duplicates import Table, deduplicated
from fouriertree.estimators.fitted import FittedEquations, absolute_errors, plain_parameters
from fouriertree.estimators.multioutput import clear_outputs, fit_outputs, output_names
from fouriertree.expr import PrimitiveSet
from fouriertree.expr.complexity import Complexity
from fouriertree.fit.guesses import parse_guesses
from fouriertree.fit.memory import check_memory, memory_watch
from fouriertree.fit.options import check_parameters
from fouriertree.fit.pipeline import FitConfig, Fitting, compile_kernels_of
from fouriertree.fit.stopping import Stop, uninterrupted
from fouriertree.runs import RunFolder
from fouriertree.runs.journal import Journal, WarmStart, changed, check_same_data, parameters_of
from fouriertree.runs.model_file import (
    ModelFileWarning,
    encoded_record,
    fingerprint,
    library_versions,
    writable_part,
)
from fouriertree.search import Search
from fouriertree.search.nesting import Nesting
from fouriertree.search.observers import CandidateCollector
from fouriertree.uncertainty.intervals import cross_validation_scores, min_scores_for

Floats = NDArray[np.float64]

#: errors on rows held back that suffice for intervals; with fewer of them, all rows are left out once, in so many folds
MIN_SCORES, FOLDS = min_scores_for(0.95), 10
#: parameters that a fit may change and still go on from the one before it
CHANGEABLE = (
    "model_selection", "time_limit", "max_evaluations", "max_traverses", "memory_limit", "target_loss", "n_jobs",
    "random_state", "run_dir", "warm_start", "progress",
)  # fmt: skip


class SymbolicRegressor(FittedEquations, RegressorMixin, BaseEstimator):
    """FitResult for y in the columns of X, from simplest to most accurate.

    `equations_` is the front over complexity and error: a row for every complexity worth it, with the loss on all rows,
    on the rows that the search saw and on those that were held back to verify (`validation_loss`), and the description
    length.  The chosen row is `best_index_`; `models_` are the rows as Model objects and `model_` is the chosen one.
    `stop_reason_` says why the search ended.  Losses are means over rows (weighted), of the model's own predictions.

    Parameters
    ----------
    search : Search or None, default=None
        Search algorithm; None is `Hybrid`, which observes the limits below.
    operators : list of str or PrimitiveSet or None, default=None
        Operators allowed in expressions, by name or symbol; None is `PrimitiveSet.default()`.
    max_terms : int or None, default=None
        Maximum number of terms; None is 10, and no limit for linear models.
    max_size : int, default=80
        Maximum complexity of an equation.
    complexities : mapping of str to int or None, default=None
        Custom complexities of operators, such as ``{'sin': 5}``.
    nesting : mapping of str to mapping or None, default=None
        Maximum number of operators nested inside another, such as ``{'sin': {'sin': 0, 'exp': 1}}``.
    guesses : list of str or None, default=None
        Formulas to start from, such as ``['a*sin(x0)']``, in which unknown names are free parameters.
    loss : {'squared', 'absolute', 'huber', 'quantile', 'logistic'} or callable, default='squared'
        Loss of a row: absolute and huber are robust to outliers, logistic takes y for probabilities and fits their
        log-odds, and a function maps the arrays (y, predicted) to the losses of the rows.
    quantile : float, default=0.5
        Quantile that the quantile loss estimates.
    model_selection : {'mdl', 'best', 'accuracy'}, default='mdl'
        Criterion for the chosen equation: mdl is the minimum description length, best the last one before more
        complexity gains little, accuracy the smallest validation loss.
    time_limit : float or None, default=None
        Time limit in seconds; without any limit, a fit ends when all search strategies have run.
    max_evaluations : float or None, default=None
        Approximate number of candidate evaluations at most; unlike a time limit, it is reproducible.
    memory_limit : float or None, default=None
        Memory of the process and its process pool, in megabytes, at which the search ends.
    max_traverses : float or None, default=None
        Maximum number of passes over the data, the unit of cost of the paper, for its searches.
    target_loss : float or None, default=None
        Sum of squared errors at which the search ends; None is an error at rounding level.
    random_state : int or RandomState or None, default=None
        Seed, which repeats a fit; None draws one, which `seed_` gives.
    n_jobs : int or None, default=1
        Number of processes and threads, -1 for one per processor; results do not depend on it.
    feature_names : list of str or None, default=None
        Names of the features in equations; None is those of a DataFrame, or x0, x1 and so on.
    run_dir : str or Path or None, default=None
        Folder in which every fit creates a run folder, `run_path_`, with events, equations so far and checkpoints, from
        which `resume` continues.
    warm_start : bool, default=False
        Continue from the state of the last fit to the same data, with the same limits once more.
    progress : bool, default=False
        Show a progress bar on stderr.

    Examples
    --------
    >>> X = np.linspace(-2, 2, 50)[:, None]
    >>> model = SymbolicRegressor(feature_names=["angle"], random_state=0).fit(X, 3 * np.sin(X[:, 0]))
    >>> model.get_best()["equation"]
    '3*sin(angle)'
    """

    _running: Stop  #: there while a fit runs
    _journal: Journal  #: and this
    _folder: RunFolder | None = None  #: of the run that goes on
    _run_notes: Mapping[str, Any] = MappingProxyType({})  #: more for run.json
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

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> SymbolicRegressor:
        """Search for formulas; Ctrl-C or `stop` ends the search and keeps what it has found, another Ctrl-C leaves.

        For a y of several columns, `estimators_` are the regressors of each, which share the limits evenly.
        """
        if output_names(y) is not None:
            self._check_limits()
            fit_outputs(self, X, y, sample_weight)
            return self
        # All happens on a twin: whatever ends the fit, the regressor is what it was before, or fitted.
        twin = type(self).__new__(type(self))
        twin.__dict__ = dict(self.__dict__)
        self._running = twin._running = Stop()
        try:
            with self._running.on_interrupt():
                twin._fit(X, y, sample_weight)
                self.__dict__ = twin.__dict__
        finally:
            for name in ("_running", "_journal", "_folder"):
                self.__dict__.pop(name, None)
        return self

    @classmethod
    def resume(
        cls, run: str | Path, X: Any, y: Any, sample_weight: ArrayLike | None = None, **changes: Any
    ) -> Self:
        """Go on with a run that was killed or interrupted, from its folder and the data that it was given.

        Where only evaluations limit it, or nothing does, the formulas are those of a run that nobody has killed, bit
        for bit.  `changes` are parameters to set anew: a larger limit, or those that a file cannot hold.
        """
        folder = RunFolder.open(Path(run))
        try:
            return cls.of_run(folder, **changes).fit(X, y, sample_weight)
        finally:
            folder.close()

    @classmethod
    def of_run(cls, folder: RunFolder, **changes: Any) -> Self:
        """A regressor whose next fit goes on with a run, which nobody else can go on with meanwhile."""
        regressor = cls(**parameters_of(folder, changes))
        folder.lock()
        regressor._folder = folder
        return regressor

    def stop(self) -> bool:
        """End the fit that runs in another thread, which keeps the best so far; False if there is none.

        Can be called from any thread at any time, and returns at once: `fit` returns after the step that it is in.
        """
        running: Stop | None = self.__dict__.get("_running")
        if running is not None:
            running.ask("stopped")
        return running is not None

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        self._check_limits()
        check_operators(self._primitives)
        loss = as_loss(self.loss, self.quantile)
        clear_outputs(self)
        target = str(getattr(y, "name", None) or "y")
        check_tables(X, y)
        y = target_as_numbers(y)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        check_scale(y)
        check_probabilities(loss, y)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        self._names = self._column_names()
        self.seed_ = draw_seed(self.random_state)
        config = self._config()
        # The first time on a machine takes some seconds, which are not the search's.
        uninterrupted(lambda: compile_kernels_of(config.engine, self.search))
        self._running.start_search(memory_watch(self.memory_limit, len(y)))
        began = time.monotonic()
        self.data_ = {"rows": len(y), "columns": X.shape[1], "sha256": fingerprint(X, y, weights)}
        journal = self._journal = self._begin_journal(target)
        try:
            table = deduplicated(X, y, weights)
            everything = split(table, config.engine, loss, self.seed_)
            started = began - journal.seconds
            config = replace(config, seed=self.seed_)  # a fit that goes on has that of the one before
            self._find(Fitting(config, everything, self._running, journal, started))
            self._remember(table, started)
            self._end_journal(target)
        except BaseException as error:
            journal.abandon(error)
            raise

    def _find(self, fitting: Fitting) -> None:
        self.stop_reason_, found = fitting.search(), fitting.found
        self.traverses_, self.evaluations_ = found.traverses, found.candidates
        if self.warm_start and fitting.left is not None:
            settings = self.get_params(deep=False)
            self._left = WarmStart(settings, self.data_["sha256"], self.seed_, found, *fitting.left)
        formulas = fitting.table()
        self.equations_, self.best_index_ = formulas.equations, formulas.chosen
        self.models_ = [row.model for row in formulas.rows]
        self.scores_ = [absolute_errors(row.errors) for row in formulas.rows]
        self.model_ = self.models_[self.best_index_]

    def _remember(self, table: Table, started: float) -> None:
        """What is asked later: where the data lie, what they are, and how long it took."""
        self.box_ = np.column_stack([table.X.min(axis=0), table.X.max(axis=0)])
        self._training = table.X, table.y, table.weights
        if self.loss != "logistic" and np.all([len(scores) < MIN_SCORES for scores in self.scores_]):
            self.scores_ = [
                absolute_errors(cross_validation_scores(model.expression, *table.distinct, FOLDS))
                for model in self.models_
            ]
        self.seconds_ = time.monotonic() - started
        self._warned_outside = False

    # What is written down, and gone on from ----------------------------------------------------------
    def _begin_journal(self, target: str) -> Journal:
        earlier = self._earlier() if self.warm_start else None
        journal = Journal(CandidateCollector() if earlier is None else earlier.found)
        if earlier is not None:
            self.seed_ = earlier.seed
            journal.go_on(earlier)
        plain, described = plain_parameters(self.get_params(deep=False))
        if self._folder is not None:
            check_same_data(self._folder, self.data_["sha256"])
            told = {"parameters": plain, "described": described}
            journal.resume(self._folder, self._primitives, told)
        elif self.run_dir is not None:
            about = {
                "parameters": plain,
                "described": described,
                "seed": self.seed_,
                "versions": library_versions(),
                "data": self.data_,
                "columns": list(self._column_texts),
                "target": target,
                **self._run_notes,
            }
            journal.record(self.run_dir, about)
        return journal

    def _earlier(self) -> WarmStart | None:
        """What the fit before has left, if it goes on: same data, same parameters but for limits."""
        left: WarmStart | None = self.__dict__.get("_left")
        if left is None or left.data != self.data_["sha256"]:
            return None
        return None if changed(left.settings, self.get_params(deep=False), CHANGEABLE) else left

    def _end_journal(self, target: str) -> None:
        folder = self._journal.folder
        if folder is not None:
            self.run_path_ = folder.path
            chosen = self.get_best()
            result = {
                "formula": self.model_.text(),
                "equation": str(chosen["equation"]),
                "loss": float(chosen["loss"]),
                "complexity": int(chosen["complexity"]),
                "seconds": self.seconds_,
                "evaluations": self.evaluations_,
            }
            self._journal.finish(self.equations_, self._model_file(target), self.stop_reason_, result)

    def _model_file(self, target: str) -> bytes | None:
        """The content of the run's model file; None, with a warning, if it cannot be made."""
        try:
            return encoded_record(writable_part(self.to_record(target)))
        except Exception as error:  # whatever it is, the equations are worth more than their copy in the run
            message = (
                f"the run keeps the table of equations, but no model file: {type(error).__name__}: {error}"
            )
            warnings.warn(message, ModelFileWarning, stacklevel=5)
            return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    # Before the search -------------------------------------------------------------------------------
    def _check_limits(self) -> None:
        check_parameters(self.get_params(deep=False))
        check_memory(self.memory_limit)

    def _column_names(self) -> tuple[str, ...] | None:
        given = getattr(self, "feature_names_in_", None) if self.feature_names is None else self.feature_names
        if given is None:
            return None
        names = tuple(map(str, given))
        if len(names) != self.n_features_in_:
            raise ValueError(f"feature_names has {len(names)} names, but X has {self.n_features_in_} columns")
        check_unique_names(names)
        check_names(names)
        return names

    @property
    def _primitives(self) -> PrimitiveSet:
        if self.operators is None:
            return PrimitiveSet.default()
        return self.operators if isinstance(self.operators, PrimitiveSet) else PrimitiveSet(self.operators)

    def _config(self) -> FitConfig:
        primitives = self._primitives
        names = self._names or tuple(f"x{i}" for i in range(self.n_features_in_))
        return FitConfig(
            search=self.search,
            primitives=primitives,
            engine=self._engine,
            complexity=Complexity(self.complexities, primitives),
            nesting=Nesting.of(self.nesting or {}, primitives),
            guesses=parse_guesses(self.guesses or (), names, primitives),
            names=self._names,
            seed=self.seed_,
            max_terms=None if self.max_terms is None else int(self.max_terms),
            max_size=int(self.max_size),
            model_selection=self.model_selection,
            time_limit=None if self.time_limit is None else float(self.time_limit),
            max_evaluations=self.max_evaluations,
            max_traverses=self.max_traverses,
            target_loss=self.target_loss,
            progress=self.progress,
        )
