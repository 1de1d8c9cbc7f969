"""Run folders: atomic writes, one writer at a time, and failed writes that do not end a fit."""

import json
import os
import subprocess
import sys

import pytest

from fouriertree.runs import RunError, RunFolder, RunFolderWarning, find_run, list_runs, remove_run
from fouriertree.runs.journal import LATEST, SOONEST, Checkpoints

ABOUT = {
    "seed": 7, "target": "y", "columns": ["a"], "data": {}, "parameters": {}, "described": {}, "versions": {},
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    folder = RunFolder.create(tmp_path / "runs", ABOUT)
    yield folder
    folder.close()


def test_a_run_has_an_id_and_metadata(folder):
    again = RunFolder.open(folder.path)
    assert again.metadata["seed"] == 7
    assert again.metadata["id"] == folder.id == folder.path.name


def test_two_checkpoints_are_kept_and_the_newest_is_read(folder):
    for k in range(5):
        folder.write_checkpoint({"k": k})
        assert len(folder.checkpoints()) == min(k + 1, 2)
    assert folder.latest().content == {"k": 4}


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: b"", lambda data: data[:-9] + b"x" * 9]
)
def test_a_damaged_checkpoint_falls_back_to_the_one_before_with_a_warning(folder, damage):
    folder.write_checkpoint({"k": 1})
    folder.write_checkpoint({"k": 2})
    newest = folder.path / f"checkpoint-{folder.checkpoints()[-1]:06d}.ftc"
    newest.write_bytes(damage(newest.read_bytes()))
    with pytest.warns(RunFolderWarning, match="resuming from the checkpoint before it"):
        assert folder.latest().content == {"k": 1}


def test_without_an_undamaged_checkpoint_there_is_none(folder):
    assert folder.latest() is None
    folder.write_checkpoint({"k": 1})
    (folder.path / "checkpoint-000001.ftc").write_bytes(b"nothing")
    with pytest.warns(RunFolderWarning):
        assert folder.latest() is None


def test_checkpoint_numbers_continue_after_a_damaged_one(folder):
    folder.write_checkpoint({"k": 1})
    folder.write_checkpoint({"k": 2})
    RunFolder.open(folder.path).write_checkpoint({"k": 3})
    assert folder.checkpoints() == [2, 3]


def test_a_full_disk_is_reported_once_and_the_run_continues(folder, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fouriertree.runs.folder.write_atomically", full)
    with pytest.warns(RunFolderWarning, match="no space left on device; the search continues"):
        folder.write_checkpoint({"k": 1})
    # Warnings are errors in tests: there is no second one.
    folder.write("front.csv", b"")
    folder.event("progress")
    assert folder.checkpoints() == []


@pytest.mark.skipif(os.name != "posix", reason="locks are those of POSIX")
def test_only_one_process_writes_and_the_lock_ends_with_the_process(folder):
    code = (
        "import sys; from pathlib import Path; from fouriertree.runs import RunFolder; "
        "RunFolder.open(Path(sys.argv[1])).lock()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder.path)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": "src"},
    )
    assert "is still running" in done.stderr
    assert folder.status == "running"
    folder.close()
    assert RunFolder.open(folder.path).status == "killed"
    folder.lock()


def test_the_lock_reads_again_how_the_run_has_ended(folder):
    opened_while_running = RunFolder.open(folder.path)
    folder.update(status="finished")
    folder.close()
    opened_while_running.lock()
    assert opened_while_running.status == "finished"
    opened_while_running.lock()
    opened_while_running.close()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": "other"}', '{"format": "fouriertree-run", "version": 99}']
)
def test_a_folder_without_a_run_is_refused_with_one_sentence(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(RunError):
        RunFolder.open(tmp_path)
    with pytest.raises(RunError, match=r"cannot read run\.json"):
        RunFolder.open(tmp_path / "missing")


@pytest.mark.parametrize("name", ["seed", "target", "data", "parameters", "result", "command"])
def test_a_run_with_invalid_metadata_is_refused(folder, name):
    about = json.loads((folder.path / "run.json").read_text())
    (folder.path / "run.json").write_text(json.dumps(about | {name: [1.5]}))
    with pytest.raises(RunError, match=f"is damaged: {name} has the wrong type"):
        RunFolder.open(folder.path)
    assert list_runs(folder.path.parent) == []


def test_every_line_of_events_is_json(folder):
    folder.event("one", name='quotes " and\nlines')
    folder.event("two")
    lines = (folder.path / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["one", "two"]


# The store --------------------------------------------------------------------------------------------------
def test_runs_are_listed_found_and_removed(tmp_path):
    folders = [RunFolder.create(tmp_path, ABOUT) for _ in range(3)]
    for folder in folders:
        folder.close()
    assert [run.id for run in list_runs(tmp_path)] == sorted(
        (folder.id for folder in folders),
        key=lambda name: (RunFolder.open(tmp_path / name).metadata["created"], name),
    )
    assert find_run(tmp_path, "last").id == list_runs(tmp_path)[-1].id
    assert find_run(tmp_path, folders[0].id[-4:]).id == folders[0].id
    with pytest.raises(RunError, match="give more of the ID"):
        find_run(tmp_path, folders[0].id[:4])
    with pytest.raises(RunError, match="there is no run 'xyz'"):
        find_run(tmp_path, "xyz")
    remove_run(find_run(tmp_path, folders[0].id))
    assert len(list_runs(tmp_path)) == 2


def test_a_running_run_is_not_removed(folder):
    with pytest.raises(RunError, match="is still running"):
        remove_run(RunFolder.open(folder.path))
    assert folder.path.is_dir()


def test_an_empty_store_is_reported(tmp_path):
    assert list_runs(tmp_path / "missing") == []
    with pytest.raises(RunError, match="there are no runs"):
        find_run(tmp_path, "last")


# Times ------------------------------------------------------------------------------------------------------
class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_checkpoints_are_frequent_at_first_and_rare_later(folder):
    clock = Clock()
    checkpoints = Checkpoints(folder, clock)
    assert not checkpoints.due
    clock.now = SOONEST
    assert checkpoints.due
    checkpoints.write({"k": 1})
    assert not checkpoints.due
    clock.now = 10_000.0
    checkpoints.write({"k": 2})
    clock.now += LATEST - 0.1
    assert not checkpoints.due
    clock.now += 0.2
    assert checkpoints.due


def test_expensive_checkpoints_are_rare(folder, monkeypatch):
    clock = Clock()
    checkpoints = Checkpoints(folder, clock)
    monkeypatch.setattr(folder, "write_checkpoint", lambda content: setattr(clock, "now", clock.now + 3.0))
    checkpoints.write({})
    clock.now += 59.0
    assert not checkpoints.due
    clock.now += 2.0
    assert checkpoints.due
