"""One transformed target: sums of basis functions are extended by screening, and fitted by variable projection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.engine.compiled import CompiledEngine
from fouriertree.engine.screen import first_of_each, losses_of_ratios
from fouriertree.expr import Expression, Programs
from fouriertree.expr.opcodes import VAR
from fouriertree.expr.programs import ranges
from fouriertree.expr.vocabulary import ONE
from fouriertree.projection import IncrementalQR
from fouriertree.projection.batches import SumBatch, copied, joined_programs
from fouriertree.projection.variable import FitData, FittedBatch, fit_batch
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.dictionary import (
    SMALL,
    SPECS,
    Dictionary,
    TermPacker,
    basis_functions,
    distinct,
    make_dictionary,
    periods_of,
)
from fouriertree.search.hybrid.evaluation import EXACT, Cost
from fouriertree.search.hybrid.reductions import Reduction, reduced_problem
from fouriertree.search.hybrid.screening import Pairs, best_products, best_sums
from fouriertree.search.hybrid.separable import (
    WITH_TWO_CONSTANTS,
    Factors,
    Screen,
    best_of_forms,
    factors,
)
from fouriertree.search.hybrid.transforms import terms_for_target, transform_named

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Hashes = NDArray[np.uint64]
Singles = NDArray[np.float32]

#: steps of variable projection for all proposed sums, and for the best of them; how many the best are
SHORT, LONG, FINALISTS = 4, 25, 24
#: the same where rows are few, which makes fits cheap and more candidates alike
FEW_ROWS, SHORT_OF_FEW, FINALISTS_OF_FEW = 100, 8, 32
#: other initial values for the inner constants of the best, or of all where rows are few
RESTARTS, RESTARTS_OF_FEW = 3, 5
#: pairs that are scored for every one that is fitted
PAIRS_PER_FIT = 16
#: terms of a denominator at most: with more, Σ c·b ≈ 1 and z = z·Σ c·b is almost an identity
MAX_DENOMINATOR = 2
#: variables at most for which sums may start from a linear function
MAX_LINEAR_STARTS = 3
#: a basis function of which less than this part is orthogonal to the terms so far is not added
NOVELTY = 1e-3
#: complexity that an inner constant of a factor counts for in addition, because it will be fitted
CONSTANT = 2.0
#: products of factors that are compared in pairs, of which some are fitted alone, and pairs that are fitted
PRODUCTS, SINGLE_PRODUCTS, PAIRS_OF_PRODUCTS = (600, 300, 150), 160, 240
#: transformed problems that a process keeps, and basis functions of reduced problems
MAX_CACHED, MAX_CACHED_BASES = 40, 6


@dataclass(frozen=True)
class Branch:
    """One way to search: a reduced problem, a transform of its target and a dictionary, the latter two by name."""

    reduction: Reduction
    transform: str
    dictionary: str


@dataclass(frozen=True)
class Sum:
    """Σ coefficients·expressions with its squared error relative to the transformed target."""

    expressions: tuple[Expression, ...] = ()
    coefficients: tuple[float, ...] = ()
    loss: float = 1.0
    form: int = 0  #: a hash of the structure, `SumBatch.shapes`

    @cached_property
    def complexity(self) -> int:
        return sum(2 + e.complexity for e in self.expressions)

    def length(self, n: int, floor: float = 0.0) -> float:
        """Description length in nats, up to a constant, at a noise floor."""
        return float(approximate_length(n, max(self.loss, EXACT) + floor, self.complexity))


def transformed_problem(context: SearchContext, branch: Branch) -> TransformedProblem | None:
    """The problem of a branch, from a cache of this process; None where its transform or dictionary is undefined."""
    return context.cached("problems", branch, MAX_CACHED, lambda: _transformed_problem(context, branch))


def _transformed_problem(context: SearchContext, branch: Branch) -> TransformedProblem | None:
    spec, v, reduction = SPECS[branch.dictionary], context.vocabulary, branch.reduction
    if (spec.ratio or spec.modulated) and not v.complete:
        return None
    problem = reduced_problem(context.data, reduction, context.data.screening)
    applied = transform_named(branch.transform).apply(problem.t, problem.weights)
    if applied is None:
        return None
    z, weights = applied
    size = min(spec.max_size, context.options.max_dictionary)
    if spec.max_factors:
        if not ("add" in v and "mul" in v):
            return None
        made = factors(problem.V, v, periods_of(problem.V), size, spec.rare_factors)
        some = distinct([f for f, _ in made], np.array([values for _, values in made]), np.sqrt(weights))
        return SeparableProblem(context, branch, z, weights, some) if len(some) else None
    key = reduction, spec.n_monomials, spec.functions, spec.whole_powers
    basis = context.cached("bases", key, MAX_CACHED_BASES, lambda: basis_functions(problem.V, v, spec))
    dictionary = make_dictionary(basis, problem.V, z, np.sqrt(weights), v, spec, size)
    return TransformedProblem(context, branch, z, weights, dictionary) if len(dictionary) else None


class TransformedProblem:
    """A transformed target z over some variables, z ≈ Σ c·e, with weights and a dictionary.

    With a dictionary of ratios, z is the last feature, and terms z·e form a denominator: z ≈ Σ c·e / (1 − Σ d·e).
    Fits and screening add to `cost`; nothing else changes.
    """

    def __init__(
        self, context: SearchContext, branch: Branch, z: Floats, weights: Floats, dictionary: Dictionary
    ) -> None:
        self.vocabulary, self.branch, self.spec = context.vocabulary, branch, SPECS[branch.dictionary]
        self.options, self.seed = context.options, context.seed
        X = context.data.X[context.data.screening]
        self.X, self.z, self.roots = np.column_stack([X, z]), z, np.sqrt(weights)
        self.target = X.shape[1] if self.spec.ratio else None
        self.coordinates = self.roots * z
        self.length2 = float(self.coordinates @ self.coordinates) or 1.0
        self.data = FitData.prepare(self.X, z, weights)
        self.cost = Cost()
        small = len(dictionary) <= SMALL
        self.breadth = self.spec.breadth.of_small_dictionary() if small else self.spec.breadth
        weighted = dictionary.values * self.roots
        #: weighted basis functions of unit length: (n_functions, n_rows); screening needs no more digits
        self.units = (weighted / np.linalg.norm(weighted, axis=1, keepdims=True)).astype(np.float32)
        numbers: dict[object, int] = {}
        #: the number of the form of every basis function
        self.forms = np.array([numbers.setdefault(f.form, len(numbers)) for f in dictionary.functions])
        self.factors = np.array([i for i, f in enumerate(dictionary.functions) if not f.below])
        plain = dictionary.values[self.factors]
        self.plain = (plain / np.sqrt(np.mean(plain**2, axis=1, keepdims=True))).astype(np.float32)
        self._engine = CompiledEngine()
        self._rows = self._engine.prepare(self.X)
        variables = branch.reduction.variables
        templates: dict[object, Expression] = context.cached("templates", variables, MAX_CACHED_BASES, dict)
        self._packer = TermPacker(dictionary.functions, self.vocabulary, variables, self.target, templates)

    @property
    def n_rows(self) -> int:
        return len(self.z)

    @property
    def ranking(self) -> tuple[int, float]:
        """Number of rows and noise floor, which description lengths depend on."""
        return self.n_rows, self.spec.noise_floor

    @property
    def linear_starts(self) -> list[tuple[Expression, ...]]:
        variables = self.branch.reduction.variables
        few = self.spec.linear_starts and len(variables) <= MAX_LINEAR_STARTS
        return [(ONE, x) for x in variables] if few else []

    def terms_for_target(self, s: Sum) -> tuple[Expression, ...] | None:
        """Terms of y, with a variable beyond all features as the one that stands for z."""
        transform = transform_named(self.branch.transform)
        target = -1 if self.target is None else self.target
        return terms_for_target(
            self.vocabulary, self.branch.reduction, transform, s.coefficients, s.expressions, target
        )

    # Screening ------------------------------------------------------------------------------------------------
    def extensions(self, start: Sum) -> Fits:
        """The most promising sums with one or two terms more than `start`, fitted, best first."""
        basis, residual = self._projection(start)
        length = float(np.linalg.norm(residual))
        if length == 0.0:
            return NO_FITS
        r32, q32 = (residual / length).astype(np.float32), basis.T.astype(np.float32)
        additions, n_new = self._additions(r32, q32, length**2 / self.length2)
        return self._best_fits(extended(start.expressions, additions, n_new), start)

    def _additions(self, r32: Singles, q32: Singles, loss: float) -> tuple[list[Programs], NDArray[np.int64]]:
        """Terms to add, by screening, and how many of them each sum gets.

        The residual (n,) is of unit length, the basis (k, n) orthonormal; `loss` is relative to the target.
        """
        additions: list[Programs] = []
        n_new: list[int] = []  # terms that each of them adds
        breadth = self.breadth
        fresh, directions = self.directions(q32)
        self.cost += Cost(0, len(self.units) * (len(q32) + 1))
        if len(fresh):
            cosines = np.abs(directions @ r32)
            chosen = fresh[np.argsort(-cosines, kind="stable")[: breadth.singles]]
            additions.append(self._packer.terms(chosen))
            n_new += [1] * len(chosen)
            if breadth.sums and "add" in self.vocabulary:
                pairs = best_sums(directions, r32, PAIRS_PER_FIT * breadth.sums)
                left, right = self._distinct(pairs, fresh, breadth.sums)
                n_pairs = len(fresh) * (len(fresh) - 1) // 2
                self.cost += Cost(n_pairs, n_pairs)
                additions.append(self._packer.terms(np.stack([left, right], axis=1).ravel()))
                n_new += [2] * len(left)
        if breadth.products and "mul" in self.vocabulary and self.target is None:
            pairs = best_products(self.plain, self.units, r32, q32, PAIRS_PER_FIT * breadth.products)
            left, right = self._distinct(pairs, self.factors, breadth.products)
            n_pairs = len(self.factors) * (len(self.factors) + 1) // 2
            self.cost += Cost(n_pairs, n_pairs * (2 + len(q32)))
            additions.append(self._packer.terms(left, right))
            n_new += [1] * len(left)
        return additions, np.array(n_new, np.int64)

    def directions(self, basis: Singles) -> tuple[Indices, Singles]:
        """Basis functions outside of the span of the terms so far, and their normalized orthogonal parts (m, n)."""
        outside = self.units - (self.units @ basis.T) @ basis
        norms = np.sqrt(np.einsum("ij,ij->i", outside, outside))
        fresh = np.flatnonzero(norms > NOVELTY)
        outside = outside if len(fresh) == len(norms) else outside[fresh]
        outside /= norms[fresh, None]
        return fresh, outside

    def _distinct(self, pairs: Pairs, functions: Indices, count: int) -> tuple[Indices, Indices]:
        """The best pairs, but only one of every form: its constants will be fitted anyway."""
        left, right = functions[pairs.left], functions[pairs.right]
        a, b = self.forms[left], self.forms[right]
        both = np.minimum(a, b) * len(self.forms) + np.maximum(a, b)
        first = first_of_each(both, count)
        return left[first], right[first]

    def _projection(self, start: Sum) -> tuple[Floats, Floats]:
        """An orthonormal basis of the terms so far (n, k), and the residual."""
        projection = IncrementalQR().start(self.coordinates)
        for e in start.expressions:
            projection.add(self.roots * e.evaluate(self.X))
        basis = projection.basis
        assert basis is not None
        return basis, projection.residual

    # Fits -------------------------------------------------------------------------------------------------------
    def _best_fits(self, models: SumBatch, start: Sum) -> Fits:
        """Constants and coefficients fitted, with few steps for all and with many for the best; best first."""
        if not len(models):
            return NO_FITS
        few = self.n_rows <= FEW_ROWS
        steps, n_finalists = (SHORT_OF_FEW, FINALISTS_OF_FEW) if few else (SHORT, FINALISTS)
        fits = self._fits(models, steps).best_of_forms(*self.ranking)
        if self.target is not None:
            return fits.take(slice(n_finalists))
        again = fits if few else fits.take(np.arange(min(n_finalists, len(fits))))
        restarted = again.joined(self._fits(self._restarts(again.batch, few, start), steps))
        best = restarted.best_of_forms(*self.ranking).take(slice(n_finalists))
        return self._fits(best.batch, LONG).best_first(*self.ranking)

    def _restarts(self, sums: SumBatch, few: bool, start: Sum) -> SumBatch:
        """The same forms with other initial constants: local minima are many, and narrow."""
        rng = np.random.default_rng([self.seed, 4, start.form])
        which = np.flatnonzero(sums.n_free >= (1 if few else 2))
        copies = sums.take(np.repeat(which, RESTARTS_OF_FEW if few else RESTARTS))
        const, free = copies.programs.const.copy(), copies.free
        const[free] *= np.exp(rng.normal(0.0, 0.8, int(free.sum())))
        return copies.with_constants(const)

    def _fits(self, models: SumBatch, iterations: int) -> Fits:
        """Models with fitted constants, without those that are not finite."""
        fitted = fit_batch(models, self.data, iterations if self.target is None else 0)
        self.cost += Cost(len(models), int(np.sum((models.n_terms + 1) * (fitted.steps + 1))))
        losses = fitted.losses / self.length2 if self.target is None else self._losses_of_ratios(fitted)
        complexities = fitted.batch.complexities() + 2 * models.n_terms
        found = Fits(fitted.batch, fitted.coefficients, losses, complexities)
        finite = np.isfinite(losses)
        return found if finite.all() else found.take(np.flatnonzero(finite))

    def fitted(self, models: Sequence[Sequence[Expression]], iterations: int) -> list[Sum]:
        """Best first by description length, without those that are not finite."""
        if not models:
            return []
        return self._fits(SumBatch.pack(models), iterations).best_first(*self.ranking).sums()

    def _losses_of_ratios(self, fitted: FittedBatch) -> Floats:
        """Losses of Σ c·e / (1 − Σ d·b) with the coefficients of z = Σ c·e + Σ d·z·b; infinite where it is none."""
        batch, programs = fitted.batch, fitted.batch.programs
        uses_z = (programs.op == VAR) & (programs.arg == self.target)
        below = np.logical_or.reduceat(uses_z, programs.start)
        n_below = np.add.reduceat(below.astype(np.int64), batch.first)
        with np.errstate(all="ignore"):
            values = self._engine.evaluate(programs, self._rows)
        terms = fitted.coefficients, below, batch.first, batch.n_terms
        losses = losses_of_ratios(values, *terms, self.z, self.roots) / self.length2
        proper = (n_below < batch.n_terms) & (n_below <= MAX_DENOMINATOR) & np.isfinite(losses)
        return np.where(proper, losses, np.inf)

    def pruned(self, full: Sum) -> list[Sum]:
        """The sum without its least useful term, without its least two, …; the sum itself first."""
        path = [full]
        while len(path[-1].expressions) > 1:
            terms = path[-1].expressions
            fewer = self.fitted([terms[:i] + terms[i + 1 :] for i in range(len(terms))], LONG)
            if not fewer:
                break
            path.append(min(fewer, key=lambda s: s.loss))
        return path


class SeparableProblem(TransformedProblem):
    """A transformed target whose terms are products of functions of one variable each."""

    def __init__(
        self, context: SearchContext, branch: Branch, z: Floats, weights: Floats, dictionary: Dictionary
    ) -> None:
        super().__init__(context, branch, z, weights, dictionary)
        terms = self._packer.terms(np.arange(len(dictionary)))
        sums = SumBatch(terms, np.ones(len(dictionary), np.int64))
        variables = np.array([int(np.flatnonzero(f.powers)[0]) for f in dictionary.functions])
        complexities = sums.complexities() + CONSTANT * sums.n_free
        numbers = np.arange(len(dictionary))
        rare = np.array([f.name in WITH_TWO_CONSTANTS for f in dictionary.functions])
        self._factors = Factors(
            self.plain, variables, self.forms, complexities.astype(np.float32), numbers, rare
        )

    def _additions(self, r32: Singles, q32: Singles, loss: float) -> tuple[list[Programs], NDArray[np.int64]]:
        roots = self.roots.astype(np.float32)
        screen = Screen(roots * r32, roots * q32, roots**2, loss, self.spec.noise_floor)
        found, compared = best_of_forms(self._factors, screen, PRODUCTS[: self.spec.max_factors])
        single = found[:SINGLE_PRODUCTS]
        values = self._factors.products(found) * roots
        directions = values - (values @ q32.T) @ q32
        norms = np.linalg.norm(directions, axis=1)
        fresh = np.flatnonzero(norms > NOVELTY * np.linalg.norm(values, axis=1))
        pairs = best_sums(directions[fresh] / norms[fresh, None], r32, PAIRS_PER_FIT * PAIRS_OF_PRODUCTS)
        left, right = fresh[pairs.left], fresh[pairs.right]
        complexities = self._factors.complexities_of(found)
        lengths = screen.lengths(pairs.gain, complexities[left] + complexities[right])
        order = np.argsort(lengths, kind="stable")[:PAIRS_OF_PRODUCTS]
        both = np.stack([left[order], right[order]], axis=1).ravel()
        self.cost += Cost(compared, compared * (2 + len(q32)))
        n_new = np.repeat([1, 2], [len(single), len(order)])
        return [self._packer.products(single), self._packer.products(found[both])], n_new


@dataclass(frozen=True, eq=False)
class Fits:
    """Fitted sums in arrays, with their losses relative to the target and their complexities."""

    batch: SumBatch
    coefficients: Floats  #: (n_terms,)
    losses: Floats  #: (n_sums,)
    complexities: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.batch)

    def take(self, which: Any) -> Fits:
        chosen = np.arange(len(self))[which]
        terms = ranges(self.batch.first[chosen], self.batch.n_terms[chosen])
        return Fits(
            self.batch.take(chosen), self.coefficients[terms], self.losses[chosen], self.complexities[chosen]
        )

    def joined(self, other: Fits) -> Fits:
        programs = joined_programs([self.batch.programs, other.batch.programs])
        batch = SumBatch(programs, np.concatenate([self.batch.n_terms, other.batch.n_terms]))
        return Fits(
            batch,
            np.concatenate([self.coefficients, other.coefficients]),
            np.concatenate([self.losses, other.losses]),
            np.concatenate([self.complexities, other.complexities]),
        )

    def order(self, n: int, floor: float) -> Indices:
        """By description length at a noise floor, the shortest first."""
        lengths = approximate_length(n, np.maximum(self.losses, EXACT) + floor, self.complexities)
        return np.argsort(lengths, kind="stable")

    def best_first(self, n: int, floor: float) -> Fits:
        return self.take(self.order(n, floor))

    def best_of_forms(self, n: int, floor: float) -> Fits:
        """The best of every form, best first."""
        order = self.order(n, floor)
        return self.take(order[first_of_each(self.batch.shapes[order], len(order))])

    @cached_property
    def forms(self) -> list[int]:
        """Hashes of the structures."""
        return [int(form) for form in self.batch.shapes]

    def sum(self, i: int) -> Sum:
        terms = slice(self.batch.first[i], self.batch.last[i])
        coefficients = tuple(self.coefficients[terms].tolist())
        return Sum(self.batch.expressions(i), coefficients, float(self.losses[i]), self.forms[i])

    def sums(self) -> list[Sum]:
        return [self.sum(i) for i in range(len(self))]


NO_FITS = Fits(SumBatch.pack([]), np.empty(0), np.empty(0), np.empty(0, np.int64))


def extended(
    start: Sequence[Expression], additions: Sequence[Programs], n_new: NDArray[np.int64]
) -> SumBatch:
    """Sums of the terms of a start and of one or more new ones, which follow one another in the additions."""
    if not len(n_new):
        return SumBatch.pack([])
    source, k = joined_programs([Programs.pack(list(start)), *additions]), len(start)
    which = np.zeros((len(n_new), k + 2), np.int64)
    which[:, :k] = np.arange(k)
    at = k + np.cumsum(n_new) - n_new
    which[:, k], which[:, k + 1] = at, at + 1
    used = np.arange(k + 2) < (k + n_new)[:, None]
    return SumBatch(copied(source, which[used]), k + n_new)
