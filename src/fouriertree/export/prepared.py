"""The common steps of all languages: the features and the code of a model, and the template that they fill."""

import re
from collections.abc import Callable
from string import Template

from fouriertree.export.errors import ExportError
from fouriertree.export.keywords import RESERVED
from fouriertree.export.language import Code, Language, written
from fouriertree.export.names import Column, columns_of, shown
from fouriertree.export.tree import whole_tree
from fouriertree.model import Model

#: reserved identifiers that are allowed for the function
FUNCTIONS = frozenset({"predict", "formula", "y", "result"})


def prepared(
    model: Model, language: Language, text: Callable[[Column], str] = lambda column: column.identifier
) -> tuple[list[Column], Code]:
    """The features, and the code over their texts."""
    tree = whole_tree(model)
    columns = columns_of(model, tree)
    return columns, written(tree, {column.number: text(column) for column in columns}, language)


def filled(template: str, columns: list[Column], code: Code, **values: object) -> str:
    """The template; its lines with $column, $part or $helper are repeated for each of them."""
    repeated: dict[str, list[dict[str, object]]] = {
        "$column": [
            {"column": c.identifier, "number": c.number, "name": shown(c.name), "ascii": ascii(c.name)}
            for c in columns
        ],
        "$part": [{"part": name, "text": text} for name, text in code.parts],
        "$helper": [{"helper": helper} for helper in code.helpers],
    }
    lines, once = [], [dict[str, object]()]
    for line in template.splitlines():
        rows = next((rows for word, rows in repeated.items() if word in line), once)
        lines += [Template(line).substitute({"value": code.value} | values | row) for row in rows]
    return "\n".join(lines) + "\n"


def checked_function(name: str) -> str:
    """A valid name of the function."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in RESERVED - FUNCTIONS:
        raise ExportError(f"a function cannot be called {name!r}; use letters, digits and underscores")
    return name
