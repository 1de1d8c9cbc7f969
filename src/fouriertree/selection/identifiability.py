"""Whether the rows determine the terms of an equation.

They do not if two terms cancel, if the standard error of a coefficient exceeds it, or if a wave has fewer than four
rows per period.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine.gradients import Gradient
from fouriertree.expr.opcodes import COS, SIN, TAN, USER_OPCODE_START
from fouriertree.model import Model
from fouriertree.projection.refit import free_constants, standard_errors

Floats = NDArray[np.float64]

#: rows per period of a wave at least
ROWS_PER_PERIOD = 4
#: terms cancel if their sum is smaller than this share of either
CANCELLED = 0.01


def has_wave(model: Model) -> bool:
    return bool(np.isin(model.expression.op, (SIN, COS, TAN)).any())


def has_undersampled_wave(model: Model, X: Floats) -> bool:
    """Whether the argument of a wave passes so many periods that each of them has fewer than four rows.

    >>> from fouriertree.expr import parse
    >>> X = np.linspace(0.0, 1.0, 20)[:, None]
    >>> [has_undersampled_wave(Model.from_expression(parse(f"sin({k}*x0)")), X) for k in (30, 40)]
    [False, True]
    """
    e = model.expression
    with np.errstate(all="ignore"):
        arguments = [
            e.subtree(int(i) - 1).evaluate(X) for i in np.flatnonzero(np.isin(e.op, (SIN, COS, TAN)))
        ]
        return any(bool(np.ptp(u) > 2.0 * np.pi * len(X) / ROWS_PER_PERIOD) for u in arguments)


def has_cancelling_terms(model: Model, X: Floats) -> bool:
    """Whether the sum of two terms is below 1 % of either, or of its root mean square, on every row.

    >>> from fouriertree.expr import parse
    >>> X = np.linspace(0.0, 1.0, 9)[:, None]
    >>> [has_cancelling_terms(Model.from_expression(parse(f"5*sin(2*x0) - {c}*sin(2.001*x0)")), X) for c in (4, 5)]
    [False, True]
    """
    with np.errstate(all="ignore"):
        values = [c * e.evaluate(X) for c, e in zip(model.coefficients, model.expressions, strict=True)]
        sizes = [np.maximum(np.abs(v), np.sqrt(np.mean(v * v))) for v in values]
        return any(
            bool((np.abs(values[i] + values[j]) <= CANCELLED * np.maximum(sizes[i], sizes[j])).all())
            for i, j in combinations(range(len(values)), 2)
        )


def has_undetermined_coefficient(model: Model, X: Floats, y: Floats, weights: Floats) -> bool:
    """Whether the standard error of a coefficient, the intercept aside, exceeds its value.

    The inner constants are fitted, too, so that they add to the errors.
    """
    if any((e.op >= USER_OPCODE_START).any() for e in model.expressions):
        return False
    coefficients, roots = np.array(model.coefficients), np.sqrt(weights)
    values, inner = [], []
    with np.errstate(all="ignore"):
        for c, e in zip(model.coefficients, model.expressions, strict=True):
            value, slopes = Gradient(e, X, free_constants(e)).at(e.const)
            values.append(value)
            inner += list(c * slopes)
        residual = roots * (y - coefficients @ np.array(values))
        errors = standard_errors(residual, roots * np.array([*values, *inner]))[: len(values)]
    of_terms = np.array([bool(e.columns) for e in model.expressions])
    return bool((errors > np.abs(coefficients))[of_terms].any())
