"""From a candidate to an equation of the table: significant terms, refitted and snapped constants, canonical form."""

import time
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from math import log

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria import code_lengths
from fouriertree.criteria.archive import Candidate
from fouriertree.criteria.errors import errors_of
from fouriertree.criteria.losses import Objective
from fouriertree.criteria.poles import may_have_pole
from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.canonical import canonical, rescaled, split_number
from fouriertree.expr.complexity import Complexity
from fouriertree.expr.factoring import expanded, shorter
from fouriertree.expr.opcodes import LOG, USER_OPCODE_START
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.model import Model, sum_of_terms
from fouriertree.projection.refit import (
    leave_one_out_ratios,
    refit_constants,
)
from fouriertree.search.executors import Shared
from fouriertree.selection.identifiability import (
    has_cancelling_terms,
    has_undersampled_wave,
    has_undetermined_coefficient,
    has_wave,
)
from fouriertree.selection.negligible import without_negligible
from fouriertree.selection.snapping import SNAPPING_NATS, SNAPPING_ROWS, constant_addends, never, snapped
from fouriertree.tolerances import ROUNDING

Floats = NDArray[np.float64]

#: steps of iteratively reweighted least squares, and the relative gain below which log-odds need no more of them
REWEIGHTING_STEPS, REWEIGHTING_TOLERANCE = 12, 1e-7
#: ratio of losses after and before the refit that other losses than squares may have
REWEIGHTED_LOSS_RATIO = 1.5
#: rows that are searched for poles
POLE_ROWS = 20_000
#: a form is decided by few rows if predictions of rows that were left out are so many times worse than expected
LEAVE_ONE_OUT_RATIO = 5.0
#: its powers are factors in whose products no constant is short
GENERIC_UNIT = 1.0712345678
#: rows from which on this is tested, rows at most, and constants at most: a sum of hundreds of terms would take seconds
LEAST_ROWS, MOST_ROWS, MOST_CONSTANTS = 20, 20_000, 50


@dataclass(frozen=True)
class Equation:
    """A finalized candidate: a model refitted to all rows, and its row in the table."""

    model: Model
    complexity: int
    training_loss: float  #: on the training set, before the validation set was used
    validation_loss: float
    loss: float  #: on all rows, after the refit to them
    r2: float
    may_have_pole: bool
    validation_errors: Floats = field(default_factory=lambda: np.zeros(0))
    #: squared error of predictions of rows that are left out; the loss where that is not estimated
    left_out_loss: float = 0.0
    few_rows_decide: bool = False  #: predictions of rows that are left out are far worse than expected
    not_identifiable: bool = False  #: the rows do not determine its terms, see `selection.identifiability`
    periodic: bool = False  #: it has a wave
    expected_ratio: float = 1.0  #: of the expected loss on new rows to the loss
    #: the same function in units in which no constant is short, by which equations are compared; itself by default
    generic: Model | None = None
    generic_complexity: int = 0
    worse_than_linear: bool = False  #: the full linear model is expected to predict better
    #: chosen although another description is shorter, which is worse than the linear model
    preferred: bool = False

    @property
    def n_parameters(self) -> int:
        """The number of fitted constants, those that were snapped included."""
        return len(code_lengths.fitted_constants(self.model.expression))

    @property
    def form_complexity(self) -> int:
        """The complexity in generic units."""
        return self.complexity if self.generic is None else self.generic_complexity

    def description_length(self, objective: Objective) -> float:
        """Of the target by this equation in generic units, so that the units of the data do not matter."""
        model = self.model if self.generic is None else self.generic
        return code_lengths.description_length(model, self.form_complexity, self.loss, objective)

    @property
    def expected_loss(self) -> float:
        """The expected loss on new rows."""
        return self.expected_ratio * self.loss


@dataclass(frozen=True)
class Deadline:
    """Whether a moment has passed, by `time.time`, which processes share."""

    moment: float

    def __call__(self) -> bool:
        return time.time() > self.moment


@dataclass(frozen=True)
class Finalizer(Shared):
    """How candidates become equations; when `out_of_time`, constants stay as the search left them."""

    objective: Objective
    primitives: PrimitiveSet
    complexity: Complexity
    names: tuple[str, ...] | None = None
    out_of_time: Callable[[], bool] = never
    #: whether the rows determine the terms, and how the loss on new rows compares, is tested
    checked: bool = True
    #: whether the target is log y: a constant addend c is the factor e^c of y, which is not snapped as its logarithm
    of_logarithm: bool = False

    def __call__(self, candidate: Candidate, snap: bool = True) -> Equation | None:
        """The equation, with constants that fit all rows best; None if it is not finite on all of them."""
        objective = self.objective
        first = self._on_training_set(candidate, snap)
        before = objective.values([first])[0]
        if not np.isfinite(before).all():
            return None
        final = first if self.out_of_time() else self._refitted(first, snap)
        if final.size != first.size and not self.out_of_time():
            # Snapped constants made another form possible, whose constants have not been refitted.
            final = self._refitted(final, snap)
        after = objective.values([final])[0]
        # A refit that made it worse, by rounding or by diverging, is taken back.
        limit = max(self._loss_ratio * objective.mean_loss(before), objective.exact)
        if not objective.mean_loss(after) <= limit:
            final, after = first, before
        return self._equation(final, before, after)

    def as_written(self, first: Expression, final: Expression) -> Equation | None:
        """The equation of an expression with fitted constants, in its form; None if it is not finite on all rows.

        `first` has constants fitted to the training set, `final` those fitted to all rows.
        """
        before, after = self.objective.values([first, final])
        if not (np.isfinite(before).all() and np.isfinite(after).all()):
            return None
        return self._equation(final, before, after)

    def _on_training_set(self, candidate: Candidate, snap: bool) -> Expression:
        """The candidate in canonical form, with constants that the validation set has not influenced."""
        objective = self.objective
        coefficients = np.array(candidate.coefficients)
        kept, best = significant_terms(objective, coefficients, list(candidate.expressions))
        if objective.loss.logistic:
            # A factor of one would not be written down, and not be fitted.
            best = np.where(np.abs(best) == 1.0, (1.0 + 1e-9) * best, best)
        terms = [candidate.expressions[i] for i in kept]
        whole = self._canonical(sum_of_terms(best.tolist(), terms))
        if objective.loss.logistic:
            # A search fits squares; log-odds are fitted to the training set before the validation set judges them.
            whole = refitted(whole, objective.training_only(), self.out_of_time, snap)
        return whole

    def _refitted(self, expression: Expression, snap: bool) -> Expression:
        return self._canonical(
            refitted(expression, self.objective, self.out_of_time, snap, self.of_logarithm)
        )

    def _canonical(self, expression: Expression) -> Expression:
        positive = self.objective.data.positive
        whole = canonical(expression, self.primitives, positive)
        whole = self._shortened(whole, without_negligible(whole, self.objective.data.X))
        whole = self._shortened(whole, shorter(whole, Vocabulary(self.primitives), self.complexity))
        return with_split_logs(whole, self.primitives, positive) if self.of_logarithm else whole

    def _shortened(self, whole: Expression, short: Expression) -> Expression:
        """The canonical form of a shorter expression, if it fits as well up to rounding."""
        if short is whole:
            return whole
        objective = self.objective
        before, after = map(objective.mean_loss, objective.values([whole, short]))
        if not after <= max((1.0 + ROUNDING) * before, objective.exact):
            return whole
        return canonical(short, self.primitives, objective.data.positive)

    @property
    def _loss_ratio(self) -> float:
        """The ratio of losses after and before the refit that snapping may cost."""
        if not self.objective.loss.squared:
            return REWEIGHTED_LOSS_RATIO
        return float(np.exp(2.0 * SNAPPING_NATS / min(self.objective.data.n_rows, SNAPPING_ROWS)))

    def _equation(self, final: Expression, before: Floats, after: Floats) -> Equation:
        """The row of the table; `before` and `after` are predictions of the first and of the final form."""
        objective, data = self.objective, self.objective.data
        rows = slice(0) if objective.loss.logistic else data.validation
        errors = errors_of(data.y[rows], before[rows], objective.loss.measure)
        model = Model.from_expression(final, self.names).ordered()
        generic = Model.from_expression(self._in_generic_units(final))
        return Equation(
            model,
            self.complexity(model.expression),
            objective.mean_loss(before, data.training),
            objective.mean_loss(before, data.validation),
            objective.mean_loss(after),
            objective.explained(after),
            may_have_pole(final, data.X[:: 1 + data.n_rows // POLE_ROWS]),
            errors,
            *self._left_out(final, objective.mean_loss(after)),
            not_identifiable=self.checked and self._is_not_identifiable(model, objective.mean_loss(after)),
            periodic=has_wave(model),
            expected_ratio=self._expected_ratio(model, objective.mean_loss(after)) if self.checked else 1.0,
            generic=generic,
            generic_complexity=self.complexity(generic.expression),
        )

    def _in_generic_units(self, final: Expression) -> Expression:
        """The function with every feature, and the target, in a unit in which no constant is short."""
        if (final.op >= USER_OPCODE_START).any():
            return final
        units = [GENERIC_UNIT ** (1 + i % 100) for i in range(self.objective.data.n_features)]
        # Log-odds and logarithms have no unit.
        plain = self.objective.loss.logistic or self.of_logarithm
        whole = final if plain else Expression.constant(GENERIC_UNIT) * final
        return rescaled(whole, units, self.primitives, self.objective.data.positive)

    def _is_not_identifiable(self, model: Model, loss: float) -> bool:
        objective = self.objective
        X, y, weights = objective.data.without_repetitions
        tested = len(y) <= MOST_ROWS and len(model.expression.constants) <= MOST_CONSTANTS
        if not objective.loss.squared or not tested or loss <= objective.exact:
            return False
        return (
            has_undersampled_wave(model, X)
            or has_cancelling_terms(
                Model.from_expression(expanded(model.expression, Vocabulary(self.primitives))), X
            )
            or has_undetermined_coefficient(model, X, y, weights * objective.loss.row_weights(y))
        )

    def _expected_ratio(self, model: Model, loss: float) -> float:
        """(n + p)/(n − p) for p parameters fitted to n rows: Akaike's final prediction error.

        Infinite for more parameters than a third of the rows, unless there are three of them at most, or the equation
        is exact and does not interpolate.
        """
        n, p = self.objective.data.n_rows, len(code_lengths.fitted_constants(model.expression))
        if loss <= self.objective.exact and p < n - 1:
            return 1.0
        return (n + p) / (n - p) if p <= max(3, n // 3) and p < n else np.inf

    def _left_out(self, final: Expression, loss: float) -> tuple[float, bool]:
        """The loss of rows that are left out, and whether few rows decide."""
        objective = self.objective
        X, y, weights = objective.data.without_repetitions
        tested = LEAST_ROWS <= len(y) <= MOST_ROWS and len(final.constants) <= MOST_CONSTANTS
        if not objective.loss.squared or not tested or loss <= objective.exact:
            return loss, False
        weights = weights * objective.loss.row_weights(y)
        ratio, relative = leave_one_out_ratios(final, X, y, weights)
        return ratio * loss, relative > LEAVE_ONE_OUT_RATIO


def finalized(job: tuple[Finalizer, Candidate, bool]) -> Equation | None:
    """The equation of a candidate, as a task."""
    finalizer, candidate, snap = job
    # Values that are not finite are left out wherever they occur.
    with np.errstate(all="ignore"):
        return finalizer(candidate, snap)


def refitted(
    expression: Expression,
    objective: Objective,
    out_of_time: Callable[[], bool] = never,
    snap: bool = True,
    of_logarithm: bool = False,
) -> Expression:
    """The expression with its constants fitted to all rows, and short ones where they do as well."""
    data, loss = objective.data, objective.loss
    if loss.squared:
        rows = data.X, data.y, objective.weights
        if not snap:
            return refit_constants(expression, *rows)
        return snapped(expression, *rows, out_of_time, constant_addends(expression) if of_logarithm else ())
    best, least = expression, np.inf
    for _ in range(REWEIGHTING_STEPS):
        if out_of_time():
            break
        with np.errstate(all="ignore"):
            predicted = expression.evaluate(data.X)
            if loss.logistic:
                # Newton's steps may go too far; then the best expression on the way is kept.
                if not (cost := objective.mean_loss(predicted)) < least * (1.0 - REWEIGHTING_TOLERANCE):
                    break
                best, least = expression, cost
            target, weights = loss.working(data.y, predicted)
        expression = refit_constants(expression, data.X, target, data.weights * weights)
    return best if loss.logistic else expression


def with_split_logs(whole: Expression, primitives: PrimitiveSet, positive: Container[int] = ()) -> Expression:
    """c·log(k·e) as c·log(e) + c·log(k) in a sum, with as many constants.

    >>> from fouriertree.expr import parse
    >>> print(with_split_logs(parse("3*log(2*x0) + x1"), PrimitiveSet.default()).text(digits=5))
    3*log(x0) + x1 + 2.0794
    """
    model, shift = Model.from_expression(whole), 0.0
    terms = list(model.expressions)
    for i, (coefficient, term) in enumerate(zip(model.coefficients, terms, strict=True)):
        if term.op[-1] == LOG:
            factor, rest = split_number(term.part(0, term.size - 1), primitives, positive)
            if factor > 0.0 and factor != 1.0 and rest.columns:
                terms[i], shift = Expression.apply("log", rest), shift + coefficient * log(factor)
    if shift == 0.0:
        return whole
    total = sum_of_terms([*model.coefficients, shift], [*terms, Expression.constant(1.0)])
    return canonical(total, primitives, positive)


def significant_terms(
    objective: Objective, coefficients: Floats, expressions: list[Expression]
) -> tuple[list[int], Floats]:
    """Which terms are more than rounding, and their coefficients; of an exact sum, as few terms as stay exact."""
    data, values = objective.data, objective.values(expressions)
    sizes = np.abs(values).max(axis=1) * np.abs(coefficients)
    kept = np.flatnonzero(sizes > ROUNDING * np.abs(data.y).max()).tolist() or [0]
    best = coefficients[kept]
    if objective.mean_square(data.y - best @ values[kept]) > objective.exact:
        return kept, best
    for i in sorted(kept, key=lambda i: -expressions[i].size):
        if fewer := [j for j in kept if j != i]:
            solution = least_squares(objective, values[fewer])
            if objective.mean_square(data.y - solution @ values[fewer]) <= objective.exact:
                kept, best = fewer, solution
    return kept, best


def least_squares(objective: Objective, values: Floats) -> Floats:
    """Weighted least-squares coefficients of the rows of `values` (k, n): (k,)."""
    roots = np.sqrt(objective.weights)
    # Columns of unit size, so that the units of features do not matter.
    scales = np.abs(values * roots).max(axis=1)
    scales[scales == 0.0] = 1.0
    design = (values * roots / scales[:, None]).T
    solution: Floats = np.linalg.lstsq(design, roots * objective.data.y, rcond=None)[0] / scales
    return solution
