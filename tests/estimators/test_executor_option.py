"""The option `executor`: clone, GridSearchCV, pickles, files and runs of an estimator that holds one."""

import copy
import json
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fouriertree import SymbolicClassifier, SymbolicRegressor, SymbolicTransformer
from fouriertree.fit.config import FitConfig, as_executor
from fouriertree.search.executors import process_pool

X = np.random.default_rng(0).uniform(-2, 2, (60, 2))
Y = 3.0 * np.sin(X[:, 0]) + X[:, 1]


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(2) as threads:
        yield threads


@pytest.fixture(scope="module")
def fitted(threads):
    return SymbolicRegressor(executor=threads, random_state=0).fit(X, Y)


@pytest.mark.parametrize("estimator", [SymbolicRegressor, SymbolicClassifier, SymbolicTransformer])
def test_a_clone_keeps_the_executor_and_a_pickle_drops_it(estimator, threads):
    original = estimator(executor=threads, max_size=7)
    for same in (clone(original), copy.copy(original), clone(make_pipeline(original))[0]):
        assert same is not original
        assert same.executor is threads
        assert same.max_size == 7
    for other in (pickle.loads(pickle.dumps(original)), copy.deepcopy(original)):
        assert other.executor is None
        assert other.max_size == 7
    assert original.executor is threads


def test_a_clone_is_not_fitted(fitted):
    assert not hasattr(clone(fitted), "equations_")
    assert clone(fitted).get_params() == fitted.get_params()


def test_an_executor_does_not_change_the_result(fitted):
    alone = SymbolicRegressor(random_state=0).fit(X, Y)
    assert fitted.equations_["equation"].tolist() == alone.equations_["equation"].tolist()
    np.testing.assert_array_equal(fitted.predict(X), alone.predict(X))


def test_a_pickle_of_a_fitted_regressor_predicts_the_same(fitted):
    other = pickle.loads(pickle.dumps(fitted))
    assert other.executor is None
    np.testing.assert_array_equal(other.predict(X), fitted.predict(X))


@pytest.mark.filterwarnings("ignore:.*outside of the range of the training data")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_grid_search_works_with_an_executor(threads, n_jobs):
    model = make_pipeline(
        StandardScaler(), SymbolicRegressor(executor=threads, max_evaluations=500, random_state=0)
    )
    grid = GridSearchCV(model, {"symbolicregressor__max_terms": [1, 2]}, cv=2, n_jobs=n_jobs).fit(X, Y)
    assert grid.best_estimator_[-1].executor is threads


def test_files_and_runs_do_not_mention_the_executor(threads, tmp_path):
    model = SymbolicRegressor(executor=threads, run_dir=tmp_path / "runs", random_state=0).fit(X, Y)
    model.save(tmp_path / "model.json")
    assert "executor" not in (tmp_path / "model.json").read_text()
    metadata = json.loads((model.run_path_ / "run.json").read_text())
    assert "executor" not in {*metadata["parameters"], *metadata["described"]}
    assert SymbolicRegressor.load(tmp_path / "model.json").executor is None
    again = SymbolicRegressor.resume(model.run_path_, X, Y, executor=threads)
    assert again.executor is threads


def test_without_an_executor_there_is_a_process_pool_for_several_jobs_only(threads):
    assert as_executor(None, 1) is None
    assert as_executor(None, 3) is process_pool(3)
    assert as_executor(threads, 3) is threads
    parameters = SymbolicRegressor(n_jobs=-1).get_params(deep=False)
    n = os.cpu_count()
    expected = process_pool(n) if n > 1 else None
    assert FitConfig.from_parameters(parameters, None, 2, 0).executor is expected


def test_what_is_no_executor_is_refused():
    with pytest.raises(ValueError, match=r"executor must be None or a concurrent.futures.Executor such as"):
        SymbolicRegressor(executor=4).fit(X, Y)


def test_the_fits_of_several_targets_and_classes_have_the_executor(threads):
    both = SymbolicRegressor(executor=threads, max_evaluations=500, random_state=0).fit(
        X, np.column_stack([Y, X[:, 0]])
    )
    assert [one.executor for one in both.estimators_] == [threads, threads]
    classes = SymbolicClassifier(executor=threads, max_evaluations=500, random_state=0).fit(X, Y > 0.0)
    assert [one.executor for one in classes.estimators_] == [threads]
    features = SymbolicTransformer(executor=threads, max_evaluations=500, random_state=0).fit(X, Y)
    assert features.regressor_.executor is threads
    for fitted in (both, classes, features):
        pickle.loads(pickle.dumps(fitted))
