"""Failed writes never discard the result of a fit."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fouriertree import FTG, CanonicalGP, OnePlusLambda, SymbolicRegressor
from fouriertree.expr import parse
from fouriertree.fit.pipeline import FitPipeline
from fouriertree.io.strict_json import encoded, plain
from fouriertree.runs import RunFolder
from fouriertree.runs.folder import FAILED, FINISHED, INTERRUPTED
from fouriertree.runs.model_file import ModelFileError, ModelFileWarning
from fouriertree.uncertainty.intervals import absolute_errors, conformal_quantile, cross_validation_scores

FLOATS = st.floats() | st.sampled_from([np.float64("nan"), np.float32("inf"), np.array([1.0, np.nan])])
CONTENTS = st.recursive(
    FLOATS | st.none() | st.booleans() | st.integers() | st.text(),
    lambda parts: st.lists(parts) | st.dictionaries(st.text(), parts),
    max_leaves=10,
)


def refuse(name):
    raise AssertionError(f"{name} is not JSON")


def small(**parameters):
    X = np.random.default_rng(0).uniform(0.5, 2, (30, 2))
    return SymbolicRegressor(max_evaluations=500, random_state=0, **parameters), X, X[:, 0] * X[:, 1]


@given(CONTENTS)
def test_every_content_is_encoded_as_json_that_strict_readers_accept(content):
    json.loads(encoded(content), parse_constant=refuse)


@given(st.floats())
def test_exact_values_are_restored_bit_for_bit(number):
    back = float(json.loads(json.dumps(plain(number, exact=True), allow_nan=False)))
    assert back == number or np.isnan(number)


def test_the_error_of_an_equation_without_a_value_is_infinite_and_its_interval_too():
    scores = absolute_errors(np.array([np.nan, 1.0, -2.0, np.inf]))
    assert scores.tolist() == [1.0, 2.0, np.inf, np.inf]
    assert conformal_quantile(scores, 0.7) == np.inf


def test_infinite_calibration_scores_are_saved_and_restored(tmp_path):
    regressor, X, y = small()
    regressor.fit(X, y)
    regressor.scores_ = [absolute_errors(np.array([1.0, np.nan])) for _ in regressor.models_]
    regressor.save(tmp_path / "model.json")
    json.loads((tmp_path / "model.json").read_bytes(), parse_constant=refuse)
    assert SymbolicRegressor.load(tmp_path / "model.json").scores_[0].tolist() == [1.0, np.inf]


def test_one_distinct_row_leaves_nothing_to_leave_out():
    assert len(cross_validation_scores(parse("2*x0"), [[1.0]], [2.0])) == 0


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 20, 30])
@pytest.mark.parametrize("value", [0.0, 1.0, -3.5, 1e100, 1e-100])
@pytest.mark.parametrize("same_rows", [False, True])
def test_a_constant_target_has_an_exact_equation_on_any_number_of_rows_without_a_search(n, value, same_rows):
    X = np.ones((n, 2)) if same_rows else np.arange(2.0 * n).reshape(n, 2)
    regressor = SymbolicRegressor(random_state=0).fit(X, np.full(n, value))
    assert (regressor.get_best()["r2"], regressor.evaluations_) == (1.0, 0)
    assert regressor.stop_reason_.startswith("the law is certain")
    np.testing.assert_allclose(regressor.predict(X), value, rtol=1e-12)


@pytest.mark.parametrize(
    "search", [FTG(max_terms=2), OnePlusLambda(), CanonicalGP(10)], ids=lambda s: type(s).__name__
)
@pytest.mark.parametrize("n", [2, 5])
def test_other_searches_accept_a_constant_target_too(search, n):
    regressor = SymbolicRegressor(search, random_state=0, max_traverses=500).fit(np.ones((n, 1)), np.ones(n))
    assert regressor.get_best()["r2"] == 1.0


def test_features_of_subnormal_size_give_a_constant_and_no_warning():
    X, y = 1e-310 * np.arange(10.0)[:, None], np.arange(10.0)
    regressor = SymbolicRegressor(max_evaluations=200, random_state=0).fit(X, y)
    assert np.isfinite(regressor.predict(X)).all()


@given(st.sampled_from([1e-300, 1e-17, 1e17, 1e300]))
def test_only_the_ratios_of_weights_count_however_large_they_are(factor):
    X = np.arange(12.0)[:, None]
    weights = 1.0 + X[:, 0] / 10
    fits = [
        SymbolicRegressor(max_evaluations=200, random_state=0).fit(X, 1e100 * X[:, 0] ** 2, w)
        for w in (weights, weights * factor)
    ]
    assert fits[0].get_best()["equation"] == fits[1].get_best()["equation"]


# What a file leaves out ----------------------------------------------------------------------------------------
def with_unreadable_row(regressor, row):
    """Replace the equation of a row by one that no parser reads back."""
    from dataclasses import replace

    regressor.models_[row] = replace(
        regressor.models_[row], coefficients=(np.nan,) * regressor.models_[row].n_terms
    )
    return regressor


def test_a_row_that_cannot_be_written_is_left_out_of_the_file_and_a_warning_names_it(tmp_path):
    regressor, X, y = small()
    regressor.fit(X, y)
    lost = next(i for i in range(len(regressor.models_)) if i != regressor.best_index_)
    with pytest.warns(ModelFileWarning, match=f"leaves out row {lost} of the table"):
        with_unreadable_row(regressor, lost).save(tmp_path / "model.json")
    again = SymbolicRegressor.load(tmp_path / "model.json")
    assert len(again.models_) == len(regressor.models_) - 1
    assert str(again.model_) == str(regressor.models_[regressor.best_index_])


def test_a_chosen_equation_that_cannot_be_written_is_refused_with_one_sentence(tmp_path):
    regressor, X, y = small()
    regressor.fit(X, y)
    with pytest.raises(ModelFileError, match="the chosen equation cannot be written"):
        with_unreadable_row(regressor, regressor.best_index_).save(tmp_path / "model.json")


def test_a_run_without_a_model_file_still_has_its_table(tmp_path, monkeypatch):
    monkeypatch.setattr(SymbolicRegressor, "to_record", lambda self, target: 1 / 0)
    regressor, X, y = small(run_dir=tmp_path)
    with pytest.warns(ModelFileWarning, match="no model file: ZeroDivisionError"):
        regressor.fit(X, y)
    assert len(regressor.equations_) == len(pd.read_csv(regressor.run_path_ / "front.csv"))
    assert RunFolder.open(regressor.run_path_).status == FINISHED


@pytest.mark.parametrize(("error", "status"), [(RuntimeError, FAILED), (KeyboardInterrupt, INTERRUPTED)])
def test_a_run_that_raises_has_failed_and_an_aborted_run_is_interrupted(error, status, tmp_path, monkeypatch):
    def fail(self):
        raise error("no memory left")

    monkeypatch.setattr(FitPipeline, "table", fail)
    regressor, X, y = small(run_dir=tmp_path)
    with pytest.raises(error):
        regressor.fit(X, y)
    (path,) = tmp_path.iterdir()
    assert RunFolder.open(path).status == status
