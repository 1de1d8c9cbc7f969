"""`fouriertree problems`: the registered problems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fouriertree.cli.documents import Json, document
from fouriertree.cli.errors import InputError, unreadable
from fouriertree.cli.help import examples
from fouriertree.cli.output import say

HEADINGS = ("name", "formula", "domain")


EXAMPLES = examples(
    ("all of them", "fouriertree problems"),
    ("those of your own, too", "fouriertree problems --with my_problems.py"),
    ("their names, for a script", "fouriertree problems --json | jq -r '.problems[].name'"),
)  # fmt: skip

With = Annotated[
    list[Path],
    typer.Option(
        "--with",
        metavar="FILE",
        help="Python file that calls register_problem; may be given several times.",
    ),
]


def problems(extra: With = [], as_json: Json = False) -> None:
    """List the registered problems with formula and domain."""
    with document(as_json) as content:
        from fouriertree.problems import registered_problems
        from fouriertree.problems.registry import domain_of, formula_of

        for path in extra:
            execute(path)
        rows = [(name, formula_of(p), domain_of(p)) for name, p in registered_problems().items()]
        content["problems"] = [dict(zip(HEADINGS, row, strict=True)) for row in rows]
        if not as_json:
            show(rows)


def execute(path: Path) -> None:
    """Run a file of the user's, whose errors are theirs to read."""
    try:
        code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
        exec(code, {"__name__": path.stem, "__file__": str(path)})
    except OSError as error:
        raise unreadable(path, error) from None
    except Exception as error:
        raise InputError(f"{path} failed: {type(error).__name__}: {error}") from None


def show(rows: list[tuple[str, str, str]]) -> None:
    """A Rich table for a terminal, aligned text for a pipe."""
    from rich.console import Console

    console = Console()
    if console.is_terminal:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(*HEADINGS, box=SIMPLE_HEAD)
        for row in rows:
            table.add_row(*row)
        console.print(table)
        return
    widths = [max(map(len, column)) for column in zip(HEADINGS, *rows, strict=True)]
    for row in (HEADINGS, *rows):
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
