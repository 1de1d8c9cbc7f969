"""What PyTorch and JAX have in common: the numbers of the formula become parameters."""

from __future__ import annotations

import math

from fouriertree.export.language import ARITHMETIC, Code, Form, Language, calls, written
from fouriertree.export.names import Column, columns_of
from fouriertree.export.tree import whole_tree
from fouriertree.expr.catalogue import ATOM, PRODUCT, UNARY
from fouriertree.model import Model


def table(module: str, pow_: str) -> dict[str, Form]:
    """The operators with NumPy's names in another module."""
    # The inner `where` keeps the derivative finite where the outer one takes the other value.
    safe = f"{module}.where({{x}} == 0.0, 1.0, {{x}})"
    return (
        ARITHMETIC
        | calls(
            "sin cos tan exp log sqrt abs tanh asin=arcsin acos=arccos atan=arctan",
            f"{module}.{{name}}({{a}})",
        )
        | {
            "pdiv": Form(
                f"{module}.where({{b}} == 0.0, 1.0, {{a}} / {safe.replace('{x}', '{b}')})",
                needed=(PRODUCT, UNARY),
            ),
            "plog": Form(
                f"{module}.where({{a}} == 0.0, 0.0, {module}.log({module}.abs({safe.replace('{x}', '{a}')})))"
            ),
            "pow": Form(f"{module}.{pow_}({{a}}, {{b}})"),
            "min": Form(f"{module}.minimum({{a}}, {{b}})"),
            "max": Form(f"{module}.maximum({{a}}, {{b}})"),
        }
    )


def trainable(
    model: Model, name: str, forms: dict[str, Form], other: str
) -> tuple[list[Column], Code, list[float]]:
    """Columns, formula and the numbers c[0], c[1], … in it; `other` is how infinities and NaN are written."""
    numbers: list[float] = []

    def literal(value: float) -> tuple[str, float]:
        if not math.isfinite(value):
            return other.replace("{value}", repr(value)), ATOM
        numbers.append(value)
        return f"c[{len(numbers) - 1}]", ATOM

    tree = whole_tree(model)
    columns = columns_of(model, tree)
    identifiers = {column.number: column.identifier for column in columns}
    return columns, written(tree, identifiers, Language(name, forms, literal)), numbers
