"""Derivatives of operators as short lists of vector operations, made from the templates in the table of operators.

The adjoint of an argument is down = up·∂v/∂x for the operator v = f(x, y).  The template of ∂v/∂x is compiled once
into operations on places of a workspace; nothing here depends on a particular operator.
"""

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.calculus import FINITE as FINITE_TEMPLATE
from fouriertree.expr.calculus import partial_derivative
from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.expr.opcodes import CONST, DIV, INV, MUL, NEG, SUB, VAR

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
