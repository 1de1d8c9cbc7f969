"""What the GP searches share: the compiled form of a problem, checks of parameters, progress."""

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
from fouriertree.search.gp.loops import MAX_DRAWN_LEVELS, WATCHED, initial_population
from fouriertree.search.gp.nodes import Store, flatten
from fouriertree.space import EmpiricalSpace

#: node evaluations per call, some tenths of a second: a call cannot be interrupted
NODES_PER_STEP = 500_000_000


@dataclass(frozen=True)
class CompiledProblem:
    """A problem in the layout of the compiled loops; made once per run."""

    points: Points
    packed: PackedPoints
    grammar: tuple[Any, ...]
    arity: NDArray[np.int64]  #: by opcode

    @classmethod
    def of(cls, problem: Problem) -> CompiledProblem:
        primitives = problem.grammar.primitives
        if problem.grammar.n_columns > problem.space.n_columns:
            # Compiled code would read out of bounds.
            raise ValueError(f"the grammar has more features ({problem.grammar.n_columns}) than the data")
        points = Points.of(problem.space.samples(), operators_table(primitives))
        arity = np.zeros(int(primitives.opcodes.max(initial=VAR)) + 1, np.int64)
        arity[primitives.opcodes] = primitives.arities
        return cls(points, points.packed(), problem.grammar.packed(), arity)

    @property
    def nodes_per_step(self) -> float:
        """Maximum number of nodes that one call evaluates on all rows."""
        return NODES_PER_STEP / sum(rows.n_rows for rows in self.points.samples)

    def max_nodes(self, watch: NDArray[np.int64] | None) -> float:
        """The same, without a limit if statistics are collected, which takes whole generations."""
        return self.nodes_per_step if watch is None else np.inf

    def initial_population(self, seed: int, n: int, levels: tuple[int, int]) -> Any:
        """n random trees: (store, nodes in use, roots)."""
        return initial_population(self.packed, self.points.width, self.grammar, self.arity, seed, n, *levels)

    def __reduce__(self) -> Any:
        raise TypeError("the state of a running GP has memory addresses and cannot be copied or pickled")


def check_levels(name: str, lo: int, hi: int) -> None:
    """ValueError unless trees of lo to hi levels fit into the buffers of the compiled code."""
    if not 1 <= lo <= hi <= MAX_DRAWN_LEVELS:
        raise ValueError(f"{name} must be levels 1 ≤ lo ≤ hi ≤ {MAX_DRAWN_LEVELS}; got {lo} and {hi}")


def check_at_least(name: str, value: float, least: float) -> None:
    if not value >= least:
        raise ValueError(f"{name} must be at least {least}; got {value}")


def check_watch(watch: NDArray[np.int64] | None, problem: Problem) -> None:
    """ValueError unless trees are polynomials with one integer constant, which the statistics require."""
    if watch is None:
        return
    if watch.shape != (WATCHED,) or watch.dtype != np.int64:
        raise ValueError(f"watch must be int64 of shape ({WATCHED},); got {watch.dtype}, {watch.shape}")
    grammar = problem.grammar
    integer = grammar.constants[0] == grammar.constants[1] == int(grammar.constants[0])
    if not set(grammar.primitives.names) <= {"add", "sub", "mul"} or not integer:
        raise ValueError("watch is for trees of add, sub and mul over one integer constant")


def operators_table(primitives: PrimitiveSet) -> Any:
    """Addresses of the user-defined compiled operators among these."""
    slow = [row.name for row in primitives if row.python is not None and not row.compiled]
    if slow:
        raise ValueError(f"operator {slow[0]!r} is not compiled, and GP needs compiled operators")
    one = Expression.variable(0)
    trees = [Expression.apply(row, *[one] * row.arity) for row in primitives]
    return user_table(Programs.pack(trees), "float64")


def as_expression(store: Store, root: int, primitives: PrimitiveSet) -> Expression:
    size = int(store.nodes["size"][root])
    op, arg, const = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    flatten(store, root, (op, arg, const))
    return Expression.unchecked(op, arg, const, primitives)


def gp_progress(evaluations: int, loss: float) -> Progress:
    """The progress after some evaluations, one traverse each."""
    return Progress(evaluations, evaluations, 0, 1, loss)


def compile_loops(search: Any) -> None:
    """Compile what a search runs, or load it from the cache."""
    rows = np.array([[0.0], [1.0], [3.0]])
    problem = Problem(EmpiricalSpace(rows, rows[:, 0] ** 2), Grammar(PrimitiveSet.default(), 1))
    state, _ = search.init(problem, 0)
    search.step(problem, state, Budget(max_traverses=1))
