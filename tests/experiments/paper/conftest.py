import pytest
import typer
from typer.testing import CliRunner

from fouriertree.cli import app


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    """Run the command in an empty folder; the result has exit_code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        assert isinstance(app, typer.Typer)
        return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)

    return run
