"""A generator of compositions: a function of several variables, times a power law, plus a simple term.

A law is y = c·f(u)·Π xⱼ^eⱼ + d·Π xₖ^eₖ.  The function f is one of exp, log, sin, cos, arcsin, arctan, tanh, sinh,
1/(1 + ·), and, of sums, also the square root and other powers.  Its argument u is a·Π xᵢ^eᵢ or Σ aᵢ·xᵢ^eᵢ over two to
four variables.  The power law has up to four variables and the simple term one or two; each of them may be missing.
There are two to nine variables, all uniform in [0.5, 4], and constants have two digits.

Every part matters: f(u), the power law and the simple term with at least 0.15 of the target's standard deviation, every
variable with 0.1 of it, and f(u) differs from the best line in u by 0.05 of it.  Arguments stay inside of the domain of
f on the whole box, and the one per cent of rows with the largest deviation have at most half of the variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from fouriertree.experiments.bench.everyday import (
    COEFFICIENTS,
    HIGH,
    INNER_CONSTANTS,
    LOW,
    SAMPLE,
    SPREAD,
    constant,
    log_uniform,
    two_digits,
)
from fouriertree.experiments.bench.formulas import Array

#: smallest changes of the target, as fractions of its standard deviation: without one variable, and with the best line
#: in u in place of f(u)
EFFECT, CURVATURE = 0.1, 0.05
#: the largest share of the variance that this share of the rows may have
TAIL, TAIL_VARIANCE = 0.01, 0.5
#: factor of these bounds on the generator's sample, so that other samples satisfy them, too
STRICTER = 1.2
#: probabilities of two to nine variables
VARIABLES = (0.2, 0.22, 0.2, 0.14, 0.08, 0.06, 0.05, 0.05)
#: fewest and most variables of the argument, of the power law and of the simple term
SIZES = ((2, 4), (1, 4), (1, 2))
#: probabilities of a power law and of a simple term
POWER_LAW, SIMPLE = 0.65, 0.6
#: bounds of the log-uniform ratio of the standard deviations of the simple term and of the rest
RATIO = (0.25, 4.0)
#: laws that are drawn of a form before another form is; a power law of four variables may outweigh any √u
TRIES = 100
#: text of a power, and probabilities of exponents in products, in sums, and in arguments with a bounded domain, which
#: with larger exponents would be small on most of the box, where f is linear
POWERS = {
    1.0: "*{x}", 2.0: "*{x}**2", 0.5: "*sqrt({x})", -1.0: "/{x}", -2.0: "/{x}**2", -0.5: "/sqrt({x})",
}  # fmt: skip
OF_PRODUCTS, OF_SUMS = (0.4, 0.13, 0.1, 0.25, 0.06, 0.06), (0.7, 0.3, 0.0, 0.0, 0.0, 0.0)
OF_BOUNDED = (0.3, 0.0, 0.5, 0.0, 0.0, 0.2)

PRODUCT, SUM = "product", "sum"


class Function(NamedTuple):
    """A function f(u): its text as a factor, its values, bounds of the reach of |u|, and the arguments that it takes.

    The reach is the 95 % quantile of |u|; where u has a bounded domain, its largest value on the box.
    """

    text: str
    values: Callable[[Array], Array]
    reach: tuple[float, float]
    arguments: tuple[str, ...] = (PRODUCT, SUM)
    positive: bool = False  #: whether u > 0 is needed
    bounded: bool = False


FUNCTIONS = {
    "exp(u)": Function("*exp({u})", np.exp, (0.6, 2.5)),
    "log(u)": Function("*log({u})", np.log, (1.5, 20.0), positive=True),
    "sin(u)": Function("*sin({u})", np.sin, (1.5, 7.0)),
    "cos(u)": Function("*cos({u})", np.cos, (1.5, 7.0)),
    "arcsin(u)": Function("*asin({u})", np.arcsin, (0.85, 0.95), bounded=True),
    "arctan(u)": Function("*atan({u})", np.arctan, (1.0, 6.0)),
    "tanh(u)": Function("*tanh({u})", np.tanh, (0.8, 3.0)),
    "sinh(u)": Function("*sinh({u})", np.sinh, (1.0, 3.5)),
    "1/(1 + u)": Function("/(1 + {u})", lambda u: 1.0 / (1.0 + u), (1.0, 8.0), positive=True),
    "√u": Function("*sqrt({u})", np.sqrt, (1.0, 20.0), (SUM,), positive=True),
    "1/√u": Function("/sqrt({u})", lambda u: u**-0.5, (1.0, 20.0), (SUM,), positive=True),
    "u^1.5": Function("*({u})**(3/2)", lambda u: u**1.5, (1.0, 20.0), (SUM,), positive=True),
    "u²": Function("*({u})**2", lambda u: u**2, (1.0, 20.0), (SUM,)),
    "1/u": Function("/({u})", lambda u: 1.0 / u, (1.0, 20.0), (SUM,), positive=True),
    "1/u²": Function("/({u})**2", lambda u: u**-2.0, (1.0, 20.0), (SUM,), positive=True),
}


@dataclass(frozen=True)
class Monomial:
    """A coefficient times powers of different variables: pairs (variable, exponent)."""

    coefficient: float
    powers: tuple[tuple[int, float], ...]

    def __str__(self) -> str:
        return f"{self.coefficient}{self.powers_text}"

    @property
    def powers_text(self) -> str:
        return "".join(POWERS[exponent].format(x=f"x{j}") for j, exponent in self.powers)

    def values(self, X: Array) -> Array:
        """Values on the rows of X: (n_rows,)."""
        factors = [X[:, j] ** exponent for j, exponent in self.powers]
        return np.asarray(self.coefficient * np.prod([np.ones(len(X)), *factors], axis=0))

    def times(self, factor: float) -> Monomial:
        """With a coefficient multiplied by a factor and rounded to two digits."""
        return replace(self, coefficient=two_digits(factor * self.coefficient))


@dataclass(frozen=True)
class Composition:
    """c·f(u)·Π xⱼ^eⱼ + d·Π xₖ^eₖ: `outside` has c and the power law, `simple` is None without a simple term."""

    n_variables: int
    function: str
    argument: tuple[Monomial, ...]
    outside: Monomial
    simple: Monomial | None = None

    @property
    def formula(self) -> str:
        """The law as text for SymPy."""
        u = " + ".join(map(str, self.argument))
        main = (
            f"{self.outside.coefficient}{FUNCTIONS[self.function].text.format(u=u)}{self.outside.powers_text}"
        )
        terms = [main] if self.simple is None else [main, str(self.simple)]
        return " + ".join(terms).replace("+ -", "- ")

    @property
    def fact(self) -> dict[str, Any]:
        """Formula and ranges, in the format of the published laws."""
        return {"formula": self.formula, "ranges": {f"x{j}": [LOW, HIGH] for j in range(self.n_variables)}}

    def arguments(self, X: Array) -> Array:
        """u on the rows of X: (n_rows,)."""
        return np.asarray(np.sum([part.values(X) for part in self.argument], axis=0))

    def main(self, X: Array) -> Array:
        """c·f(u)·Π xⱼ^eⱼ on the rows of X: (n_rows,)."""
        return FUNCTIONS[self.function].values(self.arguments(X)) * self.outside.values(X)

    def values(self, X: Array) -> Array:
        """y on the rows of X: (n_rows,)."""
        return self.main(X) if self.simple is None else self.main(X) + self.simple.values(X)

    def spreads(self, X: Array) -> Array:
        """Standard deviations that f(u), the power law and both terms contribute, as fractions of that of y."""
        f, outside = FUNCTIONS[self.function].values(self.arguments(X)), self.outside.values(X)
        parts = [(f - f.mean()) * outside]
        if self.outside.powers:
            parts.append(f * (outside - outside.mean()))
        if self.simple is not None:
            parts += [f * outside, self.simple.values(X)]
        return np.asarray(np.std(parts, axis=1) / self.values(X).std())

    def effects(self, X: Array) -> Array:
        """Change of y by values of one variable from another row, over √2·std(y): (n_variables,)."""
        y = self.values(X)
        changed = []
        for j in range(self.n_variables):
            other = X.copy()
            other[:, j] = np.roll(X[:, j], 1)
            changed.append((self.values(other) - y).std())
        return np.asarray(np.array(changed) / (np.sqrt(2.0) * y.std()))

    def curvature(self, X: Array) -> float:
        """Change of y by the best α + β·u in place of f(u), as a fraction of std(y)."""
        u, outside = self.arguments(X), self.outside.values(X)
        line = np.column_stack([outside, u * outside])
        main = self.main(X)
        left = main - line @ np.linalg.lstsq(line, main)[0]
        return float(left.std() / self.values(X).std())

    def tail(self, X: Array) -> float:
        """The share of the variance of y that the `TAIL` of the rows with the largest deviations have."""
        y = self.values(X)
        squares = np.sort((y - y.mean()) ** 2)
        return float(squares[-round(TAIL * len(y)) :].sum() / squares.sum())

    def matters(self, X: Array, stricter: float = 1.0) -> bool:
        """Whether every part matters on the rows of X, and no few rows dominate, with bounds times a factor."""
        return bool(
            np.isfinite(self.values(X)).all()
            and self.spreads(X).min() >= stricter * SPREAD
            and self.effects(X).min() >= stricter * EFFECT
            and self.curvature(X) >= stricter * CURVATURE
            and self.tail(X) <= TAIL_VARIANCE / stricter
        )


@cache
def generate(seed: int, index: int) -> Composition:
    """The law number `index` of the non-negative `seed`, with the properties listed above: a pure function of both.

    >>> generate(0, 2).formula == generate(0, 2).formula
    True
    """
    # The third number is for another stream than that of everyday laws.
    rng = np.random.default_rng([seed, index, 1])
    while True:
        # Outside the inner loop: forms that are proper more often would be overrepresented.
        form = draw_form(rng)
        for _ in range(TRIES):
            law = draw_law(*form, rng)
            if law.matters(rng.uniform(LOW, HIGH, (SAMPLE, law.n_variables)), STRICTER):
                return law


def draw_form(rng: np.random.Generator) -> tuple[int, tuple[bool, bool, bool], str, str]:
    """Number of variables; which of argument, power law and simple term there are; function; kind of its argument."""
    n_variables = 2 + int(rng.choice(len(VARIABLES), p=VARIABLES))
    function = str(rng.choice(list(FUNCTIONS)))
    kind = str(rng.choice(FUNCTIONS[function].arguments))
    while True:
        has_parts = (True, bool(rng.random() < POWER_LAW), bool(rng.random() < SIMPLE))
        if n_variables <= sum(most for (_, most), has in zip(SIZES, has_parts, strict=True) if has):
            return n_variables, has_parts, function, kind


def draw_law(
    n_variables: int, has_parts: tuple[bool, ...], function: str, kind: str, rng: np.random.Generator
) -> Composition:
    """A law of a form, with constants whose terms are of similar size; some of its parts may not matter."""
    inside, outside, simple = deal(n_variables, has_parts, rng)
    X = rng.uniform(LOW, HIGH, (SAMPLE, n_variables))
    sign = float(rng.choice([-1.0, 1.0]))
    law = Composition(
        n_variables,
        function,
        draw_argument(inside, FUNCTIONS[function], kind, X, rng),
        Monomial(sign * constant(*COEFFICIENTS, rng), draw_powers(outside, OF_PRODUCTS, rng)),
    )
    if not simple:
        return law
    term = Monomial(float(rng.choice([-1.0, 1.0])), draw_powers(simple, OF_PRODUCTS, rng))
    with np.errstate(all="ignore"):
        size = law.main(X).std() / term.values(X).std()
    return replace(law, simple=term.times(size * log_uniform(*RATIO, rng)))


def deal(n_variables: int, has_parts: tuple[bool, ...], rng: np.random.Generator) -> list[list[int]]:
    """Variables of every part, in order: each variable is in one of them at least."""
    bounds = [
        (least, min(most, n_variables)) if has else (0, 0)
        for (least, most), has in zip(SIZES, has_parts, strict=True)
    ]
    sizes = [0]
    while sum(sizes) < n_variables:
        sizes = [int(rng.integers(least, most + 1)) for least, most in bounds]
    dealt: list[list[int]] = [[] for _ in sizes]
    unused = rng.permutation(n_variables).tolist()
    for part in rng.permutation(np.repeat(np.arange(len(sizes)), sizes)).tolist():
        others = [j for j in range(n_variables) if j not in dealt[part]]
        dealt[part].append(unused.pop() if unused else int(rng.choice(others)))
    return [sorted(part) for part in dealt]


def draw_argument(
    variables: list[int], function: Function, kind: str, X: Array, rng: np.random.Generator
) -> tuple[Monomial, ...]:
    """The argument u over some variables, with constants that give it the reach of the function."""
    signs = [1.0] if function.positive else [-1.0, 1.0]
    if kind == PRODUCT:
        probabilities = OF_BOUNDED if function.bounded else OF_PRODUCTS
        parts = [Monomial(float(rng.choice(signs)), draw_powers(variables, probabilities, rng))]
    else:
        parts = [
            Monomial(
                float(rng.choice(signs)) * log_uniform(*INNER_CONSTANTS, rng), draw_powers([j], OF_SUMS, rng)
            )
            for j in variables
        ]
    if function.bounded:
        reach = sum(float(np.abs(part.values(corners(part, X.shape[1]))).max()) for part in parts)
    else:
        reach = float(np.quantile(np.abs(np.sum([part.values(X) for part in parts], axis=0)), 0.95))
    factor = log_uniform(*function.reach, rng) / reach
    return tuple(part.times(factor) for part in parts)


def corners(part: Monomial, n_variables: int) -> Array:
    """The points of the box where a monomial is largest and smallest in absolute value: (2, n_variables)."""
    rising = np.ones(n_variables, dtype=bool)
    rising[[j for j, exponent in part.powers if exponent < 0.0]] = False
    return np.array([np.where(rising, HIGH, LOW), np.where(rising, LOW, HIGH)])


def draw_powers(
    variables: list[int], probabilities: tuple[float, ...], rng: np.random.Generator
) -> tuple[tuple[int, float], ...]:
    exponents = rng.choice(list(POWERS), len(variables), p=probabilities).tolist()
    return tuple(zip(variables, exponents, strict=True))
