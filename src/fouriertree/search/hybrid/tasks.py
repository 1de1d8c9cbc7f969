"""Tasks of the hybrid search: plain data in, plain data out; results do not depend on where or when a task runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import ONE
from fouriertree.search.executors import Shared
from fouriertree.search.hybrid.baselines import linear_candidates, polynomial_candidates, rational_candidates
from fouriertree.search.hybrid.beam import Beam, expand
from fouriertree.search.hybrid.compositions import composition_candidates
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.evaluation import Evaluation, Fronts, evaluate
from fouriertree.search.hybrid.function_factors import function_factor_candidates
from fouriertree.search.hybrid.log_sums import log_sum_candidates
from fouriertree.search.hybrid.polynomials import multivariate_candidates
from fouriertree.search.hybrid.products import product_candidates
from fouriertree.search.hybrid.reductions import Reduction, Slopes, reduced_problem, single_index, slopes_of
from fouriertree.search.hybrid.replacement import replaced_candidates
from fouriertree.search.hybrid.transformed import Branch
from fouriertree.search.hybrid.variation import random_sums, vary


@dataclass(frozen=True)
class Outcome:
    """Candidates, and for some tasks a beam, a surrogate's gradient or a reduction."""

    evaluation: Evaluation = field(default_factory=Evaluation)
    beam: Beam | None = None
    slopes: Slopes | None = None
    reduction: Reduction | None = None


class Task(Protocol):
    """A pure function of the context and of the Pareto fronts when it was decided."""

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome: ...


@dataclass(frozen=True)
class Guesses:
    """A constant, and the formulas that the user suggests."""

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        formulas = [context.data.from_problem(guess) for guess in context.options.guesses]
        return Outcome(evaluate(context, [(ONE,), *formulas], fronts))


@dataclass(frozen=True)
class RandomSums:
    """Sums of a few random trees."""

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        return Outcome(random_sums(context, fronts))


@dataclass(frozen=True)
class Linear:
    """Linear models."""

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        return Outcome(linear_candidates(context, fronts))


@dataclass(frozen=True)
class Polynomial:
    """Polynomials of one feature for a transformed target."""

    transform: str

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        return Outcome(polynomial_candidates(context, self.transform, fronts))


@dataclass(frozen=True)
class MultivariatePolynomial:
    """Polynomials of the variables of a reduction."""

    reduction: Reduction

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        return Outcome(multivariate_candidates(context, self.reduction, fronts))


@dataclass(frozen=True)
class Rational:
    """Rational functions of the variable of a reduction."""

    reduction: Reduction

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        return Outcome(rational_candidates(context, self.reduction, fronts))


@dataclass(frozen=True)
class Composition:
    """Functions of sums, times products of powers, plus a product of powers."""

    reduction: Reduction
    kind: str

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        return Outcome(composition_candidates(context, self.reduction, self.kind, fronts))


@dataclass(frozen=True)
class ProductComposition:
    """Functions of products, times products of powers, plus a product of powers."""

    reduction: Reduction

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        return Outcome(product_candidates(context, self.reduction, fronts))


@dataclass(frozen=True)
class FunctionFactor:
    """Sums of two products of powers, times functions of products."""

    reduction: Reduction

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        return Outcome(function_factor_candidates(context, self.reduction, fronts))


@dataclass(frozen=True)
class LogSum:
    """Powers of sums, times products of powers, plus a product of powers, behind a logarithm."""

    reduction: Reduction

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        return Outcome(log_sum_candidates(context, self.reduction, fronts))


@dataclass(frozen=True)
class Surrogate:
    """The gradient of a surrogate of a reduction, for tests of symmetry."""

    reduction: Reduction
    target: str
    seed: int

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        problem = reduced_problem(context.data, self.reduction)
        return Outcome(slopes=slopes_of(problem, self.target, self.seed))


@dataclass(frozen=True)
class SingleIndex:
    """A reduction to one variable, by sorting."""

    reduction: Reduction

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        problem = reduced_problem(context.data, self.reduction)
        return Outcome(reduction=single_index(problem, context.vocabulary))


@dataclass(frozen=True)
class Expand:
    """Steps of a beam of branch number `number`, or of a part of it; without a beam, its first steps.

    `others` are sums that are expanded first.
    """

    number: int
    branch: Branch
    beam: Beam | None
    steps: int
    others: tuple[tuple[Expression, ...], ...] = ()

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        expansion = expand(context, self.branch, self.beam, self.steps, fronts, self.others)
        return Outcome(expansion.evaluation, expansion.beam)


@dataclass(frozen=True)
class Parents(Shared):
    """Sums of the archive with their description lengths."""

    sums: tuple[tuple[Expression, ...], ...]
    lengths: tuple[float, ...]


@dataclass(frozen=True)
class Vary:
    """Crossover and mutation of parents."""

    number: int
    parents: Parents

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        return Outcome(vary(context, self.parents.sums, self.parents.lengths, self.number, fronts))


@dataclass(frozen=True)
class Replace:
    """Neighbours of a sum, which differ from it in one function of one variable."""

    terms: tuple[Expression, ...]

    def run(self, context: SearchContext, fronts: Fronts) -> Outcome:
        return Outcome(replaced_candidates(context, self.terms, fronts))


@dataclass(frozen=True, eq=False)
class Job:
    """A task with all that it depends on."""

    context: SearchContext
    task: Task
    fronts: Fronts


def perform(job: Job) -> Outcome:
    """The outcome of a job."""
    # Values that are not finite are left out wherever they occur.
    with np.errstate(all="ignore"):
        return job.task.run(job.context, job.fronts)
