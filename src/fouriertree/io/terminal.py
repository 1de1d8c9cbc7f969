"""Text that is safe to print on a terminal: column names may contain control sequences."""

from __future__ import annotations

from unicodedata import category

#: zero-width joiners: not printable by Python's rule, but parts of words and emoji
JOINERS = "\u200c\u200d"


def printable(text: str, lines: bool = False) -> str:
    r"""The text with control characters as Python escapes; with `lines`, line breaks are kept.

    ESC, BEL and CR can move the cursor, rename the window or overwrite a line; bidirectional marks can reverse it.

    >>> print(printable("a\x1b[31m\r b"))
    a\x1b[31m\r b
    """
    return "".join(c if is_printable(c) or (lines and c == "\n") else ascii(c)[1:-1] for c in text)


def is_printable(character: str) -> bool:
    return character.isprintable() or category(character) == "Zs" or character in JOINERS
