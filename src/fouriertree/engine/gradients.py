"""Values of programs, and their derivatives by the constants (slopes), by reverse-mode differentiation.

The adjoints ∂e/∂(token) are computed from the root of a program to its constants: the adjoint of an argument is that of
the token times the partial derivative.  A tape is recorded once for a model and played for every new choice of its
constants.

Rows are padded to whole vectors as in `CompiledEngine.prepare`: padding repeats the last row with weight 0.
"""

import copy as copying
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.compiling import kernel
from fouriertree.expr import Expression
from fouriertree.expr.opcodes import CONST, MUL, USER_OPCODE_START, VAR

from .base import as_programs
from .compiled import CompiledEngine
from .interpreter import operator_address
from .intrinsics import call_operator
from .lanes import FLOAT64
from .padded import aligned_rows, copy, fill
from .tape import FINITE, FIRST_PLACE, LESS, NUMBERS, SLOPE, VALUE, Tape, record

LANES = FLOAT64.lanes
#: rows per block: the values of dozens of tokens fit into the second-level cache
BLOCK_ROWS = 1024

_NUMBERS = np.array(NUMBERS)


@kernel
def workspace(n_places: int, n_rows: int) -> Any:
    """The workspace of a tape for one block of at most n_rows rows, with the constants of recipes in their places."""
    W = aligned_rows(n_places, min(BLOCK_ROWS, n_rows))
    for i in range(len(_NUMBERS)):
        fill(W[FIRST_PLACE - len(_NUMBERS) + i], _NUMBERS[i])
    return W


# Loops over whole rows: with indices of other rows in the loop, they would not become vector instructions.
@kernel
def without_infinities(out: Any, v: Any) -> None:
    for i in range(len(out)):
        out[i] = 0.0 if abs(v[i]) == np.inf else v[i]


@kernel
def less(out: Any, u: Any, v: Any) -> None:
    for i in range(len(out)):
        out[i] = 1.0 if u[i] < v[i] else 0.0


@kernel
def weigh(operator: int, out: Any, i: int, lo: int, root_weights: Any, W: Any, place: int, n: int) -> None:
    """√w times the values in a place of the workspace, to n numbers of row i from lo on."""
    to, weights = out.ctypes.data + 8 * (i * out.shape[1] + lo), root_weights.ctypes.data + 8 * lo
    operands = (to, W.ctypes.data + 8 * place * W.shape[1], weights, n // LANES, 0)
    call_operator(operator, 1.0, np.int32(MUL), operands)


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
            fill(W[out], const[a])
        elif o == VAR:
            copy(W[out, :n], columns[a, lo:hi])
        elif o == VALUE:
            weigh(operator, Phi, out, lo, root_weights, W, a, n)
        elif o == SLOPE:
            weigh(operator, A, out, lo, root_weights, W, a, n)
        elif o == FINITE:
            without_infinities(W[out], W[a])
        elif o == LESS:
            less(W[out], W[a], W[b])


@kernel
def expand(
    operator: int, operations: Any, const: Any, columns: Any, root_weights: Any, W: Any, Phi: Any, A: Any,
) -> None:  # fmt: skip
    """Phi = √w·e_j and A = √w·∂e/∂θ_i at the current constants, as far as these operations of a tape go.

    Values that earlier operations have left in the workspace are those of the last block of rows.
    """
    n_rows, block = columns.shape[1], W.shape[1]
    for lo in range(0, n_rows, block):
        hi = min(n_rows, lo + block)
        play(operator, operations, const, columns, root_weights, lo, hi, W, Phi, A)


class Gradient:
    """Values and slopes of one expression on the rows of X, for many choices of its free constants.

    `free` marks tokens; only the constants among them have a slope.
    """

    free: NDArray[np.bool_]
    tape: Tape
    W: NDArray[np.float64]  #: the workspace of the tape
    played: bool  #: whether the values that depend on no free constant are in the workspace

    def __init__(self, expression: Expression, X: ArrayLike, free: ArrayLike | None = None) -> None:
        if (expression.op >= USER_OPCODE_START).any():
            raise ValueError(
                f"{expression} has a custom operator; only built-in operators have compiled derivatives"
            )
        table = np.asarray(X, dtype=np.float64)
        as_programs([expression], table.shape[1])
        # Only the features that are used: copying a wide table is slow.
        used = np.array(expression.columns or (0,))
        self.rows = CompiledEngine().prepare(table[:, used])
        self.ones = np.ones(self.rows.columns.shape[1])
        # A copy: kernels are compiled for writable arrays.
        self.op = op = expression.op.copy()
        self.arg = np.where(op == VAR, np.searchsorted(used, expression.arg), expression.arg).astype(np.int32)
        self._record(np.ones(len(op), np.bool_) if free is None else np.array(free, np.bool_))

    def with_free(self, free: NDArray[np.bool_]) -> "Gradient":
        """The same expression on the same rows with other free constants."""
        new = copying.copy(self)
        new._record(free)
        return new

    def at(self, const: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values (n_rows,) and slopes (n_free, n_rows); between calls, only free constants may change."""
        n_free, n_rows, n_padded = len(self.tape.slot), self.rows.n_rows, len(self.ones)
        value, slopes = np.empty((1, n_padded)), np.empty((n_free, n_padded))
        # Without free constants, all operations are fixed ones, the output of the value among them.
        again, self.played = self.played and n_free > 0, True
        # With one block of rows, the values that depend on no free constant are still in the workspace.
        skipped = self.tape.n_fixed if again and n_padded <= self.W.shape[1] else 0
        outputs = self.rows.columns, self.ones, self.W, value, slopes
        expand(operator_address("float64"), self.tape.operations[skipped:], const.copy(), *outputs)
        return value[0, :n_rows], slopes[:, :n_rows]

    def _record(self, free: NDArray[np.bool_]) -> None:
        self.free, self.played = free, False
        self.tape = record(self.op, self.arg, free, np.zeros(1, np.int64), np.full(1, len(free), np.int64))
        self.W = workspace(self.tape.n_places, len(self.ones))


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
    return Gradient(expression, X, free).at(expression.const)
