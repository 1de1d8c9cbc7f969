"""A model: Σ coefficient · expression."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fouriertree.engine import CompiledEngine, Engine
from fouriertree.errors import shortened
from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.opcodes import ADD, CONST, DIV, MUL, SUB
from fouriertree.expr.readable import readable
from fouriertree.expr.simplify import split_factor
from fouriertree.io.numbers import is_finite

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Model:
    """A linear combination Σ coefficients[i]·expressions[i]; `names` are those of the features, x0, x1, … by default.

    Examples
    --------
    >>> model = Model((0.5, 2.0), (parse("1"), parse("sin(x0)")), names=("angle",))
    >>> str(model)
    '0.5 + 2.0*sin(angle)'
    >>> model.predict([[0.0], [1.0]]).round(3)
    array([0.5  , 2.183])
    """

    coefficients: tuple[float, ...]
    expressions: tuple[Expression, ...]
    names: tuple[str, ...] | None = None

    @classmethod
    def from_expression(cls, expression: Expression, names: tuple[str, ...] | None = None) -> Self:
        """The addends of an expression as terms, with their constant factors as coefficients.

        Examples
        --------
        >>> Model.from_expression(parse("2*x0 - sin(x0)/4")).coefficients
        (2.0, -0.25)
        """
        parts = [split_factor(sign * part if sign < 0.0 else part) for sign, part in addends(expression)]
        return cls(tuple(c for c, _ in parts), tuple(e for _, e in parts), names)

    def ordered(self) -> Self:
        """The same sum in an order that does not depend on the search: simple terms first, a constant last.

        The first term with a positive coefficient begins, if there is one: 3 - 2*x0, not -2*x0 + 3.

        Examples
        --------
        >>> print(Model.from_expression(parse("3 + sin(x0)*x1 - 2*x0 - x1")).ordered())
        sin(x0)*x1 - 2.0*x0 - x1 + 3.0
        """

        def place(term: tuple[float, Expression]) -> tuple[bool, int, list[int], list[int], list[float]]:
            e = term[1]
            return not e.columns, e.complexity, e.op.tolist(), e.arg.tolist(), e.const.tolist()

        terms = sorted(zip(self.coefficients, self.expressions, strict=True), key=place)
        first = next((i for i, (coefficient, _) in enumerate(terms) if coefficient > 0.0), 0)
        terms = [*terms[first : first + 1], *terms[:first], *terms[first + 1 :]]
        return replace(self, coefficients=tuple(c for c, _ in terms), expressions=tuple(e for _, e in terms))

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.expressions)

    @cached_property
    def expression(self) -> Expression:
        """The sum as one expression."""
        return sum_of_terms(self.coefficients, self.expressions)

    @property
    def complexity(self) -> int:
        """Complexity of the sum: of its operators, and 1 for every leaf."""
        return self.expression.complexity

    def predict(self, X: ArrayLike, engine: Engine | None = None) -> NDArray[np.float64]:
        """Values on the rows of X (n_rows, n_features): (n_rows,)."""
        if not self.expressions:
            return np.zeros(len(np.asarray(X)))
        values = (CompiledEngine() if engine is None else engine).evaluate(list(self.expressions), X)
        total = np.zeros(values.shape[1])
        # Not a matrix product, whose order of summation depends on the number of rows.
        with np.errstate(all="ignore"):
            for coefficient, row in zip(self.coefficients, values, strict=True):
                total += coefficient * row
        return total

    def text(self, digits: int | None = None) -> str:
        """The equation as text; with `digits`, rounded to so many significant digits, without factors of one."""
        if digits is None:
            return self.expression.text(self.names)
        rounded = [float(f"{coefficient:.{digits}g}") for coefficient in self.coefficients]
        return sum_of_terms(rounded, map(readable, self.expressions)).text(self.names, digits)

    def __str__(self) -> str:
        return self.text()

    def sympy(self) -> Any:
        """The equation as a SymPy expression."""
        return self.expression.sympy(self.names)

    def latex(self) -> str:
        """The equation as LaTeX."""
        return self.expression.latex(self.names)

    def to_json(self) -> dict[str, Any]:
        """JSON data for `from_json`; numbers are exact."""
        return {
            "names": None if self.names is None else list(self.names),
            "terms": [
                {"coefficient": c, "expression": e.text()}
                for c, e in zip(self.coefficients, self.expressions, strict=True)
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], primitives: PrimitiveSet | None = None) -> Self:
        """The model of the data of `to_json`, or ValueError; `primitives` has its user-defined operators."""
        names, terms = checked(data)
        model = cls(
            tuple(float(term["coefficient"]) for term in terms),
            tuple(parse(term["expression"], primitives=primitives) for term in terms),
            names,
        )
        last = max((column for expression in model.expressions for column in expression.columns), default=-1)
        if names is not None and last >= len(names):
            raise ValueError(f"the model uses x{last}, and there are only {len(names)} names")
        return model


def checked(data: Any) -> tuple[tuple[str, ...] | None, list[Mapping[str, Any]]]:
    """Names and terms of JSON data, or ValueError."""
    if not isinstance(data, Mapping) or not {"names", "terms"} <= set(data):
        raise ValueError("a model must have the keys names and terms")
    names, terms = data["names"], data["terms"]
    if names is not None and not (
        isinstance(names, Sequence)
        and not isinstance(names, str)
        and all(isinstance(name, str) for name in names)
        and len(set(names)) == len(names)
    ):
        raise ValueError("names must be None, or a list of distinct strings")
    if not isinstance(terms, list):
        raise ValueError("terms must be a list")
    for i, term in enumerate(terms):
        if not isinstance(term, Mapping) or not isinstance(term.get("expression"), str):
            raise ValueError(f"term {i} has no expression")
        coefficient = term.get("coefficient")
        if not (isinstance(coefficient, float) or is_finite(coefficient)):
            raise ValueError(f"the coefficient of term {i} must be a number; got {shortened(coefficient)}")
    return None if names is None else tuple(names), terms


def addends(expression: Expression, sign: float = 1.0) -> list[tuple[float, Expression]]:
    """(±1, part) with expression = Σ ±part."""
    op, starts = expression.op.tolist(), expression.starts()
    parts: list[tuple[float, int]] = []
    # A stack, since the number of addends may exceed the limit of recursion.
    todo = [(sign, expression.size - 1)]
    while todo:
        sign, i = todo.pop()
        if op[i] in (ADD, SUB):
            todo += [(-sign if op[i] == SUB else sign, i - 1), (sign, starts[i - 1] - 1)]
        else:
            parts.append((sign, i))
    return [(sign, expression.part(starts[i], i + 1)) for sign, i in parts]


def scaled(coefficient: float, expression: Expression) -> Expression:
    """coefficient · expression, with the coefficient at the leftmost factor: c*a*b/d and not c*(a*b/d)."""
    i = leading_factor(expression)
    if expression.op[i] == CONST:
        return expression.replace(i, Expression.constant(coefficient * float(expression.const[i])))
    return expression if coefficient == 1.0 else expression.replace(i, coefficient * expression.subtree(i))


def leading_factor(expression: Expression) -> int:
    """Last token of the leftmost factor of a product."""
    op, starts = expression.op.tolist(), expression.starts()
    i = expression.size - 1
    while op[i] in (MUL, DIV):
        i = starts[i - 1] - 1
    return i


def leading_constant(expression: Expression) -> float:
    """The constant that a product starts with, or 1."""
    i = leading_factor(expression)
    return float(expression.const[i]) if expression.op[i] == CONST else 1.0


def sum_of_terms(
    coefficients: Iterable[float],
    expressions: Iterable[Expression],
    scaled: Callable[[float, Expression], Expression] = scaled,
    leading_constant: Callable[[Expression], float] = leading_constant,
) -> Expression:
    """c₁·e₁ + c₂·e₂ + … without factors of one, and with differences for negative coefficients."""
    total: Expression | None = None
    for coefficient, expression in zip(coefficients, expressions, strict=True):
        if total is None:
            total = scaled(coefficient, expression)
        elif coefficient * leading_constant(expression) < 0.0:
            total = total - scaled(-coefficient, expression)
        else:
            total = total + scaled(coefficient, expression)
    return Expression.constant(0.0) if total is None else total


def extrapolation(model: Model, X: Floats, box: Floats, names: Sequence[str]) -> str | None:
    """A message if rows lie outside of the range of the training data in a feature of the equation, or None."""
    columns = list(model.expression.columns)
    beyond = (X[:, columns] < box[columns, 0]) | (X[:, columns] > box[columns, 1])
    outside = [column for column, there in zip(columns, beyond.T, strict=True) if there.any()]
    if not outside:
        return None
    rows = f"{np.count_nonzero(beyond.any(axis=1))} of {len(X)} rows lie outside of the range of the training data"
    ranges = (f"{names[column]} from {box[column, 0]:.6g} to {box[column, 1]:.6g}" for column in outside)
    return f"{rows} ({', '.join(ranges)}), where the equation extrapolates"
