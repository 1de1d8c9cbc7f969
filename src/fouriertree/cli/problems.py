"""`fouriertree problems`: the registered problems."""

from __future__ import annotations

from pathlib import Path

import typer

from fouriertree.cli.errors import InputError, unreadable
from fouriertree.cli.output import say

HEADINGS = ("name", "formula", "domain")


def problems(
    extra: list[Path] = typer.Option(
        [],
        "--with",
        metavar="FILE",
        help="Python file that calls register_problem; may be given several times.",
    ),
) -> None:
    """List the registered problems with formula and domain."""
    from fouriertree.problems import registered_problems
    from fouriertree.problems.registry import domain_of, formula_of

    for path in extra:
        execute(path)
    show([(name, formula_of(p), domain_of(p)) for name, p in registered_problems().items()])


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
