"""Guesses, formulas to start from: in ``a*sin(x0)``, the unknown name ``a`` is a free parameter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise

from fouriertree.errors import listed, suggestion
from fouriertree.expr import Expression, ParseError, PrimitiveSet, parse
from fouriertree.expr.primitives import CONSTANTS, column_number
from fouriertree.expr.tokens import tokenize

#: similarity, by difflib, from which on a name may be a misspelled column
CLOSE = 0.8
#: letters of a name that may abbreviate a column, or be a word of its name
ABBREVIATION, INNER_WORD = 3, 4
#: usual names of parameters, which are questioned only where they begin a column's name, or are one in another case
_USUAL = """
    alpha beta gamma delta epsilon eps zeta eta theta iota kappa lambda lam lamda mu nu xi omicron pi rho sigma tau
    upsilon phi chi psi omega amp amplitude bias coef const decay exponent factor freq frequency gain intercept lag
    loc max min off offset peak phase power rate scale shift slope vmax width
"""
PARAMETERS = frozenset(_USUAL.split())
#: words of a name: runs of letters, and of digits
_WORD = re.compile(r"[^\W\d_]+|\d+")
#: names that an error suggests for parameters
_SUGGESTED = ("a", "b", "c", "k", "p")


@dataclass(frozen=True)
class Guess:
    """A formula over the features, in which the variables from `n_features` on are free parameters."""

    text: str
    tree: Expression
    n_features: int


def parse_guesses(texts: Sequence[str], names: Sequence[str], primitives: PrimitiveSet) -> tuple[Guess, ...]:
    """The guesses with these texts over the features, each once.

    >>> [guess] = parse_guesses(["a*sin(x0) + 2"], ["x0"], PrimitiveSet.default())
    >>> str(guess.tree)
    'x1*sin(x0) + 2.0'
    """
    if isinstance(texts, str):
        raise ValueError(f"guesses must be a list of formulas, such as [{texts!r}]")
    known = PrimitiveSet.catalogue().union(primitives)
    guesses: list[Guess] = []
    for text in dict.fromkeys(texts):
        unknown = _unknown_names(text, names, known)
        tree = parse(text, names=(*names, *unknown), primitives=known)
        if unknown and not any(column < len(names) for column in tree.columns):
            hints = (suggestion(name, names) for name in unknown)
            hint = next(filter(None, hints), f"; there are {listed(names)}")
            raise ParseError(f"it has no feature{hint}", text, 0)
        guesses.append(Guess(text, tree, len(names)))
    return tuple(guesses)


def _unknown_names(text: str, names: Sequence[str], known: PrimitiveSet) -> list[str]:
    """Names that are neither features nor operators nor constants, and resemble no feature."""
    unknown: dict[str, None] = {}
    for token, following in pairwise(tokenize(text)):
        name = token.text
        is_known = name in names or name in CONSTANTS or name in known or name in unknown
        if token.kind != "word" or following.text == "(" or is_known:
            continue
        number = column_number(name)
        if number is None:
            if (column := resembled(name, names)) is not None:
                raise ParseError(_question(name, column, names), text, token.position)
            unknown[name] = None
        elif number >= len(names):
            # The parser would take it for a free parameter, whose indices follow those of the features.
            raise ParseError(f"there is no column {name}", text, token.position)
    return list(unknown)


def _question(name: str, column: str, names: Sequence[str]) -> str:
    example = next((free for free in _SUGGESTED if resembled(free, names) is None), "p1")
    return (
        f"{name!r} is no column; did you mean {column!r}? A free parameter needs a name that resembles no column, "
        f"such as {example}"
    )


# Names that resemble a column's ---------------------------------------------------------------------------------
def resembled(name: str, columns: Sequence[str]) -> str | None:
    """The column that a name may stand for: in another case, a part of its name, or misspelled; None if there is none.

    >>> columns = ["girth_in", "temperature_C", "x0"]
    >>> [resembled(name, columns) for name in ("girth", "temp", "Girth_in", "temprature_C", "a", "b1", "tau")]
    ['girth_in', 'temperature_C', 'girth_in', 'temperature_C', None, None, None]
    """
    folded = name.casefold()
    by_case = {column.casefold(): column for column in columns}
    if folded in by_case:
        return by_case[folded]
    if folded == "x" and "x0" in by_case:
        return by_case["x0"]
    if sum(map(str.isalpha, folded)) < ABBREVIATION:
        return None
    words, of_columns = _WORD.findall(folded), {column: _WORD.findall(column) for column in by_case}
    for column, its_words in of_columns.items():
        if its_words[: len(words)] == words:
            return by_case[column]
    if folded in PARAMETERS:
        return None
    for column, its_words in of_columns.items():
        if column.startswith(folded) or (len(folded) >= INNER_WORD and folded in its_words):
            return by_case[column]
    # A longer name with the same words first, as temp_ref beside temp, is another name.
    others = [column for column, its_words in of_columns.items() if words[: len(its_words)] != its_words]
    close = get_close_matches(folded, others, n=1, cutoff=CLOSE)
    return by_case[close[0]] if close else None
