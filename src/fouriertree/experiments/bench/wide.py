"""Everyday laws of three variables in tables with many other columns."""

from __future__ import annotations

from functools import cache

import numpy as np

from fouriertree.experiments.bench.cases import Data
from fouriertree.experiments.bench.everyday import HIGH, LOW, Law, draw_law
from fouriertree.experiments.bench.formulas import compiled, parse, variables
from fouriertree.experiments.bench.suites import with_noise

N_VARIABLES = 3


@cache
def generate(seed: int, index: int) -> Law:
    """The law number `index` of the non-negative `seed`: a pure function of both.

    >>> generate(0, 2).formula == generate(0, 2).formula
    True
    """
    # The third number is for another stream than those of other generators.
    rng = np.random.default_rng([seed, index, 3])
    return draw_law(N_VARIABLES, int(rng.integers(2, 4)), rng)


def draw(law: Law, columns: int, rows: int, noise: float, rng: np.random.Generator) -> Data:
    """Uniform columns, of which the variables of the law are at random places, with noise on the training target."""
    places = rng.choice(columns, law.n_variables, replace=False).tolist()
    symbols = variables([LOW] * columns)
    truth = parse(law.formula, {f"x{j}": symbols[place] for j, place in enumerate(places)})
    X, X_test = rng.uniform(LOW, HIGH, (2, rows, columns))
    target = compiled(truth, symbols)
    return with_noise(Data(X, target(X), X_test, target(X_test), tuple(symbols), truth), noise, rng)
