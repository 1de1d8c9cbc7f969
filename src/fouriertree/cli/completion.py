"""Completion of the values of options in a shell; nothing heavy is imported, since a user waits for it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import typer

from fouriertree.errors import InputError

#: targets of `export`; suites, kinds of noise and systems of `bench`; a test compares them with those of the package
TARGETS = (
    "python", "sympy", "latex", "c", "cpp", "julia", "matlab", "r", "javascript", "sqlite", "duckdb", "postgresql",
    "excel", "onnx", "torch", "jax", "json",
)  # fmt: skip
SUITES = (
    "feynman", "classic", "strogatz", "srsd-easy", "everyday", "feynman-solved", "compositions", "first-principles",
    "blackbox",
)  # fmt: skip
NOISE_KINDS = ("gaussian", "student")
SYSTEMS = ("ours", "operon", "rils-rols", "eggp", "gplearn", "linear")

_ENTRIES = Path(__file__).resolve().parents[1] / "expr" / "operators"


def words(*choices: str) -> Callable[[str], list[str]]:
    """Completes one of the words.

    >>> words("hybrid", "ftg")("h")
    ['hybrid']
    """
    return lambda incomplete: beginning(choices, incomplete)


def operators(incomplete: str) -> list[str]:
    """Completes the last name of a list of operators, with those that it does not have yet.

    >>> operators("+,sq")
    ['+,sqrt', '+,square']
    """
    given, comma, last = incomplete.rpartition(",")
    left = [name for name in operator_names() if name not in given.split(",")]
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
    from fouriertree.experiments.bench.names import case_names

    return beginning([name for suite in SUITES for name in case_names(suite)], incomplete)


def beginning(choices: Iterable[str], typed: str) -> list[str]:
    return [choice for choice in choices if choice.startswith(typed)]


@cache
def operator_names() -> tuple[str, ...]:
    """The built-in operators by sign or name: read from the text of their entries, as importing them takes a second.

    >>> operator_names()[:5], "erf" in operator_names()
    (('+', '-', '*', '/', '^'), True)
    """
    found = [word for path in sorted(_ENTRIES.glob("*.py")) for word in _entries(path)]
    return tuple(sorted(found, key=str.isidentifier))


def _entries(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Primitive":
            name, arity = (ast.literal_eval(argument) for argument in node.args[:2])
            symbols = [ast.literal_eval(k.value) for k in node.keywords if k.arg == "symbol"]
            yield symbols[0] if symbols and arity == 2 else name
