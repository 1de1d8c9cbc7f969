"""How anything says that the input is at fault: in one sentence, with the next move in it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

MOST_LISTED = 12
#: characters of a value that is quoted in an error
MOST_SHOWN = 60


class InputError(Exception):
    """The input is at fault; the message is one sentence for the user, who sees no traceback."""


def unreadable(path: Path | str, error: OSError) -> InputError:
    return InputError(f"cannot read {path}: {reason(error)}")


def unwritable(path: Path | str, error: OSError) -> InputError:
    return InputError(f"cannot write {path}: {reason(error)}")


def reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def suggestion(word: str, choices: Iterable[str]) -> str:
    """``; did you mean 'speed'?`` or nothing; upper and lower case are taken as the same.

    >>> suggestion("SPED", ["mass", "speed"])
    "; did you mean 'speed'?"
    """
    by_case = {choice.casefold(): choice for choice in choices}
    close = get_close_matches(word.casefold(), by_case, n=1)
    return f"; did you mean {by_case[close[0]]!r}?" if close else ""


def listed(names: Iterable[str]) -> str:
    """The names in quotes, the first dozen of them.

    >>> listed(["a", "b c"])
    "'a', 'b c'"
    """
    quoted = [repr(str(name)) for name in names]
    more = f" and {len(quoted) - MOST_LISTED} more" if len(quoted) > MOST_LISTED else ""
    return ", ".join(quoted[:MOST_LISTED]) + more


def shortened(value: Any) -> str:
    """How Python writes it, or its beginning: a whole number may have thousands of digits, and then Python refuses."""
    try:
        return repr(value)[:MOST_SHOWN]
    except ValueError:
        return "a whole number of thousands of digits"
