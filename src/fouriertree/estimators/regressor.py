"""`SymbolicRegressor`, the scikit-learn regressor."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from numpy.typing import ArrayLike

from fouriertree.criteria.losses import LossFunction
from fouriertree.data.checks import output_names
from fouriertree.estimators.fitted import FittedEquations
from fouriertree.estimators.multioutput import OUTPUT_ATTRIBUTES, StopRelay, fit_outputs
from fouriertree.estimators.single_fit import VALIDATED, RunContext, fit_single, given_names
from fouriertree.fit.options import check_parameters
from fouriertree.fit.stopping import Stop, check_memory
from fouriertree.runs import RunFolder
from fouriertree.runs.journal import parameters_of
from fouriertree.search import Search


@dataclass(kw_only=True, eq=False, repr=False)
class SymbolicRegressor(FittedEquations):
    """Symbolic regression: equations for y in the features of X, from the simplest to the most accurate.

    Equations are linear combinations of expression trees with least-squares coefficients.  A fit returns their Pareto
    front over complexity and loss, checked on a validation set, and chooses one by `model_selection`.

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
        Formulas such as ``['a*sin(x0)']``, in which unknown names are free parameters: each is fitted first, and is in
        the table with its loss.
    loss : {'squared', 'absolute', 'huber', 'quantile', 'relative', 'logistic'} or callable, default='squared'
        Loss of a row: absolute and huber are robust to outliers, relative is the squared error relative to y, logistic
        takes y for probabilities and fits their log-odds, and a function maps the arrays (y, predicted) to the losses
        of the rows.
    quantile : float, default=0.5
        Quantile that the quantile loss estimates.
    target_transform : {'log'} or None, default=None
        Fit log(y), where y is positive: search, losses and selection are those of log(y), equations and predictions
        those of y.
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
    executor : concurrent.futures.Executor or None, default=None
        Executor that performs the tasks of a fit; None is a process pool of `n_jobs` workers, which all fits share.
    feature_names : list of str or None, default=None
        Names of the features in equations; None is those of a DataFrame, or x0, x1 and so on.
    run_dir : str or Path or None, default=None
        Folder in which every fit creates a run folder, `run_path_`, with events, equations so far and checkpoints, from
        which `resume` continues.
    warm_start : bool, default=False
        Continue from the state of the last fit to the same data, with the same limits once more.
    progress : bool, default=False
        Show a progress bar on stderr.

    Attributes
    ----------
    equations_ : DataFrame
        The Pareto front, a row per equation: `n_terms`, `complexity`, `loss` on all rows, `training_loss`,
        `validation_loss`, `description_length`, `r2`, `equation`.  Losses are weighted means over rows.  With
        `guesses`, the column `guess` has the guess that a row is, and guesses off the front are rows, too.  With
        `target_transform`, every column but `equation` is that of log(y).
    guess_notes_ : list of str
        A sentence for every guess that is no row of `equations_`.
    models_, model_ : list of Model, Model
        The rows of `equations_`, and the chosen one.
    best_index_ : int
        The chosen row of `equations_`.
    scores_ : list of ndarray
        Sorted sizes of the errors of every equation on rows that it was not fitted to, for prediction intervals: of
        y − p, with the relative loss of (y − p)/|p|, and with `target_transform` of log(y/p).
    box_ : ndarray of shape (n_features, 2)
        Minimum and maximum of every feature.
    hint_ : str or None
        A suggestion of options if y spans more than two decades and its errors are not relative; `print` shows the
        first one of a process.
    seed_, stop_reason_ : int, str
        The seed that repeats the fit, and why the search ended.
    evaluations_, traverses_, seconds_ : int, int, float
        Candidates evaluated, passes over the data, and duration of the fit.
    data_ : dict
        Number of rows and columns of the training data, and their SHA-256.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        As in scikit-learn; names only if X has string column names.
    run_path_ : Path
        The run folder, with `run_dir` only.
    estimators_, targets_ : list of SymbolicRegressor, list of str
        For a y of several columns only: the regressor of each, and their names; other attributes are lists or sums.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-2, 2, 50)[:, None]
    >>> model = SymbolicRegressor(feature_names=["angle"], random_state=0).fit(X, 3 * np.sin(X[:, 0]))
    >>> model.get_best()["equation"]
    '3*sin(angle)'
    """

    search: Search[Any] | None = field(default=None, kw_only=False)
    model_selection: str = "mdl"
    loss: str | LossFunction = "squared"
    quantile: float = 0.5
    target_transform: str | None = None
    memory_limit: float | None = None
    max_traverses: int | None = None
    target_loss: float | None = None
    run_dir: str | Path | None = None
    warm_start: bool = False

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Search for equations; Ctrl-C or `stop` ends the search and keeps its result, a second Ctrl-C discards it.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
            For several targets, the limits are divided evenly among them.
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        self
            An exception leaves the regressor in its state from before the fit.
        """
        return self.fit_run(X, y, sample_weight)

    def fit_run(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *,
        context: RunContext | None = None, stop: Stop | None = None,
    ) -> Self:  # fmt: skip
        """As `fit`, for callers that resume a run, add to its metadata, or pass their `Stop`."""
        check_parameters(self.get_params(deep=False))
        check_memory(self.memory_limit)
        several, context = output_names(y) is not None, context or RunContext()
        if several and context.folder is not None:
            raise ValueError("a run has one target; pass its column of y only")
        running = self._stop = StopRelay() if several else stop or Stop()
        try:
            if isinstance(running, StopRelay):
                attributes = fit_outputs(self, X, y, sample_weight, running)
            else:
                with running.on_interrupt():
                    attributes = fit_single(self, X, y, sample_weight, running, context)
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
        """Resume a killed or interrupted run from its folder and its data.

        Runs without a time limit resume bit-identically.  `changes` are parameters to set: a larger limit, or those
        that a file cannot represent.
        """
        folder = RunFolder.open(Path(run))
        try:
            regressor = cls.of_run(folder, **changes)
            return regressor.fit_run(X, y, sample_weight, context=RunContext(folder))
        finally:
            folder.close()

    @classmethod
    def of_run(cls, folder: RunFolder, **changes: Any) -> Self:
        """The regressor of a run, which is locked, so that no other process can resume it."""
        folder.lock()
        return cls(**parameters_of(folder, changes))

    def stop(self) -> bool:
        """End the fit that runs in another thread, which keeps its result; False if no fit runs.

        Thread-safe; returns at once, while `fit` returns after its current step.
        """
        running: Stop | StopRelay | None = vars(self).get("_stop")
        if running is not None:
            running.request("stopped")
        return running is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def regressor_like(estimator: Any, **changes: Any) -> SymbolicRegressor:
    """A regressor with the parameters and the feature names of another estimator, but for `changes`."""
    known = SymbolicRegressor._get_param_names()
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name in known}
    names = given_names(estimator)
    parameters["feature_names"] = None if names is None else list(names)
    return SymbolicRegressor(**parameters | changes)
