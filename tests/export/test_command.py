"""`fouriertree export`: the files and texts that the command writes."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from fouriertree import Model, parse
from fouriertree.cli import app
from fouriertree.export import TARGETS
from fouriertree.runs.model_file import ModelRecord, save
from fouriertree.selection.table import COLUMNS

NAMES = ("angle", "top speed")
MODELS = [Model((2.0,), (parse("x0"),), NAMES), Model((2.0, 0.5), (parse("sin(x0)"), parse("x1")), NAMES)]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    losses = dict.fromkeys(COLUMNS[:-1], 1.0)
    table = pd.DataFrame([losses | {"equation": str(model)} for model in MODELS])
    box = ((0.0, 1.0), (0.0, 1.0))
    save(tmp_path / "model.json", ModelRecord("y", NAMES, 1, tuple(MODELS), table, ((), ()), box, {}))

    def invoke(*arguments):
        return CliRunner().invoke(app, ["export", *map(str, arguments)], catch_exceptions=False)

    return invoke


@pytest.mark.parametrize("target", [name for name, target in TARGETS.items() if not target.binary])
def test_text_goes_to_the_standard_output(run, target):
    result = run("model.json", "--to", target)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout == TARGETS[target].write(MODELS[1])


def test_another_row_is_another_equation(run):
    assert "sin" not in run("model.json", "--to", "c", "--row", 0).stdout
    assert run("model.json", "--to", "c", "--row", 9).exit_code == 2


@pytest.mark.parametrize("target", TARGETS)
def test_a_file_holds_the_same(run, target, tmp_path):
    if target == "onnx":
        pytest.importorskip("onnx")
    result = run("model.json", "--to", target, "-o", "out")
    assert result.exit_code == 0, result.stderr
    content = TARGETS[target].write(MODELS[1])
    assert (tmp_path / "out").read_bytes() == (content if isinstance(content, bytes) else content.encode())
    assert result.stdout.startswith("out written: ")


def test_bytes_need_a_file(run):
    result = run("model.json", "--to", "onnx")
    assert result.exit_code == 2
    assert result.stderr == "error: onnx is no text; say where to write it: -o formula.onnx\n"


def test_without_a_target_the_targets_are_listed(run):
    result = run("model.json")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(TARGETS)


def test_an_unknown_target_is_a_one_line_error(run):
    result = run("model.json", "--to", "pyton")
    assert result.exit_code == 2
    assert result.stderr == "error: there is no target 'pyton'; did you mean 'python'?\n"


def test_the_model_is_not_overwritten(run):
    assert "is the input" in run("model.json", "--to", "c", "-o", "model.json").stderr


def test_an_export_error_is_one_line(run, tmp_path):
    data = json.loads((tmp_path / "model.json").read_text())
    deep = "sin(2 + " * 90 + "x0" + ")" * 90
    data["rows"][1] |= {"terms": [{"coefficient": 1.0, "expression": deep}], "formula": deep}
    (tmp_path / "model.json").write_text(json.dumps(data))
    result = run("model.json", "--to", "excel")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: excel takes 64 nested parentheses")
