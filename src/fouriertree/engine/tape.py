"""The tape: values of programs, and their derivatives by the constants, as a list of vector operations.

The adjoint of an argument is down = up·∂v/∂x for the operator v = f(x, y).  The template of ∂v/∂x in the table of
operators is compiled once into a recipe, operations on places of a workspace; nothing here depends on a particular
operator.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fouriertree.compiling import kernel
from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.calculus import FINITE as FINITE_TEMPLATE
from fouriertree.expr.calculus import partial_derivative
from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.expr.opcodes import CONST, DIV, INV, MUL, NEG, SUB, VAR

from .interpreter import BINARY_MASK

# Operations of the tape other than operators: out = a but 0 where a is infinite; out = 1 where a < b, else 0;
# and two that output √w times a result.
FINITE, LESS, VALUE, SLOPE = -1, -2, -3, -4
# Operands: up = adjoint of v = operator(x, y); down = up·∂v/∂x or up·∂v/∂y; then temporary places, constants.
UP, V, X, Y, DOWN = range(5)
#: temporary places for subtrees of a template, besides `down`
SPARES = range(5, 7)
FIRST_NUMBER = SPARES.stop

Operation = tuple[int, int, int, int]
Recipe = list[Operation]

STEP = CATALOGUE["step"].opcode


class _Compiler:
    """Compiles the template of one partial derivative; constants are shared by all."""

    def __init__(self, numbers: list[float]) -> None:
        self.numbers = numbers
        self.recipe: Recipe = []

    def run(self, formula: Expression, arity: int) -> Recipe:
        """down = up·template; no operation if the template is 1, since then down = up."""
        self.operands = (*(X, Y)[:arity], V)
        code, last = int(formula.op[-1]), formula.size - 1
        if code == CONST:
            self._times(float(formula.const[-1]))
        elif code == NEG:
            # A sign is exact, so it is applied last, where it needs no place.
            self.recipe = self.run(formula.subtree(last - 1), arity)
            self._push(NEG, DOWN if self.recipe else UP)
        elif code == INV:
            # One rounding less than the product with the reciprocal.
            self._push(DIV, UP, self._part(formula.subtree(last - 1), [DOWN, *SPARES]))
        else:
            self._push(MUL, UP, self._part(formula, [DOWN, *SPARES]))
        return self.recipe

    def _times(self, number: float) -> None:
        if number == -1.0:
            self._push(NEG, UP, UP)
        elif number == 0.0:
            # Not up·0: the derivative is 0 where up is infinite, too.
            self._push(MUL, self._number(0.0), self._number(0.0))
        elif number != 1.0:
            self._push(MUL, UP, self._number(number))

    def _part(self, e: Expression, free: list[int]) -> int:
        """The place of the value of a subtree: that of a leaf, or the first of the free ones."""
        code, last = int(e.op[-1]), e.size - 1
        if code == CONST:
            return self._number(float(e.const[-1]))
        if code == VAR:
            return self.operands[int(e.arg[-1])]
        children = [e.subtree(i) for i in e.children(last)]
        if code == FINITE_TEMPLATE.opcode:
            code = FINITE
        elif code == STEP and children[0].op[-1] == SUB:
            # step(p − q) is a comparison, which needs no difference and is defined where both are infinite.
            p, q = (children[0].subtree(i) for i in children[0].children(children[0].size - 1))
            code, children = LESS, [q, p]
        places: list[int] = []
        for child in children:
            left = [place for place in free if place not in places]
            places.append(self._part(child, left))
        self.recipe.append((code, free[0], places[0], places[-1]))
        return free[0]

    def _number(self, value: float) -> int:
        if value not in self.numbers:
            self.numbers.append(value)
        return FIRST_NUMBER + self.numbers.index(value)

    def _push(self, code: int, a: int, b: int | None = None) -> None:
        self.recipe.append((code, DOWN, a, a if b is None else b))


def _recipes() -> tuple[dict[tuple[int, int], Recipe], tuple[float, ...]]:
    numbers = [1.0]
    known = PrimitiveSet.catalogue()
    recipes = {
        (row.opcode, k): _Compiler(numbers).run(partial_derivative(row, k, known), row.arity)
        for row in CATALOGUE.values()
        for k in range(row.arity)
    }
    return recipes, tuple(numbers)


#: the operations for `down` for each argument of each operator, and the constants, of which the first is 1
RECIPES, NUMBERS = _recipes()
ONE = FIRST_NUMBER
FIRST_SPARE, N_OPERANDS = SPARES.start, FIRST_NUMBER + len(NUMBERS)
#: the temporary places and the constants of recipes are first in the workspace
FIRST_PLACE = FIRST_NUMBER - SPARES.start + len(NUMBERS)
#: operations per token at most: its value, both its recipes, and the output of a slope
TOKEN_OPERATIONS = 2 + 2 * max(map(len, RECIPES.values()))


def _table() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The recipes as arrays, for kernels: the bounds of recipe (operator, argument), and all operations."""
    bounds = np.zeros((max(RECIPES)[0] + 1, 2, 2), np.int64)
    operations: list[Operation] = []
    for key, recipe in RECIPES.items():
        bounds[key] = len(operations), len(operations) + len(recipe)
        operations += recipe
    return bounds, np.array(operations, np.int64)


_BOUNDS, _OPERATIONS = _table()


class Tape(NamedTuple):
    """The operations of one model as rows (operation, out, a, b) of places in a workspace (n_places, n_rows)."""

    operations: Any  #: (n_operations, 4)
    n_fixed: int  #: number of leading operations that depend on no free constant
    n_values: int  #: number of leading operations for values: those for slopes follow
    n_places: int
    slot: Any  #: (p,) the token of free constant i
    owner: Any  #: (p,) the term of free constant i


@kernel
def link(op: Any, free: Any, left: Any, live: Any, first: Any) -> None:
    """left[t]: the last token of t's first argument; live[t]: the subtree of t has a free constant.

    first[t]: the first token of the subtree of t.
    """
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
    lo, hi = _BOUNDS[o, argument, 0], _BOUNDS[o, argument, 1]
    for i in range(lo, hi):
        out, a, b = places[_OPERATIONS[i, 1]], places[_OPERATIONS[i, 2]], places[_OPERATIONS[i, 3]]
        push(tape, end, _OPERATIONS[i, 0], out, a, b)
    # A token has one parent, so an adjoint is never a sum, and if down = up they share a place.
    return places[DOWN] if hi > lo else places[UP]


@kernel
def record_adjoints(
    tape: Any, end: Any, op: Any, left: Any, live: Any, base: int, first_free: int, at: Any, places: Any
) -> Any:  # fmt: skip
    """Append the adjoints from the root, whose adjoint is 1, to the free constants; at[t]: the place of t's adjoint.

    Places from `first_free` on are free; return the first that still is.  places: those of the operands of recipes.
    """
    at[len(op) - 1] = places[ONE]
    for t in range(len(op) - 1, -1, -1):
        if not live[t] or op[t] == CONST:
            continue
        places[UP], places[V], places[X], places[Y] = at[t], base + t, base + left[t], base + t - 1
        for argument in range(1 + ((BINARY_MASK >> op[t]) & 1)):
            child = t - 1 if argument == 1 else left[t]
            if live[child]:
                places[DOWN] = first_free
                at[child] = record_adjoint(tape, end, op[t], argument, places)
                first_free += at[child] == first_free
    return first_free


@kernel
def record_slopes(
    tape: Any, end: Any, op: Any, first: int, left: Any, live: Any, at: Any, places: Any, n_tokens: int, lo: int,
    slot: Any, owner: Any, p: int, term: int,
) -> Any:  # fmt: skip
    """Append the adjoints and the outputs of the slopes of a term: (the first free place, number of constants)."""
    # All terms use the same places: the slopes of a term are output before the next term begins.
    first_free = record_adjoints(
        tape, end, op, left, live, FIRST_PLACE + lo, FIRST_PLACE + n_tokens, at, places
    )
    for t in range(len(op)):
        if live[t] and op[t] == CONST:
            slot[p], owner[p] = first + t, term
            push(tape, end, SLOPE, p, at[t], 0)
            p += 1
    return first_free, p


@kernel
def record(op: Any, arg: Any, free: Any, start: Any, count: Any) -> Any:
    """The tape of the model whose term j is the `count[j]` tokens from `start[j]` on: built-in operators only."""
    n_tokens = 0
    for j in range(len(count)):
        n_tokens += count[j]
    left, live, at = np.empty(n_tokens, np.int64), np.empty(n_tokens, np.bool_), np.empty(n_tokens, np.int64)
    slot, owner = np.empty(n_tokens, np.int64), np.empty(n_tokens, np.int64)
    tape, end = np.empty((TOKEN_OPERATIONS * n_tokens + len(start), 4), np.int64), np.zeros(1, np.int64)
    places = np.empty(N_OPERANDS, np.int64)
    for i in range(FIRST_PLACE):
        places[FIRST_SPARE + i] = i
    n_fixed, n_values, p, n_places = 0, 0, 0, FIRST_PLACE + n_tokens
    # Values that stay, values that change with the free constants, and slopes, each for all terms.
    for stage in range(3):
        n_fixed, n_values, lo = n_values, end[0], 0
        for j in range(len(start)):
            first, hi = start[j], lo + count[j]
            tokens, its_left, its_live = op[first : first + count[j]], left[lo:hi], live[lo:hi]
            if stage == 0:
                link(tokens, free[first : first + count[j]], its_left, its_live, at[lo:hi])
            if stage < 2:
                record_values(tape, end, op, arg, first, its_left, its_live, stage, FIRST_PLACE + lo, j)
            elif live[hi - 1]:
                first_free, p = record_slopes(
                    tape,
                    end,
                    tokens,
                    first,
                    its_left,
                    its_live,
                    at[lo:hi],
                    places,
                    n_tokens,
                    lo,
                    slot,
                    owner,
                    p,
                    j,
                )
                n_places = max(n_places, first_free)
            lo = hi
    return Tape(tape[: end[0]], n_fixed, n_values, n_places, slot[:p], owner[:p])
