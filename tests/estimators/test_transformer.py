"""SymbolicTransformer: terms of equations as features."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from fouriertree import Model, SymbolicTransformer, parse
from fouriertree.estimators.transformer import matching_pursuit, terms_of

FEW = 1000


@parametrize_with_checks([SymbolicTransformer(max_evaluations=FEW, max_terms=4)])
def test_the_estimator_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def waves():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-3, 3, (120, 3)), columns=["time", "mass (kg)", "idle"])
    return X, 2.0 * np.sin(X["time"]) + X["mass (kg)"] ** 2


@pytest.fixture(scope="module")
def fitted(waves):
    return SymbolicTransformer(n_features=2, random_state=0).fit(*waves)


def test_the_terms_of_the_law_are_the_features(fitted, waves):
    assert sorted(fitted.get_feature_names_out()) == ["`mass (kg)`^2", "sin(time)"]
    X = waves[0]
    values = dict(zip(fitted.get_feature_names_out(), fitted.transform(X).T, strict=True))
    np.testing.assert_allclose(values["sin(time)"], np.sin(X["time"]), rtol=1e-9)
    np.testing.assert_allclose(values["`mass (kg)`^2"], X["mass (kg)"] ** 2, rtol=1e-9)


def test_features_are_a_table_with_expressions_as_names(waves):
    transformer = SymbolicTransformer(3, max_evaluations=FEW, random_state=0).set_output(transform="pandas")
    table = transformer.fit_transform(*waves)
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == list(transformer.get_feature_names_out())
    assert 1 <= table.shape[1] <= 3
    assert np.isfinite(table).all(axis=None)
    assert not table.columns.duplicated().any()


def test_a_linear_model_of_the_new_features_is_better_than_one_of_the_original_features(waves):
    X, y = waves
    pipeline = make_pipeline(SymbolicTransformer(random_state=0), Ridge(1e-6))
    assert pipeline.fit(X[:90], y[:90]).score(X[90:], y[90:]) > 0.999
    assert Ridge(1e-6).fit(X[:90], y[:90]).score(X[90:], y[90:]) < 0.99


def test_values_that_are_not_finite_on_new_rows_are_replaced_by_the_mean():
    X = np.linspace(1.0, 9.0, 40)[:, None]
    model = SymbolicTransformer(1, operators=["log"], max_evaluations=FEW, random_state=0)
    values = model.fit(X, np.log(X[:, 0])).transform([[-1.0], [0.0], [1.0]])
    assert list(model.get_feature_names_out()) == ["log(x0)"]
    mean = np.log(X).mean()
    np.testing.assert_allclose(values[:, 0], [mean, mean, 0.0], atol=1e-12)


def test_without_terms_the_original_features_are_selected():
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = SymbolicTransformer(2, max_evaluations=FEW, random_state=0).fit(X, np.ones(30))
    assert model.transform(X).shape == (30, 2)
    assert set(model.get_feature_names_out()) < {"x0", "x1", "x2"}


@pytest.mark.parametrize("bad", [0, 1.5, "all"])
def test_an_invalid_number_of_features_is_rejected(bad):
    with pytest.raises(ValueError, match="n_features must be a whole number of at least 1; got"):
        SymbolicTransformer(bad).fit([[1.0], [2.0]], [1.0, 2.0])


def test_a_clone_is_not_fitted(fitted):
    assert not hasattr(clone(fitted), "terms_")


def test_terms_are_distinct_and_not_constant():
    one = Model((1.0, 2.0), (parse("1"), parse("x0")))
    two = Model((5.0, 2.0), (parse("x0"), parse("sin(x1)")))
    assert [term.text() for term in terms_of([one, two])] == ["x0", "sin(x1)"]


# Choosing ---------------------------------------------------------------------------------------------------
def slowly_explaining(values, target, weights, most):
    """Every feature tried with those before it, by least squares from scratch."""
    roots, chosen = np.sqrt(weights), []
    while len(chosen) < min(most, len(values)):
        losses = {}
        for i in set(range(len(values))) - set(chosen):
            design = np.column_stack([np.ones(len(target)), *values[[*chosen, i]]]) * roots[:, None]
            c = np.linalg.lstsq(design, roots * target, rcond=None)[0]
            losses[i] = float(np.sum((roots * target - design @ c) ** 2))
        chosen.append(min(losses, key=losses.get))
    return chosen


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 6))
def test_features_are_those_of_an_exhaustive_greedy_search(seed, k, most):
    rng = np.random.default_rng(seed)
    values, target, weights = rng.normal(size=(k, 30)), rng.normal(size=30), rng.uniform(0.5, 2.0, 30)
    found = matching_pursuit(values * rng.uniform(1e-3, 1e3, (k, 1)), target, np.sqrt(weights), most)
    assert found == slowly_explaining(values, target, weights, most)


def test_preferred_features_are_selected_first():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 20))
    target = values[0] + 10.0 * values[1] + 100.0 * values[2]
    assert matching_pursuit(values, target, np.ones(20), 3) == [2, 1, 0]
    assert matching_pursuit(values, target, np.ones(20), 3, preferred=2) == [1, 0, 2]


def test_features_that_are_dependent_or_not_finite_are_not_selected():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 20))
    values = np.array([a, 3.0 * a + 1.0, np.full(20, 7.0), b, a - b, np.where(a > 0, np.inf, a)])
    chosen = matching_pursuit(values, a + 0.1 * b, np.ones(20), 6)
    assert len(chosen) == 2
    assert set(chosen) < {0, 1, 3, 4}
