"""Batches of programs in one set of arrays: the output of generators and the input of engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fouriertree.compiling import kernel
from fouriertree.expr.catalogue import BY_OPCODE
from fouriertree.expr.expression import Expression
from fouriertree.expr.opcodes import USER_OPCODE_START, VAR
from fouriertree.expr.postfix import token_arities
from fouriertree.expr.primitives import PrimitiveSet

_NO_INTEGERS, _NO_FLOATS = np.zeros(0, np.int32), np.zeros(0)
_ARITIES = np.zeros(max(BY_OPCODE) + 1, np.int8)
for _code, _row in BY_OPCODE.items():
    _ARITIES[_code] = _row.arity


@dataclass(frozen=True, eq=False)
class Programs:
    """Postfix programs: program i has the `count[i]` tokens from `start[i]` on.

    >>> from fouriertree.expr import parse
    >>> batch = Programs.pack([parse("x0 + 1"), parse("sin(x0)")])
    >>> len(batch), batch.height, str(batch[1])
    (2, 2, 'sin(x0)')
    """

    op: NDArray[np.int32]
    arg: NDArray[np.int32]
    const: NDArray[np.float64]
    start: NDArray[np.int64]
    count: NDArray[np.int64]
    height: int  #: an upper bound of the stack heights
    n_columns: int  #: the programs use no features but x0, …, x(n_columns − 1)
    primitives: PrimitiveSet

    @classmethod
    def pack(cls, expressions: Sequence[Expression]) -> Programs:
        """A batch of expressions."""
        op = np.concatenate([_NO_INTEGERS, *[e.op for e in expressions]], dtype=np.int32)
        arg = np.concatenate([_NO_INTEGERS, *[e.arg for e in expressions]], dtype=np.int32)
        const = np.concatenate([_NO_FLOATS, *[e.const for e in expressions]])
        count = np.array([len(e.op) for e in expressions], np.int64)
        start = count.cumsum() - count
        sets = {id(e.primitives): e.primitives for e in expressions}
        primitives = reduce(PrimitiveSet.union, sets.values(), PrimitiveSet.catalogue())
        height = int(_highest(_arities(op, primitives), start, count))
        n_columns = int(arg[op == VAR].max(initial=-1)) + 1
        return cls(op, arg, const, start, count, height, n_columns, primitives)

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, i: int) -> Expression:
        tokens = slice(self.start[i], self.start[i] + self.count[i])
        return Expression.unchecked(
            self.op[tokens].copy(), self.arg[tokens].copy(), self.const[tokens].copy(), self.primitives
        )

    def __iter__(self) -> Iterator[Expression]:
        return (self[i] for i in range(len(self)))

    @property
    def n_nodes(self) -> int:
        return int(self.count.sum())

    def subset(self, which: NDArray[Any]) -> Programs:
        """The programs chosen by an index array or mask; the tokens are shared, not copied."""
        return replace(self, start=self.start[which], count=self.count[which])

    def user_opcodes(self) -> NDArray[np.int32]:
        """Opcodes of custom operators in the batch."""
        return np.unique(self.op[self.op >= USER_OPCODE_START])

    def __reduce__(self) -> tuple[Callable[..., Programs], tuple[Any, ...]]:
        # Opcodes of custom operators differ between processes, so a pickle has their names.
        names = {int(code): self.primitives.by_opcode(int(code)).name for code in self.user_opcodes()}
        return _restore, (tuple(getattr(self, field.name) for field in fields(self)), names)


def _restore(values: tuple[Any, ...], names: Mapping[int, str]) -> Programs:
    programs = Programs(*values)
    if not names:
        return programs
    op = programs.op.copy()
    for code, name in names.items():
        op[programs.op == code] = programs.primitives[name].opcode
    return replace(programs, op=op)


def _arities(op: NDArray[np.int32], primitives: PrimitiveSet) -> NDArray[np.int8]:
    """Number of arguments of every token."""
    if op.max(initial=0) < len(_ARITIES):
        return _ARITIES[op]
    return np.array(token_arities(op, primitives), np.int8)


@kernel
def _highest(arities: Any, start: Any, count: Any) -> Any:
    """The largest stack height of all programs, from the number of arguments of every token."""
    highest = 1
    for i in range(len(start)):
        height = 0
        for t in range(start[i], start[i] + count[i]):
            height += 1 - arities[t]
            highest = max(highest, height)
    return highest


@kernel
def ranges(start: Any, count: Any) -> Any:
    """start[0], …, start[0] + count[0] − 1, start[1], …

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    found, end = np.empty(count.sum(), np.int64), 0
    for i in range(len(start)):
        for j in range(count[i]):
            found[end + j] = start[i] + j
        end += count[i]
    return found
