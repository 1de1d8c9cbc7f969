"""What a shell proposes for the value of an option; imports nothing heavy, since somebody waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import typer

from fouriertree.cli.words import operators as operator_words
from fouriertree.errors import InputError


def words(*choices: str) -> Callable[[str], list[str]]:
    """Proposes those of the words that begin as what is typed.

    >>> words("hybrid", "ftg")("h")
    ['hybrid']
    """

    def propose(incomplete: str) -> list[str]:
        return beginning(choices, incomplete)

    return propose


def operators(incomplete: str) -> list[str]:
    """The last of a list of operators, without those that it has already.

    >>> operators("+,sq")
    ['+,sqrt', '+,square']
    """
    given, comma, last = incomplete.rpartition(",")
    left = [name for name in operator_words() if name not in given.split(",")]
    return [given + comma + name for name in beginning(left, last)]


def columns(context: typer.Context, incomplete: str) -> list[str]:
    """The names in the header of the table that is named already, if it is text."""
    from fouriertree.tables.header import read_header
    from fouriertree.tables.source import Source

    # An option that waits for its value leaves the arguments before it without a name.
    typed = [str(context.params.get("data") or ""), *context.args]
    for path in filter(Path.is_file, map(Path, typed)):
        with suppress(InputError, OSError):
            source = Source(str(path), path.suffix.lstrip(".").lower(), path)
            return beginning(read_header(source)[1], incomplete)
    return []


def cases(incomplete: str) -> list[str]:
    """The cases of all suites."""
    from fouriertree.bench.names import SUITES, case_names

    return beginning([name for suite in SUITES for name in case_names(suite)], incomplete)


def beginning(choices: Iterable[str], typed: str) -> list[str]:
    return [choice for choice in choices if choice.startswith(typed)]
