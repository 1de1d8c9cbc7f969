"""Documentation runs: Python and what it prints, commands, the demo's output, the reference of the command."""

import importlib.util
import re
import shlex
from contextlib import redirect_stdout
from io import StringIO
from itertools import groupby
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from fouriertree.cli import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def commands_of(page):
    """Our commands on a page as lists of words; every line has one, and other programs only around it."""
    for block in SHELL.findall(page.read_text("utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            if words := shlex.split(line, comments=True):
                parts = [
                    list(part) for between, part in groupby(words, {"|", "&&"}.__contains__) if not between
                ]
                ours = [part for part in parts if part[0] in ("fouriertree", "make")]
                assert ours, f"there is neither our command nor a target in {line!r}"
                yield from ours


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_python_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for code, expected in BLOCK.findall(page.read_text(encoding="utf-8")):
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(code, name_of(page), "exec"), names)
        assert not expected or printed.getvalue() == expected


def without_rounding(text):
    """A loss that is nothing but rounding differs between processors, and so do the last steps on the way there."""
    text = re.sub(r"[\d,]+ (traverses|evaluations)", r"some \1", text)
    return re.sub(r" +\S+e-(2|3)\d ", " rounding ", text)


def test_the_readme_shows_what_the_demo_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = CliRunner().invoke(app, ["demo"]).stdout
    shown = re.search(r"```text\n(example\.csv.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)[1]
    assert without_rounding(shown) in without_rounding(printed)


def test_the_reference_of_the_command_is_current():
    spec = importlib.util.spec_from_file_location("cli_docs", ROOT / "tools" / "cli_docs.py")
    cli_docs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cli_docs)
    assert cli_docs.PAGE.read_text("utf-8") == cli_docs.page(), "run: python tools/cli_docs.py"


def test_every_option_is_documented():
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    commands = (
        "fit",
        "predict",
        "export",
        "report",
        "demo",
        "paper",
        "problems",
        "bench",
        "runs",
        "runs resume",
    )
    for command in commands:
        shown = CliRunner().invoke(app, [*command.split(), "--help"]).stdout
        for option in set(re.findall(r"--[a-z-]+", shown)) - {"--help"}:
            assert option in page


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for link in LINK.findall(page.read_text("utf-8")):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_have_the_options_that_the_page_gives_them(page):
    known = typer.main.get_command(app).commands
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for program, first, *words in commands_of(page):
        if program == "make":
            assert first in targets
            continue
        command = known[first]
        if words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-") and word != "-"} <= options


@pytest.mark.slow
def test_the_commands_of_first_steps_work_in_their_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for program, *words in commands_of(ROOT / "docs" / "first-steps.md"):
        if program == "fouriertree":
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, result.output
    assert {"model.json", "predicted.csv", "report.html"} <= {path.name for path in tmp_path.iterdir()}
