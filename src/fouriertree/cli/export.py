"""`fouriertree export model.json --to c`: a formula for another program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fouriertree.cli.errors import InputError
from fouriertree.cli.options import ROW
from fouriertree.cli.output import printing, say

if TYPE_CHECKING:
    from fouriertree.export import Target
    from fouriertree.model import Model


def export(
    model: Path = typer.Argument(..., metavar="MODEL", help="Model file that `fouriertree fit -o` wrote."),
    to: str | None = typer.Option(
        None,
        "--to",
        metavar="TARGET",
        help="What the formula is to become; without it, the targets are listed.",
    ),
    row: int | None = ROW,
    output: Path | None = typer.Option(
        None, "--output", "-o", metavar="FILE", help="Write there, and not on the terminal."
    ),
) -> None:
    """Write a fitted formula as source code, SQL, a spreadsheet formula or a graph.

    The same formula with the same values: docs/export.md says for every target what stands where the formula has no
    finite value, and how that is checked.
    """
    from fouriertree.cli.files import check_writable, load_model, write_whole
    from fouriertree.export import TARGETS

    if to is None:
        say(*(f"{target.name:<12}{target.description}" for target in TARGETS.values()))
        return
    target = chosen(to, output)
    saved = load_model(model, row)
    if output is not None:
        check_writable(output, model)
    content = written(saved.model, target)
    if output is None:
        with printing():
            sys.stdout.write(content.decode())
    else:
        write_whole(output, content)
        say(f"{target.description} written to {output}")


def chosen(name: str, output: Path | None) -> Target:
    from fouriertree.export import ExportError, find

    try:
        target = find(name)
    except ExportError as error:
        raise InputError(str(error)) from None
    if target.binary and output is None:
        raise InputError(f"{name} is no text; say where to write it: -o formula{target.suffix}")
    return target


def written(model: Model, target: Target) -> bytes:
    from fouriertree.export import ExportError

    try:
        content = target.write(model)
    except ExportError as error:
        raise InputError(str(error)) from None
    return content if isinstance(content, bytes) else content.encode()
