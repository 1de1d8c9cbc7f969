"""A case: data for training, data for testing, and the law behind them where it is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fouriertree.experiments.bench.formulas import Array, variables

__all__ = ["Array", "Data", "disguised", "with_noise"]


@dataclass(frozen=True)
class Data:
    """Rows to train on and rows to test on, with columns x0, x1, …; `truth` is a SymPy expression over `symbols`.

    `law` is the name of a form that the formula of a table of measurements must have.
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
        """Smallest and largest value of every column, training and test rows together: (n_columns, 2)."""
        both = np.vstack([self.X, self.X_test])
        return np.column_stack([both.min(axis=0), both.max(axis=0)])


def with_noise(data: Data, level: float, rng: np.random.Generator) -> Data:
    """SRBench's noise: Normal(0, level · rms(y)) on the training target; the test target stays clean."""
    if level == 0.0:
        return data
    scale = level * float(np.sqrt(np.mean(data.y**2)))
    return replace(data, y=data.y + rng.normal(0.0, scale, len(data.y)))


#: factors of a disguise are log-uniform between these
FACTORS = (0.2, 5.0)


def disguised(data: Data, rng: np.random.Generator) -> Data:
    """The same law where nobody has seen it: columns in another order, all in other units.

    Column k becomes aₖ·x_{π(k)} and the target b·y, so the law becomes b·f(x_{π⁻¹}/a).
    """
    n = data.X.shape[1]
    order = rng.permutation(n)
    low, high = np.log(FACTORS)
    a, b = np.exp(rng.uniform(low, high, n)), float(np.exp(rng.uniform(low, high)))
    lows = data.box[order, 0] * a
    symbols = tuple(variables(lows.tolist()))
    truth = data.truth
    if truth is not None:
        old = {data.symbols[old]: symbols[k] / float(a[k]) for k, old in enumerate(order.tolist())}
        truth = b * truth.subs(old, simultaneous=True)
    return replace(
        data,
        X=data.X[:, order] * a,
        y=data.y * b,
        X_test=data.X_test[:, order] * a,
        y_test=data.y_test * b,
        symbols=symbols,
        truth=truth,
        law=reordered(data.law, order.tolist()),
    )


def reordered(law: str | None, order: list[int]) -> str | None:
    """A law's exponents in the order of the disguised columns.

    >>> reordered("power -2 1 1", [1, 0, 2])
    'power 1 -2 1'
    """
    if law is None or not law.startswith("power"):
        return law
    kind, *exponents = law.split()
    return " ".join([kind, *(exponents[k] for k in order)])
