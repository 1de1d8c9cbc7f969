"""`fouriertree demo`, `--help` and `--version`."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

import fouriertree
from fouriertree.cli import app
from fouriertree.cli.output import STATUSES

COMMANDS = typer.main.get_command(app).commands
HEAVY = ("numpy", "numba", "pandas", "sklearn", "sympy", "matplotlib", "rich")


def test_the_demo_recovers_the_law_and_prints_the_next_command(run, tmp_path):
    result = run("demo")
    assert result.exit_code == 0
    assert "acceleration = -0.4*velocity - 19.62*sin(angle)" in result.stdout
    assert "fit example.csv --target acceleration -o model.json" in result.stdout
    assert (tmp_path / "fit.png").stat().st_size > 10_000
    assert "19.62" in (tmp_path / "report.html").read_text("utf-8")
    assert run("fit", "example.csv", "--target", "acceleration", "-o", "model.json").exit_code == 0
    assert run("predict", "model.json", "example.csv").exit_code == 0


def test_the_demo_reuses_its_own_file_and_does_not_overwrite_another(run, tmp_path):
    assert run("demo").exit_code == 0
    assert run("demo").exit_code == 0
    (tmp_path / "example.csv").write_text("mine\n1\n", encoding="utf-8")
    result = run("demo")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: there is another example.csv here")
    assert (tmp_path / "example.csv").read_text(encoding="utf-8") == "mine\n1\n"


@pytest.mark.parametrize(
    "arguments", [(), ("--help",), ("fit", "--help"), ("predict", "--help"), ("demo", "--help")]
)
def test_help_is_printed(run, arguments):
    result = run(*arguments)
    assert result.exit_code == 0
    assert "Usage:" in result.stdout


def test_version_is_that_of_the_package(run):
    assert run("--version").stdout == f"fouriertree {fouriertree.__version__}\n"


def test_help_names_the_default_operators(run):
    from fouriertree import PrimitiveSet
    from fouriertree.cli.fitting.arguments import parse_operators
    from fouriertree.fit.options import DEFAULT_OPERATORS

    assert parse_operators(DEFAULT_OPERATORS) == PrimitiveSet.default()
    text = " ".join(run("fit", "--help").stdout.split())
    assert DEFAULT_OPERATORS in text
    assert "--time-limit SECONDS" in text


def test_the_package_can_be_run_as_a_module():
    source = os.path.dirname(os.path.dirname(fouriertree.__file__))
    command = [sys.executable, "-m", "fouriertree", "--version"]
    found = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": source})
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout == f"fouriertree {fouriertree.__version__}\n"


def test_help_imports_nothing_heavy():
    code = f"import sys, fouriertree.cli; print([m for m in {HEAVY} if m in sys.modules])"
    source = os.path.dirname(os.path.dirname(fouriertree.__file__))
    environment = os.environ | {"PYTHONPATH": source}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_that_it_can_parse(run, name):
    title, *lines = COMMANDS[name].epilog.splitlines()
    assert title == "Examples:"
    assert run(name, "--help").stdout.rstrip().endswith(COMMANDS[name].epilog)
    commands = [line.strip() for line in lines if not line.strip().startswith("#")]
    for command in commands:
        words = shlex.split(re.search(r"fouriertree ([^|]*)", command)[1])
        subcommand = COMMANDS[words[0]]
        # The parser alone: nothing is read, and nothing is run.
        subcommand.make_context(words[0], words[1:])


@pytest.mark.parametrize(
    "command",
    ["fit", "predict", "export", "report", "bench", "runs show", "runs compare", "runs resume", "runs rm"],
)
def test_arguments_have_the_same_names_in_help_errors_and_reference(run, command):
    page = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text("utf-8")
    names = re.search(rf"^## fouriertree {command} (.*) \[OPTIONS\]$", page, re.MULTILINE)[1].split()
    shown = run(*command.split(), "--help").stdout
    assert shown.startswith(f"Usage: fouriertree {command} [OPTIONS] {' '.join(names)}\n")
    listed = shown.split("Arguments:\n")[1]
    for name in names:
        assert re.search(rf"^  {re.escape(name)}  ", listed, re.MULTILINE)
        assert f"- `{name}`: " in page
    if not names[0].startswith("["):
        assert run(*command.split()).stderr == f"error: missing argument '{names[0]}'.\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_listed_once_below_its_heading(run, name):
    shown = run(name, "--help").stdout
    for param in COMMANDS[name].params:
        if param.param_type_name == "option":
            assert len(re.findall(rf"^  (?:-\w, )?{param.opts[0]}\b(?!-)", shown, re.MULTILINE)) == 1
            panel = (getattr(COMMANDS[name], "commands", None) is None and param.rich_help_panel) or "Options"
            assert shown.index(f"\n{panel}:") < shown.index(f" {param.opts[0]}")


def test_help_and_the_reference_name_every_exit_status(run):
    page = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text("utf-8")
    shown = run("--help").stdout
    for status, meaning in STATUSES.items():
        assert f"\n  {status:<5}{meaning}" in shown
        assert f"\n| {status} | {meaning} |" in page
