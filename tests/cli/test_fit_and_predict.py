"""`fouriertree fit` and `fouriertree predict`: from a CSV to a formula to numbers."""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fouriertree
from fouriertree import SymbolicRegressor
from fouriertree.cli.tables import EXACT

MAIN = "from fouriertree.cli import main; main()"
LAW = "-19.62*sin(angle) - 0.4*velocity"


def process(*arguments, code=MAIN, **options):
    source = os.path.dirname(os.path.dirname(fouriertree.__file__))
    environment = os.environ | {"PYTHONPATH": source, "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", env=environment, **options
    )
    # Whoever runs first compiles, and is told so.
    done.stderr = "".join(line for line in done.stderr.splitlines(True) if "only the first time" not in line)
    return done


def predictions(text):
    rows = list(csv.reader(text.splitlines()))
    assert rows[0] == ["prediction"]
    return np.array([float(value) for (value,) in rows[1:]])


def test_fit_prints_the_table_the_formula_the_reason_and_the_seed(run, pendulum):
    result = run("fit", pendulum, "--target", "acceleration", "--seed", 0)
    assert result.exit_code == 0
    assert result.stderr == ""
    marked = [line for line in result.stdout.splitlines() if line.startswith(">>>")]
    assert len(marked) == 1
    assert marked[0].endswith(LAW)
    assert f"acceleration = {LAW}" in result.stdout
    assert "stopped: target loss reached" in result.stdout
    assert "seed 0" in result.stdout


def test_a_fit_without_a_seed_names_the_seed_that_repeats_it(run, pendulum):
    arguments = ("fit", pendulum, "-t", "acceleration", "--operators", "+,*", "--max-terms", 3)
    first = run(*arguments).stdout
    seed = first.rsplit("seed ", 1)[1].strip()
    assert run(*arguments, "--seed", seed).stdout == first


def test_predict_repeats_the_predictions_of_the_regressor_to_the_last_bit(run, pendulum):
    assert run("fit", pendulum, "-t", "acceleration", "--seed", 0, "-o", "model.json").exit_code == 0
    table = pd.read_csv(pendulum, **EXACT)
    X, y = table[["angle", "velocity"]], table["acceleration"]
    expected = SymbolicRegressor(random_state=0).fit(X, y).predict(X)
    found = predictions(run("predict", "model.json", pendulum).stdout)
    assert (found == expected).all()


def test_a_model_file_says_what_it_is(run, pendulum):
    run("fit", pendulum, "-t", "acceleration", "--seed", 5, "-o", "model.json")
    data = json.loads(Path("model.json").read_text(encoding="utf-8"))
    assert (data["format"], data["version"]) == ("fouriertree-model", 1)
    assert data["package"] == fouriertree.__version__
    assert (data["target"], data["names"]) == ("acceleration", ["angle", "velocity"])
    assert len(data["models"]) == len(data["losses"]) > data["chosen"]
    assert (data["seed"], data["stop_reason"]) == (5, "target loss reached")


def test_predict_matches_columns_by_name_and_needs_only_those_of_the_formula(run, tmp_path):
    rows = [f"{i},{i * i % 7},note {i},{3 * (i * i % 7)}" for i in range(30)]
    (tmp_path / "old.csv").write_text("\n".join(["unused,my x,note,y", *rows]), encoding="utf-8")
    fit = run("fit", "old.csv", "-t", "y", "--ignore", "note", "--seed", 0, "-o", "model.json")
    assert "y = 3*`my x`" in fit.stdout
    (tmp_path / "new.csv").write_text("label,my x\na,2\nb,4\n", encoding="utf-8")
    assert predictions(run("predict", "model.json", "new.csv").stdout) == pytest.approx([6.0, 12.0])


def test_predict_with_output_keeps_every_cell_and_adds_a_column(run, tmp_path, pendulum):
    run("fit", pendulum, "-t", "acceleration", "--seed", 0, "-o", "model.json")
    (tmp_path / "new.csv").write_text('id,angle,velocity\n007,0.50,0\n"a, b",1e0,2\n', "utf-8")
    result = run("predict", "model.json", "new.csv", "-o", "out.csv")
    assert result.exit_code == 0
    rows = list(csv.reader(Path("out.csv").read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["id", "angle", "velocity", "prediction"]
    assert [row[:3] for row in rows[1:]] == [["007", "0.50", "0"], ["a, b", "1e0", "2"]]
    assert float(rows[1][3]) == pytest.approx(-19.62 * np.sin(0.5))


def test_predictions_that_are_not_finite_are_counted_on_stderr(run, tmp_path):
    x = np.linspace(1, 9, 40)
    pd.DataFrame({"x": x, "y": np.log(x)}).to_csv("old.csv", index=False)
    run("fit", "old.csv", "-t", "y", "--operators", "log", "--seed", 0, "-o", "model.json")
    (tmp_path / "new.csv").write_text("x\n-1\n1\n", encoding="utf-8")
    result = run("predict", "model.json", "new.csv")
    assert result.exit_code == 0
    assert result.stderr == "warning: the formula has no finite value on 1 of 2 rows\n"
    assert np.isnan(predictions(result.stdout)[0])


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_semicolons_and_tabs_separate_cells_too(run, tmp_path, separator):
    rows = [separator.join([str(i), str(i % 5), str(2 * i)]) for i in range(20)]
    text = "\ufeff" + "\r\n".join([separator.join(["a", "b", "y"]), *rows])
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    assert "\ny = 2*a\n" in run("fit", "data.csv", "-t", "y", "--seed", 0).stdout


def test_a_constant_target_gets_a_constant_formula(run, tmp_path):
    (tmp_path / "data.csv").write_text("a,y\n1,4\n2,4\n3,4\n", encoding="utf-8")
    result = run("fit", "data.csv", "-t", "y", "-o", "m.json")
    assert result.exit_code == 0
    assert "\ny = 4\n" in result.stdout
    assert predictions(run("predict", "m.json", "data.csv").stdout) == pytest.approx(4.0)


def test_gram_svd_is_the_published_algorithm_and_says_so(run, pendulum):
    result = run(
        "fit", pendulum, "-t", "acceleration", "--projector", "gram-svd", "--max-terms", 4, "--seed", 0
    )
    assert result.exit_code == 0
    assert result.stdout.startswith("FTG as published")
    assert "stopped: all terms used" in result.stdout


def test_the_picture_is_a_picture(run, pendulum):
    assert run("fit", pendulum, "-t", "acceleration", "--seed", 0, "--plot", "fit.png").exit_code == 0
    assert Path("fit.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_in_a_pipe_formulas_are_never_cut(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b with a very long name", "y"])
    table.to_csv(tmp_path / "data.csv", index=False)
    result = process("fit", "data.csv", "-t", "y", "--seed", 0, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert len(max(lines, key=len)) > 160
    formula = result.stdout.split("\ny = ")[1].splitlines()[0]
    assert next(line for line in lines if line.startswith(">>>")).endswith(formula)


INTERRUPTED = """
import os, signal
from fouriertree.search import FTG
step, calls = FTG.step, []
def interrupted(self, *arguments):
    calls.append(0)
    if len(calls) == 4:
        os.kill(os.getpid(), signal.SIGINT)
    return step(self, *arguments)
FTG.step = interrupted
"""


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_ctrl_c_prints_and_writes_what_was_found_and_exits_with_130(tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "y"]).to_csv(tmp_path / "data.csv", index=False)
    arguments = ("fit", "data.csv", "-t", "y", "--max-terms", 50, "-o", "model.json")
    result = process(*arguments, code=INTERRUPTED + MAIN, cwd=tmp_path)
    assert result.returncode == 128 + signal.SIGINT
    assert "stopped: interrupted" in result.stdout
    assert result.stderr == ""
    assert process("predict", "model.json", "data.csv", cwd=tmp_path).returncode == 0


def test_bugs_are_not_hidden(tmp_path, pendulum):
    broken = "import fouriertree.search as s\ndef step(*a): raise RuntimeError('a bug')\ns.FTG.step = step\n"
    result = process("fit", pendulum, "-t", "acceleration", code=broken + MAIN)
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert "a bug" in result.stderr
