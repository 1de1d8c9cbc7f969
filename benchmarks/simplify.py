"""Simplification against SymPy: expressions per second, and nodes before and after, of the same random trees.

Run: make bench-simplify.  Trees of 5 to 30 tokens over three variables with the default operators.  Nodes are counted
as in a tree of binary operators.  SymPy simplifies a part of them; its time is that of `sympy.simplify`, ours that
of `fouriertree.simplify`; converting trees to SymPy is not counted.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from fouriertree import Expression, Grammar, PrimitiveSet, RampedHalfAndHalf, simplify
from fouriertree.experiments.bars import Bar, report

SMALLEST, LARGEST = 5, 30


def random_trees(count: int, seed: int) -> list[Expression]:
    """Distinct trees of 5 to 30 tokens."""
    grammar = Grammar(PrimitiveSet.default(), 3, constant_share=0.2)
    found: dict[Expression, None] = {}
    first = 0
    while len(found) < count:
        drawn = RampedHalfAndHalf(2, 6).draw(grammar, seed, first, 4 * count)
        found |= {tree: None for tree in drawn if SMALLEST <= tree.size <= LARGEST}
        first += 4 * count
    return list(found)[:count]


def nodes(formula: Any) -> int:
    """Nodes of a SymPy expression, a sum of three as two additions."""
    if not formula.args:
        return 1
    inner = sum(map(nodes, formula.args))
    return inner + max(1, len(formula.args) - 1)


def seconds_and_sizes(work: Any, inputs: list[Any], size: Any, name: str) -> tuple[float, list[int]]:
    spent, sizes = 0.0, []
    for item in track(inputs, name, console=Console(file=sys.stderr)):
        started = time.perf_counter()
        found = work(item)
        spent += time.perf_counter() - started
        sizes.append(size(found))
    return spent, sizes


def row(name: str, seconds: float, sizes: list[int], before: list[int]) -> tuple[str, ...]:
    shorter = sum(a < b for a, b in zip(sizes, before, strict=True))
    longer = sum(a > b for a, b in zip(sizes, before, strict=True))
    return (
        name, str(len(sizes)), f"{len(sizes) / seconds:,.0f}", f"{np.mean(sizes):.2f}",
        f"{np.sum(sizes) / np.sum(before):.3f}", str(shorter), str(longer),
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trees", type=int, default=10_000)
    parser.add_argument(
        "--sympy-trees", type=int, default=1_000, help="of these, how many SymPy simplifies, too"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    import sympy

    trees = random_trees(options.trees, options.seed)
    before = [tree.size for tree in trees]
    simplify(trees[0])
    ours, our_sizes = seconds_and_sizes(simplify, trees, lambda e: e.size, "ours")
    few = trees[: options.sympy_trees]
    again, few_sizes = seconds_and_sizes(simplify, few, lambda e: e.size, "ours again")
    theirs, their_sizes = seconds_and_sizes(sympy.simplify, [tree.sympy() for tree in few], nodes, "SymPy")
    title = f"random trees of {SMALLEST} to {LARGEST} tokens, {np.mean(before):.2f} on average, seed {options.seed}"
    table = Table(title=title)
    for heading in ("", "trees", "per second", "mean nodes", "of before", "shorter", "longer"):
        table.add_column(heading, justify="right")
    table.add_row(*row("ours", ours, our_sizes, before))
    table.add_row(*row("ours", again, few_sizes, before[: len(few)]))
    table.add_row(*row("SymPy", theirs, their_sizes, before[: len(few)]))
    Console(width=100).print(table)
    print(f"ours is {theirs / again:,.0f} times as fast as SymPy")
    return report([Bar("simplify-per-second", len(trees) / ours, 10_000)])


if __name__ == "__main__":
    sys.exit(main())
