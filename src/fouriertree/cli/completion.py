"""Completion of the values of options in a shell; nothing heavy is imported, since a user waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import typer

from fouriertree.cli.choices import operators as operator_words
from fouriertree.errors import InputError


def words(*choices: str) -> Callable[[str], list[str]]:
    """Completes one of the words.

    >>> words("hybrid", "ftg")("h")
    ['hybrid']
    """

    def propose(incomplete: str) -> list[str]:
        return beginning(choices, incomplete)

    return propose


def operators(incomplete: str) -> list[str]:
    """Completes the last name of a list of operators, with those that it does not have yet.

    >>> operators("+,sq")
    ['+,sqrt', '+,square']
    """
    given, comma, last = incomplete.rpartition(",")
    left = [name for name in operator_words() if name not in given.split(",")]
    return [given + comma + name for name in beginning(left, last)]


def columns(context: typer.Context, incomplete: str) -> list[str]:
    """The columns of the text table that is named already."""
    from fouriertree.io.tables.header import read_header
    from fouriertree.io.tables.source import Source

    # Before an option has its value, the arguments before it are not assigned.
    typed = [str(context.params.get("data") or ""), *context.args]
    for path in filter(Path.is_file, map(Path, typed)):
        with suppress(InputError, OSError):
            source = Source(str(path), path.suffix.lstrip(".").lower(), path)
            return beginning(read_header(source)[1], incomplete)
    return []


def cases(incomplete: str) -> list[str]:
    """The cases of all suites."""
    from fouriertree.experiments.bench.names import SUITES, case_names

    return beginning([name for suite in SUITES for name in case_names(suite)], incomplete)


def beginning(choices: Iterable[str], typed: str) -> list[str]:
    return [choice for choice in choices if choice.startswith(typed)]
