"""Documentation runs: Python blocks with their output, command lines, the demo's output, generated pages."""

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

from fouriertree import PrimitiveSet
from fouriertree.cli import app
from fouriertree.experiments.bench.names import SUITES
from fouriertree.experiments.bench.systems import SYSTEMS
from fouriertree.export import TARGETS
from fouriertree.selection.table import CRITERIA

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
#: values that commands check after parsing, by parameter
VALUES = {"to": TARGETS, "suites": SUITES, "system": (*SYSTEMS, "all")}
# Typer keeps this class in different places in different versions.
UsageError = typer.BadParameter.__mro__[1]


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def parsed(words):
    """The parameters of a command line, read by the parser of the command, which is not run."""
    command, words = typer.main.get_command(app), list(words)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    if hasattr(command, "commands"):
        # A group without a command is complete; its parser would print the help.
        if words and not words[0].startswith("-"):
            raise typer.BadParameter(f"there is no command {words[0]!r}")
        return {}
    params = command.make_context("fouriertree", words).params
    for name, known in VALUES.items():
        for value in [params[name]] if isinstance(params.get(name), str) else params.get(name) or ():
            if value not in known:
                raise typer.BadParameter(f"there is no {value!r}")
    if params.get("operators"):
        PrimitiveSet(params["operators"].split(","))
    return params


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_python_runs_and_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for code, expected in BLOCK.findall(page.read_text(encoding="utf-8")):
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(code, name_of(page), "exec"), names)
        assert not expected or printed.getvalue() == expected


def without_rounding(text):
    """A loss of rounding size differs between processors, and so do the counts, which the page leaves out."""
    text = re.sub(r"[\d,]+ (traverses|evaluations)", r"… \1", text)
    return re.sub(r" +\S+e-(2|3)\d ", " rounding ", text)


def test_the_first_fit_page_shows_what_the_demo_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = CliRunner().invoke(app, ["demo"]).stdout
    page = (ROOT / "docs" / "first-steps.md").read_text("utf-8")
    shown = re.search(r"```text\n(example\.csv.*?)```", page, re.DOTALL)[1]
    assert not re.search(r"\d (traverses|evaluations)", shown)
    assert without_rounding(shown) in without_rounding(printed)


def test_the_readme_fits_on_two_screens_with_a_picture_ten_lines_of_python_and_one_comparison():
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 150
    assert len(re.findall(r"^!\[", text, re.MULTILINE)) == 1
    (code,) = (code for code, _ in BLOCK.findall(text))
    assert len(code.splitlines()) <= 10


def test_the_reference_of_the_command_is_current():
    cli_docs = tool("cli_docs")
    assert cli_docs.PAGE.read_text("utf-8") == cli_docs.page(), "run: python tools/cli_docs.py"


def test_the_architecture_page_and_its_diagrams_are_current():
    for path, content in tool("architecture").files().items():
        assert path.read_text("utf-8") == content, "run: python tools/architecture.py"


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


@pytest.mark.parametrize("page", ["reading.md", "choosing.md"])
def test_every_criterion_of_model_selection_is_documented(page):
    text = (ROOT / "docs" / page).read_text("utf-8")
    missing = [name for name in CRITERIA if f'`"{name}"`' not in text]
    assert not missing, f"describe {', '.join(missing)} in docs/{page}"


def test_every_export_target_is_in_the_table_of_targets():
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "docs" / "export.md").read_text("utf-8"), re.MULTILINE)
    missing = set(TARGETS) - set(re.findall(r"`(\w+)`", " ".join(rows)))
    assert not missing, f"describe {', '.join(sorted(missing))} in docs/export.md"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for link in set(LINK.findall(page.read_text("utf-8"))):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_list_or_table_follows_text_or_code_without_a_blank_line(page):
    # Python-Markdown would make it a part of the paragraph.
    text = re.sub(r"^```.*?^```$", "```", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^(?![-|#<]|  ).+\n(?:- |\|).*", text, re.MULTILINE) == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_command_lines_are_accepted_with_their_values(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for program, *words in commands_of(page):
        if program == "make":
            assert words[0] in targets
            continue
        try:
            parsed(words)
        except (UsageError, ValueError) as error:
            pytest.fail(f"fouriertree {shlex.join(words)}: {getattr(error, 'message', error)}")


@pytest.mark.parametrize(
    "line",
    [
        "fit data.csv --target y --search canonical-gp",
        "fit --target y",
        "fit data.csv --target y --time-limit soon",
        "fit data.csv --target y --operators '+,sine'",
        "export model.json --to cobol",
        "bench fenyman",
        "runs resmue last",
        "fit data.csv --traget y",
    ],
)
def test_a_command_line_with_a_wrong_name_or_value_is_rejected(line):
    with pytest.raises((UsageError, ValueError)):
        parsed(shlex.split(line))


def test_workflows_and_hooks_run_targets_of_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for path in (ROOT / ".github" / "workflows" / "test.yml", ROOT / ".pre-commit-config.yaml"):
        commands = re.findall(r"(?:run|entry): (.+)", path.read_text("utf-8"))
        assert commands
        assert all(command.split()[0] == "make" and command.split()[1] in targets for command in commands)


@pytest.mark.slow
def test_the_commands_of_the_first_fit_work_in_their_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for program, *words in commands_of(ROOT / "docs" / "first-steps.md"):
        if program == "fouriertree":
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, result.output
    assert {"model.json", "predicted.csv", "report.html"} <= {path.name for path in tmp_path.iterdir()}
