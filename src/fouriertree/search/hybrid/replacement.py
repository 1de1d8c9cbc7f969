"""Neighbours of a sum: functions of one variable are replaced, left out or multiplied in, one at a time.

Terms are products of functions of one variable each.  Where noise leaves many sums nearly equal, the right one is often
a neighbour of the best one so far, and all neighbours can be fitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.criteria.code_lengths import approximate_length
from fouriertree.engine.screen import first_of_each
from fouriertree.expr import Expression, Programs
from fouriertree.expr.opcodes import DIV, MUL
from fouriertree.expr.vocabulary import ONE
from fouriertree.projection.batches import SumBatch, joined_programs
from fouriertree.projection.variable import fit_batch
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.dictionary import periods_of
from fouriertree.search.hybrid.evaluation import EXACT, Cost, Evaluation, Fronts, evaluate
from fouriertree.search.hybrid.functions import BasisFunction
from fouriertree.search.hybrid.separable import factors
from fouriertree.search.hybrid.variation import Segment, joined_segments, without_constant_terms

#: inner constants of a function, from its grid, and functions of all variables together at most
CONSTANTS, MOST_FUNCTIONS = 3, 500
#: steps of variable projection for all neighbours, and how many forms are fitted to all rows
SHORT, EVALUATED = 4, 24
#: a term as lists of segments: those of its tokens
Tokens = list[Segment]


@dataclass(frozen=True, eq=False)
class Functions:
    """Functions of one variable each."""

    expressions: tuple[Expression, ...]
    variables: NDArray[np.intp]


def replaced_candidates(context: SearchContext, terms: Sequence[Expression], fronts: Fronts) -> Evaluation:
    """The best neighbours of a sum, fitted."""
    functions = context.cached("functions", None, 1, lambda: functions_of(context))
    models = context.options.allowed(neighbours(terms, functions))
    if not len(models):
        return Evaluation(cost=Cost(1, 1))
    fits = fit_batch(models, context.screening_data, SHORT)
    losses = np.maximum(fits.losses / context.screening_length2, EXACT)
    lengths = approximate_length(len(context.data.screening), losses, context.options.complexities(models))
    order = np.argsort(lengths, kind="stable")
    order = order[np.isfinite(lengths[order])]
    best = order[first_of_each(models.shapes[order], EVALUATED)]
    passes = int(np.sum((models.n_terms + 1) * (fits.steps + 1)))
    tried = Evaluation(cost=Cost(len(models), passes))
    return tried + evaluate(context, [fits.batch.expressions(int(i)) for i in best], fronts)


def functions_of(context: SearchContext) -> Functions:
    """Functions with inner constants from the grids of products, some constants of each."""
    v, data = context.vocabulary, context.data
    V = data.X[data.screening].T
    made = [function for function, _ in factors(V, v, periods_of(V), len(V) * MOST_FUNCTIONS)]
    by_form: dict[object, list[BasisFunction]] = {}
    for function in made:
        by_form.setdefault(function.form, []).append(function)
    chosen = [
        several[i]
        for several in by_form.values()
        for i in np.unique(np.linspace(0, len(several) - 1, CONSTANTS + 2).round()[1:-1].astype(int)).tolist()
    ]
    step = max(1, -(-len(chosen) // MOST_FUNCTIONS))
    chosen = chosen[::step]
    variables = np.array([int(np.flatnonzero(f.powers)[0]) for f in chosen], np.intp)
    return Functions(tuple(f.expression(v, data.variables) for f in chosen), variables)


def neighbours(terms: Sequence[Expression], functions: Functions) -> SumBatch:
    """All sums that differ from this one in one function of one variable.

    A factor of one variable in a term is replaced by another function of the variable, or left out; or a term is
    multiplied by a function of a variable that it does not have.
    """
    product = (ONE * ONE).part(2, 3)
    source = joined_programs([Programs.pack([*terms, *functions.expressions, ONE]), Programs.pack([product])])
    segments = list(zip(source.start.tolist(), source.count.tolist(), strict=True))
    k, one, times = len(terms), segments[-2], segments[-1]
    of_variable = {
        i: [segments[k + j] for j in np.flatnonzero(functions.variables == i).tolist()]
        for i in np.unique(functions.variables).tolist()
    }
    children: list[list[Tokens]] = []
    for t, term in enumerate(terms):
        begin, size = segments[t]
        for place, variable in _factors_of(term):
            at, length = place
            before, after = (begin, at), (begin + at + length, size - at - length)
            for other in (one, *of_variable.get(variable, ())):
                children.append(_with(segments, k, t, [before, other, after]))
        for variable in sorted(set(of_variable) - set(term.columns)):
            for other in of_variable[variable]:
                children.append(_with(segments, k, t, [segments[t], other, times]))
    return without_constant_terms(joined_segments(source, children))


def _with(segments: Sequence[Segment], k: int, t: int, changed: Tokens) -> list[Tokens]:
    """The tokens of k terms, with those of term t changed."""
    return [changed if i == t else [segments[i]] for i in range(k)]


def _factors_of(term: Expression) -> Iterator[tuple[Segment, int]]:
    """Places of the factors of one variable in a product or a quotient, and their variables."""
    waiting = [term.size - 1]
    while waiting:
        top = waiting.pop()
        if term.op[top] in (MUL, DIV):
            waiting += [int(child) for child in term.children(top)]
            continue
        factor = term.subtree(top)
        if len(factor.columns) == 1:
            yield (top + 1 - factor.size, factor.size), factor.columns[0]
