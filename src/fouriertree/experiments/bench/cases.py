"""A case: a training set, a test set, and the ground-truth law where it is known; and its disguise.

Published laws have constants such as 1, 2 and π, which a system may guess.  Units turn the constants of measured
quantities into arbitrary numbers; a disguise does the same to any case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fouriertree.experiments.bench.formulas import Array, variables

#: bounds of the log-uniform factors: no constant stays round, and no feature becomes tiny or huge
FACTORS = (0.2, 5.0)


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


@dataclass(frozen=True)
class Disguise:
    """The map x′ₖ = aₖ·x_{π(k)}, y′ = b·y, under which a law y = f(x) becomes y′ = b·f(x) with x_{π(k)} = x′ₖ/aₖ."""

    order: tuple[int, ...]  #: π(k): the original feature behind every disguised one
    factors: tuple[float, ...]  #: aₖ > 0: the factor of every disguised feature
    target_factor: float  #: b > 0

    @classmethod
    def draw(cls, n_features: int, rng: np.random.Generator) -> Disguise:
        """A random permutation, and random factors that are log-uniform in `FACTORS`."""
        order = rng.permutation(n_features)
        low, high = np.log(FACTORS)
        *factors, target_factor = np.exp(rng.uniform(low, high, n_features + 1)).tolist()
        return cls(tuple(order.tolist()), tuple(factors), target_factor)

    def apply(self, data: Data) -> Data:
        """The disguised case: features, target and law."""
        symbols = tuple(variables(self.columns(data.box.T)[0].tolist()))
        return replace(
            data,
            X=self.columns(data.X),
            y=data.y * self.target_factor,
            X_test=self.columns(data.X_test),
            y_test=data.y_test * self.target_factor,
            symbols=symbols,
            truth=None if data.truth is None else self.formula(data.truth, data.symbols, symbols),
            law=self.form(data.law),
        )

    def columns(self, X: Array) -> Array:
        """Disguised features: (n_rows, n_features)."""
        # C-contiguous, as without a disguise: some systems require it.
        return np.ascontiguousarray(X[:, list(self.order)] * np.array(self.factors))

    def formula(self, formula: Any, old: tuple[Any, ...], new: tuple[Any, ...]) -> Any:
        """An expression over the symbols `old` as one over the disguised features `new`, for the disguised target."""
        units = {old[j]: new[k] / self.factors[k] for k, j in enumerate(self.order)}
        return self.target_factor * formula.subs(units, simultaneous=True)

    def form(self, law: str | None) -> str | None:
        """The form of a measured quantity's law in disguise, for `fouriertree.experiments.bench.judge.has_form`.

        >>> disguise = Disguise((1, 0), (0.5, 4.0), 3.0)
        >>> disguise.form("power -2 1"), disguise.form("log-power -2 1"), disguise.form(None)
        ('power 1.0 -2.0', 'log-power 3.0 -6.0', None)
        >>> Disguise((0,), (0.5,), 3.0).form("exponential 0.7")
        'exponential 1.4'
        """
        if law is None:
            return None
        kind, *texts = law.split()
        constants = [float(texts[k]) for k in self.order]
        if kind == "log-power":
            # b times a recorded logarithm has b times the exponents.
            constants = [self.target_factor * constant for constant in constants]
        if kind == "exponential":
            constants = [constant / a for constant, a in zip(constants, self.factors, strict=True)]
        return " ".join([kind, *map(str, constants)])
