"""Forms of the laws of measured quantities, up to constants of nature and units.

A form is checked numerically, by the differential equation that characterises it, so that the check depends neither on
how an expression is written nor on symbolic simplification.
"""

from __future__ import annotations

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
    """Whether an expression has the form `data.law`, whose constants are the exponents eⱼ or the rate k.

    power: c·Π xⱼ^eⱼ, characterised by xⱼ·∂f/∂xⱼ = eⱼ·f for every j.
    log-power: log(c·Π xⱼ^eⱼ), for a quantity recorded as a logarithm, characterised by xⱼ·∂f/∂xⱼ = eⱼ for every j.
    exponential: a + b·exp(k·x), characterised by f″/f′ = k, which may differ from the law's by 10 %.
    """
    assert data.law is not None
    kind, *texts = data.law.split()
    constants, points = np.array(texts, dtype=np.float64), between(data.X)
    values, *slopes = (
        evaluate(f, data.symbols, points) for f in (formula, *(sympy.diff(formula, x) for x in data.symbols))
    )
    with np.errstate(all="ignore"):
        if kind == "exponential":
            curvature = evaluate(sympy.diff(formula, data.symbols[0], 2), data.symbols, points)
            return is_steady(curvature / slopes[0], constants[0])
        found = points.T * np.array(slopes) / (values if kind == "power" else 1.0)
    return bool(np.all(np.abs(found - constants[:, None]) <= STRAY))


def is_steady(rates: Array, rate: float) -> bool:
    """Whether rates at all points are the same, and near that of the law."""
    return bool(np.ptp(rates) <= STRAY * rate and abs(rates.mean() - rate) <= RATE * rate)


def between(X: Array) -> Array:
    """Uniform points from the lower quartile to the maximum of each feature; outliers such as −1000 lie below."""
    rng = np.random.default_rng(0)
    return rng.uniform(np.quantile(X, 0.25, axis=0), X.max(axis=0), (POINTS, X.shape[1]))
