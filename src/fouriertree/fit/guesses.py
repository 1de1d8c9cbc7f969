"""Guesses, formulas to start from: in ``a*sin(x0)``, the unknown name ``a`` is a free parameter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fouriertree.errors import listed, suggestion
from fouriertree.expr import Expression, ParseError, PrimitiveSet, parse
from fouriertree.expr.opcodes import CONST, VAR
from fouriertree.expr.primitives import CONSTANTS, column_number
from fouriertree.expr.tokens import tokenize

#: initial values of the free parameters
STARTS = (0.7, -0.7, 2.3)


def parse_guesses(
    texts: Sequence[str], names: Sequence[str], primitives: PrimitiveSet
) -> tuple[Expression, ...]:
    """Expressions over the features, one for every initial value of the free parameters.

    >>> [str(guess) for guess in parse_guesses(["a*sin(x0) + 2"], ["x0"], PrimitiveSet.default())]
    ['0.7*sin(x0) + 2.0', '-0.7*sin(x0) + 2.0', '2.3*sin(x0) + 2.0']
    """
    if isinstance(texts, str):
        raise ValueError(f"guesses must be a list of formulas, such as [{texts!r}]")
    known = PrimitiveSet.catalogue().union(primitives)
    guesses: list[Expression] = []
    for text in texts:
        unknown = _unknown_names(text, names, known)
        tree = parse(text, names=(*names, *unknown), primitives=known)
        if unknown and not any(column < len(names) for column in tree.columns):
            hints = (suggestion(name, names) for name in unknown)
            hint = next(filter(None, hints), f"; there are {listed(names)}")
            raise ParseError(f"it has no feature{hint}", text, 0)
        for start in STARTS if unknown else (0.0,):
            guesses.append(_with_constants(tree, len(names), start))
    return tuple(dict.fromkeys(guesses))


def _unknown_names(text: str, names: Sequence[str], known: PrimitiveSet) -> list[str]:
    """Names that are neither features nor operators nor constants."""
    unknown: dict[str, None] = {}
    for token, following in pairwise(tokenize(text)):
        name = token.text
        is_known = name in names or name in CONSTANTS or name in known
        if token.kind != "word" or following.text == "(" or is_known:
            continue
        number = column_number(name)
        if number is None:
            unknown[name] = None
        elif number >= len(names):
            # The parser would take it for a free parameter, whose indices follow those of the features.
            raise ParseError(f"there is no column {name}", text, token.position)
    return list(unknown)


def _with_constants(tree: Expression, n_features: int, start: float) -> Expression:
    """The tree with constants, each slightly different, for the variables from `n_features` on."""
    unknown = (tree.op == VAR) & (tree.arg >= n_features)
    constants = start * (1.0 + 0.1 * (tree.arg - n_features))
    return Expression(
        np.where(unknown, CONST, tree.op),
        np.where(unknown, 0, tree.arg),
        np.where(unknown, constants, tree.const),
        tree.primitives,
    )
