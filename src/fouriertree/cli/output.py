"""Output of commands: results on stdout, which may be full or closed, notes and progress on stderr; exit statuses.

With `--json`, stdout has one JSON document, whose keys are in tools/json_keys.toml, and everything else is on stderr.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any

import typer

from fouriertree.errors import InputError, reason
from fouriertree.io.strict_json import plain
from fouriertree.io.terminal import printable

SHORT, BAD_INPUT, INTERRUPTED, BROKEN_PIPE, TERMINATED = 1, 2, 130, 141, 143
#: the exit statuses, for help texts and the reference
STATUSES = {
    0: "success",
    SHORT: "`bench` missed a goal; in any other command a bug, with its traceback",
    BAD_INPUT: "bad input, or a file that cannot be read or written, with one sentence on stderr",
    INTERRUPTED: "interrupted by Ctrl-C (SIGINT); `fit` has written and printed its equations so far",
    BROKEN_PIPE: "the reader of the output closed it early, as `head` does",
    TERMINATED: "terminated by SIGTERM; `fit` has written and printed its equations so far",
}


@contextmanager
def printing() -> Iterator[None]:
    """Inside, an error of stdout becomes one sentence, or silence where the reader closed the pipe (`| head`)."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()
        raise typer.Exit(BROKEN_PIPE) from None
    except OSError as error:
        discard_stdout()
        raise InputError(f"cannot write to the standard output: {reason(error)}") from None


def discard_stdout() -> None:
    """Redirect stdout to the null device, so that Python does not report the error again when it exits."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def say(*lines: str) -> None:
    with printing():
        print(*(printable(line, lines=True) for line in lines), sep="\n")


def write_bytes(content: bytes) -> None:
    """The same bytes on stdout; text where it takes nothing else."""
    with printing():
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        else:
            sys.stdout.write(content.decode())


@contextmanager
def document(wanted: bool) -> Iterator[dict[str, Any]]:
    """A dictionary to fill, which is printed at the end if `wanted`, with the key `error` for bad input."""
    content: dict[str, Any] = {}
    if not wanted:
        yield content
        return
    try:
        with redirect_stdout(sys.stderr):
            yield content
    except InputError as error:
        content["error"] = sentence(error)
        write_document(content)
        raise
    except (KeyboardInterrupt, typer.Exit):
        # The document of an interrupted search has its result.
        write_document(content or {"error": "interrupted"})
        raise
    write_document(content)


def write_document(content: Mapping[str, Any]) -> None:
    """Print it in ASCII, which every terminal can show."""
    with printing():
        print(json.dumps(plain(content), indent=2, allow_nan=False))


def note(sentence: str) -> None:
    print(f"note: {printable(sentence)}", file=sys.stderr)


def sentence(error: Exception | str) -> str:
    """The message on one line, as it follows `error:`."""
    words = " ".join(str(error).split())
    return words[:1].lower() + words[1:]


def aligned_rows(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of text, aligned at the left."""
    cells = [list(map(printable, line)) for line in [headings, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in cells)
    return "\n".join("  ".join(line).rstrip() for line in padded)


def progress_bar() -> Any:
    """A progress bar of Rich on a terminal; its tasks have a field `note`."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.fields[note]}"),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
