"""Tasks in worker processes: stored results are not computed again, failures and time limits are recorded."""

import time

import pytest

from fouriertree.experiments.bench import runs
from fouriertree.experiments.store import Store


def test_tasks_that_differ_in_anything_have_different_keys(task):
    changes = [
        {}, {"suite": "classic"}, {"case": "other"}, {"noise": 0.1}, {"system": "ours"}, {"seed": 1},
        {"disguise": True}, {"seconds": 2.0}, {"rows": 99},
    ]  # fmt: skip
    assert len({task(**change).key for change in changes}) == len(changes)


def test_stored_results_are_not_computed_again(tmp_path, task, monkeypatch):
    done = []

    def perform(task, folder, workers):
        done.append(task)
        return {"r2": 1.0}

    monkeypatch.setattr(runs, "perform", perform)
    tasks = [task(seed=seed) for seed in range(4)]
    runs.complete(tasks[:2], Store(tmp_path), lambda task: None, 1)
    runs.complete(tasks, Store(tmp_path), lambda task: None, 2)
    assert sorted(t.seed for t in done) == [0, 1, 2, 3]
    assert Store(tmp_path)[tasks[3]] == {**tasks[3].to_json(), "r2": 1.0}


def test_an_interruption_keeps_finished_results(tmp_path, task, monkeypatch):
    monkeypatch.setattr(runs, "perform", lambda task, folder, workers: {"r2": 1.0})

    def interrupt(task, record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.complete([task(seed=k) for k in range(3)], Store(tmp_path), lambda task: None, 1, interrupt)
    assert len(Store(tmp_path)) >= 1


def test_an_interruption_kills_the_running_processes(tmp_path, task):
    def interrupt(task, record):
        raise KeyboardInterrupt

    # The linear model is done at once, while the other one would take a minute.
    tasks = [task(system="ours", seconds=60.0), task()]
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        runs.complete(tasks, Store(tmp_path), lambda task: None, 2, interrupt)
    assert time.perf_counter() - began < 30.0
    assert len(Store(tmp_path)) == 1


def test_a_linear_model_passes_through_all_stages(task):
    record = runs.perform(task(case="feynman_I_11_19"), None, runs.Workers())
    assert record["stage"] == "sized"
    assert 0.5 < record["r2"] < 1.0
    assert record["symbolic"] is record["equivalent"] is record["exact"] is record["structure"] is False
    # Six products of a coefficient and a feature; an intercept; the sum.
    assert record["size"] == 6 * 3 + 2


def test_a_worker_recovers_an_easy_law(task):
    record = runs.perform(task(system="ours", rows=30), None, runs.Workers())
    assert record["symbolic"]
    assert record["equivalent"]
    assert record["exact"]
    assert record["structure"]
    assert record["size"] < 10
    assert record["fit_seconds"] < 5.0


def test_a_worker_is_killed_at_its_time_limit_and_the_reason_is_recorded(task, monkeypatch):
    monkeypatch.setitem(runs.LIMITS, "ready", 0.01)
    record = runs.perform(task(system="ours"), None, runs.Workers())
    assert record["failed"].startswith("ended with status -9 before it was ready")


def test_a_worker_recovers_an_easy_law_in_disguise(task):
    record = runs.perform(task(system="ours", rows=30, disguise=True), None, runs.Workers())
    assert record["symbolic"]
    assert record["structure"]


def test_an_error_of_a_system_is_recorded_in_one_line(task):
    record = runs.perform(task(suite="folder", case="absent", system="ours"), None, runs.Workers())
    assert "AssertionError" in record["failed"]
