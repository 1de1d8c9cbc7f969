"""A fitted regressor: coverage of intervals, warnings about extrapolation, exact files."""

import json
import os
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from fouriertree import PrimitiveSet, SymbolicRegressor
from fouriertree.estimators.fitted import ExtrapolationWarning, extrapolation
from fouriertree.runs.model_file import ModelFileError
from fouriertree.uncertainty.intervals import MAX_SCORES, absolute_errors

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(0.5, 2.0, (120, 3)), columns=["speed", "50 % mass", "größe"])
Y = X["speed"] * X["50 % mass"] + rng.normal(0.0, 0.1, 120)
SOME = {"random_state": 0, "max_evaluations": 300_000}


@pytest.fixture(scope="module")
def fitted():
    return SymbolicRegressor(**SOME).fit(X, Y)


# Bounds -----------------------------------------------------------------------------------------------------
def test_bounds_lie_around_the_prediction_and_a_higher_level_is_wider(fitted):
    value, lower, upper = fitted.predict(X, interval=0.8)
    assert np.array_equal(value, fitted.predict(X))
    assert np.allclose(upper - value, value - lower)
    wide = fitted.predict(X, interval=0.95)
    assert (wide.upper > upper).all()
    assert (wide.lower < lower).all()


def test_every_row_of_the_table_has_bounds_and_better_ones_are_narrower(fitted):
    widths = [
        float(np.ptp([bound[0] for bound in fitted.predict(X.iloc[:1], index=i, interval=0.9)]))
        for i in range(len(fitted.models_))
    ]
    assert np.isfinite(widths).all()
    assert widths[0] > widths[-1]


def test_the_coverage_on_new_rows_is_close_to_the_level(fitted):
    new = pd.DataFrame(np.random.default_rng(1).uniform(0.5, 2.0, (4000, 3)), columns=X.columns)
    y = new["speed"] * new["50 % mass"] + np.random.default_rng(2).normal(0.0, 0.1, 4000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, lower, upper = fitted.predict(new, interval=0.9)
    # The validation set has 24 rows, so the coverage varies by some points from fit to fit.
    assert 0.75 < np.mean((lower <= y) & (y <= upper)) < 1.0


def test_linear_bounds_are_an_option_that_needs_the_data(fitted):
    value, lower, upper = fitted.predict(X, interval=0.9, method="linear")
    assert ((lower < value) & (value < upper)).all()
    assert 0.8 < np.mean((lower <= Y) & (upper >= Y)) <= 1.0
    with pytest.raises(ValueError, match="pass X and y"):
        pickle.loads(pickle.dumps(fitted)).predict(X, interval=0.9, method="linear")
    with pytest.raises(ValueError, match="one of conformal, linear"):
        fitted.predict(X, interval=0.9, method="normal")


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 90])
def test_a_level_that_is_not_between_zero_and_one_is_refused(fitted, level):
    with pytest.raises(ValueError, match="between 0 and 1"):
        fitted.predict(X, interval=level)


def test_with_few_rows_scores_are_from_leave_one_out():
    x = np.linspace(1.0, 3.0, 12)
    model = SymbolicRegressor(**SOME).fit(x[:, None], x**2 + np.sin(40 * x) / 10)
    assert all(len(scores) == 12 for scores in model.scores_)
    assert np.isfinite(model.predict(x[:, None], interval=0.9).upper).all()


def test_of_many_errors_order_statistics_are_kept_that_never_underestimate_quantiles():
    errors = rng.normal(size=5000)
    kept = absolute_errors(errors)
    assert len(kept) == MAX_SCORES
    for share in (0.5, 0.8, 0.9, 0.95):
        exact = np.quantile(np.abs(errors), share, method="higher")
        assert exact <= kept[int(np.ceil(share * MAX_SCORES)) - 1] < exact + 0.1


# Extrapolation -----------------------------------------------------------------------------------------------
def test_extrapolation_is_reported_once(fitted):
    model = clone(fitted).fit(X, Y)
    far = X.assign(speed=9.0)
    with pytest.warns(ExtrapolationWarning, match=r"120 of 120 rows lie outside .*speed from 0\.5"):
        model.predict(far)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(far)
        model.predict(X)


def test_a_feature_that_is_not_in_the_equation_may_have_any_value(fitted):
    assert "größe" not in fitted.get_best()["equation"]
    model = clone(fitted).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X.assign(größe=-1e9))


def test_missing_values_are_no_extrapolation(fitted):
    table = X.to_numpy()[:4].copy()
    assert extrapolation(fitted.model_, table, fitted.box_, list(X.columns)) is None


# Files ------------------------------------------------------------------------------------------------------
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_an_error_of_saving_names_the_path(fitted, tmp_path):
    for path in ("/dev/full", str(tmp_path / "no folder" / "model.json")):
        with pytest.raises(OSError, match=re.escape(f": {path!r}") + "$"):
            fitted.save(path)


def test_a_saved_regressor_is_restored_bit_for_bit(fitted, tmp_path):
    fitted.save(tmp_path / "model.json", target="force")
    loaded = SymbolicRegressor.load(tmp_path / "model.json")
    assert str(loaded) == str(fitted)
    assert loaded.equations_.equals(fitted.equations_)
    assert loaded.get_params() == fitted.get_params()
    assert (loaded.seed_, loaded.stop_reason_, loaded.data_) == (
        fitted.seed_,
        fitted.stop_reason_,
        fitted.data_,
    )
    for i in range(len(fitted.models_)):
        for before, after in zip(fitted.predict(X, i, 0.9), loaded.predict(X, i, 0.9), strict=True):
            assert np.array_equal(before, after)
    loaded.save(tmp_path / "again.json", target="force")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_a_model_file_is_readable(fitted, tmp_path):
    fitted.save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text("utf-8")
    data = json.loads(text)
    assert data["rows"][data["chosen"]]["formula"] == str(fitted.model_)
    assert data["data"]["rows"] == 120
    assert len(data["data"]["sha256"]) == 64
    assert max(map(len, text.splitlines())) < 10_000
    assert len(text.splitlines()) < 100 * len(data["rows"]) + 100


def test_infinite_and_missing_losses_survive(tmp_path):
    model = SymbolicRegressor(**SOME).fit([[1.0], [2.0], [3.0], [4.0]], [1.0, 4.0, 9.0, 17.0])
    assert model.equations_["validation_loss"].isna().all()
    model.save(tmp_path / "model.json")
    assert SymbolicRegressor.load(tmp_path / "model.json").equations_.equals(model.equations_)


def test_user_defined_operators_are_required_to_load_equations_with_them(tmp_path):
    own = PrimitiveSet.default()
    own.add("asinh", np.arcsinh)
    x = np.linspace(-2.0, 2.0, 60)
    model = SymbolicRegressor(operators=own, **SOME).fit(x[:, None], 2.0 * np.arcsinh(x))
    assert "asinh" in model.get_best()["equation"]
    model.save(tmp_path / "model.json")
    with pytest.raises(ModelFileError, match="asinh"):
        SymbolicRegressor.load(tmp_path / "model.json")
    loaded = SymbolicRegressor.load(tmp_path / "model.json", operators=own)
    assert np.array_equal(loaded.predict(x[:, None]), model.predict(x[:, None]))


def test_a_pickle_and_a_clone_work_and_carry_no_data(fitted):
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copy.predict(X), fitted.predict(X))
    assert not hasattr(copy, "_training")
    assert not hasattr(clone(fitted), "models_")


@pytest.mark.parametrize("call", [lambda m: m.predict(X), lambda m: m.save("m.json"), lambda m: m.sympy()])
def test_an_unfitted_regressor_raises_not_fitted_error(call):
    with pytest.raises(NotFittedError):
        call(SymbolicRegressor())
