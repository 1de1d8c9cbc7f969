"""The table of the built-in operators, in the order of their opcodes.

Values follow IEEE arithmetic as in NumPy (``div(1, 0) = inf``, ``log(-1) = nan``), without warnings. The entries are
in `fouriertree.expr.operators`: every property of an operator is declared there, and only there.

>>> CATALOGUE["mul"].derivative
('b', 'a')
>>> CATALOGUE["step"].derivative, CATALOGUE["step"].complexity
(('0',), 2)
"""

from fouriertree.expr.opcodes import USER_OPCODE_START
from fouriertree.expr.operators import (
    arithmetic,
    exponential,
    piecewise,
    powers,
    protected,
    special,
    trigonometric,
)
from fouriertree.expr.operators.entry import FloatArray, Primitive, Reference, quiet

__all__ = ["BY_OPCODE", "BY_SYMBOL", "CATALOGUE", "FloatArray", "Primitive", "Reference", "quiet"]

_FAMILIES = (arithmetic, powers, exponential, trigonometric, protected, piecewise, special)
_ROWS: list[Primitive] = sorted(
    (row for family in _FAMILIES for row in family.ROWS), key=lambda row: row.opcode
)

CATALOGUE = {row.name: row for row in _ROWS}
BY_OPCODE = {row.opcode: row for row in _ROWS}
BY_SYMBOL = {row.symbol: row for row in _ROWS if row.symbol and row.arity == 2} | {"**": CATALOGUE["pow"]}

if len(BY_OPCODE) < len(_ROWS) or max(BY_OPCODE) >= USER_OPCODE_START - 1:
    # The interpreter stores the arities of built-in operators in the bits of one signed integer. The first opcode is 2.
    limit, free = USER_OPCODE_START - 1, len(_ROWS) + 1
    raise ValueError(
        f"opcodes of built-in operators must differ and lie below {limit}; the next free one is {free}"
    )


def _builtin(name: str) -> Primitive:
    return CATALOGUE[name]
