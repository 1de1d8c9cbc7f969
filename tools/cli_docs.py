"""Write docs/cli.md from the declarations that `fouriertree --help` prints: python tools/cli_docs.py"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from fouriertree.cli import app
from fouriertree.cli.help import ARGUMENTS, OPTIONS, by_heading
from fouriertree.cli.output import STATUSES

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "cli.md"
KEYS = tomllib.loads((ROOT / "tools" / "json_keys.toml").read_text(encoding="utf-8"))
TEXT = (
    "text in UTF-8, with or without a byte order mark; cells are separated by commas, or by the semicolons or tabs of "
    "the header; decimal commas between semicolons"
)
EXCEL = (
    "the first sheet of an Excel workbook, or that of `--sheet`; the first row that is not empty names the columns; "
    "`pip install 'fouriertree[excel]'`"
)
INTRODUCTION = f"""\
# The command `fouriertree`

This page is written by `python tools/cli_docs.py` from what `fouriertree --help` prints.

Bad input is reported in one sentence on stderr that starts with `error:`, with exit status 2. Files are written
atomically; a file that exists is replaced, the input never. [Options](options.md) has the parameters of the estimators.

## Tables
The suffix of a file gives its format; every command reads all of them, with the same errors for bad cells.

| file | what is read |
|---|---|
| `.csv`, `.tsv`, any other | {TEXT} |
| `.csv.gz` | the same, compressed; recognised by its content |
| `.parquet`, `.pq` | Parquet; `pip install 'fouriertree[parquet]'` |
| `.xlsx`, `.xlsm` | {EXCEL} |
| `-` | text from the standard input, compressed or not |

Rows are counted from 1, below the header, without blank lines. A column without a name is left out. Names may contain
any characters: quote them for the shell, and repeat an option for several of them.

## Completion in the shell
`fouriertree --install-completion` makes the Tab key complete commands, options and their values: searches, operators,
targets, suites, cases, and the columns of a text table that is named before. `--show-completion` prints the script.
"""
JSON = """\
## JSON
With `--json`, stdout has one JSON document and nothing else; all other output is on stderr. Numbers are exact;
those that are not finite are `null`. Keys are stable; new ones may be added. After an error, the exit status is the
same as without `--json`, the message is on stderr, and the document has it under the key `error`: alone, or beside the
results so far, as when a model cannot be written after a fit. An interrupted search prints its document, with the
status 130 or 143. Only a bug leaves stdout empty.
"""


def page() -> str:
    """The whole page."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    parts = [INTRODUCTION, statuses(), JSON + "\n" + keys()]
    return "\n".join([*parts, *(section(name, command) for name, command in flattened(commands))])


def flattened(commands: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """All commands with their full names; those of a group follow it."""
    for name, command in commands.items():
        yield prefix + name, command
        yield from flattened(getattr(command, "commands", {}), f"{prefix}{name} ")


def statuses() -> str:
    rows = [f"| {status} | {meaning} |" for status, meaning in STATUSES.items()]
    return "\n".join(["## Exit status", "| status | meaning |", "|--:|---|", *rows]) + "\n"


def keys() -> str:
    lines = []
    for command, described in KEYS.items():
        lines += [f"`{command} --json`:", "", *(f"- `{key}`: {text}" for key, text in described.items()), ""]
    return "\n".join(lines)


def section(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(
        ["fouriertree", name, *(p.metavar for p in arguments), *(["[OPTIONS]"] if options else [])]
    )
    lines = [f"## {usage}", "", inspect.cleandoc(command.callback.__doc__), ""]
    for heading, params in by_heading([*arguments, *options]).items():
        if params and heading not in (ARGUMENTS, OPTIONS):
            lines += ["", f"{heading}:", ""]
        lines += [line(p) for p in params]
    title, _, examples = command.epilog.partition("\n")
    lines += ["", title, "```sh", inspect.cleandoc(examples), "```"]
    return "\n".join(lines).rstrip() + "\n"


def line(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"- `{param.metavar}`: {param.help}"
    return f"- `{', '.join(param.opts)}`: {param.help}{default(param)}"


def default(option: Any) -> str:
    value = option.show_default if isinstance(option.show_default, str) else option.default
    if isinstance(value, list):
        value = ", ".join(map(str, value)) or None
    return "" if value is None or value is False else f" Default: {value}."


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.name}")
