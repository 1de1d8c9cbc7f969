"""What the GP searches share: the compiled form of a problem, checks of parameters."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fouriertree.engine.compiled import BLOCK_ROWS, CompiledEngine, aligned
from fouriertree.engine.interpreter import interpreter_address, operator_address
from fouriertree.engine.users import user_table
from fouriertree.expr import Expression, PrimitiveSet, Programs
from fouriertree.expr.generate import Grammar
from fouriertree.expr.opcodes import VAR
from fouriertree.problems import Problem
from fouriertree.search.loop import Budget
from fouriertree.space import EmpiricalSpace

from .evaluation import PackedPoints
from .loops import MAX_DRAWN_LEVELS, WATCHED, evaluate_losses, initial_population, update_all_statistics
from .nodes import Store, flatten

#: node evaluations per call, some tenths of a second: a call cannot be interrupted
NODES_PER_STEP = 500_000_000


@dataclass(frozen=True)
class Population:
    """Entry i is tree tree[i], with the root roots[tree[i]] and the stored loss losses[i]."""

    store: Store
    used: int
    roots: NDArray[np.int64]
    tree: NDArray[np.int64]
    losses: NDArray[np.float64]

    def expression(self, i: int, primitives: PrimitiveSet) -> Expression:
        """The tree of entry i."""
        return as_expression(self.store, int(self.roots[self.tree[i]]), primitives)

    def best_expression(self, primitives: PrimitiveSet) -> Expression:
        return self.expression(int(np.argmin(self.losses)), primitives)


@dataclass(frozen=True)
class CompiledProblem:
    """A problem in the layout of the compiled loops, with the memory behind its addresses; made once per run."""

    points: PackedPoints
    grammar: tuple[Any, ...]
    arity: NDArray[np.int64]  #: by opcode
    width: int  #: bytes of the values of a node; 0 if they are not stored, with several samples or many rows
    nodes_per_step: float  #: maximum number of nodes that one call evaluates on all rows
    memory: tuple[Any, ...]

    @classmethod
    def of(cls, problem: Problem, watch: NDArray[np.int64] | None) -> Self:
        check_watch(watch, problem)
        primitives = problem.grammar.primitives
        if problem.grammar.n_columns > problem.space.n_columns:
            # Compiled code would read out of bounds.
            raise ValueError(f"the grammar has more features ({problem.grammar.n_columns}) than the data")
        samples, users = problem.space.samples(), operators_table(primitives)
        rows = [CompiledEngine().prepare(X, weights) for X, _, weights in samples]
        targets = [aligned((r.columns.shape[1],), np.float64) for r in rows]
        for padded, (_, y, _) in zip(targets, samples, strict=True):
            padded[: len(y)] = y
        table = [
            (r.n_rows, r.columns.ctypes.data, r.columns.strides[0], y.ctypes.data, r.weights.ctypes.data)
            for r, y in zip(rows, targets, strict=True)
        ]
        addresses = interpreter_address("float64"), operator_address("float64"), users.address
        _, columns, stride, target, weights = table[0]
        points = PackedPoints(*addresses, columns, stride, target, weights, np.array(table, np.int64))
        width = rows[0].columns.strides[0] if len(rows) == 1 and rows[0].n_rows <= BLOCK_ROWS else 0
        arity = np.zeros(int(primitives.opcodes.max(initial=VAR)) + 1, np.int64)
        arity[primitives.opcodes] = primitives.arities
        nodes = NODES_PER_STEP / sum(r.n_rows for r in rows)
        return cls(points, problem.grammar.packed(), arity, width, nodes, (rows, targets, users))

    def max_nodes(self, watch: NDArray[np.int64] | None) -> float:
        """`nodes_per_step`, without a limit if statistics are collected, which takes whole generations."""
        return self.nodes_per_step if watch is None else np.inf

    def initial_population(self, seed: int, n: int, levels: tuple[int, int]) -> Population:
        """n random trees without losses."""
        store, used, roots = initial_population(
            self.points, self.width, self.grammar, self.arity, seed, n, *levels
        )
        return Population(store, int(used), roots, np.arange(n), np.full(n, np.inf))

    def evaluate(self, p: Population, first: int, best: float, watch: NDArray[np.int64] | None) -> int:
        """Compute losses from entry `first` on and return the first without one; `best` is the best loss before."""
        n_evaluated = evaluate_losses(
            self.points, p.store, p.roots, p.tree, p.losses, first, self.max_nodes(watch), self.arity
        )
        if watch is not None:
            roots, losses = p.roots[p.tree[first:]], p.losses[first:]
            update_all_statistics(watch, p.store, roots, losses, best, self.arity)
        return int(n_evaluated)

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
    op, arg, const = flatten(store, root)
    return Expression.unchecked(op, arg, const, primitives)


def compile_loops(search: Any) -> None:
    """Compile what a search runs, or load it from the cache."""
    rows = np.array([[0.0], [1.0], [3.0]])
    problem = Problem(EmpiricalSpace(rows, rows[:, 0] ** 2), Grammar(PrimitiveSet.default(), 1))
    state, _ = search.init(problem, 0)
    search.step(problem, state, Budget(max_traverses=1))
