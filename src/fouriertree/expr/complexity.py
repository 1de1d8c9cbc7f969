"""Complexity of expressions: the sum of the complexities of their operators and leaves."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.expr.expression import Expression
from fouriertree.expr.opcodes import CONST, VAR
from fouriertree.expr.primitives import PrimitiveSet


class Complexity:
    """The complexity of expressions, with custom values for some operators.

    >>> from fouriertree.expr import parse
    >>> Complexity()(parse("sin(x0) + 1")), Complexity({"sin": 10})(parse("sin(x0) + 1"))
    (6, 13)
    """

    def __init__(
        self, custom: Mapping[str, int] | None = None, primitives: PrimitiveSet | None = None
    ) -> None:
        self._table = {CONST: 1, VAR: 1} | {row.opcode: row.complexity for row in CATALOGUE.values()}
        known = PrimitiveSet.catalogue().union(primitives or PrimitiveSet.catalogue())
        for name, value in (custom or {}).items():
            if not (isinstance(value, int) and value >= 1):
                raise ValueError(
                    f"the complexity of {name!r} must be a whole number of at least 1; got {value!r}"
                )
            self._table[known.find(name).opcode] = value

    def __call__(self, expression: Expression) -> int:
        table, known = self._table, expression.primitives
        return sum([table.get(o) or known.by_opcode(o).complexity for o in expression.op.tolist()])

    def of_tokens(self, op: NDArray[np.int32], primitives: PrimitiveSet) -> NDArray[np.int64]:
        """Complexities of operators and leaves: (n_tokens,)."""
        known = np.zeros(int(op.max(initial=0)) + 1, np.int64)
        for code in np.flatnonzero(np.bincount(op)).tolist():
            known[code] = self._table.get(code) or primitives.by_opcode(code).complexity
        return known[op]
