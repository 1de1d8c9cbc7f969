"""`fouriertree export model.json --to c`: an equation as code for another program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fouriertree.cli.completion import TARGETS
from fouriertree.cli.files import as_input_errors, check_writable, load_model, write_atomically
from fouriertree.cli.help import examples
from fouriertree.cli.options import FILE, JSON, MODEL, ROW, option, with_options
from fouriertree.cli.output import document, printing, say
from fouriertree.errors import InputError
from fouriertree.fit.options import OUTPUT, text
from fouriertree.io.terminal import printable

if TYPE_CHECKING:
    from fouriertree.export import Target
    from fouriertree.model import Model

EXAMPLES = examples(
    ("all targets", "fouriertree export model.json"),
    ("a function in C, in a file", "fouriertree export model.json --to c -o formula.c"),
    ("another equation than the chosen one, as SQL", "fouriertree export model.json --to duckdb --row 2"),
)  # fmt: skip


@with_options(
    MODEL,
    option("to", text("TARGET", TARGETS), "Target of the export; without it, the targets are listed."),
    ROW,
    option("output", FILE, "Write to this file, not to stdout.", OUTPUT, short="-o"),
    JSON,
)
def export(model: Path, to: str | None, row: int | None, output: Path | None, json: bool = False) -> None:
    """Export an equation as source code, SQL, a spreadsheet formula or a graph.

    The exported equation has the same values; docs/export.md gives for every target the result where the equation has
    no finite value, and how that is tested.
    """
    with document(json) as content:
        content |= dict.fromkeys(("to", "row", "equation", "text", "output", "targets"))
        if to is None:
            from fouriertree.export import TARGETS

            keys = ("name", "suffix", "description", "binary")
            content["targets"] = [{key: getattr(each, key) for key in keys} for each in TARGETS.values()]
            say(*(f"{each.name:<12}{each.description}" for each in TARGETS.values()))
            return
        target = chosen(to, output)
        saved = load_model(model, row)
        if output is not None:
            check_writable(output, model)
        written = write(saved.model, target)
        content |= {"to": target.name, "row": saved.row, "equation": str(saved.model)}
        if output is None:
            content["text"] = text = written.decode()
            if not json:
                show(text)
        else:
            write_atomically(output, written)
            say(f"{output} written: {target.description}")
            content["output"] = str(output)


def show(code: str) -> None:
    """Print it, unless a terminal would interpret some of the characters instead of showing them."""
    plain = code.replace("\t", " ")
    if sys.stdout.isatty() and printable(plain, lines=True) != plain:
        raise InputError("a name in it has control characters for a terminal; write it to a file with -o")
    with printing():
        sys.stdout.write(code)


def chosen(name: str, output: Path | None) -> Target:
    from fouriertree.export import ExportError, find

    with as_input_errors(ExportError):
        target = find(name)
    if target.binary and output is None:
        raise InputError(f"{name} is no text; say where to write it: -o formula{target.suffix}")
    return target


def write(model: Model, target: Target) -> bytes:
    from fouriertree.export import ExportError

    with as_input_errors(ExportError):
        content = target.write(model)
    return content if isinstance(content, bytes) else content.encode()
