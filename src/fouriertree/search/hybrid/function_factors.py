"""Sums times a function of a product: y ≈ (c₁·m₁ + c₂·m₂)·f(a·Q) with products of powers m₁, m₂ and Q.

For given f, a and Q, y is linear in c₁ and c₂, so that all pairs of m₁ and m₂ are compared by the products ⟨y, f·m⟩ and
⟨f·m₁, f·m₂⟩.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.expr import Expression
from fouriertree.expr.vocabulary import NotAllowedError
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.evaluation import EXACT, Cost, Evaluation, Fronts, evaluate
from fouriertree.search.hybrid.functions import Powers, power_values, products_of_powers
from fouriertree.search.hybrid.products import FUNCTIONS, RARE, allowed_functions, constants_of, costs_of
from fouriertree.search.hybrid.reductions import Reduction, reduced_problem
from fouriertree.search.hybrid.transforms import models_for_target, weighted_sum

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: variables of a problem at least and at most
FEWEST, MOST = 2, 9
#: rows for comparisons
ROWS = 100
#: products m and Q at most, and their variables
MOST_TERMS, MOST_ARGUMENTS, VARIABLES = 45, 70, 2
#: exponents, which in Q are the same for both variables but for signs, and products from which those are chosen
EXPONENTS, LARGEST = (1.0, -1.0, 2.0, -2.0), 2000
#: functions at a time, and sums that are fitted to all rows
CHUNK, WRITTEN = 200, 12
#: a second term of which less than this share lies outside of the first one is none
NOVELTY = 1e-4
#: |f| at least, relative to its largest value
SMALLEST = 1e-6


class _Functions(NamedTuple):
    """f(a·Q) on the rows (k, n), with names, constants a for Q of mean square 1, and numbers of Q."""

    values: Floats
    names: list[str]
    constants: Floats
    arguments: Indices


def function_factor_candidates(context: SearchContext, reduction: Reduction, fronts: Fronts) -> Evaluation:
    """Sums of two products of powers times a function of a product, for a reduced problem."""
    v, given = context.vocabulary, reduced_problem(context.data, reduction, context.data.screening[:ROWS])
    finite = all(np.isfinite(values).all() for values in (given.V, given.t, given.weights))
    if not (v.complete and FEWEST <= len(given.V) <= MOST and finite and given.t.any()):
        return Evaluation()
    terms = products_of_powers(given.V, v, VARIABLES, MOST_TERMS, EXPONENTS)
    every = products_of_powers(given.V, v, VARIABLES, LARGEST, EXPONENTS)
    arguments = [powers for powers in every if len({abs(p) for p in powers if p}) == 1][:MOST_ARGUMENTS]
    M, Q = power_values(given.V, terms), power_values(given.V, arguments)
    units = np.sqrt(np.mean(np.square(Q), axis=1))
    functions = _functions(context, Q / units[:, None])
    best, n_compared = _best_sums(M, given.t, given.weights, functions, terms, arguments)
    models = []
    for i, first, second, coefficients in best:
        q = int(functions.arguments[i])
        try:
            constant = Expression.constant(float(functions.constants[i] / units[q]))
            inner = v.apply("mul", constant, v.monomial(reduction.variables, arguments[q]))
            f = FUNCTIONS[functions.names[i]].write(v, inner)
            pair = [v.monomial(reduction.variables, terms[k]) for k in (first, second)]
            models.append((v.product([weighted_sum(v, coefficients, pair), f]),))
        except NotAllowedError:
            continue
    cost = Evaluation(cost=Cost(n_compared, n_compared))
    return cost + evaluate(context, models_for_target(v, reduction, models), fronts)


def _functions(context: SearchContext, Q: Floats) -> _Functions:
    """All functions of all products Q (m, n) with constants from their grids, where they are finite and not zero."""
    values, names, constants, arguments = [], [], [], []
    chosen = [
        (name, function) for name, function in allowed_functions(context.vocabulary) if name not in RARE
    ]
    for name, function in chosen:
        for number, u in enumerate(Q):
            for a in constants_of(name, function, u):
                f = function.values(a * u)
                sizes = np.abs(f)
                if np.isfinite(f).all() and sizes.min() > SMALLEST * sizes.max() and np.ptp(f) > 0.0:
                    values.append(f / sizes.max())
                    names.append(name)
                    constants.append(a)
                    arguments.append(number)
    table = np.array(values).reshape(len(values), Q.shape[1])
    return _Functions(table, names, np.array(constants), np.array(arguments, np.intp))


class _Sums(NamedTuple):
    """c·m₁ + d·m₂ times a function: numbers of functions and terms, coefficients, losses relative to y; (k,) each."""

    functions: Indices
    first: Indices
    second: Indices
    c: Floats
    d: Floats
    losses: Floats


def _best_sums(
    M: Floats, y: Floats, weights: Floats, functions: _Functions, terms: list[Powers], arguments: list[Powers]
) -> tuple[list[tuple[int, int, int, tuple[float, float]]], int]:
    """Numbers of functions, of first and of second terms, with coefficients; and how many were compared."""
    n = len(functions.values)
    if not n:
        return [], 1
    parts = [
        _sums(np.arange(lo, min(lo + CHUNK, n)), M, y, weights, functions.values[lo : lo + CHUNK])
        for lo in range(0, n, CHUNK)
    ]
    s = _Sums(*map(np.concatenate, zip(*parts, strict=True)))
    term_costs, argument_costs = costs_of(np.array(terms)), costs_of(np.array(arguments))
    costs = term_costs[s.first] + term_costs[s.second] + argument_costs[functions.arguments[s.functions]]
    lengths = approximate_length(len(y), s.losses, costs)
    found: dict[tuple[int, str, frozenset[int]], tuple[int, int, int, tuple[float, float]]] = {}
    for k in np.argsort(lengths, kind="stable").tolist():
        i, one, two = int(s.functions[k]), int(s.first[k]), int(s.second[k])
        key = int(functions.arguments[i]), functions.names[i], frozenset((one, two))
        if key not in found and np.isfinite(lengths[k]):
            found[key] = i, one, two, (float(s.c[k]), float(s.d[k]))
            if len(found) == WRITTEN:
                break
    return list(found.values()), n * len(M) * (len(M) - 1) // 2


def _sums(numbers: Indices, M: Floats, y: Floats, weights: Floats, F: Floats) -> _Sums:
    """The best pair of terms for every function F (k, n)."""
    roots = np.sqrt(weights)
    # Functions and terms of unit length, in single precision: the best are fitted again.
    terms = (F * roots)[:, None] * M
    lengths = np.linalg.norm(terms, axis=2)
    terms /= np.where(lengths > 0.0, lengths, np.inf)[:, :, None]
    target = roots * y / np.linalg.norm(roots * y)
    p, units = terms @ target, terms.astype(np.float32)
    inner = units @ units.transpose(0, 2, 1)
    single = p.astype(np.float32)
    # Of the normal equations of two terms of unit length: gain = (p² + q² − 2·p·q·I)/(1 − I²).
    determinants = 1.0 - np.square(inner)
    gains = np.square(single)[:, :, None] + np.square(single)[:, None, :]
    gains -= 2.0 * single[:, :, None] * single[:, None, :] * inner
    gains /= np.where(determinants > NOVELTY, determinants, np.inf)
    first, second = np.unravel_index(np.argmax(gains.reshape(len(F), -1), axis=1), inner.shape[1:])
    rows = np.arange(len(F))
    a, b = p[rows, first], p[rows, second]
    both = np.sum(terms[rows, first] * terms[rows, second], axis=1)
    c, d = (a - b * both) / (1.0 - both**2), (b - a * both) / (1.0 - both**2)
    losses = np.maximum(1.0 - a * c - b * d, EXACT)
    size = np.linalg.norm(roots * y)
    c, d = size * c / lengths[rows, first], size * d / lengths[rows, second]
    return _Sums(numbers, first, second, c, d, np.where(np.isfinite(c) & np.isfinite(d), losses, np.inf))
