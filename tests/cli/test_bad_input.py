"""Whatever is wrong with the input, the user gets one sentence, status 2 and no traceback."""

import json
import os
from pathlib import Path

import pytest

GOOD = "a,b,y\n1,2,3\n2,3,5\n3,5,9\n"

BAD_TABLES = {
    "empty": ("", "d.csv is empty; it needs a header line"),
    "blank lines": ("\n\n", "d.csv is empty"),
    "header only": ("a,b,y\n", "d.csv has 0 row(s) below its header; a fit needs at least two"),
    "one row": ("a,b,y\n1,2,3\n", "d.csv has 1 row(s) below its header"),
    "no target": ("a,b\n1,2\n3,4\n", "d.csv has no column 'y'; its columns are 'a', 'b'"),
    "almost the target": (
        "a,Y\n1,2\n3,4\n",
        "d.csv has no column 'y'; did you mean 'Y'? its columns are 'a', 'Y'",
    ),
    "only the target": ("y\n1\n2\n", "d.csv has no columns besides 'y'"),
    "text in a column": ("a,b,y\n1,2,3\n4,oops,6\n", "column 'b' of d.csv has text in row 2: 'oops'; leave"),
    "text in the target": (
        "a,b,y\n1,2,3\n4,5,six\n",
        "column 'y' of d.csv has text in row 2: 'six'; a target",
    ),
    "empty cell": ("a,b,y\n1,2,3\n4,,6\n", "column 'b' of d.csv has no value in row 2"),
    "nan cell": ("a,b,y\n1,2,3\n4,5,6\nnan,8,9\n", "column 'a' of d.csv has no value in row 3"),
    "inf cell": ("a,b,y\n1,inf,3\n4,5,6\n", "column 'b' of d.csv has an infinite value in row 1"),
    "short row": ("a,b,y\n1,2,3\n4,5\n", "column 'y' of d.csv has no value in row 2"),
    "long rows": ("a,y\n1,2,3\n4,5,6\n", "d.csv is not a CSV file: its rows have more cells than its header"),
    "one long row": ("a,y\n1,2\n4,5,6\n", "d.csv is not a CSV file: Expected 2 fields in line 3, saw 3"),
    "same name twice": ("a,a,y\n1,2,3\n4,5,6\n", "d.csv has more than one column called 'a'"),
    "huge target": ("a,y\n1,1e200\n4,5\n", "column 'y' of d.csv cannot be fitted"),
}


def assert_one_sentence(result, sentence):
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert ">>>" not in result.stdout


@pytest.fixture
def fit(run, tmp_path):
    def fit(*arguments, text=GOOD):
        (tmp_path / "d.csv").write_text(text, encoding="utf-8")
        return run("fit", "d.csv", *arguments)

    return fit


@pytest.mark.parametrize("what", BAD_TABLES)
def test_a_bad_table_is_refused_with_one_sentence(fit, what):
    text, sentence = BAD_TABLES[what]
    assert_one_sentence(fit("-t", "y", text=text), sentence)


BAD_OPTIONS = [
    ([], "name the column to find a formula for with --target; d.csv has 'a', 'b', 'y'"),
    (["-t", "y", "--operators", "+,sine"], "unknown operator 'sine'; did you mean 'sin'?"),
    (["-t", "y", "--operators", ","], "--operators must name one operator or more"),
    (["-t", "y", "--operators", "+,add"], "each of them once"),
    (["-t", "y", "--time-limit", "-1"], "'--time-limit'"),
    (["-t", "y", "--time-limit", "soon"], "'--time-limit'"),
    (["-t", "y", "--max-terms", "0"], "'--max-terms'"),
    (["-t", "y", "--seed", "-1"], "'--seed'"),
    (["-t", "y", "--jobs", "0"], "--jobs must be a number of threads"),
    (["-t", "y", "--projector", "svd"], "gram-svd"),
    (["-t", "y", "--taget", "y"], "--taget"),
    (["-t", "y", "--ignore", "c"], "d.csv has no column 'c'"),
    (["-t", "y", "-o", "nowhere/model.json"], "cannot write nowhere/model.json: there is no folder"),
    (["-t", "y", "-o", "."], "cannot write .: it is a folder"),
    (["-t", "y", "-o", "d.csv"], "d.csv is the input; give the output another name"),
    (["-t", "y", "--plot", "fit.doc"], "cannot draw fit.doc"),
]


@pytest.mark.parametrize(("options", "sentence"), BAD_OPTIONS)
def test_a_bad_option_is_refused_with_one_sentence(fit, options, sentence):
    assert_one_sentence(fit(*options), sentence)


def test_a_file_that_is_not_there_or_not_a_table_is_refused(run, tmp_path):
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xfe" * 9)
    (tmp_path / "folder").mkdir()
    assert_one_sentence(run("fit", "none.csv", "-t", "y"), "cannot read none.csv: no such file or directory")
    assert_one_sentence(run("fit", "folder", "-t", "y"), "cannot read folder: is a directory")
    assert_one_sentence(
        run("fit", "picture.png", "-t", "y"), "picture.png is not a CSV file: it is not text in UTF-8"
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_costs_the_file_and_not_the_table(fit):
    result = fit("-t", "y", "-o", "/dev/full")
    assert result.exit_code == 2
    assert ">>>" in result.stdout
    assert result.stderr == "error: cannot write /dev/full: no space left on device\n"


def test_a_write_that_fails_leaves_the_old_file_and_no_part(tmp_path, monkeypatch):
    from fouriertree.cli import files
    from fouriertree.cli.errors import InputError

    path = tmp_path / "model.json"
    path.write_bytes(b"old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(InputError, match="no space left"):
        files.write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.json"]


BAD_MODELS = {
    "not JSON": ("{", "is not a model file: it is not JSON"),
    "another thing": ('{"format": "recipe"}', "is not a model file"),
    "a list": ("[]", "is not a model file"),
    "newer": ('{"format": "fouriertree-model", "version": 2}', "has format version 2, and fouriertree"),
    "cut": ('{"format": "fouriertree-model", "version": 1}', "is damaged"),
}


@pytest.mark.parametrize("what", BAD_MODELS)
def test_a_bad_model_file_is_refused_with_one_sentence(run, tmp_path, what):
    text, sentence = BAD_MODELS[what]
    (tmp_path / "m.json").write_text(text, encoding="utf-8")
    (tmp_path / "d.csv").write_text(GOOD, encoding="utf-8")
    assert_one_sentence(run("predict", "m.json", "d.csv"), f"m.json {sentence}")


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data["models"][-1]["terms"][0].update(expression="sin("),
        lambda data: data["models"][-1]["terms"][0].update(coefficient=None),
        lambda data: data["models"][-1]["terms"][0].update(expression="x9"),
        lambda data: data.update(names=None),
        lambda data: data.update(chosen=99),
        lambda data: data.update(models={}),
    ],
)
def test_a_model_file_that_was_tampered_with_is_called_damaged(run, fit, damage):
    fit("-t", "y", "-o", "m.json")
    data = json.loads(Path("m.json").read_text(encoding="utf-8"))
    data["chosen"] = len(data["models"]) - 1
    damage(data)
    with open("m.json", "w", encoding="utf-8") as file:
        json.dump(data, file)
    assert_one_sentence(run("predict", "m.json", "d.csv"), "m.json is damaged")


def test_predict_names_the_column_that_is_missing(run, fit, tmp_path):
    fit("-t", "y", "-o", "m.json", text="speed,y\n" + "".join(f"{i},{2 * i}\n" for i in range(9)))
    (tmp_path / "new.csv").write_text("Speed\n1\n2\n", encoding="utf-8")
    result = run("predict", "m.json", "new.csv")
    assert_one_sentence(result, "new.csv has no column 'speed'; did you mean 'Speed'?")
    assert_one_sentence(run("predict", "m.json", "none.csv"), "cannot read none.csv")
    assert_one_sentence(run("predict", "none.json", "new.csv"), "cannot read none.json")


def test_predict_names_the_cell_that_is_no_number(run, fit, tmp_path):
    fit("-t", "y", "-o", "m.json", text="a,y\n" + "".join(f"{i},{2 * i}\n" for i in range(9)))
    (tmp_path / "new.csv").write_text("a\n1\ntwo\n", encoding="utf-8")
    assert_one_sentence(run("predict", "m.json", "new.csv"), "column 'a' of new.csv has text in row 2: 'two'")
