"""A problem: a space that holds the target, and the grammar that trees are drawn from."""

from __future__ import annotations

from dataclasses import dataclass

from fouriertree.expr.generate import Grammar
from fouriertree.space import Space


@dataclass(frozen=True)
class Problem:
    """What a search is given."""

    space: Space
    grammar: Grammar
    name: str = ""
