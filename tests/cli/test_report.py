"""`fouriertree report`: a page from a model file and its table, or one sentence."""

import pytest


@pytest.fixture
def model(run, pendulum):
    assert run("fit", pendulum, "-t", "acceleration", "--seed", 0, "-o", "model.json").exit_code == 0
    return "model.json"


def test_a_report_is_one_file(run, pendulum, model, tmp_path):
    result = run("report", model, "--data", pendulum, "-o", "page.html")
    assert (result.exit_code, result.stdout) == (0, "report written to page.html\n")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "acceleration" in page
    assert "19.62" in page


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("angle,velocity\n1,2\n", "has no column 'acceleration'"),
        ("angle,velocity,acceleration\n", "has no rows"),
        ("angle,velocity,acceleration\n1,x,3\n", "has text in row 1"),
    ],
)
def test_a_table_without_the_columns_of_the_fit_is_refused(run, model, tmp_path, table, sentence):
    (tmp_path / "other.csv").write_text(table, "utf-8")
    result = run("report", model, "--data", "other.csv", "-o", "page.html")
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert not (tmp_path / "page.html").exists()


def test_a_report_into_a_missing_folder_is_refused(run, pendulum, model):
    result = run("report", model, "--data", pendulum, "-o", "nowhere/page.html")
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr
