"""Inspection of a fitted regressor: certificates, intervals, stability, exports, plots, reports."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, clone
from sklearn.utils.validation import validate_data

from fouriertree.criteria.errors import Measure
from fouriertree.data.training import TrainingData
from fouriertree.engine import CompiledEngine
from fouriertree.estimators.parameters import CommonParameters
from fouriertree.fit.config import as_executor
from fouriertree.io.files import write_atomically
from fouriertree.model import Model
from fouriertree.uncertainty.intervals import LEVEL, linear_intervals
from fouriertree.uncertainty.stability import Stability, stability

if TYPE_CHECKING:
    from fouriertree.uncertainty.certificate import Certificate, Slope

# Plots, exports and certificates are imported when they are first used: most fits need none of them.
Floats = NDArray[np.float64]
Data = tuple[Floats, Floats, Floats | None]


class Inspection(RegressorMixin, CommonParameters):
    """Methods of a fitted regressor.

    `index` is a row of `equations_`, the chosen one by default.  X and y are the data of the fit by default; they must
    be passed to a regressor from a file or a pickle.
    """

    box_: Floats
    models_: list[Model]
    best_index_: int
    equations_: pd.DataFrame
    seed_: int
    _names: tuple[str, ...] | None
    _measure: Measure = "absolute"  #: of errors of predictions
    _training: TrainingData

    @property
    def _engine(self) -> CompiledEngine:
        return CompiledEngine(n_jobs=1 if self.n_jobs is None else self.n_jobs)

    @property
    def _feature_labels(self) -> Sequence[str]:
        return self._names or [f"x{i}" for i in range(self.n_features_in_)]

    def certificate(self, index: int | None = None) -> Certificate:
        """A proof by interval arithmetic that the equation is finite on the range of the data, or a counterexample."""
        from fouriertree.uncertainty.certificate import certify

        return certify(self._model(index).expression, self.box_, self._feature_labels)

    def slopes(self, index: int | None = None) -> list[Slope]:
        """Sign and size of the partial derivatives of the equation over the range of the data."""
        from fouriertree.uncertainty.certificate import slopes

        return slopes(self._model(index).expression, self.box_, self._feature_labels)

    def coefficient_intervals(
        self, index: int | None = None, level: float = LEVEL, X: Any = None, y: Any = None
    ) -> pd.DataFrame:
        """Confidence intervals of the parameters of the equation, see `linear_intervals`."""
        return linear_intervals(self._model(index), *self._data(X, y), level, self._measure)

    def stability(
        self, n: int = 20, X: Any = None, y: Any = None, progress: Callable[[int, int], None] | None = None
    ) -> Stability:
        """Frequencies of all terms and forms in `n` bootstrap refits; Ctrl-C keeps the refits made so far.

        The refits are the tasks of `executor` or of `n_jobs` processes.
        """
        rows = self._data(X, y)
        executor = as_executor(self.executor, self._engine.n_threads)
        # One process for each refit: several refits at a time use all workers.
        alone = clone(self).set_params(n_jobs=1, executor=None, progress=False)
        return stability(
            partial(_refitted, alone), *rows, n=n, seed=self.seed_, original=self._front, progress=progress,
            executor=executor,
        )  # fmt: skip

    @property
    def _front(self) -> list[tuple[bool, Model]]:
        """(whether it is chosen, model) for every equation."""
        return [(i == self.best_index_, model) for i, model in enumerate(self.models_)]

    def _data(self, X: Any, y: Any) -> Data:
        """The data passed, or those of the fit."""
        self._row(None)  # raises an error for several targets
        if (X is None) != (y is None):
            raise ValueError("pass both X and y, or neither")
        if X is not None:
            with warnings.catch_warnings():
                # Arrays are accepted, too: nothing is matched by name.
                warnings.filterwarnings("ignore", "X does not have valid feature names")
                X, y = validate_data(self, X, y, reset=False, dtype=np.float64, y_numeric=True)
            return X, y, None
        if not hasattr(self, "_training"):
            raise ValueError("a regressor from a file or a pickle has no data; pass X and y")
        data = self._training
        return data.X, data.y, data.weights

    def export(self, target: str, index: int | None = None, **options: Any) -> Any:
        """The equation in another language, such as "python", "c" or "sql"; see `fouriertree.export.TARGETS`."""
        from fouriertree.export import export

        return export(self._model(index), target, **options)

    def plot_front(self, ax: Any = None) -> Any:
        """Plot the Pareto front: loss against complexity."""
        from fouriertree.plotting import plot_front

        return plot_front(self.equations_, self._row(None), ax)

    def plot_fit(
        self, X: Any = None, y: Any = None, index: int | None = None, target: str = "y", axes: Any = None
    ) -> Any:
        """Plot predicted against observed values, and the residuals."""
        X, y, _ = self._data(X, y)
        from fouriertree.plotting import plot_fit

        return plot_fit(y, self._model(index).predict(X), target, axes)

    def plot_response(
        self, X: Any = None, y: Any = None, index: int | None = None, figure: Any = None
    ) -> Any:
        """Plot the partial dependence on every feature of the equation."""
        X, y, _ = self._data(X, y)
        from fouriertree.plotting import plot_response

        return plot_response(self._model(index), X, y, figure=figure)

    def plot_tree(self, index: int | None = None, ax: Any = None) -> Any:
        """Plot the equation as a tree."""
        from fouriertree.plotting import plot_tree

        return plot_tree(self._model(index).expression, self._feature_labels, ax)

    def report(
        self, path: str | Path, target: str = "y", X: Any = None, y: Any = None, refits: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:  # fmt: skip
        """Write an HTML report on the chosen equation; with `refits`, including its stability."""
        from fouriertree.report import html
        from fouriertree.report.content import content_of

        X, y, _ = self._data(X, y)
        write_atomically(Path(path), html(content_of(self, target, X, y, refits, progress)).encode())


def _refitted(
    regressor: Any, X: Floats, y: Floats, weights: Floats | None, seed: int
) -> list[tuple[bool, Model]]:
    refit = clone(regressor).set_params(random_state=seed).fit(X, y, weights)
    if refit.stop_reason_ == "interrupted":
        # A fit handles the interrupt itself; here it must end the series of refits.
        raise KeyboardInterrupt
    return list(refit._front)
