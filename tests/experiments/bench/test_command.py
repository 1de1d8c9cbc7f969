"""The command: from suites to tables and goals, and one sentence for bad input."""

import json
import re

import pandas as pd
import pytest
from typer.testing import CliRunner

from fouriertree.cli import app
from fouriertree.experiments.bench import bars
from fouriertree.experiments.bench.systems import SYSTEMS


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Run the command in an empty folder, where there is no ../shared/data."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def invoke(*arguments):
        return CliRunner().invoke(app, ["bench", *map(str, arguments)], catch_exceptions=False)

    return invoke


def test_a_short_benchmark_prints_tables_and_goals_and_resumes(bench):
    arguments = (
        "feynman",
        "--quick",
        "--seconds",
        1,
        "--rows",
        30,
        "--case",
        "feynman_I_25_13",
        "--system",
        "linear",
    )
    first, second = bench(*arguments), bench(*arguments)
    assert first.exit_code == second.exit_code == 0
    assert re.search(r"feynman +0 +no +linear +1 +0 +0.0 % +0.0 %", first.stdout)
    assert first.stdout == second.stdout
    assert "1 of 1 results are there already" in second.stderr


def test_plain_and_disguised_results_are_stored_separately_and_both_resume(bench):
    arguments = ("everyday", "--case", "everyday_32", "--system", "linear", "--rows", 30, "--json")
    plain, disguised = bench(*arguments), bench(*arguments, "--disguise")
    assert "results are there already" not in disguised.stderr
    again = bench(*arguments, "--disguise")
    assert "1 of 1 results are there already" in again.stderr
    assert again.stdout == disguised.stdout
    for result, expected in ((plain, False), (disguised, True)):
        (row,) = json.loads(result.stdout)["rows"]
        assert (row["suite"], row["disguise"], row["structure"]) == ("everyday", expected, 0.0)


def test_generated_laws_are_cases_whose_results_are_stored_by_name(bench):
    arguments = ("--system", "linear", "--rows", 30, "--generate", 3, "--generator-seed", 5)
    first, named = bench(*arguments), bench("everyday", *arguments[:4], "--case", "everyday_g5_01")
    assert re.search(r"everyday +0 +no +linear +3 ", first.stdout)
    assert "1 of 1 results are there already" in named.stderr
    assert first.exit_code == named.exit_code == 0


def test_a_missed_goal_is_the_exit_status(bench, monkeypatch):
    monkeypatch.setattr(bars, "GOALS", (bars.Goal("feynman", bars.SOLVED, False, {0.0: 43}),))
    monkeypatch.setattr(bars, "case_names", lambda suite: ["feynman_test_2"])
    result = bench("feynman", "--seconds", 1, "--rows", 30, "--case", "feynman_test_2")
    assert "BAR feynman-noise-0-solved 0 43 short" in result.stdout
    assert result.exit_code == 1


def test_results_with_other_noise_have_a_row_that_names_it(bench):
    arguments = ("feynman", "--case", "feynman_I_25_13", "--system", "linear", "--rows", 30, "--noise", 0.1)
    first, second = bench(*arguments), bench(*arguments, "--noise-kind", "student")
    assert re.search(r"feynman +0.1 +no", first.stdout)
    assert re.search(r"feynman +0.1 student +no", second.stdout)
    assert "results are there already" not in second.stderr


def test_a_user_folder_is_a_suite(bench, tmp_path):
    rows = "\n".join(f"{k},{k % 7},{3 * k + 1}" for k in range(40))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "line.csv").write_text(f"a,b,c\n{rows}\n")
    result = bench("--folder", tmp_path / "mine", "--system", "linear", "--seconds", 1)
    assert result.exit_code == 0
    assert "folder" in result.stdout
    assert "1.0000" in result.stdout


def test_user_tables_have_any_format(bench, tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("openpyxl")
    (tmp_path / "mine").mkdir()
    table = pd.DataFrame({"target": [3.0 * k for k in range(20)], "a": [float(k) for k in range(20)]})
    table.to_parquet(tmp_path / "mine" / "t.parquet", index=False)
    table.to_excel(tmp_path / "mine" / "t.xlsx", index=False)
    table.to_csv(tmp_path / "mine" / "t.csv", sep=";", index=False)
    (tmp_path / "mine" / "notes.md").write_text("no table", "utf-8")
    result = bench("--folder", tmp_path / "mine", "--system", "linear", "--seconds", 1, "--json")
    assert result.exit_code == 0
    (row,) = json.loads(result.stdout)["rows"]
    assert (row["cases"], row["failed"], row["r2"]) == (3, 0, pytest.approx(1.0))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\n1,2\n3,x\n" + "1,2\n" * 9, "column 'b' of {path} has text in row 2: 'x'"),
        ("a,b\n1,2\n", "{path} needs two columns or more, and 8 rows; leave it out of the folder"),
        ("b\n" + "1\n" * 9, "{path} needs two columns or more"),
    ],
)
def test_a_bad_user_table_is_refused_before_the_first_fit(bench, tmp_path, content, sentence):
    path = tmp_path / "mine" / "bad.csv"
    path.parent.mkdir()
    path.write_text(content, "utf-8")
    result = bench("--folder", path.parent, "--system", "linear", "--seconds", 1)
    assert result.exit_code == 2
    assert sentence.format(path=path) in result.stderr


def test_suites_without_their_tables_are_skipped_with_a_note(bench):
    result = bench("blackbox", "--system", "linear")
    assert "suite blackbox is skipped" in result.stderr
    assert "no cases" in result.stderr
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["feynmann"], "there is no suite 'feynmann'; did you mean 'feynman'?"),
        (["--system", "operom"], "there is no system 'operom'; did you mean 'operon'?"),
        (["classic", "--case", "Koza1"], "there is no case 'Koza1' in 'classic'; did you mean 'Koza-1'?"),
        (["--noise", "-1"], "it must be a share of the target"),
        (
            ["feynman", "--generate", "3"],
            "--generate makes laws for the suites everyday and compositions; name one",
        ),
        (["--noise-kind", "cauchy"], "gaussian, student"),
        (["everyday", "--case", "everyday_g5_3"], "there is no case 'everyday_g5_3' in 'everyday'"),
        (["--generate", "-1"], "it must be a whole number of at least 0"),
        (["--data", "nowhere"], "there is no folder nowhere"),
        (["classic", "--report", "."], "cannot write .: it is a folder"),
    ],
)
def test_an_error_for_bad_input_contains_the_next_step(bench, arguments, sentence):
    result = bench(*arguments)
    assert sentence in result.stderr
    assert result.exit_code == 2


def test_every_system_has_a_file_and_installation_instructions():
    for name, system in SYSTEMS.items():
        assert system.installed or system.install, name
        assert callable(system.fit), name
