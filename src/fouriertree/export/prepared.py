"""What every language starts from: the tree, its columns, and the lines of a function."""

from __future__ import annotations

import re

from fouriertree.export.errors import ExportError
from fouriertree.export.keywords import RESERVED
from fouriertree.export.language import Code, Language, written
from fouriertree.export.names import Column, columns_of
from fouriertree.export.tree import whole_tree
from fouriertree.model import Model

#: what a function may be called although no column is
FUNCTIONS = frozenset({"predict", "formula", "y", "result"})


def prepared(model: Model, language: Language) -> tuple[list[Column], Code]:
    """The columns, and the formula over their identifiers."""
    tree = whole_tree(model)
    columns = columns_of(model, tree)
    return columns, written(tree, {column.number: column.identifier for column in columns}, language)


def checked_function(name: str) -> str:
    """The name of a function, which goes into code as it is."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in RESERVED - FUNCTIONS:
        raise ExportError(f"a function cannot be called {name!r}; use letters, digits and underscores")
    return name
