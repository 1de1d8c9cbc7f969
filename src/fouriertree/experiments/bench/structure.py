"""Whether a formula has the structure of the law: its constants are forgiven, its form is not.

Noise moves constants, so a rule that compares rounded constants fails forms that are right.  Here every number of the
formula except exponents becomes a free parameter, and all of them are fitted to clean rows.  If the form is that of the
law, the fit is exact; if it is another one, no constants make it so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fouriertree.experiments.bench.cases import Array, Data
from fouriertree.experiments.bench.formulas import compiled, size

#: rows to fit to, and as many fresh ones to judge by
ROWS = 200
#: the largest relative error of a form that is right
TOLERANCE = 1e-6
#: the error is relative to the target, but to no less than this share of its root mean square: a target that crosses
#: zero is known there to no more digits than elsewhere
FLOOR = 0.01
#: starts beside the formula's own constants, and their relative standard deviation
JITTERED, JITTER = 4, 0.1
#: seconds for all starts together
SECONDS = 20.0
#: iterations of one start
ITERATIONS = 200
#: a residual that is not finite, in standard deviations of the target: worse than any formula worth fitting
PENALTY = 1e6


def structure_right(model: Any, data: Data, seconds: float = SECONDS) -> bool:
    """Whether the law is the formula with other constants, and the formula is not bloated.

    Every number of the formula except exponents becomes a free parameter, also the factor 1 of a term of a sum; a
    formula of one term is a sum of one.  The parameters are fitted by least squares to 200 clean rows, from where they
    are and from four starts jittered by 10 %.  The structure is right if after one of these fits

        maxᵢ |ŷᵢ − yᵢ| / max(|yᵢ|, 0.01·rms(y)) < 1e-6

    on 200 fresh rows, and the formula has at most 2·(nodes of the law) + 10 nodes, as SymPy's preorder counts them.

    Parameters
    ----------
    model : SymPy expression
        The formula over `data.symbols`.
    data : Data
        A case whose law is known: `data.truth`.
    seconds : float
        Limit for all fits together; a structure that is not found right by then is not right.

    Returns
    -------
    bool
    """
    if size(model) > most_nodes(data.truth):
        return False
    try:
        skeleton = Skeleton.of(model, data.symbols)
    except ValueError:
        return False
    X, X_fresh = clean_rows(data)
    truth = compiled(data.truth, data.symbols)
    y, y_fresh = truth(X), truth(X_fresh)
    deadline = time.monotonic() + seconds
    return any(
        largest_relative_error(y_fresh, skeleton(parameters, X_fresh)) < TOLERANCE
        for parameters in fits(skeleton, X, y, deadline)
    )


def most_nodes(truth: Any) -> int:
    """The size beyond which a formula hides the law rather than shows it."""
    return 2 * size(truth) + 10


def largest_relative_error(y: Array, predicted: Array) -> float:
    """maxᵢ |ŷᵢ − yᵢ| / max(|yᵢ|, 0.01·rms(y)); ∞ where a prediction is not a finite number."""
    if not np.isfinite(predicted).all():
        return np.inf
    unit = np.maximum(np.abs(y), FLOOR * np.sqrt(np.mean(y**2)))
    with np.errstate(all="ignore"):
        return float(np.max(np.abs(predicted - y) / unit))


# Rows ---------------------------------------------------------------------------------------------------------------
def clean_rows(data: Data) -> tuple[Array, Array]:
    """Rows to fit to, from the training rows, and fresh ones, from the test rows: (200, n_columns) each."""
    rng = np.random.default_rng(0)
    return chosen(data.X, data, rng), chosen(data.X_test, data, rng)


def chosen(X: Array, data: Data, rng: np.random.Generator) -> Array:
    """200 of the rows where the law has a finite value; where there are fewer, points of the data's box as well."""
    law = compiled(data.truth, data.symbols)
    low, high = data.box.T
    more = rng.uniform(low, high, (5 * ROWS, len(low)))
    candidates = np.vstack([rng.permutation(X), more])
    return candidates[np.isfinite(law(candidates))][:ROWS]


# Parameters ---------------------------------------------------------------------------------------------------------
@dataclass
class Skeleton:
    """A formula whose numbers are parameters: values (n_rows,) of parameters (n_parameters,) and rows.

    Attributes
    ----------
    formula : SymPy expression
        The formula with symbols c0, c1, … in the place of its numbers.
    numbers : ndarray
        The numbers that it had.
    """

    formula: Any
    numbers: Array
    _values: Callable[[Array], Array] = field(repr=False)

    @classmethod
    def of(cls, model: Any, symbols: Sequence[Any]) -> Skeleton:
        """The skeleton of a formula; ValueError if one of its numbers is not finite and real."""
        numbers: list[float] = []
        formula = free_terms(model, numbers)
        names = [parameter(k) for k in range(len(numbers))]
        return cls(formula, np.array(numbers), compiled(formula, [*names, *symbols]))

    def __call__(self, parameters: Array, X: Array) -> Array:
        repeated = np.broadcast_to(parameters, (len(X), len(parameters)))
        return self._values(np.hstack([repeated, X]))


def parameter(index: int) -> Any:
    import sympy

    return sympy.Symbol(f"c{index}", real=True)


def free(formula: Any, numbers: list[float]) -> Any:
    """The formula with parameters in the place of its numbers except exponents; the numbers are appended to the list.

    >>> import sympy
    >>> x, numbers = sympy.Symbol("x"), []
    >>> free(3 * sympy.sin(2.5 * x) * x**2, numbers), numbers
    (c0*x**2*sin(c1*x), [3.0, 2.5])
    """
    import sympy

    if formula.is_number:
        return free_number(formula, numbers)
    if formula.is_Add:
        return free_terms(formula, numbers)
    if formula.is_Mul:
        return free_product(formula, numbers)
    if formula.is_Pow and formula.exp.is_number:
        return free(formula.base, numbers) ** formula.exp
    if isinstance(formula, sympy.Piecewise):
        # What a condition compares with is no constant of the law.
        return formula.func(*((free(value, numbers), condition) for value, condition in formula.args))
    return formula.func(*(free(part, numbers) for part in formula.args)) if formula.args else formula


def free_number(value: Any, numbers: list[float]) -> Any:
    """A parameter for a number, which may be an expression such as 2·π."""
    number = complex(value)
    if number.imag != 0.0 or not np.isfinite(number.real):
        raise ValueError(f"{value} is no finite real number")
    numbers.append(number.real)
    return parameter(len(numbers) - 1)


def free_terms(formula: Any, numbers: list[float]) -> Any:
    """A sum whose terms all have a parameter for a factor, also those whose factor is 1."""
    import sympy

    terms = sympy.Add.make_args(formula)
    return sympy.Add(*(free_product(term, numbers, sympy.Integer(1)) for term in terms))


def free_product(product: Any, numbers: list[float], *factors: Any) -> Any:
    """A product, times other factors, with one parameter for all its numbers."""
    import sympy

    parts = [*factors, *sympy.Mul.make_args(product)]
    constants = [part for part in parts if part.is_number]
    coefficient = [free_number(sympy.Mul(*constants), numbers)] if constants else []
    return sympy.Mul(*coefficient, *(free(part, numbers) for part in parts if not part.is_number))


# Fits ---------------------------------------------------------------------------------------------------------------
def fits(skeleton: Skeleton, X: Array, y: Array, deadline: float) -> Iterator[Array]:
    """Parameters fitted from the formula's own numbers, then from jittered ones, until the time is over."""
    rng = np.random.default_rng(0)
    n = len(skeleton.numbers)
    starts = np.vstack([np.ones(n), 1.0 + JITTER * rng.standard_normal((JITTERED, n))])
    for start in starts:
        try:
            yield fitted(skeleton, X, y, start, deadline)
        except TimeoutError:
            return


def fitted(skeleton: Skeleton, X: Array, y: Array, start: Array, deadline: float) -> Array:
    """Least-squares parameters from a start in units of the formula's numbers; TimeoutError after the deadline."""
    from scipy.optimize import least_squares

    unit = float(np.sqrt(np.mean(y**2))) or 1.0

    def residual(share: Array) -> Array:
        if time.monotonic() > deadline:
            raise TimeoutError
        with np.errstate(all="ignore"):
            found = (skeleton(share * skeleton.numbers, X) - y) / unit
        return np.clip(np.where(np.isfinite(found), found, PENALTY), -PENALTY, PENALTY)

    # Tolerances of rounding: a form that is right is exact.
    found = least_squares(
        residual, start, method="trf", x_scale="jac", ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=ITERATIONS
    )
    return np.asarray(found.x * skeleton.numbers)
