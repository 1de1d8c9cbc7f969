"""On a full disk, a fit continues without its run folder, with a warning."""

import os
import subprocess

import numpy as np
import pytest

from fouriertree import SymbolicRegressor
from fouriertree.runs import RunFolder, RunFolderWarning
from fouriertree.runs.journal import Checkpoints


@pytest.fixture
def small_disk(tmp_path):
    """A file system of some kilobytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only the administrator can make a small disk")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", disk], capture_output=True)
    if made.returncode:
        pytest.skip("a small disk cannot be made here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def table():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (60, 2))
    return X, np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=60)


def test_a_full_disk_loses_the_run_folder_and_not_the_model(small_disk, monkeypatch):
    monkeypatch.setattr(Checkpoints, "due", property(lambda self: True))
    X, y = table()
    settings = {"max_evaluations": 600_000, "random_state": 0}
    with pytest.warns(RunFolderWarning, match="no space left on device; the search continues"):
        written = SymbolicRegressor(run_dir=small_disk / "runs", **settings).fit(X, y)
    assert written.model_.text() == SymbolicRegressor(**settings).fit(X, y).model_.text()
    # What was written is complete: readable checkpoints, and no temporary files.
    folder = RunFolder.open(written.run_path_)
    assert folder.latest() is not None
    assert folder.status == "finished"
    assert not list(written.run_path_.glob(".*.part"))


def test_a_disk_that_is_full_from_the_start_loses_the_run_folder_only(small_disk):
    (small_disk / "filler").write_bytes(b"x" * 40_960)
    X, y = table()
    with pytest.warns(RunFolderWarning):
        found = SymbolicRegressor(run_dir=small_disk / "runs", max_evaluations=20_000, random_state=0).fit(
            X, y
        )
    assert len(found.equations_) > 1
