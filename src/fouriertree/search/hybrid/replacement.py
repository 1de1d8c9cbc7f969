"""Neighbours of a sum: functions of one variable are replaced, left out or multiplied in, one at a time.

Terms are products of functions of one variable each.  Where noise leaves many sums nearly equal, the right one is often
a neighbour of the best one so far, and all neighbours can be fitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr import Expression, Programs
from fouriertree.expr.opcodes import DIV, MUL
from fouriertree.expr.vocabulary import ONE
from fouriertree.projection.batches import SumBatch, joined_programs
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.dictionary import periods_of
from fouriertree.search.hybrid.evaluation import Cost, Evaluation, Fronts, evaluate, screened
from fouriertree.search.hybrid.functions import BasisFunction
from fouriertree.search.hybrid.separable import factors
from fouriertree.search.hybrid.variation import Segment, joined_segments, without_constant_terms

#: inner constants of a function, from its grid, and functions of one variable at most
CONSTANTS, MOST_FUNCTIONS = 3, 100
#: features beyond which a term is multiplied only by functions of those that the sum has
MANY_FEATURES = 6
#: functions of one variable that constants are chosen from
LARGEST = 500
#: steps of variable projection for all neighbours, and how many forms are fitted to all rows
SHORT, EVALUATED = 4, 24
#: a term: places of its tokens
Tokens = list[Segment]


@dataclass(frozen=True, eq=False)
class Functions:
    """Functions of one variable each."""

    expressions: tuple[Expression, ...]
    variables: NDArray[np.intp]


def replaced_candidates(context: SearchContext, terms: Sequence[Expression], fronts: Fronts) -> Evaluation:
    """The best neighbours of a sum, fitted."""
    functions = context.cached("functions", None, 1, lambda: functions_of(context))
    many = context.data.n_features > MANY_FEATURES
    used = {i for e in terms for i in e.columns} if many else set(range(context.data.n_features))
    models = context.options.allowed(neighbours(terms, functions, used))
    best, cost = screened(context, models, SHORT, EVALUATED, one_of_each_form=True)
    return Evaluation(cost=cost + Cost(1, 1)) + evaluate(context, best, fronts)


def functions_of(context: SearchContext) -> Functions:
    """Functions with inner constants from the grids of products, some constants of each."""
    v, data = context.vocabulary, context.data
    V = data.X[data.screening].T
    made = [function for function, _ in factors(V, v, periods_of(V), len(V) * LARGEST)]
    by_form: dict[object, list[BasisFunction]] = {}
    for function in made:
        by_form.setdefault(function.form, []).append(function)
    chosen = [
        several[i]
        for several in by_form.values()
        for i in np.unique(np.linspace(0, len(several) - 1, CONSTANTS + 2).round()[1:-1].astype(int)).tolist()
    ]
    step = max(1, -(-len(chosen) // (len(V) * MOST_FUNCTIONS)))
    chosen = chosen[::step]
    variables = np.array([int(np.flatnonzero(f.powers)[0]) for f in chosen], np.intp)
    return Functions(tuple(f.expression(v, data.variables) for f in chosen), variables)


def neighbours(terms: Sequence[Expression], functions: Functions, used: AbstractSet[int]) -> SumBatch:
    """All sums that differ from this one in one function of one variable.

    A factor of one variable in a term is replaced by another function of the variable, or by the same one with another
    constant, or left out; or a term is multiplied by a function of a variable in `used` that it does not have.
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
        for (at, length), variable, rest in _factors_of(term):
            before, after = (begin, at), (begin + at + length, size - at - length)
            for other in of_variable.get(variable, ()):
                children.append(_with(segments, k, t, [before, other, after]))
            # Without the factor: what it was multiplied by, or 1, in the place of the whole product.
            (at, length), left = rest or ((at, length), None)
            before, after = (begin, at), (begin + at + length, size - at - length)
            kept = one if left is None else (begin + left[0], left[1])
            children.append(_with(segments, k, t, [before, kept, after]))
        for variable in sorted(set(of_variable) & used - set(term.columns)):
            for other in of_variable[variable]:
                children.append(_with(segments, k, t, [segments[t], other, times]))
    return without_constant_terms(joined_segments(source, children))


def _with(segments: Sequence[Segment], k: int, t: int, changed: Tokens) -> list[Tokens]:
    """The tokens of k terms, with those of term t changed."""
    return [changed if i == t else [segments[i]] for i in range(k)]


def _factors_of(term: Expression) -> Iterator[tuple[Segment, int, tuple[Segment, Segment] | None]]:
    """Places of the factors of one variable in a product or a quotient, and their variables.

    And the places of the product that a factor is in, and of what it is multiplied by, or divides; None for others.
    """
    starts = term.starts()

    def place(top: int) -> Segment:
        return starts[top], top + 1 - starts[top]

    waiting: list[tuple[int, tuple[Segment, Segment] | None]] = [(term.size - 1, None)]
    while waiting:
        top, rest = waiting.pop()
        if term.op[top] in (MUL, DIV):
            left, right = map(int, term.children(top))
            waiting.append((left, (place(top), place(right)) if term.op[top] == MUL else None))
            waiting.append((right, (place(top), place(left))))
            continue
        factor = term.subtree(top)
        if len(factor.columns) == 1:
            yield place(top), factor.columns[0], rest
