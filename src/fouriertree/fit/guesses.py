"""Known formulas as a start: ``a*sin(x0)``, where names that are no columns are numbers to be fitted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fouriertree.expr import Expression, ParseError, PrimitiveSet, parse
from fouriertree.expr.opcodes import CONST, VAR
from fouriertree.expr.primitives import CONSTANTS, column_number
from fouriertree.expr.tokens import tokenize

#: where an unknown number starts from
STARTS = (0.7, -0.7, 2.3)


def parse_guesses(
    texts: Sequence[str], names: Sequence[str], primitives: PrimitiveSet
) -> tuple[Expression, ...]:
    """The formulas over the columns, one for every start of their unknown numbers.

    >>> [str(guess) for guess in parse_guesses(["a*sin(x0) + 2"], ["x0"], PrimitiveSet.default())]
    ['0.7*sin(x0) + 2.0', '-0.7*sin(x0) + 2.0', '2.3*sin(x0) + 2.0']
    """
    if isinstance(texts, str):
        raise ValueError(f"guesses must be a list of formulas, such as [{texts!r}]")
    known = PrimitiveSet.catalogue().union(primitives)
    found: list[Expression] = []
    for text in texts:
        unknown = _unknown_names(text, names, known)
        tree = parse(text, names=(*names, *unknown), primitives=known)
        for start in STARTS if unknown else (0.0,):
            found.append(_with_numbers(tree, len(names), start))
    return tuple(dict.fromkeys(found))


def _unknown_names(text: str, names: Sequence[str], known: PrimitiveSet) -> list[str]:
    """Words that are neither columns nor operators nor constants."""
    unknown: dict[str, None] = {}
    for token, following in pairwise(tokenize(text)):
        word = token.text
        if (
            token.kind != "word"
            or following.text == "("
            or word in names
            or word in CONSTANTS
            or word in known
        ):
            continue
        number = column_number(word)
        if number is None:
            unknown[word] = None
        elif number >= len(names):
            # The parser would take it for one of the unknown numbers, which come after the columns.
            raise ParseError(f"there is no column {word}", text, token.position)
    return list(unknown)


def _with_numbers(tree: Expression, n_columns: int, start: float) -> Expression:
    """Columns from `n_columns` on become numbers, each a little different from the others."""
    unknown = (tree.op == VAR) & (tree.arg >= n_columns)
    numbers = start * (1.0 + 0.1 * (tree.arg - n_columns))
    return Expression(
        np.where(unknown, CONST, tree.op),
        np.where(unknown, 0, tree.arg),
        np.where(unknown, numbers, tree.const),
        tree.primitives,
    )
