"""The command `fouriertree`: one command per file.

Nothing heavy is imported here, so that `fouriertree --help` is quick; commands import what they need.
"""

from __future__ import annotations

import gc
import sys
from typing import Any, Never

import typer

from fouriertree._version import __version__
from fouriertree.cli import bench, demo, export, fit, paper, predict, problems, report, runs
from fouriertree.cli.help import Command, Group
from fouriertree.cli.output import BAD_INPUT, INTERRUPTED, STATUSES, printing, say, sentence, write_document
from fouriertree.cli.show import shortened
from fouriertree.errors import InputError
from fouriertree.io.terminal import printable

__all__ = ["app", "main"]

#: characters of an error message, which may quote the input
LONGEST_SENTENCE = 1000

# Typer keeps this class in different places in different versions.
UsageError: Any = typer.BadParameter.__mro__[1]


class Commands(Group):
    """Reports bad input in one sentence; other exceptions are bugs and have their traceback."""

    def main(self, args: Any = None, *others: Any, **options: Any) -> Never:
        try:
            status = super().main(args, *others, **{**options, "standalone_mode": False})
            with printing():  # what Typer printed may be in the buffer of stdout
                pass
        except InputError as error:
            fail(sentence(error))
        except UsageError as error:
            message = sentence(error.format_message())
            # The command has not started, and cannot write its document.
            if "--json" in (sys.argv[1:] if args is None else args):
                write_document({"error": message})
            fail(message)
        except typer.Exit as stop:
            sys.exit(stop.exit_code)
        except typer.Abort:
            print("interrupted", file=sys.stderr)
            sys.exit(INTERRUPTED)
        sys.exit(status if isinstance(status, int) else 0)


def fail(message: str) -> Never:
    print(f"error: {shortened(printable(message), LONGEST_SENTENCE)}", file=sys.stderr)
    sys.exit(BAD_INPUT)


STATUS_LINES = "\n".join(f"  {status:<5}{meaning}" for status, meaning in STATUSES.items())
EPILOG = f"""\
Exit status:
{STATUS_LINES}

Examples:
  fouriertree demo                                  # a built-in example
  fouriertree fit data.csv --target y -o model.json # equations for the column y
  fouriertree predict model.json new.csv            # predictions on new rows
  fouriertree fit --help                            # every command has examples"""

app = typer.Typer(
    name="fouriertree",
    cls=Commands,
    help="Symbolic regression: find equations in a table.",
    epilog=EPILOG,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for module in (fit, predict, export, report, demo, paper, problems, bench):
    name = module.__name__.rpartition(".")[2]
    app.command(name, cls=Command, epilog=module.EXAMPLES)(getattr(module, name))
app.add_typer(runs.app, name="runs")


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
        # A column name that the terminal cannot show must not lose the result of a search.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="fouriertree")
    finally:
        # The process ends: a last collection would visit all objects of the libraries, and free memory in vain.
        gc.freeze()
