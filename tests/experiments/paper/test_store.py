"""Stored runs are not computed twice."""

import pytest

from fouriertree.experiments.paper.tasks import Task, table_tasks
from fouriertree.experiments.paper.workers import complete
from fouriertree.experiments.store import Store

TASKS = table_tasks(4, algorithms=("FTG", "(1+1)-GP"))


class Computer:
    """Keeps the tasks that it computes; interrupted after `dies_after` tasks."""

    def __init__(self, dies_after=None):
        self.seen = []
        self.dies_after = dies_after

    def __call__(self, tasks):
        for task in tasks:
            if len(self.seen) == self.dies_after:
                raise KeyboardInterrupt
            self.seen.append(task)
            yield task, {"seed": task.seed, "loss": float("inf")}


def test_an_interrupted_experiment_resumes_with_the_missing_tasks(tmp_path):
    first, second, third = Computer(dies_after=5), Computer(), Computer()
    with pytest.raises(KeyboardInterrupt):
        complete(TASKS, Store(tmp_path), first)
    assert complete(TASKS, Store(tmp_path), second) == len(TASKS) - 5
    assert sorted(t.key for t in first.seen + second.seen) == sorted(t.key for t in TASKS)
    assert complete(TASKS, Store(tmp_path), third) == 0
    assert third.seen == []


def test_records_come_back_as_they_were(tmp_path):
    complete(TASKS, Store(tmp_path), Computer())
    store = Store(tmp_path)
    assert all(store[task] == {"seed": task.seed, "loss": float("inf")} for task in TASKS)


def test_the_run_of_a_half_written_line_is_computed_again(tmp_path):
    complete(TASKS, Store(tmp_path), Computer())
    path = tmp_path / "table-1-1-gp-koza1.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    again = Computer()
    assert complete(TASKS, Store(tmp_path), again) == len(again.seen) == 1
    assert complete(TASKS, Store(tmp_path), Computer()) == 0


def test_long_runs_start_first(tmp_path):
    computer = Computer()
    complete(TASKS, Store(tmp_path), computer)
    seconds = [task.seconds for task in computer.seen]
    assert seconds == sorted(seconds, reverse=True)


def test_settings_that_change_results_are_part_of_the_key(monkeypatch):
    as_run, clean = (Task("table", "Canonical-GP", "koza1", 0, clean) for clean in (False, True))
    before = as_run.key
    assert before != clean.key
    monkeypatch.setattr("fouriertree.experiments.paper.tasks.__version__", "another")
    assert as_run.key != before
    keys = {Task("table", algorithm, "koza1", 0).key for algorithm in ("FTG", "Orthonormal-FTG", "(1+1)-GP")}
    assert len(keys) == 3


def test_a_clean_experiment_shares_the_runs_that_do_not_depend_on_it():
    keys = [{task.key for task in table_tasks(2, clean)} for clean in (False, True)]
    assert len(keys[0] & keys[1]) == 4 * 9 * 2
