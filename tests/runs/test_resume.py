"""Killed runs resume bit-identically; changed data are refused."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from fouriertree import FTG, RampedHalfAndHalf, SymbolicRegressor
from fouriertree.fit import pipeline as fitting
from fouriertree.runs import RunError, RunFolder, RunFolderWarning
from fouriertree.runs import folder as folders
from fouriertree.runs.journal import Checkpoints, Journal


def table(n=120, seed=5):
    rng = np.random.default_rng(seed)
    X = rng.uniform(1.0, 5.0, (n, 3))
    y = np.exp(-(X[:, 0] ** 2) / X[:, 1]) * np.sin(X[:, 2] * X[:, 1] + 0.3) + 0.05 * rng.normal(size=n)
    return pd.DataFrame(X, columns=["a", "b b", "c%"]), pd.Series(y, name="yield")


def outcome(regressor):
    saved = json.loads(json.dumps([[model.to_json() for model in regressor.models_], regressor.best_index_]))
    counts = regressor.evaluations_, regressor.traverses_, regressor.stop_reason_
    return saved, counts, regressor.equations_.to_csv(), [scores.tolist() for scores in regressor.scores_]


@pytest.fixture
def every_checkpoint(monkeypatch):
    """Write a checkpoint after every step that allows one, and keep them all."""
    monkeypatch.setattr(Checkpoints, "due", property(lambda self: True))
    monkeypatch.setattr(folders, "GENERATIONS", 10_000)


def killed_at(run, number, place):
    """A copy of the folder as it was after checkpoint `number`."""
    copy = place / f"{run.name}-{number}"
    shutil.copytree(run, copy)
    for path in copy.glob("checkpoint-*"):
        if int(path.stem[-6:]) > number:
            path.unlink()
    about = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps(about | {"status": "running"}))
    return copy


SMALL = RampedHalfAndHalf(1, 3)
SEARCHES = {
    "hybrid": {"max_evaluations": 1_500_000},
    "hybrid, two jobs": {"max_evaluations": 1_500_000, "n_jobs": 2},
    "hybrid without limits": {"operators": ["+", "*"], "max_terms": 2},
    "robust loss": {"max_evaluations": 500_000, "loss": "huber"},
    "relative loss": {"max_evaluations": 500_000, "loss": "relative"},
    "FTG": {"search": FTG(generator=RampedHalfAndHalf(1, 4), best_of=300, max_terms=6)},
    "FTG, one after the other": {"search": FTG(generator=SMALL), "max_traverses": 400},
}


@pytest.mark.parametrize("settings", SEARCHES.values(), ids=SEARCHES)
def test_a_killed_run_resumes_bit_identically(settings, tmp_path, every_checkpoint, monkeypatch):
    X, y = table(40)
    whole = SymbolicRegressor(run_dir=tmp_path / "runs", random_state=3, **settings).fit(X, y)
    numbers = RunFolder.open(whole.run_path_).checkpoints()
    assert len(numbers) >= 3
    monkeypatch.setattr(Checkpoints, "due", property(lambda self: False))
    changes = {"search": settings["search"]} if "search" in settings else {}
    for number in [0, numbers[0], numbers[len(numbers) // 2], numbers[-1]]:
        run = killed_at(whole.run_path_, number, tmp_path)
        resumed = SymbolicRegressor.resume(run, X, y, **changes)
        assert outcome(resumed) == outcome(whole)
        assert RunFolder.open(run).status == "finished"


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_a_killed_run_of_a_transformed_target_resumes_bit_identically(
    loss, tmp_path, every_checkpoint, monkeypatch
):
    X, y = table(40)
    settings = {"target_transform": "log", "loss": loss, "max_evaluations": 400_000, "random_state": 3}
    whole = SymbolicRegressor(run_dir=tmp_path / "runs", **settings).fit(X, np.exp(3.0 * y))
    numbers = RunFolder.open(whole.run_path_).checkpoints()
    monkeypatch.setattr(Checkpoints, "due", property(lambda self: False))
    for number in [0, numbers[len(numbers) // 2], numbers[-1]]:
        run = killed_at(whole.run_path_, number, tmp_path)
        assert outcome(SymbolicRegressor.resume(run, X, np.exp(3.0 * y))) == outcome(whole)


def test_gp_has_no_checkpoints_and_restarts(tmp_path):
    from fouriertree.search import OnePlusLambda

    X, y = table(50)
    search = OnePlusLambda(offspring=10)
    settings = {"search": search, "max_traverses": 2000, "random_state": 1}
    whole = SymbolicRegressor(run_dir=tmp_path, **settings).fit(X, y)
    resumed = SymbolicRegressor.resume(killed_at(whole.run_path_, 0, tmp_path), X, y, search=search)
    assert outcome(resumed) == outcome(whole)


def test_recording_a_run_does_not_change_its_result(tmp_path, every_checkpoint):
    X, y = table(40)
    settings = {"max_evaluations": 300_000, "random_state": 3}
    written = SymbolicRegressor(run_dir=tmp_path, **settings).fit(X, y)
    assert outcome(written) == outcome(SymbolicRegressor(**settings).fit(X, y))


def refuse(monkeypatch, *names):
    """Make it impossible to write the files of a run whose names start with one of these."""
    write = folders.write_atomically

    def written(path, content):
        if path.name.startswith(names):
            raise OSError(27, "File too large")
        write(path, content)

    monkeypatch.setattr(folders, "write_atomically", written)


def test_the_equations_so_far_have_six_digits(tmp_path, monkeypatch):
    monkeypatch.setattr(RunFolder, "end", lambda folder, files, **metadata: folder.close())
    fitted = SymbolicRegressor(run_dir=tmp_path, **SMALL_FIT).fit(*table(40))
    front = pd.read_csv(fitted.run_path_ / "front.csv")
    assert len(front) > 1
    assert not front["equation"].str.contains(r"[1-9]\d{6}").any()


SMALL_FIT = {"max_evaluations": 300_000, "random_state": 1}


def test_a_run_whose_checkpoints_cannot_be_written_is_finished_with_its_model(
    tmp_path, every_checkpoint, monkeypatch
):
    refuse(monkeypatch, "checkpoint")
    with pytest.warns(RunFolderWarning, match="file too large; the search continues") as caught:
        fitted = SymbolicRegressor(run_dir=tmp_path, **SMALL_FIT).fit(*table(40))
    assert len(caught) == 1
    folder = RunFolder.open(fitted.run_path_)
    assert folder.status == "finished"
    assert folder.metadata["result"]["formula"] == fitted.model_.text()
    assert outcome(SymbolicRegressor.load(fitted.run_path_ / "model.json")) == outcome(fitted)


def test_a_run_whose_status_cannot_be_written_warns_that_it_will_be_listed_as_killed(tmp_path, monkeypatch):
    finish = Journal.finish

    def finish_on_a_full_disk(*arguments):
        refuse(monkeypatch, "model", "run")
        finish(*arguments)

    monkeypatch.setattr(Journal, "finish", finish_on_a_full_disk)
    with pytest.warns(RunFolderWarning, match=r"cannot write model\.json, run\.json .* be listed as killed$"):
        fitted = SymbolicRegressor(run_dir=tmp_path, **SMALL_FIT).fit(*table(40))
    assert RunFolder.open(fitted.run_path_).status == "killed"


def test_a_run_folder_that_disappears_loses_the_run_and_not_the_result(
    tmp_path, every_checkpoint, monkeypatch
):
    write = RunFolder._write_checkpoint

    def write_and_remove(folder, content):
        write(folder, content)
        shutil.rmtree(folder.path)

    monkeypatch.setattr(RunFolder, "_write_checkpoint", write_and_remove)
    with pytest.warns(RunFolderWarning) as caught:
        fitted = SymbolicRegressor(run_dir=tmp_path, **SMALL_FIT).fit(*table(40))
    assert len(caught) == 2
    assert outcome(fitted) == outcome(SymbolicRegressor(**SMALL_FIT).fit(*table(40)))


@pytest.fixture
def run(tmp_path):
    X, y = table()
    return SymbolicRegressor(run_dir=tmp_path, max_evaluations=300_000, random_state=1).fit(X, y)


def test_a_run_folder_records_options_events_and_results(run):
    path = run.run_path_
    about = json.loads((path / "run.json").read_text())
    assert about["status"] == "finished"
    assert about["seed"] == 1
    assert about["columns"] == ["a", "b b", "c%"]
    assert about["target"] == "yield"
    assert about["data"]["sha256"] == run.data_["sha256"]
    assert about["versions"]["fouriertree"]
    assert about["result"]["formula"] == run.model_.text()
    front = pd.read_csv(path / "front.csv")
    pd.testing.assert_frame_equal(front, run.equations_, check_exact=True)
    loaded = SymbolicRegressor.load(path / "model.json")
    np.testing.assert_array_equal(loaded.predict(table()[0]), run.predict(table()[0]))
    kinds = {json.loads(line)["event"] for line in (path / "events.jsonl").read_text().splitlines()}
    assert {"accepted", "search ended", "finished"} <= kinds


def test_a_resumed_run_has_the_remaining_time_and_records_its_new_limits(
    tmp_path, every_checkpoint, monkeypatch
):
    X, y = table(40)
    whole = SymbolicRegressor(run_dir=tmp_path, max_evaluations=300_000, random_state=1).fit(X, y)
    run = killed_at(whole.run_path_, RunFolder.open(whole.run_path_).checkpoints()[1], tmp_path)
    budgets, searched, read = [], fitting.run, Journal.resume

    def after_500_seconds(journal, *arguments):
        read(journal, *arguments)
        journal.seconds = 500.0
        journal._saved = {**journal._saved, "run_seconds": 499.0}

    def watched(search, problem, budget, *arguments, **options):
        budgets.append((budget, options["start"]))
        return searched(search, problem, budget, *arguments, **options)

    monkeypatch.setattr(Journal, "resume", after_500_seconds)
    monkeypatch.setattr(fitting, "run", watched)
    SymbolicRegressor.resume(run, X, y, time_limit=1000.0)
    [(budget, start)] = budgets
    assert start.seconds == 499.0
    # 500 seconds are left, less the time for starting and for making the table.
    assert 400.0 < budget.time_limit - start.seconds < 500.0
    assert RunFolder.open(run).metadata["parameters"]["time_limit"] == 1000.0


def test_other_data_are_refused(run, tmp_path):
    X, y = table()
    changed = y.copy()
    changed.iloc[3] = np.nextafter(changed.iloc[3], 9.0)
    with pytest.raises(RunError, match="the data are not those of run"):
        SymbolicRegressor.resume(run.run_path_, X, changed)


def test_a_damaged_newest_checkpoint_does_not_change_the_result(tmp_path, every_checkpoint):
    X, y = table(40)
    whole = SymbolicRegressor(run_dir=tmp_path, max_evaluations=300_000, random_state=3).fit(X, y)
    numbers = RunFolder.open(whole.run_path_).checkpoints()
    run = killed_at(whole.run_path_, numbers[-2], tmp_path)
    newest = sorted(run.glob("checkpoint-*"))[-1]
    newest.write_bytes(newest.read_bytes()[:-100])
    with pytest.warns(RunFolderWarning, match="is damaged: its checksum is wrong"):
        resumed = SymbolicRegressor.resume(run, X, y)
    assert outcome(resumed) == outcome(whole)


def test_parameters_that_a_file_cannot_represent_are_required(tmp_path):
    X, y = table(40)
    whole = SymbolicRegressor(search=FTG(max_terms=2), run_dir=tmp_path, random_state=0).fit(X, y)
    with pytest.raises(RunError, match="give search again"):
        SymbolicRegressor.resume(whole.run_path_, X, y)


def test_a_store_that_cannot_be_written_loses_the_run_folder_only(tmp_path):
    X, y = table(40)
    (tmp_path / "file").write_text("not a folder")
    with pytest.warns(RunFolderWarning, match="fitting without it"):
        found = SymbolicRegressor(run_dir=tmp_path / "file" / "runs", max_evaluations=1000).fit(X, y)
    assert len(found.equations_) > 0


# In memory --------------------------------------------------------------------------------------------------
def test_a_warm_start_continues_from_the_state_of_the_last_fit():
    X, y = table(40)
    twice = SymbolicRegressor(max_evaluations=200_000, random_state=1, warm_start=True).fit(X, y)
    first = twice.evaluations_
    twice.fit(X, y)
    assert twice.evaluations_ >= 200_000 + first
    once = SymbolicRegressor(max_evaluations=twice.evaluations_, random_state=1).fit(X, y)
    assert outcome(once) == outcome(twice)


def test_several_warm_starts_equal_one_fit():
    X, y = table(60)
    search = FTG(generator=SMALL)
    parts = SymbolicRegressor(search=search, max_traverses=100, random_state=2, warm_start=True).fit(X, y)
    parts.set_params(max_traverses=200).fit(X, y)
    whole = SymbolicRegressor(search=search, max_traverses=parts.traverses_, random_state=2).fit(X, y)
    assert outcome(parts) == outcome(whole)


@pytest.mark.parametrize("change", ["data", "operators"])
def test_a_warm_start_with_other_data_or_operators_is_a_new_fit(change):
    X, y = table(60)
    warm = SymbolicRegressor(max_evaluations=20_000, random_state=1, warm_start=True).fit(X, y)
    settings = {"max_evaluations": 20_000, "random_state": 1}
    if change == "data":
        X, y = table(60, seed=6)
    else:
        settings["operators"] = ["+", "*"]
    warm.set_params(**settings).fit(X, y)
    assert outcome(warm) == outcome(SymbolicRegressor(**settings).fit(X, y))


def test_an_exhausted_search_continues_with_other_limits():
    X, y = table(30)
    warm = SymbolicRegressor(operators=["+", "*"], max_terms=2, random_state=1, warm_start=True).fit(X, y)
    assert warm.stop_reason_.startswith("all search strategies have run")
    before = warm.evaluations_
    warm.set_params(max_evaluations=5000).fit(X, y)
    assert warm.evaluations_ >= before + 5000
