"""Description length (MDL) of a target by an equation, in nats: errors, constants and form.

Every constant that description lengths depend on is here.  Where nothing else is said, a value was chosen by looking at
test rows of splits of the twelve blackbox tables (`make bench-choice`), among some dozens of settings.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd, lgamma, log, pi
from typing import Any

import numpy as np

from fouriertree.criteria import shapes
from fouriertree.criteria.losses import Objective
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import ADD, CONST, MUL, NEG, SUB, VAR
from fouriertree.model import Model

#: one unit of complexity; in theory log k, with k operators and leaves to choose from
NATS_PER_COMPLEXITY = 1.75
#: a fitted constant, per factor e by which the fit is better; ½ in theory, with a flat prior
NATS_PER_FACTOR_E = 0.35
#: a linear model: that the features have an effect at all
LINEAR_MODEL_NATS = 3.0
#: a scaled feature where nothing is explained, and per cubed nat that is: see `feature_code_length`
FEATURE_NATS, FEATURE_NATS_SLOPE = 0.25, 0.1
#: weight of the log-number of subsets of features; 1 in theory, where all subsets are equally likely
SUBSET_WEIGHT = 0.5
#: rows per nat that a feature needs at least: it has to explain more than about one per cent of the residual
ROWS_PER_FEATURE_NAT = 160
#: complexity of a·x as a term of a sum, and of x or a constant alone, from the definition of complexity
SCALED_FEATURE, BARE_FEATURE = 4, 2
#: a rounded constant: its sign and exponent, and log 10 per digit, from theory
ROUNDED_NATS, DIGIT_NATS = 1.0, 2.3
#: a multiple of π or 1/π: log of the units to choose from, and some more since such multiples lie dense
PI_NATS = 1.5
#: share of the variance beyond which there is no law whose constants could be short, and the weight of savings there
NOISY, NOISY_WEIGHT = 0.02, 0.25
#: with fewer rows, a rounded constant has the code length of a fitted one
FEW_ROWS = 20
#: rows up to which a textbook shape is coded by its number alone; of many rows, other forms can be told from shapes
FEW_ROWS_FOR_SHAPES = 60
#: rows that count at most: a longer equation must also be worth reading
MOST_ROWS = 10_000


def constant_code_length(n: int, explained: float) -> float:
    """A fitted constant, coded as precisely as n rows determine it; `explained` is −log of the unexplained share."""
    # With few rows, a constant costs one of them: up to the full half.
    per_factor = min(0.5, NATS_PER_FACTOR_E + 1.0 / n)
    return float(0.5 * np.log(n) + per_factor * explained)


def feature_code_length(n: int, explained: float) -> float:
    """A term a·x in a sum that leaves exp(−explained) of the variance unexplained.

    Other terms are selected from millions, this one from the features.  Where most is unexplained, there is no law to
    be found, and every feature with a small effect improves predictions; the more is explained, the more likely there
    is a law, in which a feature competes with all other terms.  With many rows, an effect may be significant and yet
    too small to be worth a term.
    """
    free = max(FEATURE_NATS + FEATURE_NATS_SLOPE * explained**3, n / ROWS_PER_FEATURE_NAT)
    return min(free, SCALED_FEATURE * NATS_PER_COMPLEXITY + constant_code_length(n, explained))


def subset_code_length(chosen: int, n_features: int) -> float:
    """Which features were selected: ½·log C(n_features, chosen)."""
    k = min(chosen, n_features)
    return SUBSET_WEIGHT * (lgamma(n_features + 1) - lgamma(k + 1) - lgamma(n_features - k + 1))


def constants_of_linear_terms(whole: Expression) -> set[int]:
    """Positions of the intercepts of a sum, and of the coefficients of its features.

    >>> from fouriertree.expr import parse
    >>> sorted(constants_of_linear_terms(parse("2.5*x0 + 3.5*sin(1.5*x1) - 4.5")))
    [0, 10]
    """
    positions: set[int] = set()
    waiting = [len(whole) - 1]
    while waiting:
        top = waiting.pop()
        children = [int(child) for child in whole.children(top)]
        if whole.op[top] in (ADD, SUB, NEG):
            waiting += children
        elif whole.op[top] == CONST:
            positions.add(top)
        elif whole.op[top] == MUL:
            kinds = {int(whole.op[child]): child for child in children}
            if set(kinds) == {CONST, VAR}:
                positions.add(kinds[CONST])
    return positions


#: numerator of a short fraction at most
LARGEST_NUMERATOR = 64


@dataclass(frozen=True)
class ShortConstant:
    """A constant with a short code."""

    value: float
    length: float  #: of its code, in nats


def short_constants(value: float, tolerance: float) -> Iterator[ShortConstant]:
    """Short constants within `tolerance`: fractions, multiples of π and 1/π, decimals; shortest first of each kind."""
    yield from _fractions(value, tolerance)
    for digits in (1, 2, 3, 4):
        rounded = float(f"{value:.{digits - 1}e}")
        if rounded and abs(rounded - value) <= tolerance:
            yield ShortConstant(rounded, ROUNDED_NATS + DIGIT_NATS * digits)
            return


def _fractions(value: float, tolerance: float) -> Iterator[ShortConstant]:
    for unit, extra in ((1.0, 0.0), (pi, PI_NATS), (1.0 / pi, PI_NATS)):
        # Multiples of π lie dense: only one that is nearly exact is significant.
        near = tolerance if unit == 1.0 else min(tolerance, 1e-3 * abs(value))
        for q in (1, 2, 3, 4, 5, 6, 8):
            # Compared before it is rounded, since it may overflow.
            p = round(value / unit * q) if abs(value) <= (LARGEST_NUMERATOR + 1) * unit else 0
            if p and gcd(p, q) == 1 and abs(p) <= LARGEST_NUMERATOR and abs(p / q * unit - value) <= near:
                yield ShortConstant(p / q * unit, extra + log(1 + abs(p)) + log(q))


def fitted_constants(expression: Expression) -> list[float]:
    """The constants that count as parameters: all but 0, which is part of the form, as in max(x, 0)."""
    return [value for value in expression.constants if value != 0.0]


def constant_lengths(expression: Expression, fitted: float, decimals: bool = True) -> list[float]:
    """Code lengths of the constants of an expression: `fitted`, or less for a short one.

    Without `decimals`, only fractions are short: with few rows, a rounded constant is still a fitted one.

    >>> from fouriertree.expr import parse
    >>> [round(length, 1) for length in constant_lengths(parse("2.71*x0^2 + sin(x0/3)"), 9.0)]
    [7.9, 1.4]
    """
    return [constant_length(value, fitted, decimals) for value in fitted_constants(expression)]


def constant_length(value: float, fitted: float, decimals: bool = True) -> float:
    """Code length of one constant."""
    short = short_constants if decimals else _fractions
    lengths = (c.length for c in short(value, 1e-14 * abs(value)) if c.length < fitted)
    return min(lengths, default=fitted)


def approximate_length(n_rows: int, loss: Any, complexity: Any) -> Any:
    """½·n·log(loss) + 1.75·complexity of candidates whose constants are not final, in nats, up to a constant."""
    return 0.5 * n_rows * np.log(np.maximum(loss, np.finfo(float).tiny)) + NATS_PER_COMPLEXITY * complexity


def description_length(model: Model, complexity: int, loss: float, objective: Objective) -> float:
    """½·n·log(r) + Σ constants + 1.75·complexity in nats, up to a constant, with r the unexplained share.

    A fitted constant is coded as precisely as the data determine it, ½·log(n) + 0.35·log(1/r); a short one has a
    shorter code.  Scaled features, and the intercept, have shorter codes than other terms, see `feature_code_length`.
    """
    data, kind = objective.data, objective.loss
    n = min(data.n_rows, MOST_ROWS)
    tiny = max(objective.exact, np.finfo(float).tiny)
    baseline = max(objective.baseline, tiny)
    log_share = np.log(max(loss, tiny) / baseline)
    explained = float(max(-log_share, 0.0))
    fitted, decimals = constant_code_length(n, 0.0 if kind.logistic else explained), n >= FEW_ROWS
    constants = constant_lengths(model.expression, fitted, decimals)
    if len(constants) >= n - 1:
        return np.inf
    lengths, n_features = _linear_terms(model, fitted, decimals)
    feature_length = feature_code_length(n, explained)
    saved = sum(max(0.0, length - feature_length) for length in lengths)
    structure = NATS_PER_COMPLEXITY * complexity
    form = sum(constants) + structure
    if data.n_features > 1:
        form -= max(0.0, saved - subset_code_length(n_features, data.n_features))
        if n_features and len(lengths) == model.n_terms:
            form += LINEAR_MODEL_NATS
    textbook = shapes.code_length()
    # Of a single feature, a straight line is one shape among others; of several, effects of all of them may be small.
    if data.n_features == 1 and textbook < structure and shapes.is_textbook(model):
        textbook += (structure - textbook) * max(0.0, 1.0 - FEW_ROWS_FOR_SHAPES / n)
        form = min(form, sum(constants) + textbook)
    if kind.logistic:
        # The mean loss of log-odds is in nats already.
        return float(n * (loss - baseline) + form)
    power = 1.0 if kind.name in ("absolute", "quantile") else 0.5
    return float(power * n * log_share + form)


def _linear_terms(model: Model, fitted: float, decimals: bool) -> tuple[list[float], int]:
    """Code lengths of the features and the intercept of a sum as terms like any other; the number of features."""
    lengths, n_features = [], 0
    for coefficient, term in zip(model.coefficients, model.expressions, strict=True):
        if term.size == 1:
            feature = bool(term.op[0] == VAR)
            value = coefficient if feature else coefficient * float(term.const[0])
            bare = feature and abs(value) == 1.0
            constant = 0.0 if bare or value == 0.0 else constant_length(value, fitted, decimals)
            units = SCALED_FEATURE if feature and not bare else BARE_FEATURE
            lengths.append(NATS_PER_COMPLEXITY * units + constant)
            n_features += feature
    if len(lengths) == model.n_terms:
        lengths[0] -= NATS_PER_COMPLEXITY  # the first term needs no plus sign
    return lengths, n_features
