"""Records on disk, and the promise that nothing is computed twice."""

import pytest

from fouriertree.experiments.paper.store import Store, read_journal
from fouriertree.experiments.paper.tasks import Task, table_tasks
from fouriertree.experiments.paper.workers import complete

TASKS = table_tasks(4, algorithms=("FTG", "(1+1)-GP"))


class Computer:
    """Counts what it computes; dies after some tasks if told so."""

    def __init__(self, dies_after=None):
        self.seen = []
        self.dies_after = dies_after

    def __call__(self, tasks):
        for task in tasks:
            if len(self.seen) == self.dies_after:
                raise KeyboardInterrupt
            self.seen.append(task)
            yield task, {"seed": task.seed, "loss": float("inf")}


def test_an_interrupted_experiment_goes_on_where_it_stopped(tmp_path):
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


@pytest.mark.parametrize("torn", [b'{"key": "table/FTG', b'{"key": "a", "rec\n', b"\x00\x00\x00", b"17\n"])
def test_a_torn_line_is_dropped_and_its_run_done_again(tmp_path, torn):
    complete(TASKS, Store(tmp_path), Computer())
    path = next(tmp_path.glob("*.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + torn)
    again = Computer()
    assert complete(TASKS, Store(tmp_path), again) == 1
    assert len(again.seen) == 1
    assert len(read_journal(path)) == len(lines)
    assert sorted(path.read_bytes().splitlines(keepends=True)) == sorted(lines)


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
