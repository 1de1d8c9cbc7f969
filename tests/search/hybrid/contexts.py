"""Contexts of searches for tests of their tasks."""

import numpy as np
from numpy.typing import NDArray

from fouriertree import EmpiricalSpace, PrimitiveSet, Problem
from fouriertree.expr.generate import Grammar
from fouriertree.search import Hybrid
from fouriertree.search.hybrid.context import SearchContext
from fouriertree.search.hybrid.evaluation import Evaluation, Fronts
from fouriertree.search.hybrid.reductions import Reduction


def context_of(
    y: NDArray[np.float64], X: NDArray[np.float64], operators: PrimitiveSet | None = None, **options: object
) -> SearchContext:
    """The context of a search for a target (n,) of features (n, d), without a validation set."""
    problem = Problem(EmpiricalSpace(X, y), Grammar(operators or PrimitiveSet.default(), X.shape[1]))
    return Hybrid(**options).init(problem, 0)[0].context


def candidates_of(task, context: SearchContext) -> Evaluation:
    """What a function of (context, reduction, fronts) finds for the given problem."""
    with np.errstate(all="ignore"):
        return task(context, Reduction(context.data.variables), Fronts())
