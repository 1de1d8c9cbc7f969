"""The commands that read a model file: status 0, or one line on stderr and status 2."""

from __future__ import annotations

import warnings
from typing import Any

from typer.testing import CliRunner

from fouriertree.cli import app

from .cases import scratch
from .models import model_files

ROWS = "".join(f"{1.0 + i / 10},{2.0 - i / 10},{i}\n" for i in range(9))
TABLE = f"angle,speed,y\n{ROWS}".encode()


def check_commands(data: bytes) -> None:
    """The bytes are a model file; the rows fit its features."""
    model, table = scratch("model.json", data), scratch("rows.csv", TABLE)
    out = model.with_name("out.txt")
    results = [
        invoke("predict", model, table),
        invoke("predict", model, table, "-o", model.with_name("out.csv")),
        invoke("export", model, "--to", "sqlite", "-o", out),
        invoke("report", model, "--data", table, "-o", model.with_name("report.html")),
    ]
    # A report needs more of the file and may refuse one that the others accept.
    assert results[0].exit_code == results[1].exit_code


def invoke(*arguments: object) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code in (0, 2), result.output
    if result.exit_code == 2:
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        assert result.stderr.rstrip("\n").isprintable()
    return result


def seeds() -> list[bytes]:
    """Only the file whose features the rows have."""
    return model_files()[:1]
