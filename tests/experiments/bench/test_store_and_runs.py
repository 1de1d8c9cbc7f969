"""Results are kept one by one, and what is there is not done again."""

import pytest

from fouriertree.experiments.bench import runs
from fouriertree.experiments.bench.store import Store


def test_a_result_that_was_appended_is_there_when_the_store_is_opened_again(tmp_path, task):
    Store(tmp_path).append(task(), {"r2": 0.5})
    again = Store(tmp_path)
    assert task() in again
    assert task(seed=1) not in again
    assert again[task()]["r2"] == 0.5


def test_tasks_that_differ_in_anything_have_different_keys(task):
    changes = [
        {}, {"suite": "classic"}, {"case": "other"}, {"noise": 0.1}, {"system": "ours"}, {"seed": 1},
        {"disguise": True}, {"seconds": 2.0}, {"rows": 99},
    ]  # fmt: skip
    assert len({task(**change).key for change in changes}) == len(changes)


def test_a_torn_line_costs_one_result_and_not_the_next(tmp_path, task):
    store = Store(tmp_path)
    store.append(task(), {"r2": 0.5})
    with store.path.open("a") as file:
        file.write('{"key": "torn')
    store = Store(tmp_path)
    assert len(store) == 1
    store.append(task(seed=1), {"r2": 0.6})
    assert len(Store(tmp_path)) == 2


def test_what_the_store_has_is_not_done_again(tmp_path, task, monkeypatch):
    done = []

    def perform(task, folder, crew):
        done.append(task)
        return {"r2": 1.0}

    monkeypatch.setattr(runs, "perform", perform)
    tasks = [task(seed=seed) for seed in range(4)]
    runs.complete(tasks[:2], Store(tmp_path), lambda task: None, 1)
    runs.complete(tasks, Store(tmp_path), lambda task: None, 2)
    assert sorted(t.seed for t in done) == [0, 1, 2, 3]


def test_an_interruption_keeps_what_has_ended(tmp_path, task, monkeypatch):
    monkeypatch.setattr(runs, "perform", lambda task, folder, crew: {"r2": 1.0})

    def interrupt(task, record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.complete([task(seed=k) for k in range(3)], Store(tmp_path), lambda task: None, 1, interrupt)
    assert len(Store(tmp_path)) >= 1


def test_a_linear_model_is_fitted_measured_and_judged_like_all(task):
    record = runs.perform(task(case="feynman_I_11_19"), None, runs.Crew())
    assert record["stage"] == "sized"
    assert 0.5 < record["r2"] < 1.0
    assert record["symbolic"] is record["equivalent"] is record["exact"] is record["structure"] is False
    assert (
        record["size"] == 6 * 3 + 2
    )  # six times a number, a column and their product; an intercept; the sum


def test_our_own_worker_finds_an_easy_law(task):
    record = runs.perform(task(system="ours", rows=30), None, runs.Crew())
    assert record["symbolic"]
    assert record["equivalent"]
    assert record["exact"]
    assert record["structure"]
    assert record["size"] < 10
    assert record["fit_seconds"] < 5.0


def test_a_worker_that_takes_too_long_is_killed_and_the_reason_is_noted(task, monkeypatch):
    monkeypatch.setattr(runs, "START_LIMIT", 0.01)
    record = runs.perform(task(system="ours"), None, runs.Crew())
    assert record["failed"].startswith("ended with status -9 before it was ready")


def test_our_own_worker_finds_an_easy_law_in_disguise(task):
    record = runs.perform(task(system="ours", rows=30, disguise=True), None, runs.Crew())
    assert record["symbolic"]
    assert record["structure"]


def test_an_error_of_a_system_is_noted_in_one_line(task):
    record = runs.perform(task(suite="folder", case="absent", system="ours"), None, runs.Crew())
    assert "AssertionError" in record["failed"]
