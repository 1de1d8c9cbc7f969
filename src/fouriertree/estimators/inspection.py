"""Inspection to a fitted regressor: where its formulas hold, how sure their numbers are, how they look elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fouriertree.data.training import TrainingData
from fouriertree.io.files import write_atomically
from fouriertree.model import Model

if TYPE_CHECKING:
    from fouriertree.uncertainty.certificate import Certificate, Slope
    from fouriertree.uncertainty.stability import Stability

Floats = NDArray[np.float64]
Data = tuple[Floats, Floats, Floats | None]


class Inspection:
    """Methods of a fitted regressor.  `index` is a row of `equations_`; the chosen one if None."""

    box_: Floats
    models_: list[Model]
    best_index_: int
    equations_: pd.DataFrame
    seed_: int
    _model: Callable[[int | None], Model]
    _row: Callable[[int | None], int]
    n_features_in_: int
    _names: tuple[str, ...] | None
    _training: TrainingData

    @property
    def _column_texts(self) -> Sequence[str]:
        return self._names or [f"x{i}" for i in range(self.n_features_in_)]

    # Where it holds -------------------------------------------------------------------------------------------
    def certificate(self, index: int | None = None) -> Certificate:
        """Whether the formula has a finite value everywhere between the smallest and largest values of the data.

        A proof by interval arithmetic, or a place where it fails.
        """
        from fouriertree.uncertainty.certificate import certify

        return certify(self._model(index).expression, self.box_, self._column_texts)

    def slopes(self, index: int | None = None) -> list[Slope]:
        """For every column of the formula, in which direction it acts over the range of the data, and how strongly."""
        from fouriertree.uncertainty.certificate import slopes

        return slopes(self._model(index).expression, self.box_, self._column_texts)

    # How sure it is -------------------------------------------------------------------------------------------
    def coefficient_intervals(
        self, index: int | None = None, level: float = 0.95, X: Any = None, y: Any = None
    ) -> pd.DataFrame:
        """The numbers of the formula with bounds, as linear theory has them.

        They hold if the form is right and errors are alike; the form was chosen on the same data, which they do not
        know.  X and y are needed only where the regressor comes from a file.
        """
        from fouriertree.uncertainty.intervals import linear_intervals

        return linear_intervals(self._model(index), *self._data(X, y), level)

    def stability(
        self, n: int = 20, X: Any = None, y: Any = None, progress: Callable[[int, int], None] | None = None
    ) -> Stability:
        """Fit again to `n` resamples of the rows: how often every term, and every form of the table, returns.

        Takes n times as long as the fit.  Ctrl-C keeps the refits so far.
        """
        from fouriertree.uncertainty.stability import stability

        rows = self._data(X, y)
        return stability(self._refit, *rows, n=n, seed=self.seed_, original=self._front, progress=progress)

    @property
    def _front(self) -> list[tuple[bool, Model]]:
        """Whether it is the chosen one, and the formula, for every row."""
        return [(i == self.best_index_, model) for i, model in enumerate(self.models_)]

    def _refit(self, X: Floats, y: Floats, weights: Floats | None, seed: int) -> list[tuple[bool, Model]]:
        from sklearn.base import clone

        again = clone(self).set_params(random_state=seed, progress=False).fit(X, y, weights)
        if again.stop_reason_ == "interrupted":
            # A fit keeps what it has found; here it is the whole series that was to end.
            raise KeyboardInterrupt
        return list(again._front)

    def _data(self, X: Any, y: Any) -> Data:
        """The data given, or those of the fit."""
        self._row(None)  # which refuses where there is more than one target
        if (X is None) != (y is None):
            raise ValueError("give both X and y, or none of them")
        if X is not None:
            from sklearn.utils.validation import validate_data

            with warnings.catch_warnings():
                # Arrays are as good as tables here: nothing is matched by name.
                warnings.filterwarnings("ignore", "X does not have valid feature names")
                X, y = validate_data(self, X, y, reset=False, dtype=np.float64, y_numeric=True)
            return X, y, None
        if not hasattr(self, "_training"):
            raise ValueError("a regressor from a file or a pickle has no data; give X and y")
        data = self._training
        return data.X, data.y, data.weights

    # How it looks ---------------------------------------------------------------------------------------------
    def export(self, target: str, index: int | None = None, **options: Any) -> Any:
        """The formula in another language: "python", "c", "sql", …; all are in `fouriertree.export.TARGETS`."""
        from fouriertree.export import export

        return export(self._model(index), target, **options)

    def plot_front(self, ax: Any = None) -> Any:
        """The table of formulas as a picture: complexity against loss."""
        from fouriertree.plotting import plot_front

        return plot_front(self.equations_, self._row(None), ax)

    def plot_fit(
        self, X: Any = None, y: Any = None, index: int | None = None, target: str = "y", axes: Any = None
    ) -> Any:
        """Predicted against measured values, and the residuals."""
        from fouriertree.plotting import plot_fit

        X, y, _ = self._data(X, y)
        return plot_fit(y, self._model(index).predict(X), target, axes)

    def plot_response(
        self, X: Any = None, y: Any = None, index: int | None = None, figure: Any = None
    ) -> Any:
        """What every column of the formula does, the others as they are in the data."""
        from fouriertree.plotting import plot_response

        X, y, _ = self._data(X, y)
        return plot_response(self._model(index), X, y, figure=figure)

    def plot_tree(self, index: int | None = None, ax: Any = None) -> Any:
        """The formula as a tree."""
        from fouriertree.plotting import plot_tree

        return plot_tree(self._model(index).expression, self._column_texts, ax)

    def report(
        self, path: str | Path, target: str = "y", X: Any = None, y: Any = None, refits: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:  # fmt: skip
        """Write a page of HTML with everything about the chosen formula; with `refits`, its stability, too."""
        from fouriertree.report import html
        from fouriertree.report.regressor import content_of

        X, y, _ = self._data(X, y)
        write_atomically(Path(path), html(content_of(self, target, X, y, refits, progress)).encode())
