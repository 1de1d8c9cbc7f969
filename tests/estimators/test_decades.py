"""Targets over decades: `loss="relative"` and `target_transform="log"`, from the fit to files, intervals and hints."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from fouriertree import SymbolicClassifier, SymbolicRegressor, SymbolicTransformer, parse
from fouriertree.uncertainty.stability import structure

OPTIONS = {"random_state": 0, "max_evaluations": 60_000, "max_size": 15}
RELATIVE, LOG = {"loss": "relative"}, {"target_transform": "log"}
BOTH = pytest.mark.parametrize("how", [RELATIVE, LOG], ids=["relative", "log"])


def power_law(n=80, noise=0.1, seed=0):
    """y = 3·mass^0.75·e^(−0.5·time)·e^ε over four decades."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"mass": 10.0 ** rng.uniform(-2.0, 3.0, n), "time": rng.uniform(0.0, 2.0, n)})
    clean = 3.0 * X["mass"] ** 0.75 * np.exp(-0.5 * X["time"])
    return X, clean * np.exp(noise * rng.standard_normal(n))


def fit(how, X=None, y=None, sample_weight=None, **options):
    if X is None:
        X, y = power_law()
    return SymbolicRegressor(**OPTIONS | how | options).fit(X, y, sample_weight)


@pytest.fixture(scope="module")
def relative():
    return fit(RELATIVE)


@pytest.fixture(scope="module")
def log():
    return fit(LOG)


def form(model):
    return sorted(map(repr, map(structure, model.model_.expressions)))


# Relative errors --------------------------------------------------------------------------------------------
def test_the_relative_loss_of_the_table_is_the_mean_squared_relative_error(relative):
    X, y = power_law()
    for i, reported in enumerate(relative.equations_["loss"]):
        errors = (y - relative.predict(X, index=i)) / y
        assert reported == pytest.approx(np.mean(errors**2), rel=1e-9)


def test_r2_of_the_relative_loss_is_that_of_weights_of_one_over_the_square(relative):
    X, y = power_law()
    for i, reported in enumerate(relative.equations_["r2"]):
        assert reported == pytest.approx(
            relative.score(X, y, 1.0 / y**2) if i == relative.best_index_ else reported
        )


def test_relative_errors_are_squared_errors_with_weights_of_one_over_the_square():
    X, y = power_law()
    y = y.to_numpy()
    weighted = fit({"loss": "squared"}, X, y, 1.0 / y**2)
    relative = fit(RELATIVE, X, y)
    assert form(relative) == form(weighted)
    np.testing.assert_allclose(relative.predict(X), weighted.predict(X), rtol=0.05)


def test_sample_weights_are_weights_of_relative_errors():
    X, y = power_law(60)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 60)
    model = fit(RELATIVE, X, y, weights)
    expected = np.average(((y - model.predict(X)) / y) ** 2, weights=weights)
    assert model.get_best()["loss"] == pytest.approx(expected, rel=1e-9)


def test_the_relative_loss_does_not_depend_on_the_sign_of_the_target(relative):
    X, y = power_law()
    negative = fit(RELATIVE, X, -y)
    np.testing.assert_allclose(negative.predict(X), -relative.predict(X), rtol=1e-9)
    np.testing.assert_allclose(negative.equations_["loss"], relative.equations_["loss"], rtol=1e-9)


# Logarithms -------------------------------------------------------------------------------------------------
def test_a_fit_of_the_transformed_target_is_the_exponential_of_a_fit_of_its_logarithm(log):
    X, y = power_law()
    plain = fit({}, X, np.log(y))
    assert (log.evaluations_, log.traverses_) == (plain.evaluations_, plain.traverses_)
    # But for the constants, which are snapped as those of y.
    np.testing.assert_allclose(log.predict(X), np.exp(plain.predict(X)), rtol=0.1)
    assert log.get_best()["r2"] == pytest.approx(plain.get_best()["r2"], abs=1e-3)


def test_the_exponential_of_an_exact_law_is_exact():
    X, _ = power_law()
    y = 3.0 * X["mass"] ** 0.75
    log, plain = fit(LOG, X, y), fit({}, X, np.log(y))
    np.testing.assert_allclose(log.predict(X), y, rtol=1e-12)
    np.testing.assert_allclose(np.exp(plain.predict(X)), y, rtol=1e-12)
    assert log.get_best()["equation"] == "3*mass^0.75"
    assert log.get_best()["r2"] == 1.0


def test_a_power_law_reads_as_one(log):
    equation = log.get_best()["equation"]
    assert "mass^0.7" in equation
    assert "exp(" in equation
    assert "log(" not in equation
    assert len(log.model_.expressions) == 1


def test_robust_losses_are_those_of_log_y():
    X, y = power_law(noise=0.02)
    y[::10] *= 1e4
    model = fit(LOG | {"loss": "absolute"}, X, y)
    expected = np.mean(np.abs(np.log(y) - np.log(model.predict(X))))
    assert model.get_best()["loss"] == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(model.predict(X), power_law(noise=0.0)[1], rtol=0.1)


def test_a_guess_is_a_guess_for_y():
    X = pd.DataFrame({"a": np.linspace(1.0, 9.0, 60), "b": np.linspace(3.0, 1.0, 60) ** 3})
    y = 4.0 * X["a"] ** 1.7 * np.exp(-np.sqrt(X["b"]) * X["a"] / 9.0)
    model = fit(LOG, X, y, guesses=["c*a^p*exp(-sqrt(b)*a/q)"], max_evaluations=10, max_size=30)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-6)


@BOTH
@pytest.mark.parametrize("unit", [0.0042, 1e6])
def test_the_form_does_not_depend_on_the_unit_of_the_target(how, unit):
    X, y = power_law()
    once, scaled = fit(how, X, y), fit(how, X, unit * y)
    assert form(scaled) == form(once)
    np.testing.assert_allclose(scaled.predict(X), unit * once.predict(X), rtol=0.03)


@BOTH
def test_every_row_of_the_table_is_an_equation_for_y(how, request):
    model = request.getfixturevalue("relative" if how is RELATIVE else "log")
    X, _ = power_law()
    for i, fitted in enumerate(model.models_):
        np.testing.assert_array_equal(model.predict(X, index=i), fitted.predict(X))
        assert fitted.text(6) == model.equations_["equation"][i]


def test_a_power_law_of_few_rows_is_chosen_over_an_exponential():
    # Number of species on islands of an archipelago, by area: an exponential is a linear model of the logarithm.
    area = np.array([9.0, 25.0, 60.0, 140.0, 300.0, 900.0, 2e3, 6e3, 1.4e4, 4e4, 1e5, 2.5e5, 5e5, 7.5e5])
    factors = [1.2, 0.8, 1.1, 1.3, 0.7, 0.9, 1.0, 1.25, 0.8, 1.1, 0.9, 1.2, 0.85, 1.05]
    model = fit(LOG, area[:, None], 5.0 * area**0.2354 * np.array(factors))
    assert structure(model.model_.expression) == structure(parse("x0^0.6"))


# Refusals ---------------------------------------------------------------------------------------------------
@BOTH
def test_a_zero_is_refused_unless_its_weight_is_zero(how):
    X, y = power_law(40)
    y = np.where(np.arange(40) == 3, 0.0, y)
    with pytest.raises(ValueError, match=r"1 of 40 are (not positive|zero); leave these rows out"):
        fit(how, X, y)
    model = fit(how, X, y, np.arange(40) != 3, max_evaluations=2000)
    assert np.isfinite(model.get_best()["loss"])


def test_negative_values_have_no_logarithm():
    X, y = power_law(40)
    with pytest.raises(ValueError, match="log y needs positive values of y, and 40 of 40"):
        fit(LOG, X, -y)


@pytest.mark.parametrize("loss", ["relative", "logistic"])
def test_a_logarithm_has_no_relative_or_logistic_loss(loss):
    X, y = power_law(40)
    with pytest.raises(ValueError, match="log"):
        fit(LOG, X, y / (1.0 + y.max()), loss=loss)


def test_an_unknown_transform_is_refused():
    with pytest.raises(ValueError, match="target_transform must be None or one of log; got 'sqrt'"):
        fit({"target_transform": "sqrt"})


def test_a_classifier_and_a_transformer_have_no_transform():
    for kind in (SymbolicClassifier, SymbolicTransformer):
        assert "target_transform" not in kind().get_params()


def test_the_features_of_a_transformer_are_selected_by_relative_errors():
    X, y = power_law()
    features = SymbolicTransformer(1, loss="relative", random_state=0, max_evaluations=2000).fit(X, y)
    again = SymbolicTransformer(1, loss="relative", random_state=0, max_evaluations=2000).fit(X, 4.0 * y)
    assert list(features.get_feature_names_out()) == list(again.get_feature_names_out())


# Files, several targets, stability --------------------------------------------------------------------------
@BOTH
def test_a_loaded_and_an_unpickled_regressor_have_the_same_equations_and_intervals(how, request, tmp_path):
    model = request.getfixturevalue("relative" if how is RELATIVE else "log")
    X, _ = power_law()
    model.save(tmp_path / "model.json", target="rate")
    for copy in (SymbolicRegressor.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        for one, other in zip(copy.predict(X, interval=0.9), model.predict(X, interval=0.9), strict=True):
            np.testing.assert_array_equal(one, other)
        assert str(copy).split("\n\n")[0] == str(model).split("\n\n")[0]


def test_several_targets_are_transformed_each():
    X, y = power_law(60)
    both = fit(LOG, X, pd.DataFrame({"y": y, "z": 1.0 / y}))
    np.testing.assert_allclose(both.predict(X)[:, 1], 1.0 / both.predict(X)[:, 0], rtol=0.05)
    with pytest.raises(ValueError, match="not positive"):
        fit(LOG, X, pd.DataFrame({"y": y, "z": -y}))


def test_bootstrap_refits_have_the_same_transform(log):
    found = log.stability(n=2)
    assert found.n == 2
    assert found.forms["share_chosen"].max() > 0.0


def test_exports_are_those_of_y(log):
    X, _ = power_law()
    code = log.export("python")
    names = {}
    exec(code, names)
    function = next(value for name, value in names.items() if callable(value) and not name.startswith("_"))
    values = [function(*row) for row in X.to_numpy()[:5]]
    np.testing.assert_allclose(values, log.predict(X)[:5], rtol=1e-9)


# Intervals --------------------------------------------------------------------------------------------------
@BOTH
@pytest.mark.parametrize("method", ["conformal", "linear"])
def test_intervals_are_relative_and_cover_new_rows(how, method):
    X, y = power_law(300)
    model = fit(how, X, y)
    new, y_new = power_law(4000, seed=5)
    inside = ((new >= X.min()) & (new <= X.max())).all(axis=1)
    new, y_new = new[inside], y_new[inside]
    value, lower, upper = model.predict(new, interval=0.9, method=method)
    covered = (lower <= y_new) & (y_new <= upper)
    assert 0.8 < covered.mean() < 0.98
    # Small values are covered as often as large ones, which intervals of one width would not do.
    small = y_new < np.quantile(y_new, 0.3)
    assert 0.75 < covered[small].mean() < 1.0
    assert np.ptp(np.log((upper - lower) / value)) < 0.5


def test_intervals_of_logarithms_are_positive_and_multiplicative(log):
    X, _ = power_law()
    value, lower, upper = log.predict(X, interval=0.9)
    assert (lower > 0.0).all()
    np.testing.assert_allclose(upper / value, value / lower, rtol=1e-9)


def test_with_few_rows_scores_are_those_of_a_cross_validation_of_the_logarithm():
    X, y = power_law(30)
    model = fit(LOG, X, y, max_evaluations=10_000)
    widths = [float(scores.max()) for scores in model.scores_]
    assert len(model.scores_[0]) == 30
    assert widths[model.best_index_] < 1.0


@BOTH
def test_confidence_intervals_of_the_parameters_have_the_true_values(how, request):
    model = request.getfixturevalue("relative" if how is RELATIVE else "log")
    table = model.coefficient_intervals(level=0.999)
    coefficient = table[table["number"] == "coefficient"].iloc[0]
    assert np.isfinite(table["standard_error"]).all()
    if len(model.model_.expressions) == 1:
        assert coefficient["lower"] < 3.0 < coefficient["upper"]


def test_standard_errors_of_a_power_law_are_those_of_the_regression_of_logarithms():
    rng = np.random.default_rng(3)
    x = 10.0 ** rng.uniform(-1.0, 2.0, 60)
    y = 3.17 * x**0.643 * np.exp(0.2 * rng.standard_normal(60))
    model = fit(LOG, x[:, None], y)
    assert structure(model.model_.expression) == structure(parse("x0^0.6"))
    design = np.column_stack([np.ones(60), np.log(x)])
    predicted = np.log(model.predict(x[:, None]))
    variance = np.sum((np.log(y) - predicted) ** 2) / 58
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    table = model.coefficient_intervals().set_index("number")
    scale = table.loc["coefficient", "value"]
    assert table.loc["coefficient", "standard_error"] == pytest.approx(scale * errors[0], rel=1e-6)
    assert table.loc["inside", "standard_error"] == pytest.approx(errors[1], rel=1e-6)


# Prints and hints -------------------------------------------------------------------------------------------
def test_print_says_what_the_columns_are_those_of(relative, log):
    assert str(log).endswith("\n\nevery column but the equation is that of log(y)")
    assert str(relative).endswith("\n\nlosses and R² are those of errors relative to y")


def test_a_wide_target_is_fitted_with_a_hint_that_is_printed_once():
    model = fit({}, max_evaluations=1000)
    assert model.hint_.startswith("y spans a factor of")
    first, second, other = str(model), str(model), str(clone(model).fit(*power_law(40)))
    assert first == f"{second}\n\n{model.hint_}"
    assert "spans" not in other


@pytest.mark.parametrize("how", [RELATIVE, LOG, {"loss": "absolute"}], ids=str)
def test_there_is_no_hint_where_options_say_how_errors_are_weighed(how):
    assert fit(how, max_evaluations=1000).hint_ is None


def test_there_is_no_hint_for_weights_narrow_targets_and_those_with_zeros():
    X, y = power_law(40)
    for target, weights in ((y, np.arange(1.0, 41.0)), (1.0 + y / y.max(), None), (y - y.min(), None)):
        assert fit({}, X, target, weights, max_evaluations=1000).hint_ is None


@BOTH
def test_a_report_says_how_errors_are_measured(how, request, tmp_path):
    model = request.getfixturevalue("relative" if how is RELATIVE else "log")
    model.report(tmp_path / "r.html", target="rate")
    page = (tmp_path / "r.html").read_text()
    assert (
        "every column but the equation is that of log(rate)" if how is LOG else "relative to rate"
    ) in page
    assert ("lie within a factor of" if how is LOG else "% of their prediction") in page


# Runs -------------------------------------------------------------------------------------------------------
def test_the_equations_of_a_run_so_far_are_those_of_y(tmp_path, monkeypatch):
    from fouriertree.runs import RunFolder

    monkeypatch.setattr(RunFolder, "end", lambda folder, files, **metadata: folder.close())
    model = fit(LOG, run_dir=tmp_path)
    front = pd.read_csv(model.run_path_ / "front.csv")
    assert front["equation"].str.contains(r"mass\^0\.|exp", regex=True).any()
    assert not front["equation"].str.contains("log(mass)", regex=False).all()


def test_a_warm_start_needs_the_same_transform():
    X, y = power_law(40)
    model = fit({"warm_start": True}, X, y, max_evaluations=2000)
    spent = model.evaluations_
    assert model.set_params(target_transform="log").fit(X, y).evaluations_ < 2 * spent
    assert (model.predict(X) > 0.0).all()
