"""`fouriertree problems`: the registered problems."""

from __future__ import annotations

from pathlib import Path

from fouriertree.cli.help import examples
from fouriertree.cli.options import FILE, JSON, option, with_options
from fouriertree.cli.output import aligned_rows, document, say
from fouriertree.errors import InputError, unreadable

HEADINGS = ("name", "formula", "domain")
EXAMPLES = examples(
    ("all of them", "fouriertree problems"),
    ("custom ones, too", "fouriertree problems --with my_problems.py"),
    ("their names, for a script", "fouriertree problems --json | jq -r '.problems[].name'"),
)  # fmt: skip


@with_options(
    option("with_", FILE, "Python file that calls register_problem; may be repeated.", repeated=True), JSON
)
def problems(with_: list[Path], json: bool) -> None:
    """List the registered problems with formula and domain."""
    with document(json) as content:
        from fouriertree.problems import registered_problems
        from fouriertree.problems.registry import domain_of, formula_of

        for path in with_:
            execute(path)
        rows = [(name, formula_of(p), domain_of(p)) for name, p in registered_problems().items()]
        content["problems"] = [dict(zip(HEADINGS, row, strict=True)) for row in rows]
        if not json:
            show(rows)


def execute(path: Path) -> None:
    """Run a Python file of the user; its errors are errors of the input."""
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
    say(aligned_rows(HEADINGS, rows))
