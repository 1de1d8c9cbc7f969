"""Linear models: forward selection of features, and the linear baseline of model selection."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fouriertree import Model, SymbolicRegressor, parse
from fouriertree.criteria.losses import Objective, as_loss
from fouriertree.data.training import TrainingData
from fouriertree.engine import CompiledEngine
from fouriertree.selection.linear_baseline import (
    FullLinearModel,
    compared_with_linear,
    full_linear_model,
    linear_models,
)
from fouriertree.selection.table import Equation


def table(seed, n=60, columns=4, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)) * rng.uniform(0.1, 100.0, columns)
    y = X @ (rng.normal(size=columns) / X.std(axis=0)) + noise * rng.normal(size=n) + 5.0
    return X, y, rng.uniform(0.5, 2.0, n)


def design(X, columns):
    return np.column_stack([np.ones(len(X)), X[:, columns]])


def loss_of(X, y, weights, columns):
    roots = np.sqrt(weights)
    A = design(X, columns) * roots[:, None]
    return float(np.sum((roots * y - A @ np.linalg.lstsq(A, roots * y, rcond=None)[0]) ** 2))


def columns_of(terms):
    return [next(iter(term.columns)) for term in terms[1][1:]]


@given(st.integers(0, 10_000))
def test_every_feature_is_the_one_that_reduces_the_loss_most(seed):
    X, y, weights = table(seed)
    found = linear_models(TrainingData(X, y, weights, 48), 5)
    chosen: list[int] = []
    for terms in found:
        losses = {j: loss_of(X, y, weights, [*chosen, j]) for j in range(X.shape[1]) if j not in chosen}
        chosen = columns_of(terms)
        assert losses[chosen[-1]] == pytest.approx(min(losses.values()), rel=1e-9)
    assert [len(terms[1]) for terms in found] == [2, 3, 4, 5]


def test_linear_models_are_fitted_to_the_training_set():
    X, y, weights = table(3)
    training = np.arange(60) < 48
    *_, last = linear_models(TrainingData(X, y, weights, 48), 3)
    roots = np.sqrt(weights[training])
    A = design(X[training], columns_of(last)) * roots[:, None]
    assert np.allclose(last[0], np.linalg.lstsq(A, roots * y[training], rcond=None)[0], rtol=1e-9)


def test_constant_and_duplicate_features_are_left_out():
    X, y, weights = table(4)
    X = np.column_stack([X, np.full(60, 3.0), 2.0 * X[:, 0]])
    found = linear_models(TrainingData(X, y, weights, 60), 10)
    assert len(found) == 4


def test_of_very_many_features_the_relevant_ones_are_selected():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2000)) * rng.uniform(0.01, 100.0, 2000)
    y = X[:, 1234] / X[:, 1234].std() - X[:, 56] / X[:, 56].std() + 0.1 * rng.normal(size=200)
    found = linear_models(TrainingData(X, y, np.ones(200), 160), 3)
    assert set(columns_of(found[1])) == {56, 1234}


@pytest.mark.parametrize("seed", range(4))
def test_with_many_small_effects_the_chosen_equation_predicts_like_least_squares(seed):
    X, y, _ = table(seed, n=60, columns=5, noise=1.5)
    rng = np.random.default_rng(seed + 100)
    fresh = X[rng.integers(0, len(X), (2000, 5)), np.arange(5)]
    coefficients = np.linalg.lstsq(design(X, range(5)), y, rcond=None)[0]
    model = SymbolicRegressor(max_evaluations=300_000, random_state=seed).fit(X, y)
    difference = model.predict(fresh) - design(fresh, range(5)) @ coefficients
    # The true effects make up most of the variance of y, which both explain about equally.
    assert np.var(difference) < 0.1 * np.var(y)


def test_a_linear_model_may_have_more_terms_than_other_equations_without_a_limit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 14))
    y = X.sum(axis=1) + 0.5 * rng.normal(size=120)
    free = SymbolicRegressor(max_evaluations=100_000, random_state=0).fit(X, y)
    assert free.get_best()["n_terms"] in (14, 15)
    limited = SymbolicRegressor(max_evaluations=100_000, max_terms=10, random_state=0).fit(X, y)
    assert limited.equations_["n_terms"].max() <= 10


@pytest.mark.parametrize("seed", range(4))
def test_irrelevant_features_are_not_in_the_chosen_equation(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(100, 4)), rng.normal(size=100)
    model = SymbolicRegressor(max_evaluations=300_000, random_state=seed).fit(X, y)
    assert not model.model_.expression.columns


def all_rows(X, y, weights=None, loss="squared"):
    weights = np.ones(len(y)) if weights is None else weights
    return Objective(TrainingData(X, y, weights, len(y)), as_loss(loss, 0.5), CompiledEngine())


@given(st.integers(0, 10_000))
def test_the_full_linear_model_is_least_squares(seed):
    X, y, weights = table(seed, n=30, columns=3, noise=0.3)
    spread = np.sum(weights * (y - np.average(y, weights=weights)) ** 2)
    left = loss_of(X, y, weights, [0, 1, 2]) / spread
    X[:, 2] *= 1e-9
    found = full_linear_model(all_rows(X, y, weights))
    assert (found.unexplained, found.n_parameters) == (pytest.approx(left, abs=1e-9), 4)


def test_the_out_of_sample_error_of_a_linear_model_is_estimated():
    rng = np.random.default_rng(2)
    expected, elsewhere = [], []
    for _ in range(300):
        X, noise = rng.normal(size=(2060, 5)), rng.normal(size=2060)
        y = X @ np.ones(5) + noise
        found = np.linalg.lstsq(design(X[:60], range(5)), y[:60], rcond=None)[0]
        errors = y[60:] - design(X[60:], range(5)) @ found
        linear = full_linear_model(all_rows(X[:60], y[:60]))
        expected.append(linear.unexplained * (60 + 6) / (60 - 6))
        elsewhere.append(np.mean(errors**2) / np.var(y[60:]))
    assert np.mean(expected) == pytest.approx(np.mean(elsewhere), abs=0.01)


def test_duplicate_and_constant_features_do_not_change_the_linear_model():
    X, y, _ = table(5)
    more = np.column_stack([X, 2.0 * X[:, 0] - X[:, 1], np.full(60, 7.0)])
    once, again = full_linear_model(all_rows(X, y)), full_linear_model(all_rows(more, y))
    assert (again.unexplained, again.n_parameters) == (
        pytest.approx(once.unexplained, abs=1e-9),
        once.n_parameters,
    )


def test_an_exact_linear_model_leaves_nothing_unexplained():
    X, _, _ = table(7)
    found = full_linear_model(all_rows(X, X @ np.arange(1.0, 5.0)))
    assert found.unexplained == pytest.approx(0.0, abs=1e-20)
    assert not found.beats(0.0, 5)
    assert found.beats(0.5, 2)


KINDS_OF_WEIGHTS = {
    "none": lambda rng: np.ones(60),
    "uniform": lambda rng: rng.uniform(0.5, 2.0, 60),
    "wide": lambda rng: rng.lognormal(0.0, 1.0, 60),
    "whole": lambda rng: rng.integers(1, 6, 60).astype(float),
}


@pytest.mark.parametrize("kind", KINDS_OF_WEIGHTS)
def test_irrelevant_features_rarely_beat_a_constant_for_any_weights(kind):
    rng = np.random.default_rng(0)
    beaten = []
    for _ in range(1000):
        X, y, weights = rng.normal(size=(60, 4)), rng.normal(size=60), KINDS_OF_WEIGHTS[kind](rng)
        linear = full_linear_model(all_rows(X, y, weights))
        beaten.append(linear is not None and linear.beats(1.0, 1))
    assert 0.001 < np.mean(beaten) < 0.05


def test_irrelevant_features_rarely_replace_a_law_by_a_linear_model():
    rng = np.random.default_rng(3)
    refused = []
    for _ in range(1000):
        X = rng.normal(size=(60, 5))
        y = X[:, 0] + 1.5 * rng.normal(size=60)
        left = loss_of(X, y, np.ones(60), [0]) / (60 * np.var(y))
        refused.append(full_linear_model(all_rows(X, y)).beats(left, 2))
    assert np.mean(refused) < 0.035


def test_copies_of_rows_are_rows_of_more_weight():
    X, y, _ = table(8)
    counts = np.arange(60) % 3 + 1
    weighted = full_linear_model(all_rows(X, y, counts.astype(float)))
    copied = full_linear_model(all_rows(np.repeat(X, counts, axis=0), np.repeat(y, counts)))
    assert weighted.unexplained == pytest.approx(copied.unexplained, rel=1e-9)
    assert weighted.n_rows == pytest.approx(copied.n_rows, rel=1e-12) == pytest.approx(120**2 / 280)


def test_there_is_no_linear_baseline_with_few_rows_or_another_loss():
    X, y, _ = table(6, n=11)
    assert full_linear_model(all_rows(X, y)) is None
    X, y, _ = table(6)
    assert full_linear_model(all_rows(X, y, loss="absolute")) is None
    assert full_linear_model(all_rows(X, np.full(60, 2.0))) is None


def test_an_equation_is_marked_if_the_linear_baseline_is_better():
    linear = FullLinearModel(unexplained=0.5, n_parameters=5, n_rows=60.0)
    models = [Model.from_expression(parse("2.5*x0 + 1.5"))] * 3
    found = [
        Equation(model, 7, 1.0, 1.0, 1.0, r2, False)
        for model, r2 in zip(models, (0.2, 0.49, 0.6), strict=True)
    ]
    assert [one.worse_than_linear for one in compared_with_linear(found, linear)] == [True, False, False]


def test_many_weak_features_are_not_dropped_for_a_short_equation():
    rng = np.random.default_rng(1)
    X = rng.integers(-1, 2, (6000, 12)).astype(float)
    y = X @ np.full(12, 0.09) + rng.normal(size=6000)
    train, test = slice(0, 3000), slice(3000, 6000)
    fitted = SymbolicRegressor(max_evaluations=20_000, random_state=0).fit(X[train], y[train])
    linear = np.linalg.lstsq(design(X[train], range(12)), y[train], rcond=None)[0]
    linear_r2 = 1.0 - np.var(y[test] - design(X[test], range(12)) @ linear) / np.var(y[test])
    assert fitted.score(X[test], y[test]) > linear_r2 - 0.02
