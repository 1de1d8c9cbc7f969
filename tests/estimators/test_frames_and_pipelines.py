"""DataFrames of pandas and polars, pipelines and grid searches."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from fouriertree import SymbolicClassifier, SymbolicRegressor, SymbolicTransformer

FEW, SOME = 1000, 8000
NAMES = ["with space", "per%cent", "größe"]


def columns(n=60):
    values = np.random.default_rng(0).uniform(1, 3, (n, 3))
    return values, 2.0 * values[:, 0] + values[:, 1] ** 2


def as_pandas(values):
    return pd.DataFrame(values, columns=NAMES)


def as_polars(values):
    return pytest.importorskip("polars").DataFrame(values, schema=NAMES)


KINDS = pytest.mark.parametrize("table", [as_pandas, as_polars], ids=["pandas", "polars"])


@KINDS
def test_feature_names_of_any_kind_appear_in_equations_and_exports(table):
    values, y = columns()
    X = table(values)
    model = SymbolicRegressor(max_evaluations=SOME, random_state=0).fit(X, y)
    assert list(model.feature_names_in_) == NAMES
    assert model.n_features_in_ == 3
    assert model.get_best()["equation"] in {
        "`per%cent`^2 + 2*`with space`",
        "2*`with space` + `per%cent`^2",
    }
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-9)
    assert "`with space`" in model.export("sqlite")
    assert "with space" in model.export("json")


@KINDS
def test_columns_in_another_order_are_refused(table):
    values, y = columns()
    model = SymbolicRegressor(max_evaluations=FEW, random_state=0).fit(table(values), y)
    other = table(values)[[*NAMES[1:], NAMES[0]]]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(other)


@KINDS
def test_every_estimator_takes_the_table(table):
    values, y = columns()
    X = table(values)
    classifier = SymbolicClassifier(max_evaluations=FEW, random_state=0).fit(X, y > np.median(y))
    assert classifier.score(X, y > np.median(y)) > 0.8
    assert any(name in classifier.get_best()["equation"] for name in NAMES)
    transformer = SymbolicTransformer(3, max_evaluations=FEW, random_state=0).fit(X, y)
    assert all(any(name in text for name in NAMES) for text in transformer.get_feature_names_out())
    assert list(transformer.feature_names_in_) == NAMES


def test_features_come_as_a_table_of_polars():
    polars = pytest.importorskip("polars")
    values, y = columns()
    transformer = SymbolicTransformer(3, max_evaluations=FEW, random_state=0).set_output(transform="polars")
    assert isinstance(transformer.fit_transform(as_polars(values), y), polars.DataFrame)


def test_a_target_may_be_a_series_of_polars():
    polars = pytest.importorskip("polars")
    values, y = columns()
    model = SymbolicRegressor(max_evaluations=SOME, random_state=0).fit(as_polars(values), polars.Series(y))
    assert model.score(as_polars(values), y) == pytest.approx(1.0)
    both = polars.DataFrame({"p": y, "q": -y})
    assert SymbolicRegressor(max_evaluations=FEW).fit(as_polars(values), both).targets_ == ["p", "q"]


@pytest.mark.parametrize("estimator", [SymbolicRegressor(), SymbolicClassifier(), SymbolicTransformer()])
def test_duplicate_feature_names_are_refused_with_one_sentence(estimator):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "a"])
    with pytest.raises(ValueError, match="2 columns are called 'a'; names of features must be unique"):
        estimator.fit(X, np.arange(20) % 2)


@pytest.mark.parametrize("estimator", [SymbolicRegressor(), SymbolicClassifier(), SymbolicTransformer()])
@KINDS
def test_a_column_that_is_not_numeric_is_named_in_the_error(estimator, table):
    X = table(columns(20)[0])
    names = pd.Series(["Ann", "Bob"] * 10).to_numpy()
    if isinstance(X, pd.DataFrame):
        X = X.assign(who=names)
    else:
        X = X.with_columns(who=pytest.importorskip("polars").Series(names.tolist()))
    with pytest.raises(ValueError, match="column 'who' is not numeric: it contains 'Ann'"):
        estimator.fit(X, np.arange(20) % 2)


@pytest.mark.filterwarnings("ignore::fouriertree.estimators.fitted.ExtrapolationWarning")
def test_names_pass_through_a_pipeline_and_parameters_are_searched():
    values, y = columns(90)
    scaler = MinMaxScaler((1, 2)).set_output(transform="pandas")
    model = SymbolicRegressor(max_evaluations=FEW, random_state=0)
    search = GridSearchCV(make_pipeline(scaler, model), {"symbolicregressor__max_terms": [1, 3]}, cv=2)
    search.fit(as_pandas(values), y)
    assert search.best_params_ == {"symbolicregressor__max_terms": 3}
    assert "with space" in search.best_estimator_[-1].get_best()["equation"]


def test_sample_weights_reach_the_end_of_a_pipeline():
    values, y = columns()
    y = y.copy()
    y[:6], weights = 1e3, np.repeat([0.0, 1.0], [6, 54])
    model = SymbolicRegressor(max_evaluations=SOME, random_state=0)
    pipeline = make_pipeline(MinMaxScaler((1, 2)), model).fit(
        values, y, symbolicregressor__sample_weight=weights
    )
    assert pipeline.score(values[6:], y[6:]) > 0.99


def test_features_serve_a_linear_model():
    values, y = columns()
    pipeline = make_pipeline(SymbolicTransformer(4, max_evaluations=FEW, random_state=0), Ridge(1e-6))
    assert pipeline.fit(as_pandas(values), y).score(as_pandas(values), y) > 0.999
