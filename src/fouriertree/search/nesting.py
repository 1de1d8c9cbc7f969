"""Limits on the nesting of operators."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.opcodes import CONST, MUL, VAR


@dataclass(frozen=True)
class Nesting:
    """limits[outer][inner]: the maximum number of `inner` operators on one path below an `outer` one.

    >>> from fouriertree.expr import parse
    >>> rules = Nesting.of({"sin": {"sin": 0}}, PrimitiveSet.default())
    >>> rules.allows(parse("sin(x0)*sin(x0)")), rules.allows(parse("sin(x0 + sin(x0))"))
    (True, False)
    """

    limits: tuple[tuple[int, tuple[tuple[int, int], ...]], ...] = ()

    @classmethod
    def of(cls, rules: Mapping[str, Mapping[str, int]], primitives: PrimitiveSet) -> Self:
        """Rules by the names of operators; ValueError for an unknown one."""
        known = PrimitiveSet.catalogue().union(primitives)
        limits = []
        for outer, inner in rules.items():
            if not isinstance(inner, Mapping):
                raise ValueError(f"nesting[{outer!r}] must map operators to counts; got {inner!r}")
            for name, limit in inner.items():
                if not (isinstance(limit, int) and limit >= 0):
                    raise ValueError(f"nesting[{outer!r}][{name!r}] must be an integer ≥ 0; got {limit!r}")
            counts = tuple((known.find(name).opcode, limit) for name, limit in inner.items())
            limits.append((known.find(outer).opcode, counts))
        return cls(tuple(limits))

    def allows(self, expression: Expression, in_units: bool = True) -> bool:
        """Whether no rule is violated; with `in_units` false, a constant times a feature counts as the feature."""
        return all(
            _deepest(expression, outer, inner, in_units) <= limit
            for outer, rules in self.limits
            for inner, limit in rules
        )

    def allow(self, terms: Sequence[Expression]) -> bool:
        """Whether terms over rescaled features can satisfy the rules."""
        return not self.limits or all(self.allows(term, in_units=False) for term in terms)


def _deepest(expression: Expression, outer: int, inner: int, in_units: bool) -> int:
    """The maximum number of `inner` operators on a path below an `outer` one; −1 without any `outer`."""
    # Per subtree: (maximum number of inner operators on a path, the same below an outer one).
    stack: list[tuple[int, int]] = []
    op = expression.op.tolist()
    for i, code in enumerate(op):
        arity = 0 if code <= 1 else expression.primitives.by_opcode(code).arity
        below = [stack.pop() for _ in range(arity)]
        chain = max((c for c, _ in below), default=0)
        worst = max((w for _, w in below), default=-1)
        if code == outer:
            worst = max(worst, chain)
        unit = not in_units and code == MUL and {op[i - 1], op[i - 2]} == {CONST, VAR}
        stack.append((chain + (code == inner and not unit), worst))
    return stack[0][1]
