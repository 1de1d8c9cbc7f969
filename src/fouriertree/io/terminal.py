"""Text that is shown and not obeyed: column names may hold whatever a terminal takes for a command."""

from __future__ import annotations

from unicodedata import category

#: not printable to Python, but parts of words and of pictures
JOINERS = "\u200c\u200d"


def printable(text: str, lines: bool = False) -> str:
    r"""The text with control characters written as Python writes them; with `lines`, breaks of lines stay.

    ESC, BEL and CR can move the cursor, rename the window or overwrite a line, and marks of direction reverse it.

    >>> print(printable("a\x1b[31m\r b"))
    a\x1b[31m\r b
    """
    return "".join(c if is_printable(c) or (lines and c == "\n") else ascii(c)[1:-1] for c in text)


def is_printable(character: str) -> bool:
    return character.isprintable() or category(character) == "Zs" or character in JOINERS
