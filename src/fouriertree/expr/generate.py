"""Random trees: the paper's generate-composition, and the ramped half-and-half that its published runs used.

A candidate is (seed, id): whoever draws it, in whatever batch, gets the same tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fouriertree.compiling import announced
from fouriertree.expr._draw import draw_breadth_first, draw_depth_first
from fouriertree.expr.primitives import PrimitiveSet
from fouriertree.expr.programs import Programs

#: a full binary tree of this many levels has a million nodes
MOST_LEVELS = 20


@dataclass(frozen=True)
class Grammar:
    """What trees are made of: operators, columns, and constants drawn uniformly from an interval.

    A leaf is a constant with probability `constant_share`, otherwise one of the columns.
    """

    primitives: PrimitiveSet = field(default_factory=PrimitiveSet.paper)
    n_columns: int = 1
    constant_share: float = 0.5
    constants: tuple[float, float] = (-1.0, 1.0)

    def packed(self) -> tuple[Any, ...]:
        """The same as the compiled generators read it."""
        low, high = self.constants
        if self.n_columns < 1 and self.constant_share < 1.0:
            raise ValueError("there are no columns to draw leaves from; give data with at least one column")
        if len(self.primitives) == 0:
            raise ValueError("there are no operators to build trees from; name at least one")
        if not 0.0 <= self.constant_share <= 1.0:
            raise ValueError(f"constant_share must be a probability, from 0 to 1; got {self.constant_share}")
        if not -np.inf < low <= high < np.inf:
            raise ValueError(
                f"constants must be an interval (low, high) of finite numbers; got {self.constants}"
            )
        return (
            self.primitives.opcodes, self.primitives.arities, self.n_columns,
            self.constant_share * 2.0**31, float(low), float(high),
        )  # fmt: skip

    @property
    def mean_arity(self) -> float:
        return float(np.mean(self.primitives.arities))


class Generator(Protocol):
    """Draws candidates by number."""

    def draw(self, grammar: Grammar, seed: int, first: int, n: int) -> Programs:
        """Candidates first…first+n−1 of the stream `seed`."""
        ...

    def expected_size(self, grammar: Grammar) -> float:
        """Mean number of nodes of a tree."""
        ...


@dataclass(frozen=True)
class RampedHalfAndHalf:
    """Depth-first ramped half-and-half, as in the published runs.

    A tree has D levels at most, D uniform in lo…hi.  Half of the trees are full (functions on every level but the
    last), half grow: a function above level lo, then with probability ½.

    >>> batch = RampedHalfAndHalf(1, 3).draw(Grammar(), seed=0, first=0, n=4)
    >>> [str(tree.text(digits=2)) for tree in batch] == [
    ...     str(RampedHalfAndHalf(1, 3).draw(Grammar(), 0, i, 1)[0].text(digits=2)) for i in range(4)]
    True
    """

    lo: int = 1
    hi: int = 10

    def draw(self, grammar: Grammar, seed: int, first: int, n: int) -> Programs:
        """Candidates first…first+n−1 of the stream `seed`."""
        check_levels("lo", self.lo, 1, self.hi)
        check_levels("hi", self.hi, self.lo, MOST_LEVELS)
        packed = grammar.packed()

        def fill(*arena: NDArray[Any]) -> int:
            return int(draw_depth_first(seed, first, self.lo, self.hi, packed, *arena))

        return fill_arena(fill, n, self.expected_size(grammar), 2**self.hi - 1, self.hi + 1, grammar)

    def expected_size(self, grammar: Grammar) -> float:
        """Mean number of nodes of a tree."""
        sizes = []
        for levels in range(self.lo, self.hi + 1):
            full = [1.0] * (levels - 1)
            grow = [1.0 if depth < self.lo else 0.5 for depth in range(levels - 1)]
            sizes += [expected_nodes(chances, grammar.mean_arity) for chances in (full, grow)]
        return float(np.mean(sizes))


@dataclass(frozen=True)
class GenerateComposition:
    """Algorithm 2 of the paper, breadth first: l to u nested operators, functions with probability p or 1.

    The limit ũ is uniform in l…u and p̃ is p or 1 with equal chance.  An operator nested in d others is a function
    if d < l, with probability p̃ if l ≤ d < ũ, and a leaf otherwise.
    """

    p: float = 0.5
    l: int = 1  # noqa: E741 - the paper's name
    u: int = 9

    def draw(self, grammar: Grammar, seed: int, first: int, n: int) -> Programs:
        """Candidates first…first+n−1 of the stream `seed`."""
        if not 0.0 <= self.p <= 1.0:
            raise ValueError(f"p must be a probability, from 0 to 1; got {self.p}")
        check_levels("l", self.l, 0, self.u)
        check_levels("u", self.u, max(self.l, 1), MOST_LEVELS - 1)
        packed = grammar.packed()

        def fill(*arena: NDArray[Any]) -> int:
            return int(draw_breadth_first(seed, first, self.p, self.l, self.u, packed, *arena))

        room = 2 ** (self.u + 1) - 1
        return fill_arena(fill, n, self.expected_size(grammar), room, self.u + 2, grammar)

    def expected_size(self, grammar: Grammar) -> float:
        """Mean number of nodes of a tree."""
        sizes = []
        for limit in range(self.l, self.u + 1):
            for p in (self.p, 1.0):
                chances = [1.0 if depth < self.l else p for depth in range(limit)]
                sizes.append(expected_nodes(chances, grammar.mean_arity))
        return float(np.mean(sizes))


def check_levels(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least} to {most}; got {value}")


def expected_nodes(chances: list[float], arity: float) -> float:
    """Mean size of a tree whose nodes at depth d are functions with probability chances[d]."""
    size = 1.0
    for chance in reversed(chances):
        size = 1.0 + chance * arity * size
    return size


def fill_arena(
    fill: Callable[..., int], n: int, expected_size: float, largest: int, height: int, grammar: Grammar
) -> Programs:
    """Call `fill` on an arena for n trees; again on one twice as large whenever the trees did not fit."""
    capacity = largest + int(1.2 * n * expected_size)
    start, count = np.empty(n, np.int64), np.empty(n, np.int64)
    with announced("compiling the tree generator for this processor"):
        while True:
            op, arg, const = np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity)
            if fill(op, arg, const, start, count) == n:
                return trimmed(
                    Programs(op, arg, const, start, count, height, grammar.n_columns, grammar.primitives)
                )
            capacity *= 2


def trimmed(drawn: Programs) -> Programs:
    """Without the unused beginning of the arena."""
    free = int(drawn.start.min(initial=len(drawn.op)))
    drawn.start[:] -= free
    return replace(drawn, op=drawn.op[free:], arg=drawn.arg[free:], const=drawn.const[free:])
