"""Write docs/cli.md from the declarations that `fouriertree --help` prints: python tools/cli_docs.py"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import typer.main

from fouriertree.cli import app

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
INTRODUCTION = """\
# The command `fouriertree`

This page is written by `python tools/cli_docs.py` from what `fouriertree --help` prints.

Bad input gets one sentence on stderr that starts with `error:`, and exit status 2. Rows are counted from 1, below
the header. Files are written whole or not at all; a file that exists is replaced, the input never. Cells are
separated by commas, or by the semicolons or tabs of the header line.
"""


def page() -> str:
    """The whole page."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return "\n".join([INTRODUCTION, *(section(name, command) for name, command in commands.items())])


def section(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(
        ["fouriertree", name, *(p.name.upper() for p in arguments), *(["[OPTIONS]"] if options else [])]
    )
    lines = [f"## {usage}", "", inspect.cleandoc(command.callback.__doc__), ""]
    lines += [f"- `{p.name.upper()}`: {p.help}" for p in arguments]
    lines += [f"- `{', '.join(p.opts)}`: {p.help}{default(p)}" for p in options]
    return "\n".join(lines).rstrip() + "\n"


def default(option: Any) -> str:
    value = getattr(option.default, "value", option.default)
    if isinstance(value, list):
        value = ", ".join(map(str, value)) or None
    return "" if value is None else f" Default: {value}."


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
