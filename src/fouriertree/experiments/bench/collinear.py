"""Laws of two terms that nearly collinear terms approximate, and a check of equations for such terms.

A law is y = c₁·xᵢ·g₁(a·xⱼ) + c₂·xₖ·g₂(b·xₗ) over three variables with i ≠ j and k ≠ l, where g is exp(−a·x), sin(a·x),
cos(a·x) or tanh(a·x).  A difference of two large terms with almost the same inner constants approximates such a term:
(cos(b·T − ε·l) − cos(b·T))/ε ≈ l·sin(b·T).
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np

from fouriertree.experiments.bench.everyday import (
    COEFFICIENTS,
    INNER_CONSTANTS,
    Factor,
    Law,
    Term,
    constant,
    every_term_matters,
    proper,
)
from fouriertree.experiments.bench.formulas import Array
from fouriertree.model import Model
from fouriertree.uncertainty.intervals import linear_intervals

N_VARIABLES = 3
FUNCTIONS = ("exp(−a·x)", "sin(a·x)", "cos(a·x)", "tanh(a·x)")
#: two terms cancel if the root mean square of their sum is at most this fraction of that of the larger one
CANCELLING = 0.01
#: 2.5*x0*exp(-0.8*x1) + 1.3*x2*sin(2.1*x0)
EXAMPLE = Law(
    N_VARIABLES,
    (
        Term(2.5, (Factor("x", 0, 1.0), Factor("exp(−a·x)", 1, 0.8))),
        Term(1.3, (Factor("x", 2, 1.0), Factor("sin(a·x)", 0, 2.1))),
    ),
)


@cache
def generate(seed: int, index: int) -> Law:
    """The law number `index` of the non-negative `seed`: a pure function of both.

    >>> generate(0, 2).formula == generate(0, 2).formula
    True
    """
    # The third number is for another stream than those of other generators.
    rng = np.random.default_rng([seed, index, 2])
    while True:
        law = Law(N_VARIABLES, tuple(draw_term(rng) for _ in range(2)))
        if proper(law) and every_term_matters(law, rng):
            return law


def draw_term(rng: np.random.Generator) -> Term:
    linear, other = rng.choice(N_VARIABLES, 2, replace=False).tolist()
    function = Factor(str(rng.choice(FUNCTIONS)), other, constant(*INNER_CONSTANTS, rng))
    sign = float(rng.choice([-1.0, 1.0]))
    return Term(sign * constant(*COEFFICIENTS, rng), (Factor("x", linear, 1.0), function))


def degenerate_terms(model: Model, X: Array, y: Array) -> list[str]:
    """What is degenerate about the terms of a model that was fitted to X and y; empty if nothing is."""
    return [*uncertain_coefficients(model, X, y), *cancelling_pairs(model, X)]


def uncertain_coefficients(model: Model, X: Array, y: Array) -> list[str]:
    """Coefficients, the intercept aside, whose standard error exceeds their absolute value.

    The standard errors are those of all constants together, also of those inside of terms.
    """
    table = linear_intervals(model, X, y)
    errors = table.loc[table["number"] == "coefficient", "standard_error"]
    return [
        f"{coefficient:.6g} ± {error:.2g} times {term}"
        for coefficient, error, term in zip(model.coefficients, errors, model.expressions, strict=True)
        if term.columns and error > abs(coefficient)
    ]


def cancelling_pairs(model: Model, X: Array) -> list[str]:
    """Pairs of terms whose sum has at most 1 % of the root mean square of the larger one.

    So it has if the sum is at most 1 % of either term on every row.  Not every row can be required: where a term of a
    finite difference is zero, the sum is not.
    """
    terms = [
        (coefficient * term.evaluate(X), f"{coefficient:.6g}*{term}")
        for coefficient, term in zip(model.coefficients, model.expressions, strict=True)
    ]
    return [
        f"{first} cancels {second}"
        for (a, first), (b, second) in combinations(terms, 2)
        if np.linalg.norm(a + b) <= CANCELLING * max(np.linalg.norm(a), np.linalg.norm(b))
    ]
