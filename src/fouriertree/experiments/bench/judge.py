"""Criteria of recovery: SRBench's symbolic criterion, and numerical ones.

`symbolic`
    SRBench's criterion: after simplification and rounding, model − truth is a constant, or model/truth is a constant
    other than zero, and the test R² is above 0.5.  Constants are rounded to three decimals, as there.  That erases
    constants of nature and distorts those of data in odd units; so an expression also passes with four significant
    digits, or with three decimals in units of powers of ten in which no feature and no target is tiny or huge, where
    it may also be expanded or divided by its leading coefficients first.
`exact`
    The relative root mean square error on the clean test set is at most 1e-6; after training with noise, at most 1e-3.
`equivalent`
    On points of a box 10 % wider on either side than the data, computed with 30 digits, model − truth is constant to
    1e-9 of the truth's standard deviation, or model/truth to 1e-9.  It accepts forms that SymPy cannot unify.
`has_form`
    The form of the law of a measured quantity, up to constants of nature and units: checked by the differential
    equation that characterises it, and so independent of how an expression is written and of simplification.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import sympy

from fouriertree.experiments.bench.cases import Data
from fouriertree.experiments.bench.formulas import GUARD, Array, evaluate
from fouriertree.experiments.bench.rounding import DECIMALS, Units, as_they_are, in_forms, simplified

EXACT, EXACT_WITH_NOISE, EQUIVALENT = 1e-6, 1e-3, 1e-9
#: SRBench rejects models below this R²
LEAST_R2 = 0.5
POINTS, DIGITS = 200, 30
#: tolerances of a numerical pre-check, before and after rounding: an expression further than this from every multiple
#: and every shift of the truth is another law, and values show that much faster than algebra
FAR_OFF, FAR_OFF_ROUNDED = 0.02, 0.003
#: smaller coefficients are zero to `DECIMALS` decimals
SMALL = 0.5 * 10**-DECIMALS
#: relative tolerance of a rate in an exponent
RATE = 0.1
#: tolerance of a logarithmic derivative that should be constant, which allows for rounded constants
STRAY = 1e-3
FORM_POINTS = 100


def r2(y: Array, predicted: Array) -> float:
    """1 − Σ(y − ŷ)²/Σ(y − ȳ)²; −∞ where a prediction is not finite."""
    if not np.isfinite(predicted).all():
        return -np.inf
    with np.errstate(over="ignore"):
        total = float(np.sum((y - y.mean()) ** 2))
        return float(1.0 - np.sum((y - predicted) ** 2) / total) if total > 0.0 else -np.inf


def relative_error(y: Array, predicted: Array) -> float:
    """‖y − ŷ‖/‖y‖; ∞ where a prediction is not finite."""
    if not np.isfinite(predicted).all():
        return np.inf
    return float(np.linalg.norm(y - predicted) / (np.linalg.norm(y) or 1.0))


def exact(error: float, noise: float) -> bool:
    return error <= (EXACT if noise == 0.0 else EXACT_WITH_NOISE)


# The numerical criterion --------------------------------------------------------------------------------------------
def equivalent(model: Any, data: Data, tolerance: float = EQUIVALENT) -> bool:
    """Whether model − truth or model/truth is constant on points outside the training set."""
    points = around(data)
    m, t = (precise(formula, data.symbols, points) for formula in (model, data.truth))
    known = sum(value is not None for value in t)
    both = [(a, b) for a, b in zip(m, t, strict=True) if a is not None and b is not None]
    # A model with a smaller domain than the truth is another function.
    if known < POINTS // 4 or len(both) < 0.9 * known:
        return False
    return shifted_or_scaled([a for a, _ in both], [b for _, b in both], tolerance)


def shifted_or_scaled(m: Sequence[Any], t: Sequence[Any], tolerance: float) -> bool:
    """max|m − t − c| ≤ tolerance·std(t), or max|m − c·t| ≤ tolerance·rms(c·t) with c ≠ 0, for the best c.

    >>> shifted_or_scaled([3.0, 4.0, 6.0], [1.0, 2.0, 4.0], 1e-9), shifted_or_scaled([2.0, 8.0], [1.0, 4.0], 1e-9)
    (True, True)
    """
    n, pairs = len(t), list(zip(m, t, strict=True))
    mean, shift = sum(t) / n, sum(a - b for a, b in pairs) / n
    deviation = (sum((b - mean) ** 2 for b in t) / n) ** 0.5
    if max(abs(a - b - shift) for a, b in pairs) <= tolerance * deviation:
        return True
    square = sum(b * b for b in t)
    factor = sum(a * b for a, b in pairs) / square if square else 0
    rms = abs(factor) * (square / n) ** 0.5
    return bool(rms > 0 and max(abs(a - factor * b) for a, b in pairs) <= tolerance * rms)


def around(data: Data) -> Array:
    """Points of the data's box, wider by a tenth on either side without change of sign: (POINTS, n_features)."""
    rng = np.random.default_rng(len(data.symbols))
    low, high = data.box.T
    span = high - low
    wide = np.where(low >= 0.0, np.maximum(low - 0.1 * span, low / 1.2), low - 0.1 * span)
    return rng.uniform(wide, high + 0.1 * span, (POINTS, len(low)))


def precise(formula: Any, symbols: Sequence[Any], points: Array) -> list[Any]:
    """Values with 30 digits; None where there is no finite real one."""
    guard = {"guarded": lambda a, guard, otherwise: a if abs(guard) > GUARD else otherwise}
    function = sympy.lambdify(list(symbols), formula, modules=[guard, "mpmath"])
    values: list[Any] = []
    with mpmath.workdps(DIGITS):
        for point in points.tolist():
            try:
                value = mpmath.mpmathify(function(*map(mpmath.mpf, point)))
                values.append(value.real if value.imag == 0 and mpmath.isfinite(value) else None)
            except (ZeroDivisionError, ValueError, OverflowError, TypeError):
                values.append(None)
    return values


# The symbolic criterion ---------------------------------------------------------------------------------------------
def symbolic(model: Any, data: Data) -> bool:
    """SRBench's criterion with constants rounded as there; or in units of powers of ten, in one of several forms."""
    truth, points = data.truth, around(data)
    if not near(model, truth, data.symbols, points, FAR_OFF):
        return False
    units = Units(data)
    scaled, scaled_points = [units.of_formula(formula) for formula in (model, truth)], units.of_points(points)
    return any(
        near(m, t, data.symbols, points, FAR_OFF_ROUNDED) and same_law(m, t)
        for m, t in as_they_are(model, truth)
    ) or any(
        near(m, t, data.symbols, scaled_points, FAR_OFF_ROUNDED) and same_law(m, t, SMALL)
        for m, t in in_forms(*scaled)
    )


def near(model: Any, truth: Any, symbols: Sequence[Any], points: Array, tolerance: float) -> bool:
    """A necessary condition of the criterion, checked by values."""
    m, t = (evaluate(formula, symbols, points) for formula in (model, truth))
    good = np.isfinite(m) & np.isfinite(t)
    enough = bool(good.sum() >= POINTS // 4)
    return enough and shifted_or_scaled(m[good].tolist(), t[good].tolist(), tolerance)


def same_law(model: Any, truth: Any, small: float = 0.0) -> bool:
    """Whether model − truth is a constant up to terms with `small` coefficients, or model/truth is one but not zero.

    >>> x = sympy.Symbol("x")
    >>> same_law(x**2 + 3, x**2), same_law(2 * sympy.sin(x), sympy.sin(x)), same_law(x, x**2)
    (True, True, False)
    """
    if not model.free_symbols or truth == 0:
        return False
    difference = without_small_terms(sympy.expand(model - truth), small)
    if constant(difference):
        return True
    ratio = sympy.powsimp(model / truth)
    if constant(ratio) or constant(sympy.cancel(ratio)):
        return True
    return constant(simplified(ratio)) or constant(without_small_terms(simplified(difference), small))


def without_small_terms(formula: Any, small: float) -> Any:
    """The sum without terms whose coefficient is below `small`: SRBench rounds the difference once more."""
    terms = sympy.Add.make_args(formula)
    return sympy.Add(*(term for term in terms if abs(term.as_coeff_Mul()[0]) >= small))


def constant(formula: Any) -> bool:
    return bool(not formula.free_symbols and formula.is_finite is not False and formula.is_real is not False)


# Forms of measured laws ----------------------------------------------------------------------------------------------
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
    return rng.uniform(np.quantile(X, 0.25, axis=0), X.max(axis=0), (FORM_POINTS, X.shape[1]))
