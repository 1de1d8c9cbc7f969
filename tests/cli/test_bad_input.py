"""Bad input is reported in one sentence, with status 2 and no traceback."""

import errno
import json
import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest

from fouriertree.fit.options import OPTIONS
from fouriertree.selection.table import COLUMNS

GOOD = "a,b,y\n1,2,3\n2,3,5\n3,5,9\n"

BAD_TABLES = {
    "empty": ("", "d.csv is empty; it needs a header line"),
    "blank lines": ("\n\n", "d.csv is empty"),
    "header only": ("a,b,y\n", "d.csv has no rows below its header; a fit needs at least two"),
    "one row": ("a,b,y\n1,2,3\n", "d.csv has 1 row below its header"),
    "no target": ("a,b\n1,2\n3,4\n", "d.csv has no column 'y'; its columns are 'a', 'b'"),
    "almost the target": (
        "a,Y\n1,2\n3,4\n",
        "d.csv has no column 'y'; did you mean 'Y'? its columns are 'a', 'Y'",
    ),
    "only the target": ("y\n1\n2\n", "d.csv has no named columns besides 'y'"),
    "text in a column": ("a,b,y\n1,2,3\n4,oops,6\n", "column 'b' of d.csv has text in row 2: 'oops'; leave"),
    "text in the target": (
        "a,b,y\n1,2,3\n4,5,six\n",
        "column 'y' of d.csv has text in row 2: 'six'; a target",
    ),
    "empty cell": ("a,b,y\n1,2,3\n4,,6\n", "column 'b' of d.csv has no value in row 2; fill it in or"),
    "nan cell": ("a,b,y\n1,2,3\n4,5,6\nnan,8,9\n", "column 'a' of d.csv has no value in row 3"),
    "inf cell": (
        "a,b,y\n1,inf,3\n4,5,6\n",
        "column 'b' of d.csv has an infinite value in row 1; correct it or",
    ),
    "short row": ("a,b,y\n1,2,3\n4,5\n", "column 'y' of d.csv has no value in row 2"),
    "long rows": (
        "a,y\n1,2,3\n4,5,6\n",
        "d.csv is not a CSV file: row 1 has 3 cells, and the header has 2 names",
    ),
    "one long row": (
        "a,y\n1,2\n4,5,6\n",
        "d.csv is not a CSV file: row 2 has 3 cells, and the header has 2 names",
    ),
    "a long row below a blank line": ("a,y\n\n1,2\n4,5,6\n", "row 2 has 3 cells, and the header has 2 names"),
    "only an index": (",y\n0,1\n1,2\n", "d.csv has no named columns besides 'y'"),
    "no header": ("1,2\n3,4\n5,6\n", "its columns are '1', '2'; the first line looks like data, not names"),
    "commas and points": ("a;y\n1,5;2.5\n2,5;3.5\n", "column 'a' of d.csv has text in row 1: '1,5'"),
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


SELECTIONS = next(option.kind.choices for option in OPTIONS if option.name == "model_selection")
BAD_OPTIONS = [
    ([], "name the column to predict with --target; d.csv has 'a', 'b', 'y'"),
    (["-t", "y", "--operators", "+,sine"], "unknown operator 'sine'; did you mean 'sin'?"),
    (["-t", "y", "--operators", ","], "--operators must name one operator or more"),
    (["-t", "y", "--operators", "+,add"], "each of them once"),
    (
        ["-t", "y", "--time-limit", "-1"],
        "'--time-limit': it must be a number of seconds, at least 0; got '-1'",
    ),
    (["-t", "y", "--time-limit", "soon"], "must be a number of seconds, at least 0; got 'soon'"),
    (["-t", "y", "--time-limit", "nan"], "must be a number of seconds, at least 0; got 'nan'"),
    (["-t", "y", "--max-terms", "0"], "'--max-terms': it must be a whole number of at least 1; got '0'"),
    (
        ["-t", "y", "--seed", "-1"],
        "'--seed': it must be a whole number from 0 to 9223372036854775807; got '-1'",
    ),
    (["-t", "y", "--seed", "9" * 20], "'--seed': it must be a whole number from 0 to 9223372036854775807"),
    (["-t", "y", "--search", "pg"], "it must be one of hybrid, ftg, one-plus-lambda, gp; got 'pg'"),
    (
        ["-t", "y", "--search", "gp", "--max-terms", "3"],
        "--projector and --max-terms are options of sums of trees",
    ),
    (["-t", "y", "--search", "one-plus-lambda", "--projector", "qr"], "one-plus-lambda fits one tree"),
    (
        ["-t", "y", "--projector", "qr"],
        "--projector is an option of ftg; give --search ftg with it, not hybrid",
    ),
    (["-t", "y", "--search", "ftg", "--max-size", "9"], "--max-size and --guess are options of the hybrid"),
    (["-t", "y", "--search", "gp", "--guess", "a*b"], "--search gp ignores them"),
    (["-t", "y", "--guess", "a*sine(b)"], "--guess 'a*sine(b)' cannot be used: "),
    (["-t", "y", "--guess", "a*x7"], "--guess 'a*x7' cannot be used: there is no column x7"),
    (["-t", "y", "--guess", "a*"], "--guess 'a*' cannot be used: "),
    (
        ["-t", "y", "--guess", "k*sin(B)"],
        "'k*sin(B)' cannot be used: 'B' is no column; did you mean 'b'? A free parameter needs a name",
    ),
    (["-t", "y", "--max-size", "0"], "'--max-size': it must be a whole number of at least 1; got '0'"),
    (
        ["-t", "y", "--max-evaluations", "many"],
        "'--max-evaluations': it must be a whole number of at least 1",
    ),
    (
        ["-t", "y", "--loss", "cubed"],
        "it must be one of squared, absolute, huber, quantile, relative; got 'cubed'",
    ),
    (["-t", "y", "--quantile", "0.9"], "--quantile is an option of --loss quantile; give that"),
    (
        ["-t", "y", "--loss", "quantile", "--quantile", "1"],
        "must be a number between 0 and 1, such as 0.9; got '1'",
    ),
    (["-t", "y", "--model-selection", "nice"], f"it must be one of {', '.join(SELECTIONS)}; got 'nice'"),
    (["-t", "y", "--ignore", "a", "--ignore", "b"], "d.csv has no named columns left besides 'y'"),
    (["-t", "y", "--ignore", "y"], "'y' is both the target and ignored"),
    (["-t", "y", "-o", "p.png", "--plot", "./p.png"], "p.png cannot be both the model and the plot"),
    (
        ["-t", "y", "--jobs", "0"],
        "'--jobs': it must be a whole number of at least 1, or -1 for one per processor",
    ),
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


def test_a_missing_file_and_a_file_that_is_no_table_are_refused(run, tmp_path):
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xfe" * 9)
    (tmp_path / "folder").mkdir()
    assert_one_sentence(run("fit", "none.csv", "-t", "y"), "cannot read none.csv: no such file or directory")
    assert_one_sentence(run("fit", "folder", "-t", "y"), "cannot read folder: is a directory")
    assert_one_sentence(run("fit", "picture.png", "-t", "y"), "picture.png is not text in UTF-8")


def test_text_in_latin_1_is_refused_with_the_next_step(run, tmp_path):
    (tmp_path / "d.csv").write_bytes("Größe,y\n1,2\n2,4\n".encode("latin-1"))
    assert_one_sentence(
        run("fit", "d.csv", "-t", "y"), "d.csv is not text in UTF-8; if it is a CSV file, save it"
    )


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder that takes no files")
def test_an_unwritable_folder_is_refused_before_the_search(fit):
    assert_one_sentence(fit("-t", "y", "-o", "/proc/x.json"), "cannot write /proc/x.json: ")


def test_a_read_only_file_system_is_named_in_the_error(fit, monkeypatch):
    def touch(path):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "touch", touch)
    assert_one_sentence(fit("-t", "y", "-o", "m.json"), "cannot write m.json: read-only file system")


@pytest.mark.skipif(os.name != "posix", reason="asks whether a process lives")
def test_the_next_write_removes_the_temporary_file_of_a_killed_process(tmp_path):
    from fouriertree.cli.files import write_atomically

    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    kept = {".m.json.1.part", f".other.json.{dead.pid}.part"}
    for name in (f".m.json.{dead.pid}.part", *kept):
        (tmp_path / name).touch()
    write_atomically(tmp_path / "m.json", b"new")
    assert set(os.listdir(tmp_path)) == {"m.json", *kept}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_loses_the_file_but_not_the_table(fit):
    result = fit("-t", "y", "-o", "/dev/full", "--max-evaluations", 2000)
    assert result.exit_code == 2
    assert ">>>" in result.stdout
    [run] = Path("fouriertree-runs").iterdir()
    model = run / "model.json"
    assert (
        result.stderr == f"error: cannot write /dev/full: no space left on device; the model is in {model}\n"
    )
    assert fit("-t", "y", "-o", "/dev/full", "--max-evaluations", 2000, "--no-run").stderr.endswith(
        "device\n"
    )


def test_all_files_that_cannot_be_written_are_named(fit, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fouriertree.runs.model_file.write_atomically", full)
    monkeypatch.setattr("fouriertree.io.files.write_atomically", full)
    result = fit("-t", "y", "-o", "m.json", "--plot", "p.png", "--max-evaluations", 2000, "--no-run")
    assert ">>>" in result.stdout
    full_disk = "no space left on device"
    assert result.stderr == f"error: cannot write m.json: {full_disk}; cannot write p.png: {full_disk}\n"


def test_a_failed_write_leaves_the_old_file_and_no_temporary_file(tmp_path, monkeypatch):
    from fouriertree.cli.files import write_atomically
    from fouriertree.errors import InputError
    from fouriertree.io import files

    path = tmp_path / "model.json"
    path.write_bytes(b"old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(InputError, match="no space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.json"]


BAD_MODELS = {
    "not JSON": ("{", "is not a model file: it is not JSON"),
    "another thing": ('{"format": "recipe"}', "is not a model file"),
    "a list": ("[]", "is not a model file"),
    "newer": ('{"format": "fouriertree-model", "version": 3}', "has format version 3, and fouriertree"),
    "older": ('{"format": "fouriertree-model", "version": 1}', "has format version 1, and fouriertree"),
    "cut": ('{"format": "fouriertree-model", "version": 2}', "is damaged: it has no list of equations"),
    "nested": ("[" * 100_000, "is not a model file: it is not JSON"),
}


@pytest.mark.parametrize("what", BAD_MODELS)
def test_a_bad_model_file_is_refused_with_one_sentence(run, tmp_path, what):
    text, sentence = BAD_MODELS[what]
    (tmp_path / "m.json").write_text(text, encoding="utf-8")
    (tmp_path / "d.csv").write_text(GOOD, encoding="utf-8")
    assert_one_sentence(run("predict", "m.json", "d.csv"), f"m.json {sentence}")


def in_term(**values):
    return lambda data: data["rows"][-1]["terms"][0].update(values)


DAMAGES = [
    (in_term(expression="sin("), "at character 5 of the formula of row"),
    (in_term(expression="(" * 100_000), "of the formula of row"),
    (in_term(expression=3), "has no expression"),
    (in_term(expression="x9"), "uses x9, which is not a feature"),
    (in_term(coefficient=None), "must be a finite number; got None"),
    (in_term(coefficient="2"), "must be a finite number; got '2'"),
    (in_term(coefficient=True), "must be a finite number; got True"),
    (in_term(coefficient=float("nan")), "it has NaN, which is not JSON"),
    (in_term(coefficient=10**400), "must be a finite number; got 1000"),
    (lambda data: data["rows"][-1].update(terms=[]), "has no terms"),
    (lambda data: data["rows"][-1].update(terms=7), "has no terms"),
    (lambda data: data["rows"].__setitem__(-1, None), "has no terms"),
    (lambda data: data.update(names=["a", "a"]), "it has no valid feature names"),
    (lambda data: data.pop("names"), "it has no valid feature names"),
    (lambda data: data.update(target=None), "it has no valid name of the target"),
    (lambda data: data.update(chosen=99), "its chosen row, 99, is none of its rows"),
    (lambda data: data.update(chosen=-1), "its chosen row, -1, is none of its rows"),
    (lambda data: data.update(rows={}), "it has no list of equations"),
    (lambda data: data.update(box=[[0, 1]]), "the numbers of feature names and of ranges differ"),
    (lambda data: data.update(box=[[0, 1], [1, 0]]), "it has no valid ranges of the features"),
    (lambda data: data["rows"][-1].update(scores=[2, 1]), "are not a sorted list"),
    (lambda data: data["rows"][-1]["table"].pop("loss"), "does not have the columns of the table"),
    (lambda data: data["rows"][-1]["table"].update(loss="x"), "in place of a number"),
    (lambda data: data.update(parameters=None), "it has no parameters"),
    (in_term(coefficient=3.0), "the formula and the terms of row 1 disagree"),
    (in_term(expression="x1"), "the formula and the terms of row 1 disagree"),
    (lambda data: data.update(names=["b", "a"]), "the formula and the terms of row 0 disagree"),
    (lambda data: data["rows"][-1].update(formula="3.0*a"), "the formula and the terms of row 1 disagree"),
    (lambda data: data["rows"][-1].update(formula="2.0*"), "of the formula of row 1"),
    (lambda data: data["rows"][-1].pop("formula"), "row 1 has no formula"),
    (lambda data: data["data"].update(rows=float("nan")), "it has NaN, which is not JSON"),
    (lambda data: data.update(target="\ud800"), "it has no valid name of the target"),
    (lambda data: data.update(names=["a", "\ud800"]), "it has no valid feature names"),
]


@pytest.mark.parametrize(("damage", "sentence"), DAMAGES)
def test_a_damaged_model_file_is_refused(run, tmp_path, damage, sentence):
    (tmp_path / "d.csv").write_text(GOOD, encoding="utf-8")
    term = {"coefficient": 2.0, "expression": "x0"}
    losses = dict.fromkeys(COLUMNS[:-1], 1)
    row = {"formula": "2.0*a", "terms": [term], "table": losses, "scores": [1, 2]}
    rows = [deepcopy(row) for _ in range(2)]
    data = {"format": "fouriertree-model", "version": 2, "target": "y", "names": ["a", "b"], "chosen": 1}
    data |= {"rows": rows, "box": [[0, 1], [0, 1]]}
    data |= {key: {} for key in ("parameters", "described", "history", "data", "versions")}
    path = tmp_path / "m.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    assert run("predict", "m.json", "d.csv").exit_code == 0
    damage(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    result = run("predict", "m.json", "d.csv")
    assert_one_sentence(result, "m.json is damaged: ")
    assert sentence in result.stderr
    assert "Error" not in result.stderr


def test_predict_names_the_valid_rows(run, fit):
    fit("-t", "y", "-o", "m.json", text="a,y\n" + "".join(f"{i},{2 * i}\n" for i in range(9)))
    assert_one_sentence(
        run("predict", "m.json", "d.csv", "--row", 9), "m.json has no row 9; its rows are 0 to 1"
    )
    assert_one_sentence(
        run("predict", "m.json", "d.csv", "--row", "-1"), "'--row': it must be a whole number"
    )


def test_predict_names_the_missing_column(run, fit, tmp_path):
    fit("-t", "y", "-o", "m.json", text="speed,y\n" + "".join(f"{i},{2 * i}\n" for i in range(9)))
    (tmp_path / "new.csv").write_text("Speed\n1\n2\n", encoding="utf-8")
    result = run("predict", "m.json", "new.csv")
    assert_one_sentence(result, "new.csv has no column 'speed'; did you mean 'Speed'?")
    assert_one_sentence(run("predict", "m.json", "none.csv"), "cannot read none.csv")
    assert_one_sentence(run("predict", "none.json", "new.csv"), "cannot read none.json")


def test_predict_names_the_cell_that_is_not_numeric(run, fit, tmp_path):
    fit("-t", "y", "-o", "m.json", text="a,y\n" + "".join(f"{i},{2 * i}\n" for i in range(9)))
    (tmp_path / "new.csv").write_text("a\n1\ntwo\n", encoding="utf-8")
    assert_one_sentence(run("predict", "m.json", "new.csv"), "column 'a' of new.csv has text in row 2: 'two'")
