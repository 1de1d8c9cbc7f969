"""Basis functions: products of powers of a few variables, and functions of a multiple of one.

Inner constants come from grids that are fine enough for variable projection to find the right ones; grids are relative
to the size of the argument, so that units do not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE, Vocabulary

Floats = NDArray[np.float64]
Powers = tuple[float, ...]


@dataclass(frozen=True)
class BasisFunction:
    """f(Π v_i^p_i): `name` is empty for the bare product; `constant` is the inner one."""

    powers: Powers
    name: str = ""
    constant: float = 0.0
    second: Powers = ()
    other: float = 0.0  #: the constant of the second argument of a wave, or its phase
    below: bool = False  #: times the target itself, as a term of a denominator
    times: BasisFunction | None = None  #: times another basis function

    @property
    def form(self) -> tuple[object, ...]:
        """Its structure, without the constants."""
        return self.powers, self.name, self.second, self.below, self.times and self.times.form

    def expression(self, v: Vocabulary, variables: Sequence[Expression]) -> Expression:
        own = self._own(v, variables)
        return own if self.times is None else v.product([own, self.times.expression(v, variables)])

    def _own(self, v: Vocabulary, variables: Sequence[Expression]) -> Expression:
        u = v.monomial(variables, self.powers)
        if not self.name:
            return u
        constant = Expression.constant(self.constant)
        name, _, power = self.name.partition("^")
        if name == "shift":
            inner = v.apply("add", u, constant)
        elif name == "sum":
            second = v.monomial(variables, self.second)
            inner = v.apply("add", u, v.apply("mul", constant, second))
        elif name in ("sinsum", "cossum"):
            second = v.apply("mul", Expression.constant(self.other), v.monomial(variables, self.second))
            inner = v.apply(name[:3], v.apply("add", v.apply("mul", constant, u), second))
        elif name == "log":
            inner = v.apply("log", u)
        elif name == "logshift":
            inner = v.apply("log", v.apply("add", u, constant))
        elif name == "logscale":
            inner = v.apply("log", v.apply("mul", constant, u))
        elif name == "power":
            inner = v.apply_power(u, self.constant)
        elif name in ("sinphase", "logistic"):
            phase = v.apply("add", v.apply("mul", constant, u), Expression.constant(self.other))
            if name == "sinphase":
                inner = v.apply("sin", phase)
            else:
                inner = v.power(v.apply("add", ONE, v.apply("exp", phase)), -1.0)
        else:
            inner = v.apply(name, u if self.constant == 1.0 else v.apply("mul", constant, u))
        return v.power(inner, float(power)) if power else inner


def products_of_powers(
    V: Floats, v: Vocabulary, most: int, limit: int, exponents: tuple[float, ...]
) -> list[Powers]:
    """Products of powers of up to `most` variables, simple ones first; the first one is 1."""
    d = len(V)
    positive, nonzero = np.all(V > 0.0, axis=1), np.all(V != 0.0, axis=1)
    found: list[Powers] = []
    for size in range(most + 1):
        for columns in combinations(range(d), size):
            for powers in product(exponents, repeat=size):
                proper = all(
                    v.can_raise(p) and (p > 0.0 or nonzero[i]) and (p == int(p) or positive[i])
                    for i, p in zip(columns, powers, strict=True)
                )
                if proper:
                    full = [0.0] * d
                    for i, p in zip(columns, powers, strict=True):
                        full[i] = p
                    found.append(tuple(full))
    found.sort(key=lambda powers: (np.count_nonzero(powers), sum(abs(p) not in (0.0, 1.0) for p in powers)))
    return found[:limit]


def power_values(V: Floats, products: Sequence[Powers]) -> Floats:
    """Π V[i]^p_i for every tuple of powers: (n_products, n_rows)."""
    tables: dict[tuple[int, float], Floats] = {}
    values = np.ones((len(products), V.shape[1]))
    with np.errstate(all="ignore"):
        for row, powers in zip(values, products, strict=True):
            for i, p in enumerate(powers):
                if p:
                    if (i, p) not in tables:
                        tables[i, p] = V[i] ** p
                    row *= tables[i, p]
    return values


def single(d: int, i: int, p: float) -> Powers:
    powers = [0.0] * d
    powers[i] = p
    return tuple(powers)


WIDE = (1.0, 2.0, -1.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1.5, -1.5, 4.0, -4.0)
MIDDLE = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0)
NARROW = (1.0, -1.0, 2.0, -2.0)
PLAIN = (1.0, -1.0)
#: quarters of a period of the two parts of a phase
WAVE_STEPS = (1.0, 2.0, 3.0, 4.0, 5.0)
#: with fewer rows, waves of growing frequency cannot be told apart
ROWS_FOR_CHIRPS = 40
#: variables of which logarithms of products are taken
MOST_LOGGED = 5


def monomials(V: Floats, v: Vocabulary, limit: int, whole: bool = False) -> list[Powers]:
    """Products of powers of one to five variables, simplest first, as many as `limit`; or of whole powers only."""
    d = len(V)
    positive, nonzero = np.all(V > 0.0, axis=1), np.all(V != 0.0, axis=1)

    def allowed(i: int, p: float) -> bool:
        if not v.can_raise(p) or (whole and p != int(p)):
            return False
        return bool((p > 0.0 or nonzero[i]) and (p == int(p) or positive[i]))

    found: dict[Powers, None] = {}
    for size, choices in (
        (1, WIDE),
        (2, NARROW),
        (3, PLAIN),
        (4, PLAIN),
        (2, MIDDLE),
        (3, NARROW),
        (5, PLAIN),
    ):
        if size > d or (size > 1 and "mul" not in v):
            continue
        for powers in sorted(product(choices, repeat=size), key=lambda ps: sum(abs(p) for p in ps)):
            for columns in combinations(range(d), size):
                if all(allowed(i, p) for i, p in zip(columns, powers, strict=True)):
                    full = [0.0] * d
                    for i, p in zip(columns, powers, strict=True):
                        full[i] = p
                    found.setdefault(tuple(full))
                    if len(found) >= limit:
                        return list(found)
    return list(found)


def arguments(V: Floats, v: Vocabulary, limit: int) -> list[Powers]:
    """Products of powers that a function is likely to be taken of."""
    d = len(V)
    singles = [single(d, i, 1.0) for i in range(d)]
    squares = [single(d, i, 2.0) for i in range(d)]
    nonzero = (V != 0.0).all(axis=1)
    pairs: list[Powers] = []
    for i, j in combinations(range(d), 2) if "mul" in v else ():
        for p, q in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0)):
            if (p > 0 or nonzero[i]) and (q > 0 or nonzero[j]) and (min(p, q) > 0 or v.divides):
                powers = [0.0] * d
                powers[i], powers[j] = p, q
                pairs.append(tuple(powers))
    many = [*singles, *pairs, *squares]
    if d == 1:
        many += [single(d, 0, p) for p in (-1.0, 3.0, 0.5, 4.0, -2.0) if v.can_raise(p)]
    return many[:limit]


Ranked = tuple[int, BasisFunction, Floats]


def nonlinear_functions(V: Floats, v: Vocabulary, args: Sequence[Powers], periods: int) -> Iterator[Ranked]:
    """(rank, function, values) of functions of the arguments with inner constants from grids.

    The rank grows with the argument and with the fineness of the grid, so that the first ones are a coarse grid.
    `periods` bounds the periods of waves.
    """
    values = power_values(V, args)
    for powers, u in zip(args, values, strict=True):
        if np.isfinite(u).all() and u.max() > u.min():
            size = sum(map(abs, powers))
            extra = 3 if max(powers) <= 0.0 else 0 if size == 1.0 else 1 if size == 2.0 else 2
            for make in (_waves, _growth, _shifted):
                for rank, function, column in make(powers, u, v, periods):
                    yield rank + extra, function, column


def log_functions(V: Floats, v: Vocabulary) -> Iterator[Ranked]:
    """Logarithms of products of three positive variables or their inverses: one term instead of three."""
    positive = np.flatnonzero((V > 0.0).all(axis=1))[:MOST_LOGGED].tolist()
    if not ("log" in v and "mul" in v and v.divides):
        return
    for columns in combinations(positive, 3):
        for signs in product((1.0, -1.0), repeat=2):
            powers = [0.0] * len(V)
            for i, p in zip(columns, (1.0, *signs), strict=True):
                powers[i] = p
            yield 1, BasisFunction(tuple(powers), "log"), np.log(power_values(V, [tuple(powers)])[0])


def function_values(function: str, constant: float, u: Floats, other: float = 0.0) -> Floats:
    """f(u) for the name of a basis function and its inner constants."""
    name, _, power = function.partition("^")
    with np.errstate(all="ignore"):
        if name == "shift":
            inner = u + constant
        elif name in ("log", "logshift"):
            inner = np.log(u + constant)
        elif name == "logscale":
            inner = np.log(constant * u)
        elif name == "power":
            inner = u**constant
        elif name == "sinphase":
            inner = np.sin(constant * u + other)
        elif name == "logistic":
            inner = 1.0 / (1.0 + np.exp(constant * u + other))
        else:
            inner = getattr(np, name)(constant * u)
        values: Floats = inner ** float(power) if power else inner
    return values


def _waves(powers: Powers, u: Floats, v: Vocabulary, periods: int) -> Iterator[Ranked]:
    reach = float(np.abs(u).max())
    # A quarter of a period more at the far end from one frequency to the next.
    for step in (0.25, 0.5, *map(float, range(1, 4 * periods + 1))):
        k = 0.5 * np.pi * step / reach
        rank = 0 if step in (1.0, 2.0) else 1 if 0.5 <= step <= 4.0 else 2 if step <= 8.0 else 3
        for name in ("sin", "cos"):
            if name not in v:
                continue
            wave = function_values(name, k, u)
            yield rank, BasisFunction(powers, name, k), wave
            if step <= 8.0 and v.divides and np.abs(wave).min() > 0.02:
                yield rank + 1, BasisFunction(powers, f"{name}^-1", k), 1.0 / wave
                yield rank + 1, BasisFunction(powers, f"{name}^-2", k), wave**-2.0
            if name == "sin" and "mul" in v:
                yield rank + 1, BasisFunction(powers, "sin^2", k), wave**2


def _growth(powers: Powers, u: Floats, v: Vocabulary, periods: int) -> Iterator[Ranked]:
    size = float(np.sqrt(np.mean(u * u)))
    spread = float(u.max() - u.min())
    if "exp" in v:
        for k in (-0.3, 0.3, -1.0, 1.0, -3.0, 3.0, -8.0):
            grown = function_values("exp", k / spread, u)
            if np.isfinite(grown).all() and grown.max() < 1e12:
                yield (0 if abs(k) == 1.0 else 1), BasisFunction(powers, "exp", k / spread), grown
    if "tanh" in v:
        for k in (0.3, 1.0, 3.0):
            yield (0 if k == 1.0 else 1), BasisFunction(powers, "tanh", k / size), np.tanh(k * u / size)
    if "log" in v:
        if u.min() > 0.0:
            yield 0, BasisFunction(powers, "log"), np.log(u)
        for k in (0.3, 1.0, 3.0):
            if u.min() + k * size > 0.05 * size:
                yield (
                    (0 if k == 1.0 else 1),
                    BasisFunction(powers, "logshift", k * size),
                    np.log(u + k * size),
                )


def _shifted(powers: Powers, u: Floats, v: Vocabulary, periods: int) -> Iterator[Ranked]:
    """(u + k)^p without a pole on the data."""
    if "add" not in v:
        return
    size, low, high = float(np.sqrt(np.mean(u * u))), float(u.min()), float(u.max())
    shifts = [(0, size), (1, 0.3 * size), (1, 3.0 * size), (2, 0.1 * size)]
    if low > 0.0:
        shifts += [
            (2, 0.03 * size),
            (1, -0.5 * low),
            (2, -0.9 * low),
            (1, -1.5 * high),
            (2, -1.1 * high),
            (2, -3.0 * high),
        ]
    for rank, k in shifts:
        inner = u + k
        if np.abs(inner).min() < 0.01 * size:
            continue
        for p in (-1.0, -2.0, 0.5, -0.5):
            if (p == int(p) or inner.min() > 0.0) and v.can_raise(p):
                yield rank + (p != -1.0), BasisFunction(powers, f"shift^{p:g}", k), inner**p


#: operators with basis functions above, or powers
KNOWN = frozenset(("sin", "cos", "exp", "tanh", "log", "plog", "sqrt", "square", "cube", "inv", "neg"))


def other_functions(V: Floats, v: Vocabulary, args: Sequence[Powers]) -> Iterator[Ranked]:
    """All other operators that are allowed, custom ones among them, without an inner constant."""
    rows = [row for row in v.primitives if row.arity == 1 and row.name not in KNOWN]
    for powers, u in zip(args, power_values(V, args), strict=True) if rows else ():
        for row in rows:
            values = Expression.apply(row, Expression.variable(0)).evaluate(u[:, None])
            if np.isfinite(values).all():
                yield 0, BasisFunction(powers, row.name, 1.0), values


def powers_of_sums(V: Floats, v: Vocabulary, args: Sequence[Powers]) -> Iterator[Ranked]:
    """(u₁ + k·u₂)^p of two arguments, without a pole on the data."""
    values = power_values(V, args)
    sizes = np.sqrt(np.mean(values**2, axis=1))
    for i, j in combinations(range(len(args)), 2):
        for ratio in (1.0, -1.0, 0.3, -0.3, 3.0, -3.0):
            k = ratio * sizes[i] / sizes[j]
            inner = values[i] + k * values[j]
            if not np.isfinite(inner).all() or np.abs(inner).min() < 0.01 * sizes[i]:
                continue
            for p in (-1.0, -2.0, 0.5, -0.5):
                if (p == int(p) or inner.min() > 0.0) and v.can_raise(p):
                    yield (
                        (2 if abs(ratio) == 1.0 else 3),
                        BasisFunction(args[i], f"sum^{p:g}", k, args[j]),
                        inner**p,
                    )


def waves_of_sums(V: Floats, v: Vocabulary, periods: int) -> Iterator[Ranked]:
    """sin and cos of k·u₁ + m·u₂: of two variables, or of a variable and its square."""
    d = len(V)
    args = [single(d, i, 1.0) for i in range(d)]
    pairs = list(combinations(range(d), 2))
    if d <= 2:
        args += [single(d, i, 2.0) for i in range(d)]
        pairs += [(i, d + i) for i in range(d)]
    values = power_values(V, args)
    reaches = np.abs(values).max(axis=1)
    for i, j in pairs:
        # Of few variables, phases may be many quarters of a period.
        many = d == 1 and V.shape[1] >= ROWS_FOR_CHIRPS
        steps: Sequence[float] = WAVE_STEPS if many or (d == 2 and j < d) else WAVE_STEPS[:2]
        others = np.arange(1.0, 4 * periods + 1).tolist() if many else steps
        for step, other in product(steps, (s * sign for s in others for sign in (1.0, -1.0))):
            k, m = 0.5 * np.pi * step / reaches[i], 0.5 * np.pi * other / reaches[j]
            phase = k * values[i] + m * values[j]
            rank = 1 if step == 1.0 and 0.0 < other <= 2.0 else 2 if max(step, abs(other)) <= 5.0 else 3
            for name, wave in (("sin", np.sin), ("cos", np.cos)):
                if name in v:
                    yield rank, BasisFunction(args[i], f"{name}sum", k, args[j], m), wave(phase)
