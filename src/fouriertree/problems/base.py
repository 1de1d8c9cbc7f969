"""A problem: a space that holds the target, and the grammar that trees are drawn from."""

from __future__ import annotations

from dataclasses import dataclass

from fouriertree.expr.generate import Grammar
from fouriertree.space import Space


@dataclass(frozen=True)
class Problem:
    """What a search is given; `holdout` has rows of the same table to verify with, never to fit to."""

    space: Space
    grammar: Grammar
    name: str = ""
    holdout: Space | None = None
