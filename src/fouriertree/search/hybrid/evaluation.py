"""Candidates of tasks: sums fitted to the training rows, of which those that may join the archive are completed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.archive import KEPT, NEAR, FrontLosses
from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.criteria.poles import POLE_LOSS_RATIO, may_have_pole
from fouriertree.engine.screen import first_of_each
from fouriertree.expr import Expression
from fouriertree.expr.canonical import canonical
from fouriertree.expr.opcodes import CONST
from fouriertree.model import sum_of_terms
from fouriertree.projection.batches import SumBatch
from fouriertree.projection.variable import Fitted, fit_batch, fit_constants
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.limits import simpler_forms

Floats = NDArray[np.float64]

#: floor of squared errors, relative to the target, in description lengths; `SearchContext.exact` decides on laws
EXACT = 1e-19
#: how much larger the squared error of a law may be on the validation set: inner constants carry rounding errors
VALIDATION_RATIO = 1e3
#: rows beyond the number of constants that make an exact fit certain without a validation set; at least twice as many
SPARE_ROWS = 4
#: the canonical form of a sum is rarely shorter than this share of its complexity
SHORTENED = 0.74
#: relative difference of losses below which two candidates count as the same function
SAME_LOSS = 1e-9


@dataclass(frozen=True)
class Cost:
    """Candidates that a task has evaluated, and its passes over the data."""

    candidates: int = 0
    traverses: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.candidates + other.candidates, self.traverses + other.traverses)


@dataclass(frozen=True)
class Fronts:
    """What a candidate has to improve on to join the archive."""

    training: FrontLosses = field(default_factory=FrontLosses)  #: by the loss on the training rows
    overall: FrontLosses = field(default_factory=FrontLosses)  #: by the loss on training and validation rows
    #: complexities of the archive, and the training losses of their entries
    entries: tuple[tuple[int, tuple[float, ...]], ...] = ()
    best_without_pole: float = 1.0

    def lowered(self, found: FittedCandidate) -> Fronts:
        """With another candidate."""
        entries = dict(self.entries)
        if found.is_law or self._is_near(found.loss, found.complexity):
            entries[found.complexity] = tuple(sorted([*entries.get(found.complexity, ()), found.loss])[:KEPT])
        return Fronts(
            self.training.lowered(found.complexity, found.loss),
            self.overall.lowered(found.complexity, found.overall_loss),
            tuple(sorted(entries.items())),
            self.best_without_pole if found.pole else min(self.best_without_pole, found.loss),
        )

    def may_admit(self, loss: float, complexity: float) -> bool:
        """Whether a candidate of at least this complexity may join: it is near the front, and not in the archive."""
        near = loss < NEAR * self.training.best(complexity - 1) or loss < self.overall.best(complexity)
        return near and not any(
            abs(loss - known) <= SAME_LOSS * loss for _, losses in self.entries for known in losses
        )

    def allow_pole(self, loss: float) -> bool:
        """Whether a candidate explains so much that its pole belongs to the law."""
        return loss <= POLE_LOSS_RATIO * self.best_without_pole

    def admit(self, loss: float, complexity: int, overall_loss: float) -> bool:
        """Whether a candidate would join, if it has no pole or may have one."""
        return self._is_near(loss, complexity) or overall_loss < self.overall.best(complexity)

    def _is_near(self, loss: float, complexity: int) -> bool:
        """Whether a candidate is near the front, and one of the best of its complexity."""
        known = dict(self.entries).get(complexity, ())
        return loss < NEAR * self.training.best(complexity - 1) and (len(known) < KEPT or loss < known[-1])


@dataclass(frozen=True)
class FittedCandidate:
    """Σ coefficients·terms for y, fitted to the training rows; losses are relative to Σ w·y²."""

    coefficients: tuple[float, ...]
    terms: tuple[Expression, ...]  #: over the features of the search data
    expressions: tuple[Expression, ...]  #: over the features of the problem
    complexity: int
    loss: float
    overall_loss: float  #: with the validation set; infinite with a pole, or without a validation set
    pole: bool
    is_law: bool  #: exact, on the validation set too


@dataclass(frozen=True)
class Evaluation:
    """Candidates that may join the archive, in the order of the models, and the shortest description of all models."""

    found: tuple[FittedCandidate, ...] = ()
    best: float = np.inf
    cost: Cost = field(default_factory=Cost)

    def __add__(self, other: Evaluation) -> Evaluation:
        best = min(self.best, other.best)
        return Evaluation((*self.found, *other.found), best, self.cost + other.cost)

    @property
    def has_law(self) -> bool:
        return any(found.is_law for found in self.found)

    def lowered(self, fronts: Fronts) -> Fronts:
        for found in self.found:
            fronts = fronts.lowered(found)
        return fronts


def evaluate(
    context: SearchContext, models: Sequence[Sequence[Expression]], fronts: Fronts, *, iterations: int = 40,
    max_terms: int = 0, may_be_law: bool = True,
) -> Evaluation:  # fmt: skip
    """Fit models to the training rows; those that may join the archive become candidates.

    Parameters
    ----------
    context : SearchContext
    models : sequence of sequences of Expression
        Terms over the features of the search data.
    fronts : Fronts
        Of the archive, as far as it is known.
    iterations : int, default=40
        Steps of variable projection.
    max_terms : int, default=0
        Of these models, where this is more than the option.
    may_be_law : bool, default=True
        Whether an exact model ends the search.
    """
    first = _fitted(context, models, fronts, iterations, max_terms, may_be_law)
    best = [found for found in first.found if found.loss < fronts.training.best(found.complexity)]
    again = [
        terms
        for found in best
        for terms in simpler_forms(found.coefficients, found.terms, context.data.X, context.vocabulary)
    ]
    if not again or first.has_law:
        return first
    return first + _fitted(context, again, first.lowered(fronts), iterations, max_terms, may_be_law)


def _fitted(
    context: SearchContext, models: Sequence[Sequence[Expression]], fronts: Fronts, iterations: int, max_terms: int,
    may_be_law: bool,
) -> Evaluation:  # fmt: skip
    options = context.options
    models = [model for model in models if options.allow(model, max_terms)]
    fixed = [[e.const == 1.0 for e in model] for model in models]
    fits = fit_constants(models, context.fit_data, iterations=iterations, fixed=fixed)
    found: list[FittedCandidate] = []
    best = np.inf
    for model, fit in zip(models, fits, strict=True):
        loss = fit.loss / context.length2
        if not np.isfinite(loss) or not np.isfinite(fit.coefficients).all():
            continue
        complexity = options.complexity_of(model)
        best = min(best, float(approximate_length(context.data.n_rows, max(loss, EXACT), complexity)))
        candidate = _completed(context, fit, loss, complexity, fronts)
        if candidate is not None:
            candidate = replace(candidate, is_law=candidate.is_law and may_be_law)
            found.append(candidate)
            fronts = fronts.lowered(candidate)
    passes = sum((len(model) + 1) * (fit.iterations + 1) for model, fit in zip(models, fits, strict=True))
    return Evaluation(tuple(found), best, Cost(len(models), passes))


def _completed(
    context: SearchContext, fit: Fitted, loss: float, complexity: int, fronts: Fronts
) -> FittedCandidate | None:
    """The candidate with its complexity as it would be written, if it may join the archive."""
    data, options, exact = context.data, context.options, loss <= context.exact
    # Canonical forms take a millisecond, so that most candidates are rejected without one.
    if not exact and not fronts.may_admit(loss, SHORTENED * complexity):
        return None
    terms, coefficients = tuple(fit.expressions), tuple(fit.coefficients.tolist())
    pole = any(may_have_pole(e, data.X) for e in terms)
    if not exact and pole and not fronts.allow_pole(loss):
        return None
    whole = canonical(sum_of_terms(coefficients, terms), None, data.positive)
    complexity = options.complexity(whole)
    if complexity > options.max_complexity or not (exact or fronts.admit(loss, complexity, loss)):
        return None
    validation = _validation_loss(context, coefficients, terms)
    overall = np.inf if pole or validation is None else loss + validation
    if not exact and not fronts.admit(loss, complexity, overall):
        return None
    expressions = tuple(data.to_problem(term) for term in terms)
    law = exact and _is_certain(context, terms, validation)
    return FittedCandidate(coefficients, terms, expressions, complexity, loss, overall, pole, law)


def _validation_loss(
    context: SearchContext, coefficients: Sequence[float], terms: Sequence[Expression]
) -> float | None:
    """Squared error on the validation set relative to Σ w·y² of the training rows; None without a validation set."""
    if context.data.validation is None:
        return None
    X, y, weights = context.data.validation
    with np.errstate(all="ignore"):
        error = y - sum(c * e.evaluate(X) for c, e in zip(coefficients, terms, strict=True))
        loss = float(np.sum(weights * np.square(error))) / context.length2
    return loss if np.isfinite(loss) else np.inf


def _is_certain(context: SearchContext, terms: Sequence[Expression], validation: float | None) -> bool:
    """Whether an exact sum is a law: exact on the validation set, too, or with many more rows than constants."""
    if context.data.validation is None or validation is None:
        n_constants = sum(1 + int(np.count_nonzero(e.op == CONST)) for e in terms)
        return context.data.n_rows >= max(n_constants + SPARE_ROWS, 2 * n_constants)
    _, y, weights = context.data.validation
    length2 = float(np.sum(weights * np.square(y)))
    return validation * context.length2 <= VALIDATION_RATIO * context.exact * length2


def screened(
    context: SearchContext, models: SumBatch, iterations: int, count: int, one_of_each_form: bool = False
) -> tuple[list[tuple[Expression, ...]], Cost]:
    """The models with the shortest descriptions after a short fit to the rows for screening."""
    if not len(models):
        return [], Cost()
    fits = fit_batch(models, context.screening_data, iterations)
    passes = int(np.sum((models.n_terms + 1) * (fits.steps + 1)))
    losses = np.maximum(fits.losses / context.screening_length2, EXACT)
    complexities = context.options.complexities(models)
    lengths = approximate_length(len(context.data.screening), losses, complexities)
    order = np.argsort(lengths, kind="stable")
    order = order[np.isfinite(lengths[order])]
    best = order[first_of_each(models.shapes[order], count)] if one_of_each_form else order[:count]
    return [fits.batch.expressions(i) for i in best.tolist()], Cost(len(models), passes)
