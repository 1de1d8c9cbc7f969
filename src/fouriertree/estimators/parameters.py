"""The parameters that all estimators have; dataclasses make the explicit constructors that scikit-learn needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from fouriertree.expr import PrimitiveSet


@dataclass(kw_only=True, eq=False, repr=False)
class CommonParameters(BaseEstimator):
    """As in `SymbolicRegressor`."""

    operators: Sequence[str] | PrimitiveSet | None = None
    max_terms: int | None = None
    max_size: int = 80
    complexities: Mapping[str, int] | None = None
    nesting: Mapping[str, Mapping[str, int]] | None = None
    guesses: Sequence[str] | None = None
    time_limit: float | None = None
    max_evaluations: int | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = 1
    feature_names: Sequence[str] | None = None
    progress: bool = False
