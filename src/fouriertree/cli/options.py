"""Options of commands, built from their declarations; an invalid value is reported in one sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from fouriertree.cli import completion
from fouriertree.fit.options import BOOLEAN, COLUMNS, OUTPUT, Flag, Kind, Option, path, text, whole

Function = TypeVar("Function", bound=Callable[..., Any])

#: the formats of tables, in words
TABLE = "CSV, TSV, Parquet (.parquet) or Excel (.xlsx), or - for text from the standard input"


def option(
    *flags: str,
    kind: Kind = BOOLEAN,
    help: str,
    heading: str | None = None,
    shown: str | None = None,
    complete: Callable[..., list[str]] | None = None,
) -> Any:
    """The option of Typer for values of a kind, whose words are completed; a flag without a value by default."""
    return typer.Option(
        *flags,
        parser=None if kind.read in (bool, Path) else parser(kind),
        metavar=kind.metavar,
        autocompletion=completion.words(*kind.choices) if kind.choices else complete,
        rich_help_panel=heading,
        show_default=shown or True,
        help=help,
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


def with_options(options: Iterable[Option]) -> Callable[[Function], Function]:
    """Gives a function of keyword arguments the signature from which Typer builds the command."""

    def decorate(function: Function) -> Function:
        function.__signature__ = inspect.Signature(list(map(parameter, options)))  # type: ignore[attr-defined]
        return function

    return decorate


def parameter(declared: Option) -> inspect.Parameter:
    flag, kind, default = declared.flag or Flag(), declared.flag_kind, declared.flag_default
    read: Any = kind.read if kind.read in (bool, Path) else str
    return inspect.Parameter(
        declared.key,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if flag.argument else default,
        annotation=Annotated[
            list[read] if flag.repeated else read | None if default is None else read, info(declared)
        ],
    )


def info(declared: Option) -> Any:
    """The option or argument of Typer that was declared."""
    flag, kind = declared.flag or Flag(), declared.flag_kind
    help = flag.help or declared.help
    if flag.argument:
        return typer.Argument(metavar=kind.metavar, help=help)
    return option(
        "--" + declared.key.replace("_", "-"),
        *([flag.short] if flag.short else []),
        kind=kind,
        help=help,
        heading=declared.heading or None,
        shown=flag.shown,
        complete=getattr(completion, flag.completion) if flag.completion else None,
    )


# Options that several commands have.
SHEET = Option("sheet", None, text("NAME"), "Sheet of an Excel workbook.", COLUMNS, Flag(shown="the first"))
JSON = Option(
    "json", False, BOOLEAN,
    "Print one JSON document on stdout, and everything else on stderr; docs/cli.md lists the keys.", OUTPUT,
    Flag(default=False),
)  # fmt: skip
Json = Annotated[bool, info(JSON)]
Sheet = Annotated[str | None, info(replace(SHEET, heading=""))]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file written by `fouriertree fit -o`.")
]
Row = Annotated[
    int | None,
    option("--row", kind=whole(0), help="Row of the table of equations.", shown="the chosen one"),
]
File = path("FILE")
Folder = path("FOLDER")
