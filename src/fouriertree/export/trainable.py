"""Common to PyTorch and JAX: constants and coefficients become parameters."""

import math

from fouriertree.export.language import Code, Language, written
from fouriertree.export.names import Column, columns_of
from fouriertree.export.tree import whole_tree
from fouriertree.expr.opcodes import ATOM
from fouriertree.model import Model


def trainable(model: Model, name: str, key: str, other: str) -> tuple[list[Column], Code, list[float]]:
    """Features, code, and the parameters c[0], c[1], … in it; `other` is the template of infinities and NaN."""
    numbers: list[float] = []

    def literal(value: float) -> tuple[str, float]:
        if not math.isfinite(value):
            return other.replace("{value}", repr(value)), ATOM
        numbers.append(value)
        return f"c[{len(numbers) - 1}]", ATOM

    tree = whole_tree(model)
    columns = columns_of(model, tree)
    identifiers = {column.number: column.identifier for column in columns}
    return columns, written(tree, identifiers, Language(name, key, literal)), numbers
