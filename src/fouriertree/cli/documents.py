"""`--json`: one JSON document on stdout, and everything else on stderr; tools/json_keys.toml has the keys."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

import typer

from fouriertree.cli.output import printing, sentence
from fouriertree.errors import InputError
from fouriertree.io.strict_json import plain


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
        write(content)
        raise
    except (KeyboardInterrupt, typer.Exit):
        # The document of an interrupted search has its result.
        write(content or {"error": "interrupted"})
        raise
    write(content)


def write(content: Mapping[str, Any]) -> None:
    """Print it in ASCII, which every terminal can show."""
    with printing():
        print(json.dumps(plain(content), indent=2, allow_nan=False))
