"""Complexity of expressions: the sum of the complexities of their operators and leaves."""

from collections.abc import Mapping

import numpy as np

from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.expr.expression import Expression
from fouriertree.expr.opcodes import USER_OPCODE_START
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
        self._table = np.ones(USER_OPCODE_START, np.int64)
        for row in CATALOGUE.values():
            self._table[row.opcode] = row.complexity
        self._users: dict[int, int] = {}
        known = PrimitiveSet.catalogue() if primitives is None else PrimitiveSet.catalogue().union(primitives)
        for name, value in (custom or {}).items():
            if not (isinstance(value, int) and value >= 1):
                raise ValueError(
                    f"the complexity of {name!r} must be a whole number of at least 1; got {value!r}"
                )
            opcode = known.find(name).opcode
            if opcode < USER_OPCODE_START:
                self._table[opcode] = value
            else:
                self._users[opcode] = value

    def __call__(self, expression: Expression) -> int:
        op = expression.op
        if int(op.max()) < USER_OPCODE_START:
            return int(self._table[op].sum())
        total = 0
        for code in op.tolist():
            if code < USER_OPCODE_START:
                total += int(self._table[code])
            else:
                total += self._users.get(code, expression.primitives.by_opcode(code).complexity)
        return total
