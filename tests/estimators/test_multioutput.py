"""A y of several columns: a table of equations for each."""

import json
import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score

from fouriertree import FTG, SymbolicRegressor
from fouriertree.data.checks import output_names
from fouriertree.runs.model_file import ModelFileError, load

SOME = 8000


@pytest.fixture(scope="module")
def motion():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-2, 2, (80, 2)), columns=["angle", "speed"])
    return X, pd.DataFrame({"height": 2.0 * X["angle"] ** 2, "force": 3.0 * X["speed"] - X["angle"]})


@pytest.fixture(scope="module")
def fitted(motion):
    return SymbolicRegressor(max_evaluations=SOME, random_state=0).fit(*motion)


def test_there_is_a_table_and_a_recovered_law_for_every_target(fitted, motion):
    assert fitted.targets_ == ["height", "force"]
    assert [one.get_best()["equation"] for one in fitted.estimators_] == ["2*angle^2", "3*speed - angle"]
    assert [len(table) for table in fitted.equations_] == [len(models) for models in fitted.models_]
    assert fitted.predict(motion[0]).shape == (80, 2)
    assert fitted.score(*motion) == pytest.approx(1.0)
    assert list(fitted.feature_names_in_) == ["angle", "speed"]
    assert str(fitted).startswith("height\n")
    assert fitted.evaluations_ == sum(one.evaluations_ for one in fitted.estimators_)


def test_every_target_is_fitted_as_if_alone_with_its_share_of_the_limit(fitted, motion):
    X, Y = motion
    for name, one in zip(Y, fitted.estimators_, strict=True):
        alone = SymbolicRegressor(max_evaluations=SOME // 2, random_state=0).fit(X, Y[name])
        pd.testing.assert_frame_equal(alone.equations_, one.equations_, check_exact=True)
        np.testing.assert_array_equal(alone.predict(X), one.predict(X))


def test_bounds_are_arrays_like_the_values(fitted, motion):
    value, lower, upper = fitted.predict(motion[0], interval=0.8)
    assert value.shape == lower.shape == upper.shape == (80, 2)
    assert (lower <= value).all()
    assert (value <= upper).all()


def test_weights_count_for_every_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1))
    Y = np.column_stack([2.0 * X[:, 0], X[:, 0] ** 2])
    Y[:5], weights = 1e3, np.repeat([0.0, 1.0], [5, 35])
    model = SymbolicRegressor(max_evaluations=SOME, random_state=0).fit(X, Y, weights)
    assert model.targets_ == ["y0", "y1"]
    assert [one.get_best()["equation"] for one in model.estimators_] == ["2*x0", "x0^2"]


ONE_EQUATION = {
    "sympy": (), "latex": (), "get_best": (), "certificate": (), "slopes": (), "coefficient_intervals": (),
    "stability": (), "export": ("c",), "plot_front": (), "plot_fit": (), "plot_response": (), "plot_tree": (),
    "report": ("report.html",), "to_record": (),
}  # fmt: skip


@pytest.mark.parametrize("method", ONE_EQUATION)
def test_methods_for_one_equation_refer_to_the_regressors_of_the_targets(fitted, method):
    with pytest.raises(
        ValueError, match=r"equations for 2 targets \(height, force\); use model.estimators_\[k\]"
    ):
        getattr(fitted, method)(*ONE_EQUATION[method])


def test_an_index_is_refused_for_several_tables(fitted, motion):
    with pytest.raises(ValueError, match=r"use model\.estimators_\[k\]"):
        fitted.predict(motion[0], index=0)


def test_a_file_a_pickle_and_a_clone(fitted, motion, tmp_path):
    path = tmp_path / "model.json"
    fitted.save(path)
    str(fitted)  # the first one of a process may have a hint
    for again in (SymbolicRegressor.load(path), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(again.predict(motion[0]), fitted.predict(motion[0]))
        assert again.get_params() == fitted.get_params()
        assert again.targets_ == fitted.targets_
        assert str(again) == str(fitted)
    assert not hasattr(clone(fitted), "estimators_")
    with pytest.raises(ModelFileError, match="has several tables of equations; load it in Python"):
        load(path)
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"parts": 3}), "utf-8")
    with pytest.raises(ModelFileError, match="is damaged: it has no tables of equations"):
        SymbolicRegressor.load(path)


def test_one_target_after_several_and_several_after_one(motion):
    X, Y = motion
    model = SymbolicRegressor(FTG(max_terms=2), random_state=0).fit(X, Y)
    assert model.fit(X, Y["force"]).predict(X).shape == (80,)
    assert model.get_best()["complexity"] >= 1
    assert model.fit(X, Y).predict(X).shape == (80, 2)


def test_one_column_is_one_target(motion):
    X, Y = motion
    with pytest.warns(UserWarning, match="column-vector y"):
        model = SymbolicRegressor(max_evaluations=SOME, random_state=0).fit(X, Y[["force"]])
    assert model.predict(X).shape == (80,)


@pytest.mark.filterwarnings("ignore::fouriertree.estimators.fitted.ExtrapolationWarning")
def test_cross_validation_scores_all_targets(motion):
    X, Y = motion
    model = SymbolicRegressor(max_evaluations=SOME, random_state=0)
    assert cross_val_score(model, X, Y, cv=2).min() > 0.99
    both = model.fit(X, Y).predict(X)
    assert model.score(X, Y) == pytest.approx(r2_score(Y, both))


def test_an_interrupt_ends_all_searches(motion, monkeypatch):
    def interrupted(self, problem, seed):
        raise KeyboardInterrupt

    monkeypatch.setattr(FTG, "init", interrupted)
    model = SymbolicRegressor(FTG(), random_state=0).fit(*motion)
    assert model.estimators_[0].stop_reason_ == "interrupted"
    assert model.estimators_[1].time_limit == 0.0


def test_targets_are_named_or_numbered():
    assert output_names([[1, 2], [3, 4]]) == ["y0", "y1"]
    assert output_names(pd.DataFrame({"p": [1], "q": [2]})) == ["p", "q"]
    for single in ([1, 2], np.zeros((3, 1)), pd.Series([1.0]), [[1, 2], [3]]):
        assert output_names(single) is None


def test_text_in_a_target_is_named_in_the_error():
    Y = pd.DataFrame({"p": [1.0, 2.0], "q": ["1", "many"]})
    with pytest.raises(ValueError, match="y is not numeric: it contains 'many'"):
        SymbolicRegressor().fit([[1.0], [2.0]], Y)


def test_stop_ends_the_search_that_runs_and_those_to_come(motion):
    model = SymbolicRegressor(random_state=0)

    @dataclass(frozen=True)
    class Stopping(FTG):
        """FTG that requests a stop at every step."""

        def step(self, problem, state, budget):
            assert model.stop()
            return super().step(problem, state, budget)

    model.set_params(search=Stopping()).fit(*motion)
    assert model.stop_reason_[0] == "stopped"
    assert model.estimators_[1].time_limit == 0.0
    assert not model.stop()


def test_a_warm_start_continues_every_target(motion):
    X, Y = motion
    Y = np.sin(5.0 * Y)
    model = SymbolicRegressor(max_evaluations=2000, warm_start=True, random_state=0).fit(X, Y)
    seed, before = model.seed_, [one.evaluations_ for one in model.estimators_]
    model.fit(X, Y)
    assert model.seed_ == seed
    assert all(one.evaluations_ > some for one, some in zip(model.estimators_, before, strict=True))


def test_every_target_has_its_own_run_which_resumes_with_its_column(motion, tmp_path):
    X, Y = motion
    model = SymbolicRegressor(FTG(max_terms=2), run_dir=tmp_path, random_state=0).fit(X, Y)
    folders = [one.run_path_ for one in model.estimators_]
    assert len(set(folders)) == 2
    with pytest.raises(ValueError, match="a run has one target; pass its column of y only"):
        SymbolicRegressor.resume(folders[0], X, Y, search=FTG(max_terms=2))


def test_a_fit_that_fails_leaves_no_running_fit(motion):
    X, Y = motion
    model = SymbolicRegressor(operators=["sine"])
    with pytest.raises(ValueError, match="did you mean 'sin'"):
        model.fit(X, Y)
    assert not model.stop()
