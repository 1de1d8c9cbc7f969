"""The hold-out set: the split and the scores."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mean_squared_error, r2_score

from fouriertree.cli.fitting.columns import Sample, score, split

floats = st.floats(-1e3, 1e3)


def sample(n):
    return Sample(pd.DataFrame({"a": np.arange(n) * 1.0}), pd.Series(np.arange(n) * 2.0, name="y"), None)


@given(
    n=st.integers(3, 200),
    fraction=st.floats(0.001, 0.999),
    last=st.booleans(),
    seed=st.integers(0, 2**63 - 1),
)
def test_every_row_is_in_one_set_and_both_keep_the_order(n, fraction, last, seed):
    training, holdout = split(sample(n), fraction, last, seed)
    rows = [part.X["a"].to_numpy() for part in (training, holdout)]
    assert sorted(np.concatenate(rows)) == list(range(n))
    assert all((np.diff(part) > 0).all() for part in rows)
    assert len(training) >= 2
    assert len(holdout) >= 1
    assert abs(len(holdout) - fraction * n) <= 2
    if last:
        assert rows[0].max() < rows[1].min()


@given(rows=st.lists(st.tuples(floats, floats, st.floats(0.1, 9)), min_size=2, max_size=20))
def test_scores_are_those_of_scikit_learn(rows):
    y, predicted, weights = np.array(rows).T
    found = score(y, predicted, weights)
    assert found.rmse == pytest.approx(mean_squared_error(y, predicted, sample_weight=weights) ** 0.5)
    if np.ptp(y) > 1e-3:
        assert found.r2 == pytest.approx(r2_score(y, predicted, sample_weight=weights), rel=1e-6)


def test_undefined_scores_are_nan():
    ones = np.ones(3)
    assert np.isnan(score(ones, ones, ones).r2)
    assert score(ones, 2 * ones, ones).rmse == 1.0
    assert np.isnan(score(ones, np.array([1.0, np.nan, 1.0]), ones)).all()


def broken(tmp_path):
    """y = 2a on the first 40 rows, and a thousand more on the last ten."""
    a = np.arange(50.0) % 13
    y = np.where(np.arange(50) < 40, 2 * a, 2 * a + 1000)
    pd.DataFrame({"a": a, "y": y}).to_csv(tmp_path / "d.csv", index=False)


def test_the_last_rows_are_held_out(run, tmp_path):
    broken(tmp_path)
    result = run("fit", "d.csv", "-t", "y", "--validation", 0.2, "--validation-last", "--seed", 0)
    assert result.exit_code == 0
    assert "\ny = 2*a\n" in result.stdout
    headings, *rows = result.stdout.split("\n\n")[0].splitlines()
    assert "hold-out R²  hold-out RMSE  equation" in headings
    assert re.search(r" 1e\+03  2\*a$", rows[-1])
    assert "RMSE 1e+03 on 10 rows\n" in result.stdout


def test_the_printed_seed_repeats_the_random_split(run, pendulum):
    arguments = ("fit", pendulum, "-t", "acceleration", "--validation", 0.25, "--max-evaluations", 500)
    first = run(*arguments).stdout
    seed = first.rsplit("seed ", 1)[1].strip()
    assert "on 50 rows\n" in first
    assert run(*arguments, "--seed", seed).stdout == first


def test_a_validation_file_has_its_columns_in_any_order(run, tmp_path, pendulum):
    table = pd.read_csv(pendulum)
    table.iloc[:150].to_csv(tmp_path / "old.csv", index=False)
    table.iloc[150:, ::-1].assign(more="text").to_csv(tmp_path / "new.tsv", index=False, sep="\t")
    result = run(
        "fit", "old.csv", "-t", "acceleration", "--validation-file", "new.tsv", "--seed", 0, "--json"
    )
    found = json.loads(result.stdout)
    assert found["rows"] == 150
    assert found["unseen"]["rows"] == 50
    assert found["unseen"]["r2"] == pytest.approx(1.0)
    chosen = found["equations"][found["chosen"]]
    assert (chosen["unseen_r2"], chosen["unseen_rmse"]) == (found["unseen"]["r2"], found["unseen"]["rmse"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--validation", "1.5"], "it must be a number between 0 and 1, such as 0.2; got '1.5'"),
        (["--validation-last"], "needs the fraction of rows to hold out: --validation 0.2"),
        (
            ["--validation", "0.2", "--validation-file", "lines.csv"],
            "--validation holds out rows of the table",
        ),
        (["--validation-file", "none.csv"], "cannot read none.csv"),
        (["--validation-file", "other.csv"], "other.csv has no column 'speed'"),
        (["--validation-file", "bad.csv"], "column 'noise' of bad.csv has no value in row 1"),
        (["--validation-file", "empty.csv"], "empty.csv has no rows below its header"),
        (["--validation-file", "lines.csv", "-o", "lines.csv"], "lines.csv is the input"),
    ],
)
def test_bad_options_are_refused_before_the_search(run, lines, tmp_path, options, sentence):
    (tmp_path / "other.csv").write_text("a,y\n1,2\n", "utf-8")
    (tmp_path / "bad.csv").write_text("speed,noise,w,y\n1,,1,2\n", "utf-8")
    (tmp_path / "empty.csv").write_text("speed,noise,w,y\n", "utf-8")
    result = run("fit", lines, "-t", "y", *options)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


def test_two_rows_leave_none_to_hold_out(run, tmp_path):
    (tmp_path / "d.csv").write_text("a,y\n1,2\n2,4\n", "utf-8")
    result = run("fit", "d.csv", "-t", "y", "--validation", 0.5)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "of 2 rows none can be held out" in result.stderr
