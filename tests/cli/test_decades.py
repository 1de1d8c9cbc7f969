"""`--loss relative` and `--target-transform log`: the same fits as in Python, notes and refusals."""

import json

import numpy as np
import pandas as pd
import pytest

from fouriertree import SymbolicRegressor

OPTIONS = ("-t", "y", "--max-evaluations", 20_000, "--max-size", 12, "--seed", 0, "--no-run")
HOWS = {"relative": ("--loss", "relative"), "log": ("--target-transform", "log")}
BOTH = pytest.mark.parametrize("how", HOWS)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    x = 10.0 ** rng.uniform(-2.0, 2.0, 60)
    frame = pd.DataFrame({"x": x, "y": 3.0 * x**1.7 * np.exp(0.1 * rng.standard_normal(60))})
    frame.to_csv(tmp_path / "d.csv", index=False)
    return pd.read_csv(tmp_path / "d.csv")


@BOTH
def test_the_command_and_python_have_the_same_equations(how, run, table):
    result = run("fit", "d.csv", *OPTIONS, *HOWS[how], "--json", "-o", "m.json")
    assert result.exit_code == 0
    parameters = {"relative": {"loss": "relative"}, "log": {"target_transform": "log"}}[how]
    model = SymbolicRegressor(max_evaluations=20_000, max_size=12, random_state=0, **parameters)
    model.fit(table[["x"]], table["y"])
    document = json.loads(result.stdout)
    assert [row["equation"] for row in document["equations"]] == list(model.equations_["equation"])
    assert [row["loss"] for row in document["equations"]] == list(model.equations_["loss"])
    predicted = run("predict", "m.json", "d.csv")
    values = [float(line) for line in predicted.stdout.splitlines()[1:]]
    np.testing.assert_array_equal(values, model.predict(table[["x"]]))


def test_what_the_columns_are_those_of_is_printed(run, table):
    stdout = run("fit", "d.csv", *OPTIONS, *HOWS["log"]).stdout
    assert "\nevery column but the equation is that of log(y)\n" in stdout
    assert "*x^1.69" in stdout
    stdout = run("fit", "d.csv", *OPTIONS, *HOWS["relative"]).stdout
    assert "\nlosses and R² are those of errors relative to y\n" in stdout


@pytest.mark.parametrize("how", [*HOWS, "absolute", "weights"])
def test_a_wide_target_has_one_note_unless_options_say_how_errors_are_weighed(how, run, table):
    options = {"absolute": ("--loss", "absolute"), "weights": ("--weights", "x")} | HOWS
    plain = run("fit", "d.csv", *OPTIONS)
    assert plain.stderr.count("note: 'y' spans a factor of") == 1
    assert "--loss relative or --target-transform log" in plain.stderr
    assert "spans" not in plain.stdout
    if how == "weights":
        table.assign(z=table["x"]).to_csv("d.csv", index=False)
    assert "spans" not in run("fit", "d.csv", *OPTIONS, *options[how]).stderr


@BOTH
def test_zeros_are_refused_in_one_sentence(how, run, table):
    table.assign(y=np.where(table.index < 2, 0.0, table["y"])).to_csv("d.csv", index=False)
    result = run("fit", "d.csv", *OPTIONS, *HOWS[how])
    assert result.exit_code == 2
    kind = "zero" if how == "relative" else "not positive"
    assert result.stderr.startswith("error: column 'y' of d.csv cannot be fitted: ")
    assert f"2 of 60 are {kind}; leave these rows out" in result.stderr
    assert result.stderr.count("\n") == 1


def test_both_options_at_a_time_are_refused(run, table):
    result = run("fit", "d.csv", *OPTIONS, *HOWS["log"], *HOWS["relative"])
    assert result.exit_code == 2
    assert "give --target-transform log or --loss relative" in result.stderr


@BOTH
def test_the_hold_out_set_is_scored_as_the_fit(how, run, table):
    split = ("--validation", 0.3, "--validation-last")
    document = json.loads(run("fit", "d.csv", *OPTIONS, *HOWS[how], *split, "--json", "-o", "m.json").stdout)
    last = table.iloc[42:]
    predicted = SymbolicRegressor.load("m.json").predict(last[["x"]])
    relative = how == "relative"
    errors = (last["y"] - predicted) / last["y"] if relative else np.log(last["y"] / predicted)
    mean = np.average(last["y"], weights=last["y"] ** -2.0) if relative else np.log(last["y"]).mean()
    spread = (last["y"] - mean) / last["y"] if relative else np.log(last["y"]) - mean
    assert document["unseen"]["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-9)
    assert document["unseen"]["r2"] == pytest.approx(1.0 - np.sum(errors**2) / np.sum(spread**2), rel=1e-9)
    other = table.assign(y=-table["y"])
    other.to_csv("other.csv", index=False)
    if how == "log":
        refused = run("fit", "d.csv", *OPTIONS, *HOWS[how], "--validation-file", "other.csv")
        assert refused.exit_code == 2
        assert "other.csv cannot be scored: log y needs positive values" in refused.stderr
