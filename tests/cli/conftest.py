import pytest
from typer.testing import CliRunner

from fouriertree import SymbolicRegressor
from fouriertree.cli import app


@pytest.fixture(scope="session", autouse=True)
def compiled():
    """Whoever runs first compiles, and is told so on stderr; here nobody is first."""
    SymbolicRegressor(max_evaluations=1, random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty folder; the result has exit_code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)

    return invoke


@pytest.fixture
def pendulum(tmp_path):
    from fouriertree.cli.demo import pendulum

    path = tmp_path / "pendulum.csv"
    path.write_text(pendulum(), encoding="utf-8")
    return path
