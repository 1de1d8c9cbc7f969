"""What a fit approximates, y or log y, and the equation for y that follows from one for log y."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.errors import Measure
from fouriertree.criteria.losses import Loss
from fouriertree.data.training import TrainingData
from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.canonical import canonical
from fouriertree.expr.simplify import split_factor
from fouriertree.model import Model

Floats = NDArray[np.float64]

#: operators of e^f: products of powers and exponentials, if f is a sum of logarithms and other terms
OF_EXPONENTIALS = ("add", "sub", "mul", "div", "neg", "exp", "log", "pow", "sqrt", "square", "cube")
#: ratio of the largest to the smallest y from which on squared errors of y are those of the largest rows
WIDE = 100.0
#: smaller |y| would have weights 1/y² beyond the range of float64, times the squares of features
SMALLEST_RELATIVE = 1e-70


@dataclass(frozen=True)
class Target:
    """The target of a fit: y, or with the transform "log" its logarithm, on which the fit is judged."""

    transform: str | None = None

    @property
    def is_log(self) -> bool:
        return self.transform == "log"

    def check(self, y: Floats, loss: Loss) -> None:
        """Raise ValueError for a loss that has no meaning for this target, or values of y that it cannot have."""
        if self.is_log and loss.relative:
            raise ValueError(
                "an error of log y is relative already; give the log transform or the relative loss"
            )
        if self.is_log and loss.logistic:
            raise ValueError(
                "loss='logistic' fits log-odds of probabilities; leave out target_transform='log'"
            )
        check_values(y, "log" if self.is_log else loss.measure)

    def of(self, data: TrainingData) -> TrainingData:
        """The data with this target in place of y."""
        if not self.is_log:
            return data
        distinct = data.distinct
        if distinct is not None:
            X, y, weights = distinct
            distinct = X, np.log(y), weights
        return replace(data, y=np.log(data.y), distinct=distinct)

    def model(self, fitted: Model, primitives: PrimitiveSet, positive: Container[int] = ()) -> Model:
        """The model of y, from one of the target: e^f in canonical form, where exp(a + b*log(x)) is c*x^b.

        >>> from fouriertree.expr import parse
        >>> log_y = Model.from_expression(parse("2*log(x0) - 0.5*x1"))
        >>> print(Target("log").model(log_y, PrimitiveSet.default()))
        x0^2*exp(-0.5*x1)
        """
        if not self.is_log:
            return fitted
        allowed = PrimitiveSet(OF_EXPONENTIALS).union(primitives)
        whole = canonical(Expression.apply("exp", fitted.expression), allowed, positive)
        return Model.from_expression(whole, fitted.names).ordered()

    def guess(self, expression: Expression) -> Expression:
        """A guess for the target, from one for y: log|c| + log(e) for c·e."""
        if not self.is_log:
            return expression
        factor, rest = split_factor(expression)
        logarithm = canonical(Expression.apply("log", rest))
        return logarithm if abs(factor) == 1.0 else logarithm + float(np.log(abs(factor)))


def measure_of(parameters: Mapping[str, Any]) -> Measure:
    """How errors of predictions of y are measured by the parameters of an estimator."""
    if parameters["target_transform"] == "log":
        return "log"
    return "relative" if parameters["loss"] == "relative" else "absolute"


def check_values(y: Floats, measure: Measure) -> None:
    """Raise ValueError if log y, or errors relative to y, do not exist."""
    if measure == "log" and (bad := int(np.count_nonzero(~(y > 0.0)))):
        raise ValueError(
            f"log y needs positive values of y, and {bad} of {len(y)} are not positive; leave these rows out, or fit "
            "y itself"
        )
    if measure != "relative":
        return
    if bad := int(np.count_nonzero(y == 0.0)):
        raise ValueError(
            f"errors relative to y need values other than zero, and {bad} of {len(y)} are zero; leave these rows out, "
            "or choose another loss"
        )
    if np.abs(y).min() < SMALLEST_RELATIVE:
        raise ValueError(
            f"|y| is as small as {np.abs(y).min():.1e}, and 1/y² leaves the range of float64; give y in another unit"
        )


def is_wide(y: Floats) -> bool:
    """Whether y is positive and spans more than two decades."""
    return bool(y.min() > 0.0 and y.max() / WIDE > y.min())


def wide_hint(y: Floats, name: str, relative: str, log: str) -> str | None:
    """A suggestion for a y that spans more than two decades; `relative` and `log` set the options, in some language."""
    if not is_wide(y):
        return None
    return (
        f"{name} spans a factor of {y.max() / y.min():.2g}, so that squared errors are those of its largest values; "
        f"{relative} or {log} counts relative errors"
    )


def judged_note(measure: Measure, name: str = "y") -> str | None:
    """What the losses and R² of a table are those of, unless it is y itself."""
    notes: dict[Measure, str | None] = {
        "absolute": None,
        "relative": f"losses and R² are those of errors relative to {name}",
        "log": f"every column but the equation is that of log({name})",
    }
    return notes[measure]
