"""Errors about the input: one sentence that includes what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

#: maximum number of names in a list, and of characters of a quoted value
MAX_LISTED, MAX_SHOWN = 12, 60


class InputError(Exception):
    """The input is invalid; the command line prints the message without a traceback."""


def unreadable(path: Path | str, error: OSError) -> InputError:
    return InputError(f"cannot read {path}: {reason(error)}")


def unwritable(path: Path | str, error: OSError) -> InputError:
    return InputError(f"cannot write {path}: {reason(error)}")


def reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def suggestion(word: str, choices: Iterable[str]) -> str:
    """``; did you mean 'speed'?`` or "", ignoring case.

    >>> suggestion("SPED", ["mass", "speed"])
    "; did you mean 'speed'?"
    """
    by_case = {choice.casefold(): choice for choice in choices}
    close = get_close_matches(word.casefold(), by_case, n=1)
    return f"; did you mean {by_case[close[0]]!r}?" if close else ""


def counted(number: int, noun: str) -> str:
    """``1 row``, ``1,200 rows``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Iterable[str]) -> str:
    """The names in quotes, at most a dozen.

    >>> listed(["a", "b c"])
    "'a', 'b c'"
    """
    quoted = [repr(str(name)) for name in names]
    more = f" and {len(quoted) - MAX_LISTED} more" if len(quoted) > MAX_LISTED else ""
    return ", ".join(quoted[:MAX_LISTED]) + more


def shortened(value: Any) -> str:
    """The beginning of repr(value), which raises ValueError for integers of thousands of digits."""
    try:
        return repr(value)[:MAX_SHOWN]
    except ValueError:
        return "an integer of thousands of digits"
