"""Structure of postfix programs: arities, subtree starts, depth, validity. Functions on plain sequences.

In postfix order the subtree of token i is the slice that ends at i, and its last argument ends at i - 1.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr.catalogue import BY_OPCODE
from fouriertree.expr.opcodes import CONST, VAR

if TYPE_CHECKING:
    from fouriertree.expr.expression import Expression
    from fouriertree.expr.primitives import PrimitiveSet

T = TypeVar("T")

_ARITIES = {CONST: 0, VAR: 0} | {code: row.arity for code, row in BY_OPCODE.items()}


def token_arities(op: NDArray[np.int32], primitives: "PrimitiveSet") -> list[int]:
    """Number of arguments of every token: 0 for leaves."""
    return [_ARITIES[o] if o in _ARITIES else primitives.by_opcode(o).arity for o in op.tolist()]


def starts(arities: Sequence[int]) -> list[int]:
    """First token of every token's subtree."""
    first: list[int] = []
    for i, arity in enumerate(arities):
        start = i
        for _ in range(arity):
            start = first[start - 1]
        first.append(start)
    return first


def depth(arities: Sequence[int]) -> int:
    """Number of levels: 1 for a leaf."""
    levels: list[int] = []
    for arity in arities:
        arguments = [levels.pop() for _ in range(arity)]
        levels.append(1 + max(arguments, default=0))
    return levels[-1]


def check(
    op: NDArray[np.int32], arg: NDArray[np.int32], const: NDArray[np.float64], arities: Sequence[int]
) -> None:
    """Raise ValueError unless the three arrays are one complete program with normal leaves."""
    if not op.shape == arg.shape == const.shape or op.ndim != 1:
        raise ValueError("op, arg and const must be one-dimensional and of the same length")
    height = 0
    for i, arity in enumerate(arities):
        if height < arity:
            raise ValueError(
                f"token {i} takes {arity} argument(s), but only {height} value(s) come before it"
            )
        height += 1 - arity
    if height != 1:
        raise ValueError(f"a program must leave one value, this one leaves {height}")
    if (arg[op == VAR] < 0).any():
        raise ValueError("column indexes must not be negative")
    if (arg[op != VAR] != 0).any() or (const[op != CONST] != 0).any():
        raise ValueError("arg is only for columns and const only for constants; they must be 0 elsewhere")


def fold(expression: "Expression", leaf: Callable[[int], T], apply: Callable[..., T]) -> T:
    """From the leaves to the root: leaf(i) at token i, and apply(operator, *results of its arguments)."""
    stack: list[T] = []
    for i, code in enumerate(expression.op.tolist()):
        if code <= VAR:
            stack.append(leaf(i))
        else:
            row = expression.primitives.by_opcode(code)
            stack[-row.arity :] = [apply(row, *stack[-row.arity :])]
    return stack[0]
