"""Options of commands, built from their declarations; an invalid value is reported in one sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from fouriertree.cli import completion
from fouriertree.fit.options import BOOLEAN, OUTPUT, Flag, Kind, Option, path, text, whole

Function = TypeVar("Function", bound=Callable[..., Any])

#: the formats of tables, in words
TABLE = "CSV, TSV, Parquet (.parquet) or Excel (.xlsx), or - for text from the standard input"
#: the default of an option that must be given
REQUIRED = inspect.Parameter.empty


def option(name: str, kind: Kind, help: str, heading: str = "", default: Any = None, **form: Any) -> Option:
    """An option that only the command line has; `form` has other fields of `Flag`."""
    return Option(name, default, kind, help, heading, Flag(default=default, **form))


def with_options(*options: Option) -> Callable[[Function], Function]:
    """Gives a function of keyword arguments the signature from which Typer builds the command."""

    def decorate(function: Function) -> Function:
        function.__signature__ = inspect.Signature(list(map(parameter, options)))  # type: ignore[attr-defined]
        return function

    return decorate


def parameter(declared: Option) -> inspect.Parameter:
    flag, kind, default = declared.flag or Flag(), declared.flag_kind, declared.flag_default
    read: Any = kind.read if kind.read in (bool, Path) else str
    value = list[read] if flag.repeated else read | None if default is None else read
    return inspect.Parameter(
        declared.key,
        inspect.Parameter.KEYWORD_ONLY,
        default=REQUIRED if flag.argument and flag.default is None else default,
        annotation=Annotated[value, info(declared)],
    )


def info(declared: Option) -> Any:
    """The option or argument of Typer that was declared; the words of its kind are completed."""
    flag, kind = declared.flag or Flag(), declared.flag_kind
    complete = getattr(completion, flag.completion) if flag.completion else None
    common: dict[str, Any] = {
        "metavar": kind.metavar,
        "help": flag.help or declared.help,
        "autocompletion": completion.words(*kind.choices) if kind.choices else complete,
    }
    if flag.argument:
        return typer.Argument(**common)
    return typer.Option(
        "--" + declared.key.rstrip("_").replace("_", "-"),
        *([flag.short] if flag.short else []),
        parser=None if kind.read in (bool, Path) else parser(kind),
        rich_help_panel=declared.heading or None,
        show_default=flag.shown or True,
        **common,
    )


def parser(kind: Kind) -> Callable[[str], Any]:
    """Reads a value; the error names the valid ones."""

    def parse(text: str) -> Any:
        try:
            value = kind.read(text)
        except ValueError:
            value = None
        if value is None or not kind.accepts(value):
            raise typer.BadParameter(f"it must be {kind.phrase}; got {str(text)!r}")
        return value

    return parse


# Options that several commands have.
NAME, FILE, FOLDER = text("NAME"), path("FILE"), path("FOLDER")
SHEET = option("sheet", NAME, "Sheet of an Excel workbook.", shown="the first")
JSON = option(
    "json", BOOLEAN, "Print one JSON document on stdout, and everything else on stderr; docs/cli.md lists the keys.",
    OUTPUT, default=False,
)  # fmt: skip
MODEL = option("model", path("MODEL"), "Model file written by `fouriertree fit -o`.", argument=True)
ROW = option("row", whole(0), "Row of the table of equations.", shown="the chosen one")
