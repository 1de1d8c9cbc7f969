"""Known formulas as a start: ``a*sin(x0)``, where names that are no columns are numbers to be fitted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fouriertree.expr import Expression, PrimitiveSet, parse
from fouriertree.expr.opcodes import VAR
from fouriertree.expr.primitives import CONSTANTS

WORD = re.compile(r"(?<![\w`.])[A-Za-z_]\w*(?![\w`]*\()")
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
        unknown = _unknown_names(text, names)
        tree = parse(text, names=(*names, *unknown), primitives=known)
        for start in STARTS if unknown else (0.0,):
            found.append(_with_numbers(tree, len(names), start))
    return tuple(dict.fromkeys(found))


def _unknown_names(text: str, names: Sequence[str]) -> list[str]:
    words = dict.fromkeys(WORD.findall(text))
    return [word for word in words if word not in names and word not in CONSTANTS]


def _with_numbers(tree: Expression, n_columns: int, start: float) -> Expression:
    """Columns from `n_columns` on become numbers, each a little different from the others."""
    for i in reversed(range(tree.size)):
        if tree.op[i] == VAR and tree.arg[i] >= n_columns:
            number = start * (1.0 + 0.1 * float(tree.arg[i] - n_columns))
            tree = tree.replace(i, Expression.constant(number))
    return tree
