"""Products of functions of one variable each, over one to three variables, all of them screened by matrix products.

For factors f of one variable and g of another, every quantity of gain(v) = ⟨r,v⟩² / (‖v‖² − ‖Qᵀv‖²) with v = f·g is a
matrix product over all pairs; with a third variable, the products of the first two take the place of f.  Of every form,
the inner constants from the grid with the shortest description are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.engine.screen import best_of_blocks, first_of_each, subtract_squares
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search.hybrid.functions import WIDE, BasisFunction, Floats, function_values, single

Indices = NDArray[np.intp]
Singles = NDArray[np.float32]

#: a product of which less than this share (squared) lies outside the span cannot be told from rounding in float32
NOVELTY = 1e-4
#: variables of products of three at most: those with the best products of one and two
MAX_VARIABLES_OF_TRIPLES = 5
#: inner constants of a form, beyond which products of three factors use every second one
FEW_CONSTANTS = 5
#: quarters of a period of a wave between 0 and the largest value of the variable; beyond the last one in equal steps
QUARTERS, LARGEST_QUARTERS, STEP_OF_QUARTERS = (0.3, 0.6, 1.0, 1.4, 1.9, 2.4, 3.0, 3.6), 20.0, 0.7
#: inner constants relative to the range, or to the size, of the variable
GROWTH = (0.3, 0.7, 1.3, 2.2, 3.5, 6.0, 10.0)
BELLS = (0.4, 1.0, 2.0, 4.0, 9.0, 20.0)
SATURATIONS = (0.4, 0.8, 1.5, 3.0, 6.0)
SHIFTS = (0.05, 0.15, 0.35, 0.7, 1.5, 4.0)
#: quantiles of the variable at which the logarithm of a multiple is zero
ZEROS = (0.1, 0.3, 0.5, 0.7, 0.9)
#: exponents between those of `WIDE`, which are fitted
EXPONENTS = (0.3, 0.7, 1.25, 1.75, 2.5, -0.3, -0.7, -1.25, -2.5)
#: phases of sin(k·x + m) beside 0 and π/2, at quarters of a period up to the last one
PHASES, LAST_QUARTER_OF_PHASES = (0.25 * np.pi, 0.75 * np.pi), 3.0
#: slopes of a logistic function relative to the range of the variable, and quantiles at which it is ½
SLOPES, MIDDLES = (-12.0, -5.0, 5.0, 12.0), (0.2, 0.5, 0.8)
#: functions with two inner constants, which products of three factors leave out
WITH_TWO_CONSTANTS = frozenset(("sinphase", "logistic"))


def factors(
    V: Floats, v: Vocabulary, periods: int, size: int, rare: bool = True
) -> list[tuple[BasisFunction, Floats]]:
    """Functions of one variable each with inner constants from grids, those of one form after one another.

    Of more than `size`, every second or third one of each variable, and the variable itself.  The `rare` ones are
    powers with other exponents, waves with a phase, and logistic functions.
    """
    found = [list(_factors_of(i, V[i], len(V), v, periods, rare)) for i in range(len(V))]
    step = max(1, -(-sum(map(len, found)) // size))
    return [factor for of_variable in found for factor in of_variable[::step]]


def _factors_of(
    i: int, u: Floats, d: int, v: Vocabulary, periods: int, rare: bool
) -> Iterator[tuple[BasisFunction, Floats]]:
    if not np.isfinite(u).all() or np.ptp(u) == 0.0:
        return
    low, high = float(u.min()), float(u.max())
    size, reach, spread = float(np.sqrt(np.mean(u * u))), float(np.abs(u).max()), high - low
    for p in WIDE:
        if v.can_raise(p) and (p == int(p) or low > 0.0) and (p > 0.0 or (u != 0.0).all()):
            values = u**p
            if np.isfinite(values).all() and np.ptp(values) > 0.0:
                yield BasisFunction(single(d, i, p)), values
    x = single(d, i, 1.0)
    largest = min(LARGEST_QUARTERS, 4.0 * periods)
    grids = chain(
        ((name, [(k, 0.0) for k in ks]) for name, ks in _grids(v, u, low, size, reach, spread, largest)),
        _rare_grids(v, u, spread, reach) if rare else (),
    )
    for name, constants in grids:
        powers = single(d, i, 2.0) if name == "bell" else x
        plain = "exp" if name == "bell" else name
        for k, m in constants:
            values = function_values(plain, k, u**2 if name == "bell" else u, m)
            largest = np.abs(values).max()
            if np.isfinite(largest) and np.ptp(values) > 0.0 and (largest < 1e12 or name == "power"):
                yield BasisFunction(powers, plain, k, other=m), values


def _rare_grids(
    v: Vocabulary, u: Floats, spread: float, reach: float
) -> Iterator[tuple[str, Sequence[tuple[float, float]]]]:
    """Names of basis functions with pairs of inner constants; a power has only one."""
    if v.has_powers and u.min() > 0.0:
        yield "power", [(k, 0.0) for k in EXPONENTS]
    if "sin" in v and "add" in v:
        steps = [step for step in QUARTERS if step <= LAST_QUARTER_OF_PHASES]
        yield "sinphase", [(0.5 * np.pi * step / reach, m) for step in steps for m in PHASES]
    if "exp" in v and "add" in v and v.divides:
        middles = np.quantile(u, MIDDLES).tolist()
        yield "logistic", [(k / spread, -k / spread * middle) for k in SLOPES for middle in middles]


def _grids(
    v: Vocabulary, u: Floats, low: float, size: float, reach: float, spread: float, quarters: float
) -> Iterator[tuple[str, Sequence[float]]]:
    """Names of basis functions with their inner constants; "bell" is exp(−k·u²)."""
    steps = list(QUARTERS)
    while steps[-1] + STEP_OF_QUARTERS < quarters:
        steps.append(steps[-1] + STEP_OF_QUARTERS)
    for name in ("sin", "cos"):
        if name in v:
            yield name, [0.5 * np.pi * step / reach for step in steps]
    if "exp" in v:
        yield "exp", [sign * k / spread for sign in (-1.0, 1.0) for k in GROWTH]
        yield "bell", [-k / reach**2 for k in BELLS]
    if "tanh" in v:
        yield "tanh", [k / size for k in SATURATIONS]
    if "log" in v and low > 0.0:
        yield "log", [0.0]
        # In a product, log(k·u) = log u + log k is no sum of other factors.
        zeros = np.quantile(u, ZEROS).tolist()
        yield "logscale", [1.0 / zero for zero in (0.5 * low, *zeros, 2.0 * reach)]
    shifts = [k * size for k in SHIFTS if low + k * size > 0.02 * size]
    if "log" in v:
        yield "logshift", shifts
    if "add" in v:
        yield "shift", [*(k * size for k in SHIFTS), *(-k * size for k in SHIFTS)]
        if v.divides:
            yield "shift^-1", shifts


@dataclass(frozen=True, eq=False)
class Factors:
    """Factors of one variable each, as the screening uses them."""

    values: Singles  #: (n_factors, n_rows), of unit mean square
    variables: Indices  #: (n_factors,), in increasing order
    forms: Indices  #: (n_factors,) numbers of the forms, those of one form after one another
    complexities: Singles  #: (n_factors,), the same for all of one form
    numbers: Indices  #: (n_factors,) in the dictionary
    rare: NDArray[np.bool_]  #: (n_factors,) those that are in no products of three

    def take(self, chosen: Indices) -> Factors:
        return Factors(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def coarse(self) -> Factors:
        """Every second factor of the forms with many inner constants: products of three are many."""
        first = np.searchsorted(self.forms, self.forms)
        many = np.bincount(self.forms)[self.forms] > FEW_CONSTANTS
        second = (np.arange(len(self.forms)) - first) % 2 == 1
        return self.take(np.flatnonzero((~many | second) & ~self.rare))

    def by_variable(self) -> dict[int, Factors]:
        variables = np.unique(self.variables).tolist()
        return {i: self.take(np.flatnonzero(self.variables == i)) for i in variables}

    def blocks(self) -> tuple[Indices, Singles]:
        """Numbers of the runs of factors of one form, from 0 on, and the complexities of the forms."""
        begins = np.append(True, self.forms[1:] != self.forms[:-1])
        return np.cumsum(begins) - 1, self.complexities[begins]

    def complexities_of(self, chosen: Indices) -> Singles:
        """Complexities of products of factors (n_products, 3), where −1 stands for no factor."""
        used = chosen >= 0
        found: Singles = np.where(used, self.complexities[chosen] + 1.0, 0.0).sum(axis=1)
        return found

    def products(self, chosen: Indices) -> Singles:
        """Values of the products of factors (n_products, 3), where −1 stands for no factor."""
        values = np.ones((len(chosen), self.values.shape[1]), np.float32)
        for column in chosen.T:
            used = column >= 0
            values[used] *= self.values[column[used]]
        return values


@dataclass(frozen=True)
class Screen:
    """What products are scored with: residual (n,) of unit length and basis (k, n), times the roots of the weights."""

    residual: Singles
    basis: Singles
    weights: Singles
    loss: float  #: of the residual, relative to the target
    floor: float  #: added to every loss

    def best_of_blocks(
        self, left: Singles, right: Singles, rows: Indices, columns: Indices
    ) -> tuple[Singles, Indices]:
        """The largest gains of products of a row of each matrix, one of every block, and their places."""
        norms = (np.square(left) * self.weights) @ np.square(right).T
        outside = norms.copy()
        for q in self.basis:
            subtract_squares((left * q) @ right.T, outside)
        shape = int(rows[-1]) + 1, int(columns[-1]) + 1
        gains, places = np.empty(shape, np.float32), np.zeros(shape, np.intp)
        products = (left * self.residual) @ right.T
        best_of_blocks(products, norms, outside, NOVELTY, rows, columns, gains, places)
        return gains, places

    def lengths(self, gains: NDArray[np.floating[Any]], complexities: NDArray[np.floating[Any]]) -> Singles:
        """Description lengths after shares of the squared residual have been taken away."""
        losses = self.loss * np.clip(1.0 - gains, 1e-6, 1.0) + self.floor
        lengths: Singles = approximate_length(len(self.residual), losses, complexities)
        return lengths


@dataclass(frozen=True, eq=False)
class Best:
    """Products over one to three variables."""

    lengths: Singles  #: (m,) of the descriptions
    factors: Indices  #: (m, 3) numbers in the dictionary, −1 for no factor

    def take(self, count: int) -> Best:
        order = np.argsort(self.lengths, kind="stable")[:count]
        return Best(self.lengths[order], self.factors[order])

    @classmethod
    def joined(cls, parts: Sequence[Best]) -> Best:
        lengths, factors = [part.lengths for part in parts], [part.factors for part in parts]
        return cls(
            np.concatenate([np.empty(0), *lengths]), np.concatenate([np.empty((0, 3), np.intp), *factors])
        )


def _best_of_forms(parts: Sequence[Factors], screen: Screen) -> Best:
    """The best product of every form with one factor of each part; of one part, all of them."""
    *others, last = parts
    left, rows, costs = np.ones((1, last.values.shape[1]), np.float32), np.zeros(1, np.intp), np.zeros(1)
    for part in others:
        blocks, complexities = part.blocks()
        left = (left[:, None] * part.values[None]).reshape(-1, left.shape[1])
        rows = (rows[:, None] * len(complexities) + blocks).ravel()
        costs = (costs[:, None] + complexities + 1.0).ravel()
    columns, complexities = last.blocks() if others else (np.arange(len(last.forms)), last.complexities)
    gains, places = screen.best_of_blocks(left, last.values, rows, columns)
    lengths = screen.lengths(gains, costs[:, None] + complexities)
    found = np.full((gains.size, 3), -1, np.intp)
    entries = np.unravel_index(places.ravel(), [len(part.forms) for part in parts])
    for k, (part, entry) in enumerate(zip(parts, entries, strict=True)):
        found[:, k] = part.numbers[entry]
    return Best(lengths.ravel(), found)


def best_of_forms(factors: Factors, screen: Screen, counts: Sequence[int]) -> tuple[Indices, int]:
    """The products (m, 3) of one, two and three factors with the shortest descriptions, the shortest first.

    Those of several factors are one of every form; of single factors, all inner constants are there.  counts[k] of them
    have k + 1 factors, so that short products are among them.  The second value is the number of products that were
    compared.
    """
    variables, best, compared = np.unique(factors.variables).tolist(), Best.joined([]), 0
    for k, count in enumerate(counts, 1):
        if k == 3 and len(variables) > MAX_VARIABLES_OF_TRIPLES:
            variables = _best_variables(factors, best)
        used = (factors.coarse() if k == 3 else factors).by_variable()
        products = [[used[i] for i in subset] for subset in combinations(filter(used.get, variables), k)]
        compared += sum(math.prod(len(part.forms) for part in parts) for parts in products)
        best = Best.joined([best, Best.joined([_best_of_forms(p, screen) for p in products]).take(count)])
    return best.take(len(best.lengths)).factors, compared


def _best_variables(factors: Factors, best: Best) -> list[int]:
    """The variables of the best products so far, in their order."""
    order = best.take(len(best.lengths)).factors
    variables = factors.variables[order[order >= 0]]
    return sorted(variables[first_of_each(variables, MAX_VARIABLES_OF_TRIPLES)].tolist())
