"""A disguise: the same law in other units, with its columns in another order.

Published laws have constants such as 1, 2 and π, which a system may guess.  Measured quantities have units, and units
turn these constants into arbitrary numbers.  A disguise does that to any case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fouriertree.experiments.bench.cases import Array, Data
from fouriertree.experiments.bench.formulas import variables

#: factors are log-uniform between these: no constant stays round, and no column becomes tiny or huge
FACTORS = (0.2, 5.0)


@dataclass(frozen=True)
class Disguise:
    """The map x′ₖ = aₖ·x_{π(k)}, y′ = b·y, under which a law y = f(x) becomes y′ = b·f(x) with x_{π(k)} = x′ₖ/aₖ.

    Attributes
    ----------
    order : tuple of int
        π(k): the original column behind every disguised one.
    factors : tuple of float
        aₖ > 0: the factor of every disguised column.
    target_factor : float
        b > 0: the factor of the target.
    """

    order: tuple[int, ...]
    factors: tuple[float, ...]
    target_factor: float

    @classmethod
    def draw(cls, n_columns: int, rng: np.random.Generator) -> Disguise:
        """A random permutation, and random factors that are log-uniform in `FACTORS`."""
        order = rng.permutation(n_columns)
        low, high = np.log(FACTORS)
        *factors, target_factor = np.exp(rng.uniform(low, high, n_columns + 1)).tolist()
        return cls(tuple(order.tolist()), tuple(factors), target_factor)

    @property
    def inverse(self) -> Disguise:
        """The disguise that undoes this one."""
        order = np.argsort(self.order).tolist()
        factors = tuple(1.0 / self.factors[k] for k in order)
        return Disguise(tuple(order), factors, 1.0 / self.target_factor)

    def apply(self, data: Data) -> Data:
        """The case in disguise: rows, target and law."""
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
        """Disguised rows: (n_rows, n_columns)."""
        # Rows one after the other, as without a disguise: some systems ask for that.
        return np.ascontiguousarray(X[:, list(self.order)] * np.array(self.factors))

    def formula(self, formula: Any, old: tuple[Any, ...], new: tuple[Any, ...]) -> Any:
        """A formula over the symbols `old` as one over the disguised columns `new`, for the disguised target."""
        units = {old[j]: new[k] / self.factors[k] for k, j in enumerate(self.order)}
        return self.target_factor * formula.subs(units, simultaneous=True)

    def form(self, law: str | None) -> str | None:
        """The form of a measured quantity's law in disguise, for `fouriertree.experiments.bench.forms`.

        >>> disguise = Disguise((1, 0), (0.5, 4.0), 3.0)
        >>> disguise.form("power -2 1"), disguise.form("log-power -2 1"), disguise.form(None)
        ('power 1.0 -2.0', 'log-power 3.0 -6.0', None)
        >>> Disguise((0,), (0.5,), 3.0).form("exponential 0.7")
        'exponential 1.4'
        """
        if law is None:
            return None
        kind, *texts = law.split()
        numbers = [float(texts[k]) for k in self.order]
        if kind == "log-power":
            # A recorded logarithm times b has b times the exponents.
            numbers = [self.target_factor * number for number in numbers]
        if kind == "exponential":
            numbers = [number / a for number, a in zip(numbers, self.factors, strict=True)]
        return " ".join([kind, *map(str, numbers)])
