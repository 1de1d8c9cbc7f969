import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fouriertree
from fouriertree import SymbolicRegressor
from fouriertree.cli import app

MAIN = "from fouriertree.cli import main; main()"


@pytest.fixture(scope="session", autouse=True)
def compiled():
    """Compile the kernels once, so that no command prints that it compiles."""
    SymbolicRegressor(max_evaluations=1, random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty folder; the result has exit_code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, **options):
        words = [str(argument) for argument in arguments]
        return CliRunner().invoke(app, words, catch_exceptions=False, **options)

    return invoke


def environment():
    source = os.path.dirname(os.path.dirname(fouriertree.__file__))
    return os.environ | {"PYTHONPATH": source, "PYTHONIOENCODING": "utf-8"}


@pytest.fixture(scope="session")
def fork_server():
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    command = [sys.executable, str(Path(__file__).with_name("fork_server.py"))]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment(), text=True, **pipes) as server:
        yield server
        server.stdin.close()


@pytest.fixture
def forked(fork_server, tmp_path_factory):
    """As `process`, in a fork of a process that has loaded everything; stdout may go to a path."""

    def run(*arguments, code=MAIN, cwd=".", stdout=None):
        folder = tmp_path_factory.mktemp("streams")
        out, err = stdout or str(folder / "stdout"), str(folder / "stderr")
        request = {
            "code": code, "arguments": [*map(str, arguments)], "folder": str(Path(cwd).resolve()), "environment": {},
            "stdout": out, "stderr": err,
        }  # fmt: skip
        print(json.dumps(request), file=fork_server.stdin, flush=True)
        status = int(fork_server.stdout.readline())
        text = "" if stdout else Path(out).read_text("utf-8")
        return subprocess.CompletedProcess(arguments, status, text, Path(err).read_text("utf-8"))

    return run


@pytest.fixture
def process():
    """Run the command, or other code with its arguments, in a separate process."""

    def run(*arguments, code=MAIN, env=None, **options):
        command = [sys.executable, "-c", code, *map(str, arguments)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        done = subprocess.run(
            command, text=True, encoding="utf-8", env=environment() | (env or {}), **streams
        )
        # The first process compiles, and prints that it does.
        done.stderr = "".join(
            line for line in done.stderr.splitlines(True) if "only the first time" not in line
        )
        return done

    return run


@pytest.fixture
def pendulum(tmp_path):
    from fouriertree.cli.demo import pendulum

    path = tmp_path / "pendulum.csv"
    path.write_text(pendulum(), encoding="utf-8")
    return path


@pytest.fixture
def lines(tmp_path):
    """A table of 40 rows with y = 2·speed + 1, a column of noise, and weight zero on every fourth row, an outlier."""
    text = "speed,noise,w,y\n"
    for i in range(40):
        wrong = 1000 if i % 4 == 3 else 0
        text += f"{i % 13},{i * i % 7},{0 if wrong else 1 + i % 2},{2 * (i % 13) + 1 + wrong}\n"
    (tmp_path / "lines.csv").write_text(text, encoding="utf-8")
    return "lines.csv"
