"""The command `fouriertree`: one command per file.

Nothing heavy is imported here, so that `fouriertree --help` answers at once; commands import what they need.
"""

from __future__ import annotations

import sys
from typing import Any, Never

import typer
from typer.core import TyperGroup

from fouriertree._version import __version__
from fouriertree.cli import bench, demo, export, fit, paper, predict, problems, report
from fouriertree.cli.errors import BAD_INPUT, INTERRUPTED, InputError
from fouriertree.cli.output import printing, say

__all__ = ["app", "main"]

# Typer keeps this class in different places in different versions.
UsageError: Any = typer.BadParameter.__mro__[1]


class Commands(TyperGroup):
    """Says what is wrong with the input in one sentence; other exceptions are bugs and show where they happened."""

    def main(self, *args: Any, **options: Any) -> Never:
        try:
            status = super().main(*args, **{**options, "standalone_mode": False})
            say_rest()
        except InputError as error:
            fail(str(error))
        except UsageError as error:
            fail(error.format_message())
        except typer.Exit as stop:
            sys.exit(stop.exit_code)
        except typer.Abort:
            print("interrupted", file=sys.stderr)
            sys.exit(INTERRUPTED)
        sys.exit(status if isinstance(status, int) else 0)


def say_rest() -> None:
    """What Typer printed may wait in the buffer of stdout, which must not fail after us."""
    with printing():
        pass


def fail(message: str) -> Never:
    sentence = " ".join(message.split())
    print(f"error: {sentence[:1].lower()}{sentence[1:]}", file=sys.stderr)
    sys.exit(BAD_INPUT)


app = typer.Typer(
    name="fouriertree",
    cls=Commands,
    help="Find formulas in data.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("fit")(fit.fit)
app.command("predict")(predict.predict)
app.command("export")(export.export)
app.command("report")(report.report)
app.command("demo")(demo.demo)
app.command("paper")(paper.paper)
app.command("problems")(problems.problems)
app.command("bench")(bench.bench)


def say_version(wanted: bool) -> None:
    if wanted:
        say(f"fouriertree {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=say_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    if context.invoked_subcommand is None:
        say(context.get_help())


def main() -> None:
    """The entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        # A column name that the terminal cannot show must not cost the user the result of a search.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="fouriertree")
