"""Laws solved for one of their variables: rows of the law, with the variable and the law's value exchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fouriertree.experiments.bench.formulas import Array, compiled, parse, variables
from fouriertree.experiments.bench.names import FEYNMAN, facts
from fouriertree.experiments.bench.sampling import Values

#: name of the law's value in the formula of a solution
OUTPUT = "output"
#: largest relative difference of a solution from the variable's value
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Inverse:
    """A law y = f(x) of the suite feynman, and its solution xⱼ = g(x with y in the place of xⱼ)."""

    bounds: Array  #: of the uniform distributions of the law's variables, (n_features, 2)
    place: int  #: j
    law: Values  #: f, of rows x
    solution: Values  #: g, of rows with y in the place of xⱼ
    formula: str  #: of g, over the names `columns`
    columns: tuple[str, ...]

    @classmethod
    def of(cls, fact: Mapping[str, str]) -> Self:
        """The inverse of a fact `{ law, variable, formula }`."""
        law = facts(FEYNMAN)[fact["law"]]
        place = list(law["ranges"]).index(fact["variable"])
        columns = list(law["ranges"])
        bounds = np.array(list(law["ranges"].values()), dtype=np.float64)
        of_law = function(law["formula"], columns)
        columns[place] = OUTPUT
        return cls(bounds, place, of_law, function(fact["formula"], columns), fact["formula"], tuple(columns))

    def sample(self, rows: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.bool_]]:
        """Rows for the solution, (rows, n_features), and where it is the variable's value: (rows,) of booleans."""
        low, high = self.bounds.T
        X = rng.uniform(low, high, (rows, len(low)))
        exchanged = X.copy()
        exchanged[:, self.place] = self.law(X)
        variable = X[:, self.place]
        with np.errstate(all="ignore"):
            same = np.abs(self.solution(exchanged) - variable) <= TOLERANCE * np.abs(variable)
        return exchanged, same

    def draw(self, rows: int, rng: np.random.Generator) -> Array:
        """Rows on which the solution is the variable's value: (rows, n_features)."""
        kept = np.empty((0, len(self.bounds)))
        while len(kept) < rows:
            X, same = self.sample(rows, rng)
            kept = np.vstack([kept, X[same]])
        return kept[:rows]


def function(formula: str, columns: list[str]) -> Any:
    """A formula over named columns as a function of rows."""
    # Real symbols: of the signs of the variables, only the samples are known.
    symbols = variables([-1.0] * len(columns), columns)
    return compiled(parse(formula, dict(zip(columns, symbols, strict=True))), symbols)
