"""`fouriertree demo`, `--help` and `--version`."""

import os
import subprocess
import sys

import pytest

import fouriertree

HEAVY = ("numpy", "numba", "pandas", "sklearn", "sympy", "matplotlib", "rich")


def test_the_demo_finds_the_law_and_tells_the_next_command(run, tmp_path):
    result = run("demo")
    assert result.exit_code == 0
    assert "acceleration = -0.4*velocity - 19.62*sin(angle)" in result.stdout
    assert "fit example.csv --target acceleration -o model.json" in result.stdout
    assert (tmp_path / "fit.png").stat().st_size > 10_000
    assert "19.62" in (tmp_path / "report.html").read_text("utf-8")
    assert run("fit", "example.csv", "--target", "acceleration", "-o", "model.json").exit_code == 0
    assert run("predict", "model.json", "example.csv").exit_code == 0


def test_the_demo_runs_again_on_its_own_file_and_leaves_another_one_alone(run, tmp_path):
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
def test_help_is_there(run, arguments):
    result = run(*arguments)
    assert result.exit_code == 0
    assert "Usage:" in result.stdout


def test_version_is_that_of_the_package(run):
    assert run("--version").stdout == f"fouriertree {fouriertree.__version__}\n"


def test_help_names_the_operators_that_are_used_unless_told_otherwise(run):
    from fouriertree import PrimitiveSet
    from fouriertree.cli.fitting.settings import parse_operators
    from fouriertree.cli.words import DEFAULT_OPERATORS

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


def test_help_needs_nothing_heavy():
    code = f"import sys, fouriertree.cli; print([m for m in {HEAVY} if m in sys.modules])"
    source = os.path.dirname(os.path.dirname(fouriertree.__file__))
    environment = os.environ | {"PYTHONPATH": source}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert found.stdout.strip() == "[]"
