"""`--json`: one document on stdout with the keys of the reference, also after errors."""

import json
import os
import signal
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fouriertree.io.strict_json import plain
from fouriertree.selection.table import COLUMNS

ROOT = Path(__file__).resolve().parents[2]
KEYS = tomllib.loads((ROOT / "tools" / "json_keys.toml").read_text("utf-8"))
needs_signals = pytest.mark.skipif(os.name == "nt", reason="sends a signal")


@pytest.fixture
def model(run, pendulum):
    assert run("fit", pendulum, "-t", "acceleration", "--seed", 0, "-o", "model.json").exit_code == 0
    return "model.json"


def test_a_fit_is_one_document_and_the_table_is_on_stderr(run, pendulum):
    result = run(
        "fit", pendulum, "-t", "acceleration", "--seed", 0, "-o", "m.json", "--plot", "p.svg", "--json"
    )
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert list(found) == list(KEYS["fit"])
    assert found["files"] == {"model": "m.json", "plot": "p.svg"}
    assert (found["target"], found["rows"], found["seed"], found["unseen"]) == ("acceleration", 200, 0, None)
    assert list(found["equations"][0]) == ["row", *COLUMNS, "unseen_r2", "unseen_rmse"]
    assert found["equations"][found["chosen"]]["equation"] == found["equation"]
    assert ">>>" in result.stderr
    assert "model written to m.json" in result.stderr


def test_the_published_algorithm_is_announced_on_stderr(run, pendulum):
    options = ("--search", "ftg", "--projector", "gram-svd", "--max-terms", 2, "--seed", 0, "--json")
    result = run("fit", pendulum, "-t", "acceleration", *options)
    assert json.loads(result.stdout)["seed"] == 0
    assert "FTG as published" in result.stderr


def test_predictions_are_exact_and_null_where_they_are_not_finite(run, tmp_path):
    x = np.linspace(1, 9, 40)
    pd.DataFrame({"x": x, "y": np.log(x)}).to_csv("old.csv", index=False)
    run("fit", "old.csv", "-t", "y", "--operators", "log", "--seed", 0, "-o", "model.json")
    (tmp_path / "new.csv").write_text("x\n-1\n0\n3\n", "utf-8")
    plain_text = run("predict", "model.json", "new.csv").stdout.split()
    found = json.loads(run("predict", "model.json", "new.csv", "--json").stdout)
    assert list(found) == list(KEYS["predict"])
    assert found["predictions"][:2] == [None, None]
    assert found["predictions"][2] == float(plain_text[-1])
    assert (found["not_finite"], found["rows"], found["output"]) == (2, 3, None)
    found = json.loads(run("predict", "model.json", "new.csv", "-o", "out.csv", "--json").stdout)
    assert found["output"] == "out.csv"


def test_export_report_and_problems_have_the_keys_of_the_reference(run, model, pendulum):
    listed = json.loads(run("export", model, "--json").stdout)
    assert list(listed) == list(KEYS["export"])
    assert {"name": "c", "suffix": ".c", "description": "a C function", "binary": False} in listed["targets"]
    text = run("export", model, "--to", "c").stdout
    found = json.loads(run("export", model, "--to", "c", "--json").stdout)
    assert list(found) == list(KEYS["export"])
    assert (found["text"], found["targets"]) == (text, None)
    found = json.loads(run("export", model, "--to", "c", "-o", "f.c", "--json").stdout)
    assert (found["text"], found["output"]) == (None, "f.c")
    found = json.loads(run("report", model, "--data", pendulum, "--json").stdout)
    assert list(found) == list(KEYS["report"])
    found = json.loads(run("problems", "--json").stdout)
    assert list(found) == list(KEYS["problems"])
    assert found["problems"][0] == {
        "name": "koza1",
        "formula": "x0^4 + x0^3 + x0^2 + x0",
        "domain": "20 points from U(-1, 1)",
    }


def test_a_benchmark_is_one_document(run):
    options = ("--seconds", 1, "--rows", 30, "--case", "feynman_I_25_13", "--system", "linear", "--json")
    result = run("bench", "feynman", *options)
    found = json.loads(result.stdout)
    assert list(found) == list(KEYS["bench"])
    assert (found["rows"][0]["system"], found["goals"], found["report"]) == ("linear", [], None)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fit", "none.csv", "-t", "y"], "cannot read none.csv: no such file or directory"),
        (["fit", "none.csv", "--taget", "y"], "no such option: --taget"),
        (["fit"], "missing argument 'DATA'"),
        (["fit", "none.csv", "--seed", "x"], "invalid value for '--seed': it must be a whole number"),
        (["predict", "none.json", "none.csv"], "cannot read none.json"),
        (["export", "none.json", "--to", "c"], "cannot read none.json"),
        (["report", "none.json", "--data", "none.csv"], "cannot read none.json"),
        (["problems", "--with", "none.py"], "cannot read none.py"),
        (["bench", "feynmann"], "there is no suite 'feynmann'; did you mean 'feynman'?"),
        (["paper", "--quick", "--runs", "3"], "--quick means 10 runs; give it or --runs, not both"),
    ],
)
def test_an_error_is_in_the_document_and_on_stderr_with_the_same_status(run, arguments, sentence):
    result = run(*arguments, "--json")
    assert result.exit_code == run(*arguments).exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert error.startswith(sentence)
    assert result.stderr == f"error: {error}\n"
    assert "\n" not in error


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_model_that_cannot_be_written_leaves_the_equations_in_the_document(run, pendulum):
    result = run("fit", pendulum, "-t", "acceleration", "--seed", 0, "-o", "/dev/full", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 2
    assert list(found) == [*KEYS["fit"], "error"]
    assert found["error"].startswith("cannot write /dev/full: no space left on device; the model is in ")
    assert found["files"]["model"] is None


@needs_signals
@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_an_interrupted_search_prints_its_document(forked, pendulum, name, status):
    code = "import os, signal\nfrom fouriertree.search import Hybrid\nstep, calls = Hybrid.step, []\n"
    code += "def interrupted(*arguments):\n    calls.append(0)\n"
    code += f"    if len(calls) == 2: os.kill(os.getpid(), signal.{name})\n    return step(*arguments)\n"
    code += "Hybrid.step = interrupted\nfrom fouriertree.cli import main\nmain()"
    result = forked("fit", pendulum, "-t", "velocity", "--json", code=code)
    assert result.returncode == status
    found = json.loads(result.stdout)
    assert list(found) == list(KEYS["fit"])
    assert found["stop_reason"] == "interrupted"


@needs_signals
def test_an_interrupt_before_the_search_is_an_error_in_the_document(forked, pendulum):
    code = (
        "import os, signal\nfrom fouriertree.cli import main\nfrom fouriertree.cli.fitting import columns\n"
    )
    code += "columns.samples = lambda *a: os.kill(os.getpid(), signal.SIGINT)\nmain()"
    result = forked("fit", pendulum, "-t", "velocity", "--json", code=code)
    assert (result.returncode, json.loads(result.stdout)) == (128 + signal.SIGINT, {"error": "interrupted"})


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(values)
def test_numbers_come_back_from_documents_exactly(value):
    def without(part):
        if isinstance(part, float) and not np.isfinite(part):
            return None
        if isinstance(part, list):
            return [without(p) for p in part]
        return {k: without(p) for k, p in part.items()} if isinstance(part, dict) else part

    assert json.loads(json.dumps(plain(value), allow_nan=False)) == without(value)


def test_documents_take_values_of_numpy():
    found = plain(
        {"a": np.array([1.5, np.nan]), "b": np.int64(2), "c": np.bool_(True), "d": (np.float64(0.1),)}
    )
    assert found == {"a": [1.5, None], "b": 2, "c": True, "d": [0.1]}
