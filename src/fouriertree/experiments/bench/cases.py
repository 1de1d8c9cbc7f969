"""A case: a training set, a test set, and the ground-truth law where it is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fouriertree.experiments.bench.formulas import Array


@dataclass(frozen=True)
class Data:
    """A training and a test set with features x0, x1, …; `truth` is a SymPy expression over `symbols`.

    `law` names the form that the expression of a table of measurements must have.
    """

    X: Array
    y: Array
    X_test: Array
    y_test: Array
    symbols: tuple[Any, ...]
    truth: Any = None
    law: str | None = None

    @property
    def box(self) -> Array:
        """Smallest and largest value of every feature over both sets: (n_features, 2)."""
        both = np.vstack([self.X, self.X_test])
        return np.column_stack([both.min(axis=0), both.max(axis=0)])
