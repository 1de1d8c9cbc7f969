"""Python's operators on expressions: ``x + 1``, ``2 * x``, ``x**2``, ``-x`` build trees."""

from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from fouriertree.expr.expression import Expression


class Arithmetic:
    """Operator overloading in terms of ``apply(operator, *arguments)``: a mixin of Expression only."""

    __slots__ = ()
    # Then `np.float64(2) * e` calls `Expression.__rmul__`.
    __array_ufunc__: Final = None

    apply: ClassVar[Callable[..., "Expression"]]

    def __add__(self, other: "Expression | float") -> "Expression":
        return self._build("add", self, other)

    def __radd__(self, other: float) -> "Expression":
        return self._build("add", other, self)

    def __sub__(self, other: "Expression | float") -> "Expression":
        return self._build("sub", self, other)

    def __rsub__(self, other: float) -> "Expression":
        return self._build("sub", other, self)

    def __mul__(self, other: "Expression | float") -> "Expression":
        return self._build("mul", self, other)

    def __rmul__(self, other: float) -> "Expression":
        return self._build("mul", other, self)

    def __truediv__(self, other: "Expression | float") -> "Expression":
        return self._build("div", self, other)

    def __rtruediv__(self, other: float) -> "Expression":
        return self._build("div", other, self)

    def __pow__(self, other: "Expression | float") -> "Expression":
        # As in `parse`: x^2 is square(x) and x^3 is cube(x).
        if isinstance(other, Real) and other in (2, 3):
            return self._build("square" if other == 2 else "cube", self)
        return self._build("pow", self, other)

    def __rpow__(self, other: float) -> "Expression":
        return self._build("pow", other, self)

    def __neg__(self) -> "Expression":
        return self._build("neg", self)

    def _build(self, operator: str, *operands: object) -> "Expression":
        if all(isinstance(operand, Arithmetic | Real) for operand in operands):
            tree: Expression = type(self).apply(operator, *operands)
            return tree
        # Python then raises a TypeError with both types.
        declined: Expression = NotImplemented
        return declined
