"""Textbook shapes: functions of one variable with two to four parameters that laws of measured data often have.

A shape has a short code, its number in the list, so that few rows suffice to tell it from a straight line; any other
form is described node by node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import product
from operator import add

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.canonical import canonical
from fouriertree.expr.opcodes import ADD, CONST, MUL, NEG, SUB, VAR
from fouriertree.expr.primitives import Primitive
from fouriertree.expr.vocabulary import with_rare_operators
from fouriertree.model import Model, addends
from fouriertree.projection.batches import SumBatch
from fouriertree.projection.variable import FitData, fit_batch

Floats = NDArray[np.float64]

#: kinds of parameters, from which starting values follow: a rate in exp(k·x), the frequency and the phase of a wave, a
#: size of the variable, a value of it, an exponent, a width k in exp(k·(x − m)²), a factor without a unit
RATE, FREQUENCY, PHASE, SIZE, PLACE, EXPONENT, WIDTH, FACTOR = (
    "rate", "frequency", "phase", "size", "place", "exponent", "width", "factor"
)  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """Σ c·term with terms over the variable x and inner parameters k, m, s."""

    name: str
    terms: tuple[str, ...]
    parameters: tuple[str, ...] = ()  #: kinds of k, m and s
    positive: bool = False  #: whether it needs positive x


SHAPES = (
    Shape("proportional", ("x",)),
    Shape("linear", ("1", "x")),
    Shape("quadratic", ("1", "x", "x^2")),
    Shape("quadratic through the origin", ("x", "x^2")),
    Shape("power", ("x^k",), (EXPONENT,), True),
    Shape("power and constant", ("1", "x^k"), (EXPONENT,), True),
    Shape("logarithm", ("1", "log(x)"), (), True),
    Shape("exponential", ("exp(k*x)",), (RATE,)),
    Shape("exponential and constant", ("1", "exp(k*x)"), (RATE,)),
    Shape("exponential approach", ("1 - exp(k*x)",), (RATE,)),
    Shape("two exponentials", ("exp(k*x)", "exp(m*x)"), (RATE, RATE)),
    Shape("saturation", ("x/(x + k)",), (SIZE,)),
    Shape("reciprocal", ("1/x",), (), True),
    Shape("hyperbola", ("1/(x + k)",), (SIZE,)),
    Shape("hyperbola and constant", ("1", "1/(x + k)"), (SIZE,)),
    Shape("root", ("sqrt(x + k)",), (SIZE,)),
    Shape("logistic", ("1/(k*exp(m*x) + 1)",), (FACTOR, RATE)),
    Shape("Hill", ("1/(k*x^m + 1)",), (FACTOR, EXPONENT), True),
    Shape("Arrhenius", ("exp(k/x)",), (SIZE,), True),
    Shape("Antoine", ("exp(k/(x + m))",), (SIZE, SIZE)),
    Shape("Gaussian", ("exp(k*(x - m)^2)",), (WIDTH, PLACE)),
    Shape("Lorentzian", ("1/(k*(x - m)^2 + 1)",), (WIDTH, PLACE)),
    Shape("power times exponential", ("x^k*exp(m*x)",), (EXPONENT, RATE), True),
    Shape("linear times exponential", ("x*exp(k*x)",), (RATE,)),
    Shape("exponential by hyperbola", ("exp(k*x)/(x + m)",), (RATE, SIZE)),
    Shape("Gompertz", ("exp(k*exp(m*x))",), (FACTOR, RATE)),
    Shape("stretched exponential", ("exp(k*x^m)",), (FACTOR, EXPONENT), True),
    Shape("hyperbolic tangent", ("tanh(k*x)",), (RATE,)),
    Shape("wave", ("sin(k*x + m)",), (FREQUENCY, PHASE)),
    Shape("wave and constant", ("1", "sin(k*x + m)"), (FREQUENCY, PHASE)),
    Shape("damped wave", ("exp(k*x)*sin(m*x + s)",), (RATE, FREQUENCY, PHASE)),
)
NAMES = "x", "k", "m", "s"


def code_length() -> float:
    """Nats for the choice of a shape."""
    return float(np.log(len(SHAPES)))


def is_textbook(model: Model) -> bool:
    """Whether a model of one feature is one of the shapes, with any constants.

    >>> from fouriertree.expr import parse
    >>> texts = "2.2*x1/(x1 + 3)", "5 - exp(-x0)", "sin(sin(x0))"
    >>> [is_textbook(Model.from_expression(parse(text))) for text in texts]
    [True, True, False]
    """
    e = model.expression
    if len(e.columns) != 1 or e.size > _LARGEST:
        return False
    return form_of(Expression.unchecked(e.op, np.zeros_like(e.arg), e.const, e.primitives)) in _forms()


#: tokens of a shape at most
_LARGEST = 20
Form = tuple[object, ...]


def form_of(expression: Expression) -> Form:
    """The structure of a sum without its constants, their signs, and the order of terms and factors."""
    terms = Counter(_product_form(part) for _, part in addends(expression))
    return ("sum", tuple(sorted(terms.items(), key=repr)))


def _product_form(expression: Expression) -> Form:
    """The factors of a product that are no constants; of a function, its arguments."""
    factors = Counter(_factor_forms(expression))
    return ("product", tuple(sorted(factors.items(), key=repr)))


def _factor_forms(e: Expression) -> list[Form]:
    top = int(e.op[-1])
    if top == CONST:
        return []
    if top == VAR:
        return [("x", int(e.arg[-1]))]
    arguments = [e.subtree(int(child)) for child in e.children(e.size - 1)]
    if top == MUL:
        return [form for argument in arguments for form in _factor_forms(argument)]
    if top == NEG:
        return _factor_forms(arguments[0])
    if top in (ADD, SUB):
        return [form_of(e)]
    return [(top, *(form_of(argument) for argument in arguments))]


@cache
def _forms() -> frozenset[Form]:
    """The forms of all shapes; the sign of a parameter may change the canonical form."""
    return frozenset(
        form_of(canonical(formula, None, (0,))) for shape in SHAPES for formula in _formulas(shape)
    )


#: exponents that are written in other ways than by pow, and two that are not
SPECIAL_EXPONENTS = (0.7, -0.7, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, -0.5, -1.0, -1.5, -2.0, -3.0)


def _formulas(shape: Shape) -> list[Expression]:
    """The shape with parameters and coefficients of either sign."""
    terms = [parse(term, names=NAMES) for term in shape.terms]
    grids = [SPECIAL_EXPONENTS if kind == EXPONENT else (0.7, -0.7) for kind in shape.parameters]
    found = []
    for signs in product((1.0, -1.0), repeat=len(terms)):
        for inner in product(*grids):
            parts = [
                Expression.constant(sign * (1.31 + 0.61 * i))
                * with_parameters(term, Expression.variable(0), inner)
                for i, (sign, term) in enumerate(zip(signs, terms, strict=True))
            ]
            found.append(reduce(add, parts))
    return found


def with_parameters(term: Expression, x: Expression, values: Sequence[float]) -> Expression:
    """A term of a shape with an expression for x, and constants for its parameters."""
    replaced = [Expression.constant(value) for value in values]
    for i in reversed(range(term.size)):
        if term.op[i] == VAR:
            number = int(term.arg[i])
            term = term.replace(i, x if number == 0 else replaced[number - 1])
    return term


# Fits -----------------------------------------------------------------------------------------------------------
#: starting values relative to the range of the variable: rates and widths, and quarters of a period of waves
RATES, WIDTHS = (0.3, 1.0, 3.0, 8.0, 20.0), (1.0, 4.0, 16.0, 64.0, 256.0)
QUARTERS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 15.0, 18.0, 21.0, 24.0, 28.0, 32.0)
#: relative to the size of the variable, exponents, and phases
SIZES, EXPONENTS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0), (0.3, 0.6, 1.5, 2.5, 4.0, -0.4, -1.5, -3.0)
PHASES = (0.3, 1.1, 1.9, 2.7)
#: quantiles of the variable at which a peak, or the middle of a step, may be
PLACES = (0.1, 0.3, 0.5, 0.7, 0.9)
#: a wave needs so many rows per period
ROWS_PER_PERIOD = 4
#: steps of all starts, and of the best of a shape
FIRST_STEPS, STEPS, BEST_STARTS = 8, 60, 4
#: stand-ins for parameters while a shape is one program
STAND_INS = (1.2345678901e-200, 2.3456789012e-200, 3.4567890123e-200)


@dataclass(frozen=True)
class FittedShape:
    """Terms Σ coefficients·terms over the feature x0, with the squared error."""

    shape: Shape
    coefficients: tuple[float, ...]
    terms: tuple[Expression, ...]
    loss: float


def fitted_shapes(x: Floats, y: Floats, weights: Floats, primitives: PrimitiveSet) -> list[FittedShape]:
    """Every shape that the operators allow, fitted to y (n,) over x (n,) from many starts; those that are finite.

    Both should be of the size of one, and x must vary.
    """
    data, known = FitData.prepare(x[:, None], y, weights), with_rare_operators(primitives)
    found = [_fitted(shape, x, data) for shape in SHAPES if _is_possible(shape, x, known)]
    return [fit for fit in found if fit is not None]


def _is_possible(shape: Shape, x: Floats, known: PrimitiveSet) -> bool:
    """Whether the operators suffice, and the variable and the number of rows are right for the shape."""
    names = {known.find(row.name).name for row in _operators(shape) if row.name in known}
    enough = len(x) > len(shape.terms) + len(shape.parameters) + 1
    return len(names) == len(_operators(shape)) and enough and (not shape.positive or float(x.min()) > 0.0)


@cache
def _operators(shape: Shape) -> frozenset[Primitive]:
    terms = [parse(term, names=NAMES) for term in shape.terms]
    return frozenset(e.primitives.by_opcode(int(code)) for e in terms for code in e.op if code > VAR)


def _fitted(shape: Shape, x: Floats, data: FitData) -> FittedShape | None:
    terms = [with_parameters(parse(t, names=NAMES), Expression.variable(0), STAND_INS) for t in shape.terms]
    plain = SumBatch.pack([terms])
    starts = _starts(shape, x)
    batch = plain.take(np.zeros(len(starts), np.intp))
    const = batch.programs.const.copy().reshape(len(starts), -1)
    free = np.zeros(const.shape, np.bool_)
    for k, stand_in in enumerate(STAND_INS[: len(shape.parameters)]):
        at = const == stand_in
        free |= at
        const = np.where(at, starts[:, k : k + 1], const)
    steps = FIRST_STEPS if shape.parameters else 0
    first = fit_batch(batch.with_constants(const.ravel()), data, steps, free=free.ravel())
    order = np.argsort(first.losses, kind="stable")[:BEST_STARTS]
    best = first.batch.take(order)
    last = fit_batch(best, data, STEPS if shape.parameters else 0, free=free[: len(order)].ravel())
    i = int(np.argmin(last.losses))
    coefficients = last.coefficients[last.batch.first[i] : last.batch.last[i]]
    if not (np.isfinite(last.losses[i]) and np.isfinite(coefficients).all()):
        return None
    return FittedShape(shape, tuple(coefficients.tolist()), last.batch.expressions(i), float(last.losses[i]))


def _starts(shape: Shape, x: Floats) -> Floats:
    """Starting values of the parameters: (n_starts, n_parameters)."""
    spread, size = float(np.ptp(x)), float(np.sqrt(np.mean(x * x)))
    places = np.quantile(x, PLACES).tolist()
    both = (1.0, -1.0)
    grids: dict[str, list[float]] = {
        RATE: [sign * k / spread for sign in both for k in RATES],
        FREQUENCY: [0.5 * np.pi * q / spread for q in QUARTERS if q / 4.0 <= len(x) / ROWS_PER_PERIOD],
        PHASE: list(PHASES),
        SIZE: [sign * k * size for sign in both for k in SIZES],
        PLACE: places,
        EXPONENT: list(EXPONENTS),
        WIDTH: [-k / spread**2 for k in WIDTHS],
        # Numbers of places; the sign is that of the factor.
        FACTOR: [sign * (1.0 + i) for sign in both for i in range(len(places))],
    }
    combined = list(product(*(grids[kind] for kind in shape.parameters)))
    starts = np.array(combined).reshape(len(combined), len(shape.parameters))
    if FACTOR in shape.parameters:
        # At its place, the factor times the growing function is ±1.
        sign, growth = np.sign(starts[:, 0]), starts[:, 1]
        place = np.array(places)[np.abs(starts[:, 0]).astype(int) - 1]
        with np.errstate(all="ignore"):
            grown = place**growth if shape.parameters[1] == EXPONENT else np.exp(growth * place)
            starts[:, 0] = sign / grown
    finite: Floats = starts[np.isfinite(starts).all(axis=1)]
    return finite
