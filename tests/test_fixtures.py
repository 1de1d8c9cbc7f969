"""Model files and runs of earlier versions: models predict as they did, runs resume or are refused in one sentence."""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fouriertree import PrimitiveSet, SymbolicClassifier, SymbolicRegressor
from fouriertree.cli import app
from fouriertree.runs import RunError, RunFolderWarning
from fouriertree.runs.snapshots import SnapshotError, from_bytes

FIXTURES = Path(__file__).parent / "fixtures" / "version-0.1"
MODELS = sorted(p.stem for p in (FIXTURES / "models").glob("*.json") if ".expected" not in p.name)
RUNS = sorted(p.name for p in (FIXTURES / "runs").iterdir())
UNFINISHED = [name for name in RUNS if name != "finished"]
STATUSES = {name: name.partition("-")[2] or name for name in RUNS}
#: bytes of all fixtures at most
MOST_BYTES = 300_000


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A copy of the fixtures, as the current folder: resuming writes to it."""
    copy = tmp_path / "copy"
    shutil.copytree(FIXTURES, copy)
    monkeypatch.chdir(copy)
    return copy / "runs"


def own_operators():
    """The operators of `tools/make_fixtures.py`."""
    operators = PrimitiveSet(["+", "*", "sin"])
    operators.add("ramp", lambda a: max(a, 0.0))
    operators.add("mean", lambda a, b: 0.5 * (a + b), arity=2)
    return operators


def load(name):
    path = FIXTURES / "models" / f"{name}.json"
    if name == "classifier":
        return SymbolicClassifier.load(path)
    return SymbolicRegressor.load(path, operators=own_operators() if name == "operators" else None)


def expected(name):
    """The rows that a model was asked about, and its answers."""
    content = json.loads((FIXTURES / "models" / f"{name}.expected.json").read_text("utf-8"))
    columns = content["columns"]
    X = np.array(content["X"]) if columns is None else pd.DataFrame(content["X"], columns=columns)
    return X, content["answers"]


# Models -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_an_earlier_version_predicts_the_same_bits(name):
    model, (X, answers) = load(name), expected(name)
    assert model.predict(X).tolist() == answers["predict"]
    for index, values in enumerate(answers.get("every row", [])):
        assert model.predict(X, index=index).tolist() == values
    if "interval 0.8" in answers:
        assert [part.tolist() for part in model.predict(X, interval=0.8)] == answers["interval 0.8"]
    if "predict_proba" in answers:
        assert model.predict_proba(X).tolist() == answers["predict_proba"]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_an_earlier_version_can_be_saved_again(name, tmp_path):
    model, (X, answers) = load(name), expected(name)
    model.save(tmp_path / "again.json")
    options = {"operators": own_operators()} if name == "operators" else {}
    again = type(model).load(tmp_path / "again.json", **options)
    assert again.predict(X).tolist() == answers["predict"]


def test_the_command_predicts_with_a_model_of_an_earlier_version(store, tmp_path):
    X, answers = expected("names")
    X.to_csv(tmp_path / "rows.csv", index=False)
    done = CliRunner().invoke(app, ["predict", "models/names.json", str(tmp_path / "rows.csv"), "--json"])
    assert json.loads(done.stdout)["predictions"] == answers["predict"]


# Runs ---------------------------------------------------------------------------------------------------------
def test_runs_of_an_earlier_version_are_listed_with_their_status(store):
    listed = json.loads(CliRunner().invoke(app, ["runs", "--run-dir", str(store), "--json"]).stdout)["runs"]
    assert {run["id"]: run["status"] for run in listed} == STATUSES


@pytest.mark.parametrize("name", RUNS)
def test_a_run_of_an_earlier_version_is_shown(store, name):
    shown = CliRunner().invoke(app, ["runs", "show", name, "--run-dir", str(store)])
    assert shown.exit_code == 0
    assert f"run {name}: {STATUSES[name]}" in shown.stdout


@pytest.mark.parametrize("name", UNFINISHED)
def test_the_command_resumes_a_run_of_an_earlier_version_or_refuses_it_in_one_sentence(store, name):
    done = CliRunner().invoke(app, ["runs", "resume", name, "--run-dir", str(store), "--json"])
    content = json.loads(done.stdout)
    assert done.exception is None or isinstance(done.exception, SystemExit)
    if done.exit_code == 0:
        assert content["equation"]
        assert content["rows"] == 30
    else:
        assert done.exit_code == 2
        assert is_one_sentence(content["error"])


def test_python_resumes_a_run_of_an_earlier_version_or_refuses_it_in_one_sentence(store):
    table = pd.read_csv(FIXTURES / "data.csv")
    X, y = table[["a", "b"]], table["y"]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", RunFolderWarning)
        try:
            model = SymbolicRegressor.resume(store / "hybrid-killed", X, y, progress=False)
        except RunError as error:
            model, refusal = None, str(error)
    assert len(model.equations_) > 0 if model else is_one_sentence(refusal)
    assert all(is_one_sentence(str(warning.message)) for warning in warned)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("runs/*/*.ftc")), ids=lambda path: path.parent.name)
def test_a_checkpoint_of_an_earlier_version_is_refused_with_both_versions(path):
    with pytest.raises(SnapshotError, match=r"^is a checkpoint of version 2; this program reads version 5$"):
        from_bytes(path.read_bytes())


def test_a_run_with_checkpoints_of_an_earlier_version_restarts_with_a_warning(store):
    table = pd.read_csv(FIXTURES / "data.csv")
    X, y = table[["a", "b"]], table["y"]
    with pytest.warns(RunFolderWarning, match="is a checkpoint of version 2; this program reads version 5"):
        resumed = SymbolicRegressor.resume(
            store / "hybrid-killed", X, y, max_evaluations=20_000, progress=False
        )
    again = SymbolicRegressor(max_evaluations=20_000, random_state=0).fit(X, y)
    assert resumed.equations_["equation"].tolist() == again.equations_["equation"].tolist()


def is_one_sentence(text):
    return bool(text) and "\n" not in text and "Traceback" not in text


# The fixtures themselves --------------------------------------------------------------------------------------
def test_fixtures_are_small_and_have_no_traces_of_the_machine():
    files = [path for path in FIXTURES.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    for path in files:
        content = path.read_bytes()
        assert b'"/' not in content, f"{path} holds an absolute path"
        assert b":\\\\" not in content, f"{path} holds an absolute path"
