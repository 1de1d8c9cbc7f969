"""`fouriertree runs`: runs are listed, shown, compared, resumed and removed."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def table(run):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (40, 2))
    y = X[:, 0] * np.sin(X[:, 1]) + 0.1 * rng.normal(size=40)
    pd.DataFrame({"mass %": X[:, 0], "v": X[:, 1], "y": y}).to_csv("data.csv", index=False)


FIT = ("fit", "data.csv", "-t", "y", "--seed", 1, "--max-evaluations", 20_000)


def found(run, *arguments):
    """The document of a command that must succeed."""
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def mark(path, **changes):
    about = json.loads((Path(path) / "run.json").read_text())
    (Path(path) / "run.json").write_text(json.dumps(about | changes))


def mark_killed(path):
    mark(path, status="running")


def test_the_run_of_a_fit_is_listed_and_shown(run, table):
    fitted = found(run, *FIT)
    [listed] = found(run, "runs")["runs"]
    assert listed["path"] == fitted["run"]
    assert (listed["status"], listed["target"], listed["rows"], listed["columns"]) == ("finished", "y", 40, 2)
    assert listed["id"] in run("runs").stdout
    shown = found(run, "runs", "show", "last")
    assert len(shown["front"]) == len(fitted["equations"])
    assert shown["about"]["columns"] == ["mass %", "v"]
    printed = run("runs", "show", listed["id"][-4:]).stdout
    assert "mass %" in printed
    [marked] = [line for line in printed.splitlines() if line.startswith(">>>")]
    assert marked.endswith(f"  {fitted['equation']}")
    assert "shape: 40 × 2 (rows × features)\n" in printed
    assert "progress" not in printed


@pytest.mark.parametrize(
    ("status", "reason", "title"),
    [
        ("interrupted", "interrupted", "interrupted"),
        ("interrupted", "memory used up", "interrupted, memory used up"),
        ("failed", "MemoryError", "failed, MemoryError"),
        ("finished", "time used up", "finished, time used up"),
    ],
)
def test_a_status_is_shown_once_with_its_reason(run, table, status, reason, title):
    fitted = found(run, *FIT)
    mark(fitted["run"], status=status, stop_reason=reason)
    first = run("runs", "show", "last").stdout.splitlines()[0]
    assert first == f"run {Path(fitted['run']).name}: {title}"


def test_a_run_without_a_result_lists_its_most_accurate_equation_so_far(run, table):
    fitted = found(run, *FIT)
    assert not run("runs").stdout.endswith(" (the most accurate so far)\n")
    mark(fitted["run"], status="running", result=None)
    last = fitted["equations"][-1]["equation"]
    assert found(run, "runs")["runs"][0]["equation"] == last
    assert run("runs").stdout.endswith(f"  {last} (the most accurate so far)\n")


def test_the_shown_command_resumes_a_run_in_any_folder(run, table):
    folder = Path(found(run, *FIT, "--run-dir", "my runs")["run"])
    (folder / "checkpoint-000001.ftc").touch()
    mark_killed(folder)
    last = run("runs", "show", "last", "--run-dir", "my runs").stdout.splitlines()[-1]
    assert last == f"resume it: fouriertree runs resume {folder.name} --run-dir 'my runs'"


def test_a_single_evaluation_is_singular(run, table):
    fit = ("fit", "data.csv", "-t", "y", "--search", "one-plus-lambda", "--max-evaluations", 1)
    assert "; 1 traverse; 1 evaluation; " in run(*fit).stdout


def test_a_fit_without_memory_ends_with_one_sentence_and_can_be_resumed(run, table, monkeypatch):
    from fouriertree.search import Hybrid

    def step(*arguments):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(Hybrid, "step", step)
        result = run(*FIT)
        without_run = run(*FIT, "--no-run")
    [folder] = Path("fouriertree-runs").iterdir()
    for failed in (result, without_run):
        assert (failed.exit_code, failed.stderr.count("\n")) == (2, 1)
        assert failed.stderr.startswith("error: there is not enough memory; with a --memory-limit, ")
    assert f"the run is in {folder}, and `fouriertree runs resume {folder.name}` resumes it" in result.stderr
    assert "resume" not in without_run.stderr
    assert found(run, "runs")["runs"][0]["status"] == "failed"
    resumed = found(run, "runs", "resume", folder.name, "--memory-limit", 1e9)
    assert resumed["equations"] == found(run, *FIT, "--no-run")["equations"]


def test_no_run_creates_no_run_folder(run, table):
    assert found(run, *FIT, "--no-run")["run"] is None
    assert found(run, "runs")["runs"] == []
    assert "there are no runs" in run("runs").stderr


def test_a_killed_run_resumes_to_the_same_equations(run, table):
    whole = found(run, *FIT)
    mark_killed(whole["run"])
    [listed] = found(run, "runs")["runs"]
    assert listed["status"] == "killed"
    resumed = found(run, "runs", "resume", "last", "-o", "model.json")
    assert resumed["equations"] == whole["equations"]
    assert Path("model.json").exists()
    assert found(run, "runs")["runs"][0]["status"] == "finished"


@pytest.mark.parametrize("search", ["ftg", "one-plus-lambda"])
def test_other_searches_resume_too(run, table, search):
    limits = ("--max-evaluations", 2000)
    whole = found(run, "fit", "data.csv", "-t", "y", "--seed", 1, "--search", search, *limits)
    mark_killed(whole["run"])
    assert found(run, "runs", "resume", "last")["equations"] == whole["equations"]


def test_a_resumed_run_has_the_same_hold_out_set(run, table):
    whole = found(run, *FIT, "--validation", 0.25)
    mark_killed(whole["run"])
    assert found(run, "runs", "resume", "last")["unseen"] == whole["unseen"]


def test_a_changed_table_is_refused(run, table):
    whole = found(run, *FIT)
    mark_killed(whole["run"])
    changed = pd.read_csv("data.csv")
    changed.loc[3, "v"] += 1e-9
    changed.to_csv("data.csv", index=False)
    result = run("runs", "resume", "last")
    assert result.exit_code == 2
    assert "the data are not those of run" in result.stderr


def test_the_new_path_of_a_moved_table_can_be_given(run, table):
    whole = found(run, *FIT)
    mark_killed(whole["run"])
    Path("data.csv").rename("moved.csv")
    assert run("runs", "resume", "last").exit_code == 2
    assert found(run, "runs", "resume", "last", "--data", "moved.csv")["equations"] == whole["equations"]


def test_a_finished_run_resumes_under_a_larger_limit_only(run, table):
    whole = found(run, *FIT)
    result = run("runs", "resume", "last")
    assert result.exit_code == 2
    assert "is finished" in result.stderr
    more = found(run, "runs", "resume", "last", "--max-evaluations", 60_000)
    assert more["evaluations"] > whole["evaluations"]


def test_a_run_that_finishes_while_it_is_being_resumed_keeps_its_result(run, table, monkeypatch):
    from fouriertree import runs

    whole = found(run, *FIT)
    about = (Path(whole["run"]) / "run.json").read_bytes()
    find_run = runs.find_run

    def find_before_the_end(*arguments):
        mark_killed(whole["run"])
        folder = find_run(*arguments)
        (Path(whole["run"]) / "run.json").write_bytes(about)
        return folder

    monkeypatch.setattr(runs, "find_run", find_before_the_end)
    result = run("runs", "resume", "last")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is finished, and `fouriertree runs show" in result.stderr
    assert (Path(whole["run"]) / "run.json").read_bytes() == about


def test_a_damaged_checkpoint_is_noted(run, table):
    whole = found(run, *FIT)
    mark_killed(whole["run"])
    for path in Path(whole["run"]).glob("checkpoint-*"):
        path.write_bytes(path.read_bytes()[:-3])
    (Path(whole["run"]) / "checkpoint-000099.ftc").write_bytes(b"broken")
    result = run("runs", "resume", "last")
    assert result.exit_code == 0
    assert "note: " in result.stderr
    assert "resuming from the checkpoint before it" in result.stderr


def test_runs_are_compared_and_removed(run, table):
    first = found(run, *FIT)
    second = found(run, *FIT, "--operators", "+,*")
    ids = [Path(each["run"]).name for each in (first, second)]
    compared = found(run, "runs", "compare", *ids)
    assert compared["parameters"]["operators"] == [None, ["add", "mul"]]
    for each, fitted in zip(compared["runs"], (first, second), strict=True):
        chosen = fitted["equations"][fitted["chosen"]]
        assert [each[name] for name in ("loss", "complexity")] == [chosen["loss"], chosen["complexity"]]
        assert each["equation"]
    assert ids[1] in run("runs", "compare", *ids).stdout
    assert run("runs", "compare", ids[0]).exit_code == 2
    assert found(run, "runs", "rm", ids[0])["removed"] == [ids[0]]
    assert [each["id"] for each in found(run, "runs")["runs"]] == [ids[1]]


@pytest.mark.parametrize(
    "command", [("show", "xyz"), ("resume", "xyz"), ("rm", "xyz"), ("compare", "x", "y")]
)
def test_an_unknown_run_is_refused_with_one_sentence(run, table, command):
    run(*FIT)
    result = run("runs", *command)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: there is no run")


def test_a_run_from_python_is_resumed_from_python(run, table):
    from fouriertree import SymbolicRegressor

    data = pd.read_csv("data.csv")
    fit = SymbolicRegressor(run_dir="fouriertree-runs", max_evaluations=1000, random_state=0)
    mark_killed(fit.fit(data[["v"]], data["y"]).run_path_)
    result = run("runs", "resume", "last")
    assert result.exit_code == 2
    assert "SymbolicRegressor.resume(" in result.stderr


def test_a_run_on_the_standard_input_needs_its_table_again(run, table):
    text = Path("data.csv").read_text()
    result = run("fit", "-", *FIT[2:], "--json", input=text)
    whole = json.loads(result.stdout)
    mark_killed(whole["run"])
    refused = run("runs", "resume", "last")
    assert "give it with --data FILE" in refused.stderr
    assert found(run, "runs", "resume", "last", "--data", "data.csv")["equations"] == whole["equations"]


# Kills the process as soon as its second checkpoint is on disk.
KILLED = """
import os, signal
from fouriertree.runs import journal

class Killed(journal.Checkpoints):
    written = 0
    due = True
    def write(self, content):
        super().write(content)
        self.written += 1
        if self.written == 2:
            os.kill(os.getpid(), signal.SIGKILL)

journal.Checkpoints = Killed
from fouriertree.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGKILL")
def test_a_run_killed_by_sigkill_resumes_to_the_same_equations(run, table, forked):
    assert forked(*FIT, code=KILLED).returncode == -signal.SIGKILL
    assert len(list(Path().glob("fouriertree-runs/*/checkpoint-*"))) == 2
    [listed] = found(run, "runs")["runs"]
    assert listed["status"] == "killed"
    resumed = found(run, "runs", "resume", "last")
    whole = found(run, *FIT, "--no-run")
    assert resumed["equations"] == whole["equations"]
