"""What commands say: results on stdout, which may be full or closed, and notes on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import typer

from fouriertree.cli.errors import BROKEN_PIPE, InputError, reason
from fouriertree.io.terminal import printable


@contextmanager
def printing() -> Iterator[None]:
    """Inside, stdout may fail: with one sentence, or silently where the reader has seen enough (`| head`)."""
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
    """Send the rest to nowhere, so that Python does not complain once more when it exits."""
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


def note(sentence: str) -> None:
    print(f"note: {printable(sentence)}", file=sys.stderr)
