"""`Problem`, the input of a search."""

from dataclasses import dataclass

from fouriertree.expr.generate import Grammar
from fouriertree.space import Space


@dataclass(frozen=True)
class Problem:
    """The input of a search.

    Parameters
    ----------
    space, grammar : Space, Grammar
        The target with its inner product, and the distribution of random trees.
    name : str, optional
    holdout : Space, optional
        The validation set, never fitted to.
    """

    space: Space
    grammar: Grammar
    name: str = ""
    holdout: Space | None = None
