"""Structural recovery: whether a model equals the law up to its constants.

Noise perturbs constants, so a criterion that compares rounded constants rejects correct structures.  Here every
constant of the model except exponents becomes a free parameter, and all of them are fitted to clean rows: the fit is
exact if and only if the model has the structure of the law.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from fouriertree.experiments.bench.cases import Data
from fouriertree.experiments.bench.formulas import Array, compiled, size

#: number of rows of the fit, and of the rows that check it
ROWS = 200
#: largest error of a correct structure, relative to max(|y|, FLOOR·rms(y)): near a zero of the target a purely relative
#: error is meaningless
TOLERANCE, FLOOR = 1e-6, 0.01
#: starts besides the model's own constants, and their relative standard deviation
JITTERED, JITTER = 4, 0.1
#: seconds for all starts together, and iterations of one start
SECONDS, ITERATIONS = 20.0, 200
#: replaces residuals that are not finite, in units of rms(y)
PENALTY = 1e6


def structure_right(model: Any, data: Data, seconds: float = SECONDS) -> bool:
    """Whether the law is the model with other constants, and the model is not bloated.

    Every constant of the model except exponents becomes a free parameter, also the factor 1 of a term of a sum; a
    single term is a sum of one.  The parameters are fitted by least squares to 200 clean rows, from their values and
    from four starts jittered by 10 %.  The structure is right if after one of these fits

        maxᵢ |ŷᵢ − yᵢ| / max(|yᵢ|, 0.01·rms(y)) < 1e-6

    on 200 other rows, and the model has at most 2·(nodes of the law) + 10 nodes, as SymPy's preorder counts them.
    Without an exact fit after `seconds`, the structure is not right.
    """
    if size(model) > most_nodes(data.truth):
        return False
    try:
        skeleton = Skeleton.of(model, data.symbols)
    except ValueError:
        return False
    X, X_fresh = clean_rows(data)
    truth = compiled(data.truth, data.symbols)
    y_fresh = truth(X_fresh)
    return any(
        largest_relative_error(y_fresh, skeleton(parameters, X_fresh)) < TOLERANCE
        for parameters in fits(skeleton, X, truth(X), time.monotonic() + seconds)
    )


def most_nodes(truth: Any) -> int:
    """The largest size of a model that is not bloated."""
    return 2 * size(truth) + 10


def largest_relative_error(y: Array, predicted: Array) -> float:
    """maxᵢ |ŷᵢ − yᵢ| / max(|yᵢ|, 0.01·rms(y)); ∞ where a prediction is not finite."""
    if not np.isfinite(predicted).all():
        return np.inf
    unit = np.maximum(np.abs(y), FLOOR * np.sqrt(np.mean(y**2)))
    with np.errstate(all="ignore"):
        return float(np.max(np.abs(predicted - y) / unit))


def clean_rows(data: Data) -> list[Array]:
    """200 rows of the training set for the fit and 200 of the test set for its check, where the law is finite.

    Points of the data's box are added where there are fewer.
    """
    rng = np.random.default_rng(0)
    law = compiled(data.truth, data.symbols)
    low, high = data.box.T
    found = []
    for X in (data.X, data.X_test):
        more = rng.uniform(low, high, (5 * ROWS, len(low)))
        candidates = np.vstack([rng.permutation(X), more])
        found.append(candidates[np.isfinite(law(candidates))][:ROWS])
    return found


# Parameters ---------------------------------------------------------------------------------------------------------
@dataclass
class Skeleton:
    """An expression whose constants are parameters: values (n_rows,) of parameters (n_parameters,) and rows."""

    formula: Any  #: the SymPy expression with symbols c0, c1, … in place of its constants
    constants: Array  #: the constants that it had
    _values: Callable[[Array], Array] = field(repr=False)

    @classmethod
    def of(cls, model: Any, symbols: Sequence[Any]) -> Skeleton:
        """The skeleton of an expression; ValueError if one of its constants is not finite and real."""
        constants: list[float] = []
        formula = free_terms(model, constants)
        names = [parameter(k) for k in range(len(constants))]
        return cls(formula, np.array(constants), compiled(formula, [*names, *symbols]))

    def __call__(self, parameters: Array, X: Array) -> Array:
        repeated = np.broadcast_to(parameters, (len(X), len(parameters)))
        return self._values(np.hstack([repeated, X]))


def parameter(index: int) -> Any:
    return sympy.Symbol(f"c{index}", real=True)


def free(formula: Any, constants: list[float]) -> Any:
    """The expression with parameters in place of its constants except exponents, which are appended to `constants`.

    >>> x, constants = sympy.Symbol("x"), []
    >>> free(3 * sympy.sin(2.5 * x) * x**2, constants), constants
    (c0*x**2*sin(c1*x), [3.0, 2.5])
    """
    if formula.is_number:
        return free_constant(formula, constants)
    if formula.is_Add:
        return free_terms(formula, constants)
    if formula.is_Mul:
        return free_product(formula, constants)
    if formula.is_Pow and formula.exp.is_number:
        return free(formula.base, constants) ** formula.exp
    if isinstance(formula, sympy.Piecewise):
        # Constants of conditions are no constants of the law.
        return formula.func(*((free(value, constants), condition) for value, condition in formula.args))
    return formula.func(*(free(part, constants) for part in formula.args)) if formula.args else formula


def free_constant(value: Any, constants: list[float]) -> Any:
    """A parameter for a constant, which may be an expression such as 2·π."""
    number = complex(value)
    if number.imag != 0.0 or not np.isfinite(number.real):
        raise ValueError(f"{value} is no finite real number")
    constants.append(number.real)
    return parameter(len(constants) - 1)


def free_terms(formula: Any, constants: list[float]) -> Any:
    """A sum with a parameter as the factor of every term, also where the factor is 1."""
    terms = sympy.Add.make_args(formula)
    return sympy.Add(*(free_product(term, constants, sympy.Integer(1)) for term in terms))


def free_product(product: Any, constants: list[float], *factors: Any) -> Any:
    """A product, times other factors, with one parameter for all its constants."""
    parts = [*factors, *sympy.Mul.make_args(product)]
    fixed = [part for part in parts if part.is_number]
    coefficient = [free_constant(sympy.Mul(*fixed), constants)] if fixed else []
    return sympy.Mul(*coefficient, *(free(part, constants) for part in parts if not part.is_number))


# Fits ---------------------------------------------------------------------------------------------------------------
def fits(skeleton: Skeleton, X: Array, y: Array, deadline: float) -> Iterator[Array]:
    """Parameters fitted from the model's own constants, then from jittered ones, until the deadline."""
    n = len(skeleton.constants)
    jitter = JITTER * np.random.default_rng(0).standard_normal((JITTERED, n))
    with suppress(TimeoutError):
        for start in np.vstack([np.ones(n), 1.0 + jitter]):
            yield fitted(skeleton, X, y, start, deadline)


def fitted(skeleton: Skeleton, X: Array, y: Array, start: Array, deadline: float) -> Array:
    """Least-squares parameters from a start in units of the model's constants; TimeoutError after the deadline."""
    from scipy.optimize import least_squares

    unit = float(np.sqrt(np.mean(y**2))) or 1.0

    def residual(share: Array) -> Array:
        if time.monotonic() > deadline:
            raise TimeoutError
        with np.errstate(all="ignore"):
            found = (skeleton(share * skeleton.constants, X) - y) / unit
        return np.clip(np.where(np.isfinite(found), found, PENALTY), -PENALTY, PENALTY)

    # Tolerances at rounding level: a correct structure fits exactly.
    found = least_squares(
        residual, start, method="trf", x_scale="jac", ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=ITERATIONS
    )
    return np.asarray(found.x * skeleton.constants)
