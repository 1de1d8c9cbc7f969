"""Node evaluations per second of our engines, Operon's interpreter and gplearn, on the same random trees.

Run: make bench-engine.  The systems run in rotation, several times, and the best time of each counts, so that other
load on the machine affects all of them alike.  Ours compute ⟨v,v⟩ and ⟨v,r⟩ as well; the others only the values.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine import CompiledEngine, Engine, ReferenceEngine
from fouriertree.experiments.bars import Bar, report
from fouriertree.expr import Programs
from fouriertree.expr.generate import Grammar, RampedHalfAndHalf

SEED = 0
TURNS = 15
#: number of trees by number of rows
SIZES = {20: 20_000, 200: 5000, 1_000: 1500, 10_000: 300, 1_000_000: 40}
OPERON_GOALS = {20: 6.0, 200: 2.0, 1_000: 1.2, 10_000: 0.9, 1_000_000: 0.9}
#: number of trees of the slow systems; rates are per node
SLOW_TREES = {20: 500, 200: 500, 1_000: 200, 10_000: 50, 1_000_000: 2}


@dataclass(frozen=True)
class Contender:
    name: str
    nodes: int
    work: Callable[[], object]
    turns: int = TURNS


def ours(
    name: str,
    engine: Engine,
    trees: Programs,
    X: NDArray[np.float64],
    r: NDArray[np.float64],
    turns: int = TURNS,
) -> Contender:
    rows = engine.prepare(X)
    return Contender(name, trees.n_nodes, lambda: engine.inner_products(trees, rows, r), turns)


def operon(trees: Programs, X: NDArray[np.float64]) -> Contender:
    import pyoperon

    kinds = pyoperon.NodeType
    names = {"add": kinds.Add, "sub": kinds.Sub, "mul": kinds.Mul, "pdiv": kinds.Div}
    names |= {"sin": kinds.Sin, "cos": kinds.Cos, "plog": kinds.Logabs}
    dataset = pyoperon.Dataset(np.asfortranarray(X.astype(np.float32)))
    variable = dataset.Variables[0].Hash

    def node(op: int, constant: float) -> object:
        if op == 0:
            leaf = pyoperon.Node(kinds.Constant)
            leaf.Value = constant
            return leaf
        if op == 1:
            leaf = pyoperon.Node(kinds.Variable)
            leaf.HashValue = leaf.CalculatedHashValue = variable
            leaf.Value = 1.0
            return leaf
        return pyoperon.Node(names[trees.primitives.by_opcode(op).name])

    converted = [
        pyoperon.Tree([node(int(o), c) for o, c in zip(tree.op, tree.const, strict=True)]).UpdateNodes()
        for tree in trees
    ]
    out = np.zeros(len(X) * len(converted), np.float32)
    everything = pyoperon.Range(0, len(X))
    nodes = sum(tree.Length for tree in converted)
    return Contender(
        "Operon float32", nodes, lambda: pyoperon.EvaluateTrees(converted, dataset, everything, out, 1)
    )


def gplearn(trees: Programs, X: NDArray[np.float64]) -> Contender:
    from gplearn import functions
    from gplearn._program import _Program

    names = {"add": functions.add2, "sub": functions.sub2, "mul": functions.mul2, "pdiv": functions.div2}
    names |= {"sin": functions.sin1, "cos": functions.cos1, "plog": functions.log1}

    def program(tokens: list[object]) -> object:
        made = _Program(
            function_set=list(names.values()), arities={}, init_depth=(1, 10), init_method="half and half",
            n_features=1, const_range=(-1.0, 1.0), metric=None, p_point_replace=0.0, parsimony_coefficient=0.0,
            random_state=np.random.RandomState(0), program=tokens,
        )  # fmt: skip
        return made

    def prefix(end: int, tree: object) -> list[object]:
        op = int(tree.op[end])
        if op == 0:
            return [float(tree.const[end])]
        if op == 1:
            return [0]
        name = tree.primitives.by_opcode(op).name
        return [names[name], *(token for child in tree.children(end) for token in prefix(child, tree))]

    converted = [program(prefix(len(tree) - 1, tree)) for tree in trees]

    def work() -> None:
        for made in converted:
            made.execute(X)

    return Contender("gplearn", trees.n_nodes, work, turns=3)


def rates(rows: int, contenders: list[Contender]) -> dict[str, float]:
    """Million node evaluations per second: the best of several runs in rotation."""
    best = dict.fromkeys((c.name for c in contenders), float("inf"))
    for c in contenders:
        c.work()
    for turn in range(max(c.turns for c in contenders)):
        for c in contenders:
            # Twice: the first call of a turn finds the caches filled by the other systems.
            for _ in range(2 if turn < c.turns else 0):
                started = time.perf_counter()
                c.work()
                best[c.name] = min(best[c.name], time.perf_counter() - started)
    return {c.name: c.nodes * rows / best[c.name] / 1e6 for c in contenders}


def measure(rows: int) -> dict[str, float]:
    rng = np.random.default_rng(SEED)
    X, r = rng.uniform(-1.0, 1.0, (rows, 1)), rng.normal(size=rows)
    trees = RampedHalfAndHalf(1, 10).draw(Grammar(), SEED, 0, SIZES[rows])
    few = trees.subset(np.arange(SLOW_TREES[rows]))
    return rates(
        rows,
        [
            ours("compiled float64", CompiledEngine(), trees, X, r),
            operon(trees, X),
            ours("compiled float64, 2 threads", CompiledEngine(n_jobs=2), trees, X, r),
            ours("compiled float32", CompiledEngine(np.float32), trees, X, r),
            ours("reference", ReferenceEngine(), few, X, r, turns=3),
            gplearn(few, X),
        ],
    )


def trees_per_second() -> float:
    """Draw, evaluate and score at 20 rows, on one core."""
    rng = np.random.default_rng(SEED)
    engine = CompiledEngine()
    rows, r = engine.prepare(rng.uniform(-1.0, 1.0, (20, 1))), rng.normal(size=20)
    generator, grammar, n = RampedHalfAndHalf(1, 10), Grammar(), 4096

    def work(first: int) -> float:
        started = time.perf_counter()
        engine.inner_products(generator.draw(grammar, SEED, first, n), rows, r)
        return time.perf_counter() - started

    return n / min(work(first) for first in range(0, 60 * n, n)) / 1e6


def main() -> int:
    print(
        f"Million node evaluations per second, best of {TURNS} turns (seed {SEED}; ramped half-and-half, 1–10 levels)"
    )
    table = {}
    for rows in SIZES:
        table[rows] = measure(rows)
        print(
            f"{rows:>9,} rows: " + ", ".join(f"{name} {rate:.0f}" for name, rate in table[rows].items()),
            flush=True,
        )
    drawn = trees_per_second()
    print(f"draw + evaluate + score at 20 rows: {drawn:.2f} million trees per second on one core")
    bars = []
    for rows, rate in table.items():
        peer, one = rate["Operon float32"], rate["compiled float64"]
        bars += [
            Bar(f"float64-vs-operon-{rows}-rows", one / peer, OPERON_GOALS[rows]),
            Bar(f"float32-vs-operon-{rows}-rows", rate["compiled float32"] / peer, 1.5),
            Bar(f"two-threads-{rows}-rows", rate["compiled float64, 2 threads"] / one, 1.6),
        ]
    return report([*bars, Bar("million-trees-per-second-20-rows", drawn, 0.9)])


if __name__ == "__main__":
    sys.exit(main())
