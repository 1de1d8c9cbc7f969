"""`fouriertree paper` and `fouriertree problems`: bad input, resuming, and the whole pipeline on two runs."""

import csv
import re
from pathlib import Path

import pytest

from fouriertree.experiments.paper import facts
from fouriertree.experiments.paper.experiment import Experiment
from fouriertree.experiments.paper.tasks import Task, perform
from fouriertree.experiments.paper.workers import in_processes
from fouriertree.experiments.store import Store

ARTEFACTS = (
    "runs.csv", "table.csv", "table.md", "table.tex", "agreement.csv", "agreement.md", "errors.csv", "speeds.csv",
    "lsp_runs.csv", "lsp_generations.csv", "lsp_comparison.csv", "lsp_ftg.csv", "summary.md", "report.html",
    *(f"figures/{name}.png" for name in ("heatmaps", "lsp", "geometry-2d", "geometry-3d")),
    *(f"figures/{name}.svg" for name in ("heatmaps", "lsp", "geometry-2d", "geometry-3d")),
)  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--quick", "--runs", 3), "give it or --runs, not both"),
        (("--authors", "nowhere"), "no folder nowhere"),
        (("--output", "taken"), "cannot write taken"),
        (("--runs", 0), "runs"),
        (("--jobs", 0), "jobs"),
        (("--only", "tables"), "tables"),
    ],
)
def test_bad_input_gets_one_sentence(invoke, arguments, message):
    Path("taken").write_text("a file")
    result = invoke("paper", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_problems_are_listed_with_formula_and_domain(invoke):
    result = invoke("problems")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert re.fullmatch(r"nguyen8 +sqrt\(x0\) +20 points from U\(0, 4\)", lines[9])
    assert lines[-1].startswith("lsp100 ")


def test_user_defined_problems_are_listed_too(invoke):
    from fouriertree.problems import unregister_problem

    Path("mine.py").write_text(
        "from fouriertree.problems import Benchmark, register_problem\nregister_problem(Benchmark('mine', 'x0'))\n"
    )
    try:
        assert re.search(
            r"^mine +x0 +20 points", invoke("problems", "--with", "mine.py").stdout, re.MULTILINE
        )
    finally:
        unregister_problem("mine")
    Path("broken.py").write_text("1 / 0")
    assert "broken.py failed: ZeroDivisionError" in invoke("problems", "--with", "broken.py").stderr


def test_the_geometry_alone_needs_no_runs(invoke):
    result = invoke("paper", "--only", "geometry", "-o", "out")
    assert result.exit_code == 0
    assert Path("out/figures/geometry-3d.svg").is_file()
    check_page(Path("out/report.html").read_text(encoding="utf-8"), n_images=2)
    assert not Path("out/table.csv").exists()


def test_ctrl_c_keeps_finished_runs_and_reports_how_to_resume(invoke, monkeypatch):
    def interrupted(tasks, jobs):
        for task in tasks[:3]:
            yield task, perform(task)
        raise KeyboardInterrupt

    monkeypatch.setattr("fouriertree.experiments.paper.experiment.in_processes", interrupted)
    result = invoke("paper", "--runs", 1, "--only", "table", "-o", "out")
    assert result.exit_code == 130
    assert "3 more runs are kept in out, 42 are left; the same command resumes" in result.stderr
    assert len(Store(Path("out/journal"))) == 3


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_results_do_not_depend_on_the_number_of_processes(jobs):
    algorithms = ("FTG", "FTG", "(1+lambda)-GP", "Canonical-GP")
    tasks = [Task("table", algorithm, "koza2", seed) for seed, algorithm in enumerate(algorithms)]
    alone = {task: {**perform(task), "seconds": 0} for task in tasks}
    assert {task: {**record, "seconds": 0} for task, record in in_processes(tasks, jobs)} == alone


def test_an_error_in_a_run_names_the_run():
    bad = Task("table", "(1+1)-GP", "lsp10", 0)
    with pytest.raises(AssertionError) as caught:
        list(in_processes([bad], 1))
    assert "lsp10" in caught.value.__notes__[0]


@pytest.mark.slow
def test_the_whole_pipeline_on_two_runs(invoke, monkeypatch):
    result = invoke("paper", "--runs", 2, "-o", "out", "--authors", ".")
    assert result.exit_code == 0
    assert "BAR" not in result.stdout  # the bar needs the published number of runs
    out = Path("out")
    for name in ARTEFACTS:
        assert (out / name).stat().st_size > 0, name
    with (out / "table.csv").open() as file:
        rows = list(csv.reader(file))
    assert tuple(rows[0]) == facts.COLUMNS
    assert len(rows) == 1 + 405
    assert len((out / "runs.csv").read_text().splitlines()) == 1 + 5 * 9 * 2
    assert len((out / "agreement.csv").read_text().splitlines()) == 1 + 324
    check_page((out / "report.html").read_text(encoding="utf-8"))
    check_nothing_is_computed_again(invoke, monkeypatch, out)


def check_page(page, n_images=4):
    """The page is self-contained."""
    assert not re.search(r"https?://|file://|<script|<link|@import|url\(", page)
    sources = re.findall(r'src="([^"]*)"', page)
    assert len(sources) == n_images
    assert all(source.startswith("data:image/png;base64,") for source in sources)


def check_nothing_is_computed_again(invoke, monkeypatch, out):
    def forbidden(tasks, jobs):
        assert list(tasks) == []
        return iter(())

    monkeypatch.setattr("fouriertree.experiments.paper.experiment.in_processes", forbidden)
    before = {name: (out / name).read_bytes() for name in ("table.csv", "agreement.csv", "figures/lsp.svg")}
    assert invoke("paper", "--runs", 2, "-o", "out", "--authors", ".").exit_code == 0
    assert {name: (out / name).read_bytes() for name in before} == before


def test_the_bar_applies_to_full_runs_of_the_published_programs_only(tmp_path):
    full = Experiment(tmp_path)
    assert full.comparable
    assert not Experiment(tmp_path, runs=10).comparable
    assert not Experiment(tmp_path, clean=True).comparable
    assert not Experiment(tmp_path, parts=("lsp",)).comparable
