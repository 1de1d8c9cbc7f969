"""A generator of everyday laws: sums of two or three terms, as engineers write them.

A law is y = Σₖ cₖ·Πⱼ gₖⱼ(xⱼ) with two or three terms.  Every term is a coefficient times a product of one to three of
x, x², 1/x, √x, exp(−a·x), exp(−a·x²), sin(a·x), cos(a·x), log x, tanh(a·x), 1/(a + x) and a + x over different
variables.  There are one to five variables, all uniform in [0.5, 4], and std(term) ≥ 0.15·std(y) for every term.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from fouriertree.experiments.bench.formulas import Array

#: every variable is uniform between these
LOW, HIGH = 0.5, 4.0
#: smallest standard deviation of a term, as a fraction of the target's
SPREAD = 0.15
#: the fraction required on the generator's sample, higher so that other samples satisfy SPREAD, too
SPREAD_OF_SAMPLE, SAMPLE = 1.2 * SPREAD, 4000
#: bounds of the log-uniform constants, which have two digits
COEFFICIENTS, INNER_CONSTANTS = (0.3, 5.0), (0.3, 3.0)
#: probabilities of one to five variables in a law, and of one to three factors in a term
VARIABLES, FACTORS = (0.2, 0.4, 0.25, 0.075, 0.075), (0.4, 0.5, 0.1)

#: text and values of a factor
FAMILIES: dict[str, tuple[str, Callable[[Array, float], Array]]] = {
    "x": ("*{x}", lambda x, a: x),
    "x²": ("*{x}**2", lambda x, a: x**2),
    "1/x": ("/{x}", lambda x, a: 1.0 / x),
    "√x": ("*sqrt({x})", lambda x, a: np.sqrt(x)),
    "exp(−a·x)": ("*exp(-{a}*{x})", lambda x, a: np.exp(-a * x)),
    "exp(−a·x²)": ("*exp(-{a}*{x}**2)", lambda x, a: np.exp(-a * x**2)),
    "sin(a·x)": ("*sin({a}*{x})", lambda x, a: np.sin(a * x)),
    "cos(a·x)": ("*cos({a}*{x})", lambda x, a: np.cos(a * x)),
    "log x": ("*log({x})", lambda x, a: np.log(x)),
    "tanh(a·x)": ("*tanh({a}*{x})", lambda x, a: np.tanh(a * x)),
    "1/(a + x)": ("/({a} + {x})", lambda x, a: 1.0 / (a + x)),
    "a + x": ("*({a} + {x})", lambda x, a: a + x),
}
AFFINE = ("x", "a + x")


@dataclass(frozen=True)
class Factor:
    """A univariate function of x{variable} with the inner constant `a`, which some families ignore."""

    family: str
    variable: int
    a: float

    def __str__(self) -> str:
        return FAMILIES[self.family][0].format(x=f"x{self.variable}", a=self.a)

    def values(self, X: Array) -> Array:
        """Values on the rows of X: (n_rows,)."""
        return FAMILIES[self.family][1](X[:, self.variable], self.a)


@dataclass(frozen=True)
class Term:
    """A coefficient times a product of factors over different variables."""

    coefficient: float
    factors: tuple[Factor, ...]

    def __str__(self) -> str:
        return f"{self.coefficient}{''.join(map(str, self.factors))}"

    def values(self, X: Array) -> Array:
        """Values on the rows of X: (n_rows,)."""
        factors = [factor.values(X) for factor in self.factors]
        return np.asarray(self.coefficient * np.prod(factors, axis=0))


@dataclass(frozen=True)
class Law:
    """A sum of terms over x0 … x{n_variables − 1}."""

    n_variables: int
    terms: tuple[Term, ...]

    @property
    def formula(self) -> str:
        """The law as text for SymPy."""
        return " + ".join(map(str, self.terms)).replace("+ -", "- ")

    @property
    def fact(self) -> dict[str, Any]:
        """Formula and ranges, in the format of the published laws."""
        return {"formula": self.formula, "ranges": {f"x{j}": [LOW, HIGH] for j in range(self.n_variables)}}

    def spreads(self, X: Array) -> Array:
        """std(term)/std(y) of every term on the rows of X: (n_terms,)."""
        values = np.array([term.values(X) for term in self.terms])
        return np.asarray(values.std(axis=1) / values.sum(axis=0).std())


@cache
def generate(seed: int, index: int) -> Law:
    """The law number `index` of the non-negative `seed`, with the properties listed above: a pure function of both.

    >>> generate(0, 2).formula == generate(0, 2).formula
    True
    """
    rng = np.random.default_rng([seed, index])
    # Outside the loop: laws of few variables are proper more often and would be overrepresented.
    n_variables, n_terms = 1 + int(rng.choice(len(VARIABLES), p=VARIABLES)), int(rng.integers(2, 4))
    return draw_law(n_variables, n_terms, rng)


def draw_law(n_variables: int, n_terms: int, rng: np.random.Generator) -> Law:
    """The first proper law whose terms all matter."""
    while True:
        law = Law(n_variables, tuple(draw_term(n_variables, rng) for _ in range(n_terms)))
        if proper(law) and every_term_matters(law, rng):
            return law


def every_term_matters(law: Law, rng: np.random.Generator) -> bool:
    X = rng.uniform(LOW, HIGH, (SAMPLE, law.n_variables))
    return bool(law.spreads(X).min() >= SPREAD_OF_SAMPLE)


def draw_term(n_variables: int, rng: np.random.Generator) -> Term:
    n_factors = min(1 + int(rng.choice(len(FACTORS), p=FACTORS)), n_variables)
    variables = rng.choice(n_variables, n_factors, replace=False)
    families = rng.choice(list(FAMILIES), n_factors)
    factors = tuple(
        Factor(str(family), int(variable), constant(*INNER_CONSTANTS, rng))
        for family, variable in zip(families, variables, strict=True)
    )
    return Term(float(rng.choice([-1.0, 1.0])) * constant(*COEFFICIENTS, rng), factors)


def constant(low: float, high: float, rng: np.random.Generator) -> float:
    """A log-uniform number with two digits."""
    return two_digits(log_uniform(low, high, rng))


def log_uniform(low: float, high: float, rng: np.random.Generator) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def proper(law: Law) -> bool:
    """Whether every variable occurs and no two terms can be merged."""
    used = {factor.variable for term in law.terms for factor in term.factors}
    return len(used) == law.n_variables and not any(merge(*pair) for pair in combinations(law.terms, 2))


def merge(first: Term, second: Term) -> bool:
    """Whether the sum of two terms can be written as one: they differ in one affine factor at most.

    >>> x, y = Factor("x", 0, 1.0), Factor("log x", 1, 1.0)
    >>> merge(Term(2.0, (x, y)), Term(3.0, (y,))), merge(Term(2.0, (x,)), Term(3.0, (y,)))
    (True, False)
    """
    f, g = ({factor.variable: factor for factor in term.factors} for term in (first, second))
    different = [v for v in f.keys() | g.keys() if str(f.get(v)) != str(g.get(v))]
    affine = all(h[v].family in AFFINE for v in different for h in (f, g) if v in h)
    return not different or (len(different) == 1 and affine)
