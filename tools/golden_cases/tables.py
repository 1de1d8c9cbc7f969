"""Small tables, each made from a seed."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Table = tuple[Floats, Floats]


def uniform(n: int, p: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Floats:
    return np.random.default_rng([seed, n, p]).uniform(low, high, (n, p))


def noise(n: int, scale: float, seed: int = 1) -> Floats:
    return scale * np.random.default_rng([seed, n]).normal(size=n)


def noisy(n: int = 60, scale: float = 0.1) -> Table:
    """A law with noise, of two features."""
    X = uniform(n, 2)
    return X, 2.5 * np.sin(1.3 * X[:, 0]) + X[:, 0] * X[:, 1] + noise(n, scale)


def exact(n: int = 60) -> Table:
    """A law without noise."""
    X = uniform(n, 3)
    return X, 3.0 * np.sin(X[:, 0]) + 0.5 * X[:, 1] ** 2 - 1.25


def quotient(n: int = 50) -> Table:
    """A law of positive features that is a product of powers."""
    X = uniform(n, 3, 1.0, 5.0)
    return X, 6.5 * X[:, 0] * X[:, 1] / X[:, 2] ** 2


def hard(n: int = 40) -> Table:
    """A law that small budgets do not find."""
    X = uniform(n, 3, 1.0, 5.0, seed=5)
    return X, np.exp(-(X[:, 0] ** 2) / X[:, 1]) * np.sin(X[:, 2] * X[:, 1] + 0.3) + noise(n, 0.05)


def curve(n: int = 40) -> Table:
    """A law of one feature, with noise."""
    X = uniform(n, 1, -3.0, 3.0)
    return X, np.sin(X[:, 0] ** 2) * np.exp(-0.3 * X[:, 0]) + noise(n, 0.05)


def outliers(n: int = 60) -> Table:
    """A law with noise of which every tenth target is far off."""
    X, y = noisy(n)
    y[::10] += 40.0
    return X, y


def constant(n: int = 30) -> Table:
    return uniform(n, 2), np.full(n, 4.25)


def wide(n: int = 40, p: int = 25) -> Table:
    """More features than a law needs."""
    X = uniform(n, p)
    return X, X[:, 3] - 2.0 * X[:, 11] + 0.5 * X[:, 17] * X[:, 3] + noise(n, 0.05)


def linear(n: int = 80, p: int = 8) -> Table:
    """A linear model with noise: the full linear model is hard to beat."""
    X = uniform(n, p)
    return X, X @ np.arange(1.0, p + 1.0) + noise(n, 1.0)


def pure_noise(n: int = 40) -> Table:
    return uniform(n, 3), noise(n, 1.0)


def repeated(n: int = 30) -> Table:
    """Rows of which some occur several times."""
    X, y = noisy(n)
    times = 1 + np.arange(n) % 3
    return np.repeat(X, times, axis=0), np.repeat(y, times)


def large_units(n: int = 50) -> Table:
    """Features and target of very different magnitudes."""
    X = uniform(n, 2, 1.0, 3.0) * np.array([1e7, 1e-5])
    return X, 4e6 * X[:, 1] + X[:, 0] / 3.0 + noise(n, 100.0)


def probabilities(n: int = 80) -> Table:
    X = uniform(n, 2)
    return X, 1.0 / (1.0 + np.exp(-(1.5 * X[:, 0] - X[:, 1] ** 2 + noise(n, 0.2))))


def named(table: Table, names: list[str], target: str = "yield") -> tuple[pd.DataFrame, pd.Series]:
    X, y = table
    return pd.DataFrame(X, columns=names), pd.Series(y, name=target)


def write_csv(path: object, table: Table, names: list[str], target: str = "y") -> None:
    """A table on disk; every number comes back exactly."""
    X, y = table
    pd.DataFrame({**dict(zip(names, X.T, strict=True)), target: y}).to_csv(path, index=False)
