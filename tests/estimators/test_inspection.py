"""Inspection of a fitted regressor, with the data of the fit or with others."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from copy import copy

import numpy as np
import pandas as pd
import pytest

from fouriertree import SymbolicRegressor
from fouriertree.export import TARGETS, ExportError
from fouriertree.report.content import content_of

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(0.5, 2.0, (80, 2)), columns=["speed", "50 % mass"])
Y = X["speed"] * X["50 % mass"] + rng.normal(0.0, 0.05, 80)
SOME = {"random_state": 0, "max_evaluations": 100_000}


@pytest.fixture(scope="module")
def fitted():
    return SymbolicRegressor(**SOME).fit(X, Y)


@pytest.fixture
def loaded(fitted, tmp_path):
    fitted.save(tmp_path / "model.json", "force")
    return SymbolicRegressor.load(tmp_path / "model.json")


def test_every_equation_has_a_certificate_over_the_range_of_the_data(fitted, loaded):
    for i in range(len(fitted.models_)):
        found = fitted.certificate(i)
        assert found.verdict == "proved"
        values = fitted.predict(X, i)
        assert found.range[0] <= values.min() <= values.max() <= found.range[1]
        assert loaded.certificate(i) == found
    assert set(fitted.certificate().box) <= set(X.columns)


def test_a_pole_inside_the_range_is_shown():
    x = np.concatenate([np.linspace(-2.0, -0.1, 30), np.linspace(0.1, 2.0, 30)])
    model = SymbolicRegressor(**SOME).fit(x[:, None], 3.0 / x)
    assert model.get_best()["equation"] == "3/x0"
    found = model.certificate()
    assert found.verdict == "fails"
    assert abs(np.mean(found.where["x0"])) < 1e-6


def test_slopes_have_the_sign_of_the_effect_of_a_feature(fitted):
    assert {slope.column: slope.direction for slope in fitted.slopes()} == {
        "speed": "increasing",
        "50 % mass": "increasing",
    }


def test_intervals_of_parameters_contain_the_parameters(fitted, loaded):
    table = fitted.coefficient_intervals(level=0.9)
    assert ((table["lower"] <= table["value"]) & (table["value"] <= table["upper"])).all()
    pd.testing.assert_frame_equal(loaded.coefficient_intervals(level=0.9, X=X, y=Y), table)


def test_stability_reports_the_frequency_of_the_form(fitted):
    calls = []
    found = fitted.stability(3, progress=lambda done, of: calls.append((done, of)))
    assert calls == [(1, 3), (2, 3), (3, 3)]
    [chosen] = found.forms[found.forms["chosen"]].itertuples()
    assert chosen.share_front >= chosen.share_chosen > 0.5
    with ThreadPoolExecutor(2) as threads:
        for parameters in ({"n_jobs": 2}, {"executor": threads}):
            other = copy(fitted).set_params(**parameters)
            pd.testing.assert_frame_equal(other.stability(3).terms, found.terms)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.stability(1),
        lambda m: m.coefficient_intervals(),
        lambda m: m.plot_fit(),
        lambda m: m.report("r"),
    ],
)
def test_a_regressor_from_a_file_requires_data(loaded, call):
    with pytest.raises(ValueError, match="pass X and y"):
        call(loaded)


def test_x_without_y_is_rejected(fitted):
    with pytest.raises(ValueError, match="pass both X and y"):
        fitted.coefficient_intervals(X=X)


def test_plots_use_the_data_of_the_fit_or_other_data(fitted, loaded):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fitted.plot_front().get_xlabel() == "complexity"
        assert len(fitted.plot_fit()) == 2
        assert len(loaded.plot_fit(X, Y, target="force")) == 2
        assert fitted.plot_response().axes
        assert fitted.plot_tree().texts


@pytest.mark.parametrize("target", [name for name, target in TARGETS.items() if target.extra is None])
def test_every_equation_can_be_exported(fitted, target):
    for i in range(len(fitted.models_)):
        assert fitted.export(target, i)


def test_a_failed_export_changes_nothing(fitted):
    before = fitted.predict(X)
    with pytest.raises(ExportError, match="did you mean"):
        fitted.export("pyton")
    assert np.array_equal(fitted.predict(X), before)


def test_a_report_has_the_confidence_intervals_that_are_the_default_in_python(fitted):
    content = content_of(fitted, "force", *fitted._data(None, None)[:2])
    pd.testing.assert_frame_equal(content.intervals, fitted.coefficient_intervals())
    assert content.level == 0.95


def test_a_report_has_all_parts(fitted, tmp_path):
    fitted.report(tmp_path / "report.html", "force", refits=1)
    page = (tmp_path / "report.html").read_text("utf-8")
    for part in (
        "force",
        "50 % mass",
        "Proved",
        "SHA-256",
        str(fitted.data_["sha256"]),
        "def predict",
        "<svg",
        "<math",
    ):
        assert part in page
    assert len(page) < 1_500_000
