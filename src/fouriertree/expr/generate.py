"""Random trees: the paper's generate-composition, and the ramped half-and-half that its published runs used.

A candidate is (seed, index): it is the same tree in any batch.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, Protocol

import numpy as np

from fouriertree.compiling import announced
from fouriertree.expr._draw import draw_breadth_first, draw_depth_first
from fouriertree.expr.primitives import PrimitiveSet
from fouriertree.expr.programs import Programs

#: a full binary tree of this many levels has a million nodes
MOST_LEVELS = 20


@dataclass(frozen=True)
class Grammar:
    """The distribution of the nodes of random trees: operators and features are uniform.

    Parameters
    ----------
    primitives : PrimitiveSet
        The operators; by default those of the paper.
    n_columns : int, default=1
        Number of features.
    constant_share : float, default=0.5
        Probability that a leaf is a constant, and not a feature.
    constants : tuple of float, default=(-1, 1)
        The interval of constants, which are uniform.
    """

    primitives: PrimitiveSet = field(default_factory=PrimitiveSet.paper)
    n_columns: int = 1
    constant_share: float = 0.5
    constants: tuple[float, float] = (-1.0, 1.0)

    def packed(self) -> tuple[Any, ...]:
        """The grammar as arguments of the compiled generators."""
        low, high = self.constants
        if self.n_columns < 1 and self.constant_share < 1.0:
            raise ValueError("there are no features to draw leaves from; give data with at least one feature")
        if len(self.primitives) == 0:
            raise ValueError("there are no operators to build trees from; give at least one")
        if not 0.0 <= self.constant_share <= 1.0:
            raise ValueError(f"constant_share must be a probability, from 0 to 1; got {self.constant_share}")
        if not -np.inf < low <= high < np.inf:
            raise ValueError(f"constants must be a finite interval (low, high); got {self.constants}")
        return (
            self.primitives.opcodes, self.primitives.arities, self.n_columns,
            self.constant_share * 2.0**31, float(low), float(high),
        )  # fmt: skip

    @property
    def mean_arity(self) -> float:
        return float(np.mean(self.primitives.arities))


class Generator(Protocol):
    """Draws random trees by index."""

    def draw(self, grammar: Grammar, seed: int, first: int, n: int) -> Programs:
        """Candidates first, …, first + n − 1 of the stream `seed`."""

    def expected_size(self, grammar: Grammar) -> float:
        """Mean number of nodes of a tree."""


@dataclass(frozen=True)
class RampedHalfAndHalf:
    """Ramped half-and-half (Koza), depth first, as in the published runs.

    A tree has at most D levels, where D is uniform in lo, …, hi.  With probability ½ it is full: operators on every
    level but the last.  Otherwise it grows: a node is an operator above level lo, and below with probability ½.

    Parameters
    ----------
    lo, hi : int, default=1 and 10
        The least and the largest limit of the number of levels.

    Examples
    --------
    >>> batch = RampedHalfAndHalf(1, 3).draw(Grammar(), seed=0, first=0, n=4)
    >>> [str(tree.text(digits=2)) for tree in batch] == [
    ...     str(RampedHalfAndHalf(1, 3).draw(Grammar(), 0, i, 1)[0].text(digits=2)) for i in range(4)]
    True
    """

    lo: int = 1
    hi: int = 10

    def draw(self, grammar: Grammar, seed: int, first: int, n: int) -> Programs:
        """Candidates first, …, first + n − 1 of the stream `seed`."""
        check_levels("lo", self.lo, 1, self.hi)
        check_levels("hi", self.hi, self.lo, MOST_LEVELS)
        fill = partial(draw_depth_first, seed, first, self.lo, self.hi, grammar.packed())
        return fill_arena(fill, n, self.expected_size(grammar), 2**self.hi - 1, self.hi + 1, grammar)

    def expected_size(self, grammar: Grammar) -> float:
        """Mean number of nodes of a tree."""
        return mean_size(range(self.lo - 1, self.hi), (1.0, 0.5), self.lo, grammar)


@dataclass(frozen=True)
class GenerateComposition:
    """Algorithm 2 of the paper, breadth first.

    The limit ũ is uniform in l, …, u, and p̃ is p or 1 with probability ½ each.  A node at depth d is an operator if
    d < l, with probability p̃ if l ≤ d < ũ, and a leaf otherwise.

    Parameters
    ----------
    p : float, default=0.5
        Probability of an operator.
    l, u : int, default=1 and 9
        The least depth of leaves, and the largest depth.
    """

    p: float = 0.5
    l: int = 1  # noqa: E741 - the paper's name
    u: int = 9

    def draw(self, grammar: Grammar, seed: int, first: int, n: int) -> Programs:
        """Candidates first, …, first + n − 1 of the stream `seed`."""
        if not 0.0 <= self.p <= 1.0:
            raise ValueError(f"p must be a probability, from 0 to 1; got {self.p}")
        check_levels("l", self.l, 0, self.u)
        check_levels("u", self.u, max(self.l, 1), MOST_LEVELS - 1)
        fill = partial(draw_breadth_first, seed, first, self.p, self.l, self.u, grammar.packed())
        room = 2 ** (self.u + 1) - 1
        return fill_arena(fill, n, self.expected_size(grammar), room, self.u + 2, grammar)

    def expected_size(self, grammar: Grammar) -> float:
        """Mean number of nodes of a tree."""
        return mean_size(range(self.l, self.u + 1), (self.p, 1.0), self.l, grammar)


def check_levels(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least} to {most}; got {value}")


def mean_size(depths: range, probabilities: tuple[float, float], sure: int, grammar: Grammar) -> float:
    """Mean number of nodes over these largest depths: operators above depth `sure`, and below with a probability."""
    arity, sizes = grammar.mean_arity, []
    for largest, p in product(depths, probabilities):
        size = 1.0
        for depth in reversed(range(largest)):
            size = 1.0 + (1.0 if depth < sure else p) * arity * size
        sizes.append(size)
    return float(np.mean(sizes))


def fill_arena(
    fill: Callable[..., int], n: int, expected_size: float, largest: int, height: int, grammar: Grammar
) -> Programs:
    """Call `fill` on an arena for n trees, and on a larger one until they fit."""
    capacity = largest + int(1.2 * n * expected_size)
    start, count = np.empty(n, np.int64), np.empty(n, np.int64)
    with announced("compiling the tree generator for this processor"):
        while True:
            op, arg, const = np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity)
            if fill(op, arg, const, start, count) == n:
                break
            capacity *= 2
    # Without the unused beginning of the arena.
    free = int(start.min(initial=capacity))
    op, arg, const = op[free:], arg[free:], const[free:]
    return Programs(op, arg, const, start - free, count, height, grammar.n_columns, grammar.primitives)
