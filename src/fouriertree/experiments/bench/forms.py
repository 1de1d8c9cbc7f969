"""Forms that laws of measured quantities have, up to constants that nature or units chose.

A form is checked by the differential equation that characterises it, on many points: what a formula looks like does not
matter, and no simplification can fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fouriertree.experiments.bench.cases import Array, Data
from fouriertree.experiments.bench.formulas import evaluate

#: a rate in an exponent may be off by this share
RATE = 0.1
#: a logarithmic derivative that should be constant may stray by so much, which lets rounding in a formula pass
STRAY = 1e-3
POINTS = 100


def has_form(formula: Any, data: Data) -> bool:
    """Whether a formula has the form that `data.law` names: `power e₀ e₁ …`, `log-power …` or `exponential k`."""
    assert data.law is not None
    kind, *numbers = data.law.split()
    check: Callable[[Any, Sequence[Any], list[float], Array], bool]
    check = {"power": is_power, "log-power": is_log_power, "exponential": is_exponential}[kind]
    return check(formula, data.symbols, [float(number) for number in numbers], between(data.X))


def between(X: Array) -> Array:
    """Points among the rows, from the lower quartile of each column upwards: far below it may be a lone −1000."""
    rng = np.random.default_rng(0)
    return rng.uniform(np.quantile(X, 0.25, axis=0), X.max(axis=0), (POINTS, X.shape[1]))


def is_power(formula: Any, symbols: Sequence[Any], exponents: Sequence[float], points: Array) -> bool:
    """c·Π xⱼ^eⱼ, which is to say xⱼ·∂f/∂xⱼ = eⱼ·f for every j.

    >>> import sympy
    >>> a, points = sympy.Symbol("a", positive=True), np.linspace(1.0, 9.0, 9)[:, None]
    >>> is_power(365.2 * sympy.sqrt(a) * a, [a], [1.5], points), is_power(365.2 * a + 9, [a], [1.0], points)
    (True, False)
    """
    import sympy

    value = evaluate(formula, symbols, points)
    with np.errstate(all="ignore"):
        found = [
            points[:, j] * evaluate(sympy.diff(formula, symbol), symbols, points) / value
            for j, symbol in enumerate(symbols)
        ]
    return all(bool(np.all(np.abs(f - e) <= STRAY)) for f, e in zip(found, exponents, strict=True))


def is_log_power(formula: Any, symbols: Sequence[Any], exponents: Sequence[float], points: Array) -> bool:
    """log(c·Π xⱼ^eⱼ), the law of a quantity that was recorded as a logarithm: xⱼ·∂f/∂xⱼ = eⱼ for every j.

    >>> import sympy
    >>> r, points = sympy.Symbol("r", positive=True), np.linspace(1.0, 9.0, 9)[:, None]
    >>> is_log_power(sympy.log(7 / r**2), [r], [-2.0], points), is_log_power(7 / r**2, [r], [-2.0], points)
    (True, False)
    """
    import sympy

    found = [
        points[:, j] * evaluate(sympy.diff(formula, symbol), symbols, points)
        for j, symbol in enumerate(symbols)
    ]
    return all(bool(np.all(np.abs(f - e) <= STRAY)) for f, e in zip(found, exponents, strict=True))


def is_exponential(formula: Any, symbols: Sequence[Any], rates: Sequence[float], points: Array) -> bool:
    """a + b·exp(k·x) with k within 10 % of the law's, which is to say that f″/f′ is the constant k.

    >>> import sympy
    >>> n, points = sympy.Symbol("n", real=True), np.linspace(0.0, 6.0, 9)[:, None]
    >>> is_exponential(0.4 + 0.3 * 2**n, [n], [0.693], points), is_exponential(0.4 + 0.3 * n**2, [n], [0.693], points)
    (True, False)
    """
    import sympy

    slope = sympy.diff(formula, symbols[0])
    with np.errstate(all="ignore"):
        found = evaluate(sympy.diff(slope, symbols[0]), symbols, points) / evaluate(slope, symbols, points)
    steady = bool(np.ptp(found) <= STRAY * rates[0])
    return steady and bool(abs(found.mean() - rates[0]) <= RATE * rates[0])
