"""`fit --column`, `--ignore`, `--weights`: features, target and weights by the names of columns."""

import json
from pathlib import Path

import pytest


def test_only_the_named_columns_are_features_in_the_order_of_the_table(run, lines):
    options = ("--max-evaluations", 500, "--seed", 0, "--json")
    result = run("fit", lines, "-t", "y", "--column", "noise", "--column", "speed", *options)
    assert json.loads(result.stdout)["columns"] == ["speed", "noise"]
    result = run("fit", lines, "-t", "y", "-c", "noise", *options)
    assert json.loads(result.stdout)["columns"] == ["noise"]


def test_sample_weights_are_used_and_are_no_feature(run, lines):
    result = run("fit", lines, "-t", "y", "--weights", "w", "--seed", 0, "-o", "m.json")
    assert result.exit_code == 0
    assert "\ny = 2*speed + 1\n" in result.stdout
    assert json.loads(Path("m.json").read_text("utf-8"))["names"] == ["speed", "noise"]


def test_names_may_contain_any_characters(run, tmp_path):
    names = ["my x", "100 %", 'say "hi"', "a,b", "two\nlines", "Größe", "[bold]", "-t"]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in [*names, "y"])
    rows = [",".join([*(str(i * (k + 2) % 7) for k in range(len(names))), str(3 * i)]) for i in range(25)]
    (tmp_path / "d.csv").write_text("\n".join([header, *rows]), "utf-8")
    columns = [word for name in names for word in ("--column", name)]
    result = run("fit", "d.csv", "-t", "y", *columns, "--max-evaluations", 500, "--seed", 0, "--json")
    assert json.loads(result.stdout)["columns"] == names
    result = run("fit", "d.csv", "-t", "y", "-c", "two\nlines", "--max-evaluations", 500, "--seed", 0)
    assert result.exit_code == 0
    assert all(line[:8].strip(" >").isdigit() for line in result.stdout.split("\n\n")[0].splitlines()[1:])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["-c", "sped"], "lines.csv has no column 'sped'; did you mean 'speed'?"),
        (["--weights", "weight"], "lines.csv has no column 'weight'"),
        (["-c", "y"], "'y' is both the target and a --column"),
        (["-c", "w", "--weights", "w"], "'w' is both a --column and the weights"),
        (["--ignore", "w", "--weights", "w"], "'w' is both ignored and the weights"),
        (["-c", "w", "--ignore", "w"], "'w' is both ignored and a --column"),
        (["--weights", "y"], "'y' is both the target and the weights"),
        (["--sheet", "one"], "--sheet is about Excel workbooks (.xlsx), and lines.csv is none"),
    ],
)
def test_a_column_has_one_role(run, lines, options, sentence):
    result = run("fit", lines, "-t", "y", *options)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [("1,-2", "has a negative weight in row 2: -2"), ("0,0", "has only zeros"), ("1,x", "has text in row 2")],
)
def test_weights_are_checked(run, tmp_path, weights, sentence):
    rows = "".join(f"{i},{i},{weight}\n" for i, weight in enumerate(weights.split(",")))
    (tmp_path / "d.csv").write_text("a,y,w\n" + rows, "utf-8")
    result = run("fit", "d.csv", "-t", "y", "--weights", "w")
    assert result.exit_code == 2
    assert f"column 'w' of d.csv {sentence}" in result.stderr
