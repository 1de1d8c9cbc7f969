"""A formula for a spreadsheet, over the cells A2, B2, ….

A spreadsheet has errors instead of infinities and NaN, which propagate.  But an empty cell is 0, constants of more
than 15 digits are truncated, and (-8)^(1/3) is -2.
"""

import math
from decimal import ROUND_DOWN, Context
from itertools import accumulate

from fouriertree.export.errors import ExportError
from fouriertree.export.language import Language, written
from fouriertree.export.names import columns_of, shown
from fouriertree.export.tree import whole_tree
from fouriertree.expr.opcodes import ATOM
from fouriertree.model import Model

#: limits of Excel: characters, and nested parentheses
LONGEST, MOST_BRACKETS = 8192, 64
DIGITS = 15


def literal(value: float) -> tuple[str, float]:
    """The constant, as a sum of two if it has more digits than a spreadsheet reads.

    >>> literal(0.1 + 0.2)[0]
    '(0.3+5.55111512312578E-17)'
    """
    if not math.isfinite(value):
        return "NA()", ATOM
    if value == 0.0:  # there is no -0
        return "0", ATOM
    first = float(f"{value:.{DIGITS}g}")
    if math.isinf(first):  # rounded up beyond the largest float
        first = float(Context(prec=DIGITS, rounding=ROUND_DOWN).create_decimal(value))
    rest = value - first
    text = shortest(first) if rest == 0.0 else f"{shortest(first)}{shortest(rest, plus='+')}"
    return (text, ATOM) if rest == 0.0 and value >= 0.0 else (f"({text})", ATOM)


def shortest(value: float, plus: str = "") -> str:
    """At most 15 digits."""
    text = f"{value:.{DIGITS}g}".upper()
    return text if text.startswith("-") else plus + text


EXCEL = Language("Excel", "excel", literal, lines=False, deepest=10**9, longest=LONGEST)


def write(model: Model) -> str:
    """The formula on the first line, and then one line per cell with its feature."""
    tree = whole_tree(model)
    columns = columns_of(model, tree)
    cells = {column.number: f"{letters(i)}2" for i, column in enumerate(columns)}
    formula = written(tree, cells, EXCEL).value
    if cells:
        formula = f"IF(COUNT(A2:{letters(len(cells) - 1)}2)={len(cells)},{formula},NA())"
    check(f"={formula}")
    lines = [f"={formula}", *(f"{cells[column.number]}: {shown(column.name)}" for column in columns)]
    return "\n".join(lines) + "\n"


def letters(column: int) -> str:
    """
    >>> [letters(column) for column in (0, 25, 26, 701, 702)]
    ['A', 'Z', 'AA', 'ZZ', 'AAA']
    """
    before, digit = divmod(column, 26)
    return (letters(before - 1) if before else "") + chr(ord("A") + digit)


def check(formula: str) -> None:
    """Raise ExportError if the formula is too long or too deep for Excel."""
    EXCEL.check_length(formula)
    deepest = max(accumulate((character == "(") - (character == ")") for character in formula))
    if deepest > MOST_BRACKETS:
        raise ExportError(
            f"Excel takes {MOST_BRACKETS} nested parentheses, and this formula needs {deepest};"
            " choose a shorter equation"
        )
