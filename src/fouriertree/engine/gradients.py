"""Values of programs, and their derivatives by the constants (slopes), by reverse-mode differentiation.

The adjoints ∂e/∂(token) are computed from the root of a program to its constants: the adjoint of an argument is that of
the token times the partial derivative.  Values and adjoints are a list of vector operations, the tape, which is
recorded once for a model and played for every new choice of its constants.

Rows are padded to whole vectors as in `CompiledEngine.prepare`: padding repeats the last row with weight 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.compiling import kernel
from fouriertree.engine.base import as_programs, check_columns
from fouriertree.engine.compiled import CompiledEngine
from fouriertree.engine.interpreter import BINARY_MASK, operator_address
from fouriertree.engine.lanes import FLOAT64
from fouriertree.engine.memory import call_operator
from fouriertree.engine.recipes import (
    DOWN,
    FINITE,
    FIRST_NUMBER,
    LESS,
    NUMBERS,
    ONE,
    RECIPES,
    SLOPE,
    SPARES,
    UP,
    VALUE,
    V,
    X,
    Y,
)
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, USER_OPCODE_START, VAR

LANES = FLOAT64.lanes
#: rows per block: the values of dozens of tokens fit into the second-level cache
BLOCK_ROWS = 1024


#: the temporary places and the constants of recipes are first in the workspace
FIRST_PLACE = FIRST_NUMBER - SPARES.start + len(NUMBERS)
#: operations per token at most: its value, both its recipes, and the output of a slope
TOKEN_OPERATIONS = 2 + 2 * max(map(len, RECIPES.values()))


def _table() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The recipes as arrays, for kernels: the bounds of recipe (operator, argument), and all operations."""
    bounds = np.zeros((max(RECIPES)[0] + 1, 2, 2), np.int64)
    operations: list[tuple[int, int, int, int]] = []
    for key, recipe in RECIPES.items():
        bounds[key] = len(operations), len(operations) + len(recipe)
        operations += recipe
    return bounds, np.array(operations, np.int64)


_BOUNDS, _OPERATIONS = _table()
_NUMBERS = np.array(NUMBERS)
FIRST_SPARE, N_OPERANDS = SPARES.start, FIRST_NUMBER + len(NUMBERS)


# the tape --------------------------------------------------------------------------------------------------------
class Tape(NamedTuple):
    """The operations of one model as rows (operation, out, a, b) of places in a workspace (n_places, n_rows)."""

    operations: Any  #: (n_operations, 4)
    n_fixed: int  #: number of leading operations that depend on no free constant
    n_places: int
    slot: Any  #: (p,) the token of free constant i
    owner: Any  #: (p,) the term of free constant i


@kernel
def link(op: Any, free: Any, left: Any, live: Any) -> None:
    """left[t]: the last token of t's first argument; live[t]: the subtree of t has a free constant."""
    first = np.empty(len(op), np.int64)
    for t in range(len(op)):
        first[t], left[t], live[t] = t, t - 1, op[t] == CONST and free[t]
        if op[t] > VAR:
            live[t] = live[t - 1]
            if (BINARY_MASK >> op[t]) & 1:
                left[t] = first[t - 1] - 1
                live[t] |= live[left[t]]
            first[t] = first[left[t]]


@kernel
def push(tape: Any, end: Any, operation: int, out: int, a: int, b: int) -> None:
    """Append an operation; end[0] is their number."""
    n = end[0]
    tape[n, 0], tape[n, 1], tape[n, 2], tape[n, 3] = operation, out, a, b
    end[0] = n + 1


@kernel
def record_values(
    tape: Any, end: Any, op: Any, arg: Any, first: int, left: Any, live: Any, moving: int, base: int, term: int,
) -> None:  # fmt: skip
    """Append the values of the live tokens of a term, or of the others, and the output of the value of the root.

    The term begins with token `first`, and its values are in the places from `base` on.
    """
    for t in range(len(left)):
        if live[t] == moving:
            o, a = op[first + t], base + left[t]
            if o == CONST:
                a = first + t
            elif o == VAR:
                a = arg[first + t]
            push(tape, end, o, base + t, a, base + t - 1)
    if live[len(left) - 1] == moving:
        push(tape, end, VALUE, term, base + len(left) - 1, 0)


@kernel
def record_adjoint(tape: Any, end: Any, o: int, argument: int, places: Any) -> Any:
    """Append the recipe for the adjoint of one argument of operator o; return its place."""
    lo, hi = _BOUNDS[o, argument]
    for i in range(lo, hi):
        operation, out, a, b = _OPERATIONS[i]
        push(tape, end, operation, places[out], places[a], places[b])
    # A token has one parent, so an adjoint is never a sum, and if down = up they share a place.
    return places[DOWN] if hi > lo else places[UP]


@kernel
def record_adjoints(tape: Any, end: Any, op: Any, left: Any, live: Any, base: int, room: int, at: Any) -> Any:
    """Append the adjoints from the root, whose adjoint is 1, to the free constants; at[t]: the place of t's adjoint.

    Places from `room` on are free; return the first that is still free.
    """
    places = np.empty(N_OPERANDS, np.int64)
    for i in range(FIRST_PLACE):
        places[FIRST_SPARE + i] = i
    at[len(op) - 1] = places[ONE]
    for t in range(len(op) - 1, -1, -1):
        if not live[t] or op[t] == CONST:
            continue
        places[UP], places[V], places[X], places[Y] = at[t], base + t, base + left[t], base + t - 1
        for argument in range(1 + ((BINARY_MASK >> op[t]) & 1)):
            child = t - 1 if argument == 1 else left[t]
            if live[child]:
                places[DOWN] = room
                at[child] = record_adjoint(tape, end, op[t], argument, places)
                room += at[child] == room
    return room


@kernel
def record(op: Any, arg: Any, free: Any, start: Any, count: Any) -> Any:
    """The tape of the model whose term j is the `count[j]` tokens from `start[j]` on: built-in operators only."""
    n_tokens = 0
    for j in range(len(count)):
        n_tokens += count[j]
    left, live, at = np.empty(n_tokens, np.int64), np.empty(n_tokens, np.bool_), np.empty(n_tokens, np.int64)
    slot, owner = np.empty(n_tokens, np.int64), np.empty(n_tokens, np.int64)
    tape, end = np.empty((TOKEN_OPERATIONS * n_tokens + len(start), 4), np.int64), np.zeros(1, np.int64)
    n_fixed, p, n_places = 0, 0, FIRST_PLACE + n_tokens
    for moving in range(2):
        lo, n_fixed = 0, end[0]
        for j in range(len(start)):
            first, hi, base = start[j], lo + count[j], FIRST_PLACE + lo
            tokens = op[first : first + count[j]]
            if not moving:
                link(tokens, free[first : first + count[j]], left[lo:hi], live[lo:hi])
            record_values(tape, end, op, arg, first, left[lo:hi], live[lo:hi], moving, base, j)
            if moving and live[hi - 1]:
                # All terms use the same places: the slopes of a term are output before the next term begins.
                room = FIRST_PLACE + n_tokens
                room = record_adjoints(tape, end, tokens, left[lo:hi], live[lo:hi], base, room, at[lo:hi])
                n_places = max(n_places, room)
                for t in range(count[j]):
                    if live[lo + t] and tokens[t] == CONST:
                        slot[p], owner[p] = first + t, j
                        push(tape, end, SLOPE, p, at[lo + t], 0)
                        p += 1
            lo = hi
    return Tape(tape[: end[0]], n_fixed, n_places, slot[:p], owner[:p])


@kernel
def workspace(n_places: int, n_rows: int) -> Any:
    """The workspace of a tape for one block of at most n_rows rows, with the constants of recipes in their places."""
    W = np.empty((n_places, min(BLOCK_ROWS, n_rows)))
    for i in range(len(_NUMBERS)):
        W[FIRST_PLACE - len(_NUMBERS) + i, :] = _NUMBERS[i]
    return W


@kernel
def play(
    operator: int, tape: Any, const: Any, columns: Any, root_weights: Any, lo: int, hi: int, W: Any, Phi: Any, A: Any,
) -> None:  # fmt: skip
    """Execute the operations on the rows from lo to hi; √w·values go to Phi (k, n_rows), √w·slopes to A (p, n_rows)."""
    n, row_bytes = hi - lo, 8 * W.shape[1]
    for i in range(len(tape)):
        o, out, a, b = tape[i, 0], tape[i, 1], tape[i, 2], tape[i, 3]
        if o > VAR:
            first = W.ctypes.data
            operands = (first + out * row_bytes, first + a * row_bytes, first + b * row_bytes, n // LANES, 0)
            call_operator(operator, 1.0, np.int32(o), operands)
        elif o == CONST:
            for row in range(n):
                W[out, row] = const[a]
        elif o == VAR:
            for row in range(n):
                W[out, row] = columns[a, lo + row]
        elif o == VALUE:
            for row in range(n):
                Phi[out, lo + row] = root_weights[lo + row] * W[a, row]
        elif o == SLOPE:
            for row in range(n):
                A[out, lo + row] = root_weights[lo + row] * W[a, row]
        elif o == FINITE:
            for row in range(n):
                W[out, row] = 0.0 if abs(W[a, row]) == np.inf else W[a, row]
        elif o == LESS:
            for row in range(n):
                W[out, row] = 1.0 if W[a, row] < W[b, row] else 0.0


@kernel
def expand(
    operator: int, tape: Any, again: bool, const: Any, columns: Any, root_weights: Any, W: Any, Phi: Any, A: Any,
) -> None:  # fmt: skip
    """Phi = √w·e_j and A = √w·∂e/∂θ_i at the current constants; `again`: only the constants have changed."""
    n_rows, block = columns.shape[1], W.shape[1]
    # With one block, the values that depend on no free constant are still in the workspace.
    skipped = tape.n_fixed if again and n_rows <= block else 0
    for lo in range(0, n_rows, block):
        hi = min(n_rows, lo + block)
        play(operator, tape.operations[skipped:], const, columns, root_weights, lo, hi, W, Phi, A)


def value_and_slopes(
    expression: Expression, X: ArrayLike, free: ArrayLike | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values on the rows of X (n_rows,), and derivatives by the constants in postfix order (n_constants, n_rows).

    `free` marks tokens; only the constants among them have a derivative.

    >>> from fouriertree.expr import parse
    >>> value, slopes = value_and_slopes(parse("sin(2*x0 + 1)"), [[0.0], [0.5]])
    >>> slopes.round(3)
    array([[ 0.   , -0.208],
           [ 0.54 , -0.416]])
    """
    if (expression.op >= USER_OPCODE_START).any():
        raise ValueError(
            f"{expression} has a custom operator; only built-in operators have compiled derivatives"
        )
    table = np.asarray(X, dtype=np.float64)
    check_columns(as_programs([expression]), table.shape[1])
    # Only the features that are used: copying a wide table is slow.
    used = np.array(expression.columns or (0,))
    rows = CompiledEngine().prepare(table[:, used])
    chosen = np.ones(len(expression), np.bool_) if free is None else np.array(free, np.bool_)
    # Copies: kernels are compiled for writable arrays.
    op, const = expression.op.copy(), expression.const.copy()
    arg = np.where(op == VAR, np.searchsorted(used, expression.arg), expression.arg).astype(
        expression.arg.dtype
    )
    tape = record(op, arg, chosen, np.zeros(1, np.int64), np.full(1, len(op), np.int64))
    n_padded = rows.columns.shape[1]
    ones, W = np.ones(n_padded), workspace(tape.n_places, n_padded)
    value, slopes = np.empty((1, n_padded)), np.empty((len(tape.slot), n_padded))
    expand(operator_address("float64"), tape, False, const, rows.columns, ones, W, value, slopes)
    return value[0, : rows.n_rows], slopes[:, : rows.n_rows]
