"""What the GP searches share: their state, and the way from a space to points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine.users import user_table
from fouriertree.expr import Expression, PrimitiveSet, Programs
from fouriertree.expr.generate import Grammar
from fouriertree.expr.opcodes import VAR
from fouriertree.problems import Problem
from fouriertree.search.budget import Budget
from fouriertree.search.events import Progress
from fouriertree.search.gp.evaluation import PackedPoints, Points
from fouriertree.search.gp.loops import MOST_DRAWN_LEVELS, WATCHED
from fouriertree.search.gp.nodes import Store, flatten
from fouriertree.space import EmpiricalSpace

#: node evaluations per call, some tenths of a second: it cannot be interrupted
NODES_PER_STEP = 500_000_000


@dataclass(frozen=True)
class Setting:
    """A problem as the compiled loops read it; made once per run."""

    points: Points
    packed: PackedPoints
    grammar: tuple[Any, ...]
    arity: NDArray[np.int64]  #: by opcode

    @classmethod
    def of(cls, problem: Problem) -> Setting:
        primitives = problem.grammar.primitives
        if problem.grammar.n_columns > problem.space.n_columns:
            # Compiled code would read beyond the data.
            raise ValueError(
                f"the grammar has {problem.grammar.n_columns} columns, but the data has {problem.space.n_columns}"
            )
        points = Points.of(problem.space.samples(), operators_table(primitives))
        arity = np.zeros(int(primitives.opcodes.max(initial=VAR)) + 1, np.int64)
        arity[primitives.opcodes] = primitives.arities
        return cls(points, points.packed(), problem.grammar.packed(), arity)

    @property
    def nodes_per_step(self) -> float:
        """Nodes that one call may run on all rows."""
        return NODES_PER_STEP / sum(rung.n_rows for rung in self.points.rungs)

    def __reduce__(self) -> Any:
        raise TypeError(
            "the state of a running GP holds addresses of this process, and cannot be copied or pickled"
        )


def check_levels(name: str, lo: int, hi: int) -> None:
    """ValueError unless trees of lo to hi levels fit into the buffer that compiled code draws into."""
    if not 1 <= lo <= hi <= MOST_DRAWN_LEVELS:
        raise ValueError(
            f"{name} must be levels from 1 to {MOST_DRAWN_LEVELS}, the smaller first; got {lo} to {hi}"
        )


def check_at_least(name: str, value: float, least: float) -> None:
    if not value >= least:
        raise ValueError(f"{name} must be at least {least}; got {value}")


def check_watch(watch: NDArray[np.int64] | None, problem: Problem) -> None:
    """ValueError unless these statistics can be kept: they are of polynomial trees with whole numbers."""
    if watch is None:
        return
    if watch.shape != (WATCHED,) or watch.dtype != np.int64:
        raise ValueError(
            f"watch must be {WATCHED} integers of 64 bits; got shape {watch.shape} of {watch.dtype}"
        )
    grammar = problem.grammar
    whole = grammar.constants[0] == grammar.constants[1] == int(grammar.constants[0])
    if not set(grammar.primitives.names) <= {"add", "sub", "mul"} or not whole:
        raise ValueError("watch is for trees of add, sub and mul over one whole constant")


def operators_table(primitives: PrimitiveSet) -> Any:
    """Addresses of the user's compiled operators among these."""
    slow = [row.name for row in primitives if row.python is not None and not row.compiled]
    if slow:
        raise ValueError(f"operator {slow[0]!r} runs as NumPy only, and GP needs compiled operators")
    one = Expression.variable(0)
    trees = [Expression.apply(row, *[one] * row.arity) for row in primitives]
    return user_table(Programs.pack(trees), "float64")


def as_expression(store: Store, root: int, primitives: PrimitiveSet) -> Expression:
    size = int(store.nodes["size"][root])
    op, arg, const = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    flatten(store, root, (op, arg, const))
    return Expression.unchecked(op, arg, const, primitives)


def gp_progress(evaluations: int, loss: float) -> Progress:
    """One evaluation of a tree is one traverse."""
    return Progress(evaluations, evaluations, 0, 1, loss)


def compile_loops(search: Any) -> None:
    """Have what a search runs compiled, or read from the disk, before a clock runs."""
    rows = np.array([[0.0], [1.0], [3.0]])
    problem = Problem(EmpiricalSpace(rows, rows[:, 0] ** 2), Grammar(PrimitiveSet.default(), 1))
    state, _ = search.init(problem, 0)
    search.step(problem, state, Budget(max_traverses=1))
