"""The parameters that all estimators have; dataclasses make the explicit constructors that scikit-learn needs."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

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
    executor: Executor | None = None
    feature_names: Sequence[str] | None = None
    progress: bool = False

    def __sklearn_clone__(self) -> Any:
        """A clone with the same executor: unlike other parameters, it cannot be copied."""
        new = super(CommonParameters, copy(self).set_params(executor=None)).__sklearn_clone__()
        return new.set_params(executor=self.executor)

    def __copy__(self) -> Self:
        """A shallow copy, with what a pickle leaves out."""
        new = type(self).__new__(type(self))
        new.__dict__.update(vars(self))
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Without the executor, which belongs to this process."""
        state: dict[str, Any] = super().__getstate__()
        return state | {"executor": None}
