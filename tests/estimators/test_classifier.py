"""SymbolicClassifier: equations for log-odds, and calibrated probabilities."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fouriertree import SymbolicClassifier, SymbolicRegressor
from fouriertree.criteria.losses import probabilities
from fouriertree.runs.model_file import ModelFileError

FEW, SOME = 1000, 20_000
pytestmark = pytest.mark.filterwarnings("ignore::fouriertree.estimators.fitted.ExtrapolationWarning")


@parametrize_with_checks([SymbolicClassifier(max_evaluations=300, max_terms=2)])
def test_the_estimator_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([SymbolicClassifier(max_evaluations=FEW, max_terms=4)])
def test_scikit_learn_finds_nothing_to_object_to_in_a_longer_search(estimator, check):
    check(estimator)


def draw(n, seed, names=("no", "yes")):
    """Classes with known probabilities: the log-odds of the second are 2 − 1.5·(a² + b²)."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(-2, 2, (n, 2)), columns=["width a", "b"])
    p = probabilities(2.0 - 1.5 * (X["width a"] ** 2 + X["b"] ** 2).to_numpy())
    return X, np.where(rng.random(n) < p, names[1], names[0]), p


def expected_calibration_error(happened, p, bins=10):
    """Mean distance of what was said and what happened, over bins of equally many rows."""
    order = np.array_split(np.argsort(p), bins)
    return np.mean([abs(happened[rows].mean() - p[rows].mean()) for rows in order])


@pytest.fixture(scope="module")
def ring():
    X, y, _ = draw(600, 0)
    return SymbolicClassifier(max_evaluations=SOME, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    return SymbolicClassifier(max_evaluations=SOME, random_state=0).fit(X, labels), X, labels


def test_the_law_of_the_log_odds_is_recovered(ring):
    best = ring.get_best()
    assert best["class"] == "yes"
    assert "`width a`^2" in best["equation"]
    assert "b^2" in best["equation"]
    a, b = ring.sympy().free_symbols
    assert {str(a), str(b)} == {"width a", "b"}
    at_zero = float(ring.sympy().subs({a: 0, b: 0}))
    assert at_zero == pytest.approx(2.0, abs=0.6)
    assert "width" in ring.latex()
    assert str(ring).startswith("log-odds of yes\n")


def test_probabilities_are_calibrated_and_better_than_those_of_a_linear_model(ring):
    X, y, p = draw(20_000, 1)
    found = ring.predict_proba(X)[:, 1]
    linear = LogisticRegression().fit(*draw(600, 0)[:2]).predict_proba(X)[:, 1]
    happened = (y == "yes").astype(float)
    assert expected_calibration_error(happened, found) < 0.03
    assert brier_score_loss(happened, found) < 1.03 * brier_score_loss(happened, p)
    assert brier_score_loss(happened, found) < 0.75 * brier_score_loss(happened, linear)


def test_losses_of_the_table_are_log_losses_of_the_predictions(ring):
    X, y, _ = draw(600, 0)
    reported = ring.get_best()["loss"]
    # Labels count as probabilities a little off zero and one.
    assert reported == pytest.approx(log_loss(y, ring.predict_proba(X)), abs=0.02)
    assert (np.diff(ring.equations_["loss"]) < 0.0).all()
    assert ring.equations_["r2"].iloc[0] == pytest.approx(0.0, abs=1e-6)


def test_decisions_probabilities_and_labels_agree(ring, iris):
    X, _, _ = draw(300, 2)
    odds, p = ring.decision_function(X), ring.predict_proba(X)
    np.testing.assert_allclose(p[:, 1], probabilities(odds))
    assert (ring.predict(X) == np.where(odds > 0, "yes", "no")).all()
    model, X, _ = iris
    assert model.decision_function(X).shape == model.predict_proba(X).shape == (150, 3)
    assert (model.predict(X) == model.classes_[model.predict_proba(X).argmax(axis=1)]).all()


def test_a_circle_is_recovered_that_a_linear_model_cannot_represent():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (400, 2))
    inside = (X**2).sum(axis=1) < 1.0
    model = SymbolicClassifier(max_evaluations=SOME, random_state=0).fit(X[:300], inside[:300])
    assert model.score(X[300:], inside[300:]) > 0.95
    assert LogisticRegression().fit(X[:300], inside[:300]).score(X[300:], inside[300:]) < 0.9
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    ("load", "slack", "folds"),
    [
        (load_iris, 0.03, 5),
        (load_breast_cancer, 0.03, 3),
        pytest.param(load_breast_cancer, 0.03, 5, marks=pytest.mark.slow),
    ],
)
def test_it_is_about_as_good_as_a_linear_model_where_that_is_right(load, slack, folds):
    X, y = load(return_X_y=True)
    ours = cross_val_score(SymbolicClassifier(max_evaluations=SOME, random_state=0), X, y, cv=folds).mean()
    linear = cross_val_score(make_pipeline(StandardScaler(), LogisticRegression()), X, y, cv=folds).mean()
    assert ours > linear - slack


def test_every_class_of_several_has_a_table(iris):
    model, X, y = iris
    assert model.score(X, y) > 0.95
    assert set(model.equations_["class"]) == {"setosa", "versicolor", "virginica"}
    assert list(model.get_best()["class"]) == ["setosa", "versicolor", "virginica"]
    virginica = model.log_odds("virginica")
    assert isinstance(virginica, SymbolicRegressor)
    np.testing.assert_array_equal(virginica.predict(X), model.decision_function(X)[:, 2])
    with pytest.raises(
        ValueError, match=r"label must be one of the classes with equations, .*'setosa'.* got None"
    ):
        model.sympy()


def test_the_classes_share_the_limits_evenly(iris):
    model, _, _ = iris
    assert {one.max_evaluations for one in model.estimators_} == {SOME // 3}


@pytest.mark.parametrize(
    "labels", [[0, 1], [-1.0, 2.0], [False, True], ["p", "q"], np.array(["p", "q"], dtype=object)]
)
def test_labels_of_any_kind_come_back_and_survive_a_file(labels, tmp_path):
    X, y, _ = draw(60, 0, names=(0, 1))
    y = np.asarray(labels)[y]
    model = SymbolicClassifier(max_evaluations=FEW, random_state=0).fit(X, y)
    model.save(tmp_path / "model.json")
    again = SymbolicClassifier.load(tmp_path / "model.json")
    assert again.classes_.dtype == model.classes_.dtype
    assert (again.predict(X) == model.predict(X)).all()
    assert set(model.predict(X)) <= set(labels)


def test_a_file_a_pickle_and_a_clone(iris, ring, tmp_path):
    model, X, _ = iris
    model.save(tmp_path / "model.json")
    for again in (SymbolicClassifier.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.get_params() == model.get_params()
        assert str(again) == str(model)
    assert not hasattr(clone(model), "estimators_")
    ring.save(tmp_path / "ring.json")
    loaded = SymbolicClassifier.load(tmp_path / "ring.json")
    assert list(loaded.feature_names_in_) == ["width a", "b"]
    assert (loaded.predict(draw(50, 3)[0]) == ring.predict(draw(50, 3)[0])).all()


def test_other_files_are_rejected_with_a_message(ring, tmp_path):
    path = tmp_path / "ring.json"
    ring.save(path)
    with pytest.raises(ModelFileError, match=r"SymbolicClassifier\.load reads it"):
        SymbolicRegressor.load(path)
    ring.log_odds().save(tmp_path / "one.json")
    with pytest.raises(ModelFileError, match=r"SymbolicClassifier\.save writes one"):
        SymbolicClassifier.load(tmp_path / "one.json")
    content = json.loads(path.read_text("utf-8"))
    for damage in ({"classes": ["a", "b", "c"]}, {"exponents": None}, {"parts": []}, {"version": 99}):
        path.write_text(json.dumps(content | damage), "utf-8")
        with pytest.raises(ModelFileError, match=r"ring\.json (is damaged|has format version)"):
            SymbolicClassifier.load(path)


def test_integer_weights_are_repetitions():
    X, y, _ = draw(80, 0)
    X, times = X.to_numpy(), np.random.default_rng(0).integers(0, 4, 80)
    settings = {"max_evaluations": FEW, "random_state": 0}
    weighted = SymbolicClassifier(**settings).fit(X, y, times)
    repeated = SymbolicClassifier(**settings).fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


def test_it_works_in_a_grid_search():
    X, y, _ = draw(150, 0)
    pipeline = make_pipeline(StandardScaler(), SymbolicClassifier(max_evaluations=FEW, random_state=0))
    search = GridSearchCV(pipeline, {"symbolicclassifier__max_terms": [1, 3]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.5


def test_one_class_is_rejected_with_a_message():
    with pytest.raises(ValueError, match="y has only one class among the rows of positive weight"):
        SymbolicClassifier().fit([[1.0], [2.0], [3.0]], ["a", "a", "b"], [1, 1, 0])


def test_where_an_equation_has_no_value_the_log_odds_are_those_of_the_prior():
    rng = np.random.default_rng(0)
    X = np.exp(rng.uniform(-4.0, 3.0, (400, 1)))
    y = rng.random(400) < probabilities(2.0 * np.log(X[:, 0]))
    model = SymbolicClassifier(operators=["log"], max_evaluations=FEW, random_state=0).fit(X, y)
    assert "log" in model.get_best()["equation"]
    with pytest.warns(UserWarning, match="no finite value"):
        p = model.predict_proba([[-1.0]])
    assert p[0, 1] == pytest.approx(y.mean(), abs=0.02)
