"""Forms of the laws of measured quantities, up to constants of nature and units.

A form is checked numerically, by the differential equation that characterises it, so that the check depends neither on
how an expression is written nor on symbolic simplification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy

from fouriertree.experiments.bench.cases import Data
from fouriertree.experiments.bench.formulas import Array, evaluate

#: relative tolerance of a rate in an exponent
RATE = 0.1
#: tolerance of a logarithmic derivative that should be constant, which allows for rounded constants
STRAY = 1e-3
POINTS = 100


def has_form(formula: Any, data: Data) -> bool:
    """Whether an expression has the form `data.law`: `power e₀ e₁ …`, `log-power …` or `exponential k`."""
    assert data.law is not None
    kind, *constants = data.law.split()
    check: Callable[[Any, Sequence[Any], list[float], Array], bool]
    check = {"power": is_power, "log-power": is_log_power, "exponential": is_exponential}[kind]
    return check(formula, data.symbols, [float(constant) for constant in constants], between(data.X))


def between(X: Array) -> Array:
    """Uniform points from the lower quartile to the maximum of each feature; outliers such as −1000 lie below."""
    rng = np.random.default_rng(0)
    return rng.uniform(np.quantile(X, 0.25, axis=0), X.max(axis=0), (POINTS, X.shape[1]))


def is_power(formula: Any, symbols: Sequence[Any], exponents: Sequence[float], points: Array) -> bool:
    """c·Π xⱼ^eⱼ, characterised by xⱼ·∂f/∂xⱼ = eⱼ·f for every j.

    >>> a, points = sympy.Symbol("a", positive=True), np.linspace(1.0, 9.0, 9)[:, None]
    >>> is_power(365.2 * sympy.sqrt(a) * a, [a], [1.5], points), is_power(365.2 * a + 9, [a], [1.0], points)
    (True, False)
    """
    with np.errstate(all="ignore"):
        elasticities = log_derivatives(formula, symbols, points) / evaluate(formula, symbols, points)
    return near(elasticities, exponents)


def is_log_power(formula: Any, symbols: Sequence[Any], exponents: Sequence[float], points: Array) -> bool:
    """log(c·Π xⱼ^eⱼ), for a quantity recorded as a logarithm, characterised by xⱼ·∂f/∂xⱼ = eⱼ for every j.

    >>> r, points = sympy.Symbol("r", positive=True), np.linspace(1.0, 9.0, 9)[:, None]
    >>> is_log_power(sympy.log(7 / r**2), [r], [-2.0], points), is_log_power(7 / r**2, [r], [-2.0], points)
    (True, False)
    """
    return near(log_derivatives(formula, symbols, points), exponents)


def log_derivatives(formula: Any, symbols: Sequence[Any], points: Array) -> Array:
    """xⱼ·∂f/∂xⱼ at every point: (n_features, n_points)."""
    slopes = [evaluate(sympy.diff(formula, symbol), symbols, points) for symbol in symbols]
    return points.T * np.array(slopes)


def near(found: Array, exponents: Sequence[float]) -> bool:
    """Whether every row is its exponent at all points, up to `STRAY`."""
    return bool(np.all(np.abs(found - np.array(exponents)[:, None]) <= STRAY))


def is_exponential(formula: Any, symbols: Sequence[Any], rates: Sequence[float], points: Array) -> bool:
    """a + b·exp(k·x) with k within 10 % of the law's, characterised by f″/f′ = k.

    >>> n, points = sympy.Symbol("n", real=True), np.linspace(0.0, 6.0, 9)[:, None]
    >>> is_exponential(0.4 + 0.3 * 2**n, [n], [0.693], points), is_exponential(0.4 + 0.3 * n**2, [n], [0.693], points)
    (True, False)
    """
    slope = sympy.diff(formula, symbols[0])
    with np.errstate(all="ignore"):
        found = evaluate(sympy.diff(slope, symbols[0]), symbols, points) / evaluate(slope, symbols, points)
    steady = bool(np.ptp(found) <= STRAY * rates[0])
    return steady and bool(abs(found.mean() - rates[0]) <= RATE * rates[0])
