"""The common first step of all languages: the tree, its features, and its code."""

import re

from fouriertree.export.errors import ExportError
from fouriertree.export.keywords import RESERVED
from fouriertree.export.language import Code, Language, written
from fouriertree.export.names import Column, columns_of
from fouriertree.export.tree import whole_tree
from fouriertree.model import Model

#: reserved identifiers that are allowed for the function
FUNCTIONS = frozenset({"predict", "formula", "y", "result"})


def prepared(model: Model, language: Language) -> tuple[list[Column], Code]:
    """The features, and the code over their identifiers."""
    tree = whole_tree(model)
    columns = columns_of(model, tree)
    return columns, written(tree, {column.number: column.identifier for column in columns}, language)


def checked_function(name: str) -> str:
    """A valid name of the function."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in RESERVED - FUNCTIONS:
        raise ExportError(f"a function cannot be called {name!r}; use letters, digits and underscores")
    return name
