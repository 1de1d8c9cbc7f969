"""Guesses in a fit: every one is in the table with its loss, or one line says why not."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fouriertree import FTG, Hybrid, PrimitiveSet, SymbolicClassifier, SymbolicRegressor
from fouriertree.criteria.losses import Objective, as_loss
from fouriertree.data.training import TrainingData
from fouriertree.engine import CompiledEngine
from fouriertree.fit.guesses import parse_guesses
from fouriertree.selection.guesses.fits import GuessFitter
from fouriertree.selection.guesses.parametric import ParametricSum

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "real"
rng = np.random.default_rng(0)
X = rng.uniform(0.5, 3.0, (60, 2))
Y = 2.0 * np.exp(-0.7 * X[:, 0]) * X[:, 1] + 0.3 + rng.normal(0.0, 0.02, 60)
QUICK = {"random_state": 0, "max_evaluations": 10}


def fitted(guesses, X=X, y=Y, **settings):
    return SymbolicRegressor(guesses=guesses, **QUICK | settings).fit(X, y)


def row_of(model, guess):
    """The row of a guess; there is one."""
    [row] = model.equations_[model.equations_["guess"] == guess].to_dict("records")
    return row


def fit_of(text, X, y, names=("x0",), seed=0, loss="squared"):
    """A fitted guess with the squared error on all rows, without a search."""
    [guess] = parse_guesses([text], names, PrimitiveSet.default())
    objective = Objective(TrainingData.from_arrays(X, y, None, seed), as_loss(loss, 0.5), CompiledEngine())
    return GuessFitter(ParametricSum.of(guess.tree, len(names)))(text, objective, (seed, 0)), objective


def squared_error(text, X, y, **settings):
    found, _ = fit_of(text, X, y, **settings)
    return float(np.sum((y - found.on_all_rows.evaluate(X)) ** 2))


# Rows of the table ------------------------------------------------------------------------------------------
def test_every_guess_is_a_row_with_the_loss_of_its_predictions():
    guesses = ["a*exp(-b*x0)*x1 + c", "a*x0 + b", "a*cos(b*x1)"]
    model = fitted(guesses)
    assert model.guess_notes_ == []
    for i, guess in enumerate(model.equations_["guess"]):
        if guess is not None:
            loss = np.mean((Y - model.predict(X, index=i)) ** 2)
            assert model.equations_["loss"].iloc[i] == pytest.approx(loss)
    assert sorted(filter(None, model.equations_["guess"])) == sorted(guesses)
    assert model.equations_["complexity"].is_monotonic_increasing


def test_a_guess_that_a_simpler_row_beats_is_in_the_table_but_never_chosen():
    y = 3.0 * X[:, 0]
    wrong = "a*exp(sin(b*x1) + cos(c*x1))"
    for selection in ("mdl", "best", "accuracy"):
        model = fitted([wrong], y=y, model_selection=selection)
        assert row_of(model, wrong)["loss"] > 1e-3
        assert model.get_best()["equation"] == "3*x0"
        assert model.get_best()["guess"] is None


def test_the_rows_off_the_front_do_not_change_the_others():
    alone, guided = fitted(None, max_evaluations=30_000), fitted(["a*exp(sin(b*x1))"], max_evaluations=30_000)
    ours = guided.equations_[guided.equations_["guess"].isna()].drop(columns="guess")
    assert guided.get_best()["equation"] == alone.get_best()["equation"]
    assert set(alone.equations_["equation"]) & set(ours["equation"])


def test_without_guesses_there_is_no_column_of_guesses():
    model = fitted(None)
    assert "guess" not in model.equations_
    assert "guess" not in str(model)
    assert model.guess_notes_ == []


def test_the_guess_of_the_law_is_chosen_and_marked():
    y = 2.0 * np.log(X[:, 0] + 0.7)
    model = fitted(["a*log(x0 + c)"], y=y)
    assert model.get_best()["equation"] == "2*log(x0 + 0.7)"
    assert model.get_best()["guess"] == "a*log(x0 + c)"
    assert str(model).splitlines()[1 + model.best_index_].startswith("guess >>>")


def test_a_row_of_a_guess_has_the_form_of_the_guess():
    model = fitted(
        ["a*(1 - exp(-b*x0))"], y=1.7 * (1.0 - np.exp(-0.9 * X[:, 0])) + 0.01 * rng.normal(size=60)
    )
    row = row_of(model, "a*(1 - exp(-b*x0))")
    assert row["n_terms"] == 1
    assert re.fullmatch(r"1\.[67]\d+\*\(1 - exp\(-0\.\d+\*x0\)\)", row["equation"])


def test_a_linear_guess_is_the_row_of_the_linear_model():
    y = 3.0 * X[:, 0] - X[:, 1] + rng.normal(0.0, 0.3, 60)
    model = fitted(["a*x0 + b*x1 + c"], y=y)
    assert row_of(model, "a*x0 + b*x1 + c")["n_terms"] == 3
    assert not model.equations_["equation"].duplicated().any()


def test_the_printed_table_marks_guesses():
    model = fitted(["a*x0 + b", "a*cos(b*x1)"])
    lines = str(model).splitlines()
    assert [line.split()[0] == "guess" for line in lines[1:]] == model.equations_["guess"].notna().tolist()


# Why not ----------------------------------------------------------------------------------------------------
WHY = [
    ({}, "log(x0 - 9)", "its values are not finite on all rows for any of the parameters that were tried"),
    ({"max_size": 9}, "a*exp(-b*x0)*x1/(c + x1)", r"its complexity is (at least )?\d+, and max_size is 9"),
    ({"max_terms": 2}, "a*x0 + b*x1 + c", "it has 3 terms, and max_terms is 2"),
    ({"nesting": {"sin": {"sin": 0}}}, "a*sin(b*sin(x0))", "the rules of nesting exclude it"),
]


@pytest.mark.parametrize(("settings", "guess", "reason"), WHY)
def test_one_line_says_why_a_guess_is_not_in_the_table(settings, guess, reason):
    model = fitted([guess, "a*x1"], **settings)
    [note] = model.guess_notes_
    prefix = f"guess {guess!r} is not in the table: "
    assert note.startswith(prefix)
    assert re.fullmatch(reason, note.removeprefix(prefix))
    assert guess not in set(model.equations_["guess"])
    assert "a*x1" in set(model.equations_["guess"])
    assert str(model).splitlines()[-1] == note


def test_a_guess_that_is_equal_to_another_one_is_a_note():
    model = fitted(["a*x0 + b", "b + (x0 - c)*d", "c*x0 + b"])
    row = model.equations_.index[model.equations_["guess"] == "a*x0 + b"][0]
    assert model.guess_notes_ == [
        f"guess {text!r} is not in the table: it is equal to row {row}"
        for text in ("b + (x0 - c)*d", "c*x0 + b")
    ]


def test_guesses_are_refused_where_the_search_ignores_them():
    with pytest.raises(
        ValueError, match="guesses are for the hybrid search, and FTG ignores them; leave out"
    ):
        fitted(["a*x0"], search=FTG())
    assert row_of(fitted(["a*sin(x0)"], search=Hybrid(rounds=1)), "a*sin(x0)")["n_terms"] == 1


# Limits, files and other estimators -------------------------------------------------------------------------
@pytest.mark.parametrize("seconds", [0.0, 0.01, 1.0])
def test_guesses_are_fitted_whatever_the_time_limit(seconds):
    y = 2.0 * np.exp(-0.7 * X[:, 0]) * np.cos(5.3 * X[:, 0] + 0.4)
    model = fitted(["a*exp(-b*x0)*cos(c*x0 + d)"], y=y, time_limit=seconds, max_evaluations=None)
    assert row_of(model, "a*exp(-b*x0)*cos(c*x0 + d)")["r2"] == pytest.approx(1.0)
    assert model.get_best()["r2"] == 1.0


def test_the_same_seed_gives_the_same_rows():
    first, second = (fitted(["a*exp(-b*x0)*x1 + c", "a*cos(b*x1)"]) for _ in range(2))
    pd.testing.assert_frame_equal(first.equations_, second.equations_)


def test_a_saved_model_has_its_guesses(tmp_path):
    model = fitted(["a*x0 + b", "a*cos(b*x1)", "log(x0 - 9)"])
    model.save(tmp_path / "model.json")
    again = SymbolicRegressor.load(tmp_path / "model.json")
    pd.testing.assert_frame_equal(again.equations_, model.equations_)
    assert str(again) == str(model)
    assert again.guess_notes_ == model.guess_notes_
    content = json.loads((tmp_path / "model.json").read_text())
    assert [row["guess"] for row in content["rows"]] == model.equations_["guess"].tolist()


def test_a_resumed_run_has_its_guesses(tmp_path):
    settings = {"run_dir": tmp_path, "max_evaluations": 2000}
    model = fitted(["a*x0 + b", "a*cos(b*x1)"], **settings)
    again = SymbolicRegressor.resume(model.run_path_, X, Y)
    pd.testing.assert_frame_equal(again.equations_, model.equations_)


def test_every_target_has_the_rows_of_the_guesses(tmp_path):
    model = fitted(["a*cos(b*x1)", "log(x0 - 9)"], y=np.column_stack([Y, X[:, 1] ** 2]))
    for table, notes in zip(model.equations_, model.guess_notes_, strict=True):
        assert "a*cos(b*x1)" in set(table["guess"])
        assert len(notes) == 1
    model.save(tmp_path / "model.json")
    assert str(SymbolicRegressor.load(tmp_path / "model.json")) == str(model)


def test_a_classifier_has_guesses_of_the_log_odds():
    labels = rng.random(60) < 1.0 / (1.0 + np.exp(-8.0 * np.sin(2.0 * X[:, 0])))
    model = SymbolicClassifier(guesses=["a*sin(b*x0)", "log(x0 - 9)"], **QUICK).fit(X, labels)
    [row] = model.equations_[model.equations_["guess"].notna()].to_dict("records")
    assert row["loss"] < 0.5
    assert len(model.guess_notes_) == 1


@pytest.mark.parametrize("loss", ["absolute", "huber", "quantile"])
def test_outliers_do_not_move_a_guess_with_a_robust_loss(loss):
    outliers = Y.copy()
    outliers[::15] += 20.0
    found, _ = fit_of("a*exp(-b*x0)*x1 + c", X, outliers, names=("x0", "x1"), loss=loss)
    law = 2.0 * np.exp(-0.7 * X[:, 0]) * X[:, 1] + 0.3
    assert np.median(np.abs(found.on_all_rows.evaluate(X) - law)) < 0.02


def test_more_rows_than_the_search_uses_give_losses_on_all_rows():
    many = rng.uniform(0.5, 3.0, (25_000, 1))
    y = np.exp(-0.8 * many[:, 0]) + rng.normal(0.0, 0.01, 25_000)
    model = fitted(["a*exp(-b*x0)", "a*cos(b*x0)"], X=many, y=y)
    for i, guess in enumerate(model.equations_["guess"]):
        if guess is not None:
            loss = np.mean((y - model.predict(many, index=i)) ** 2)
            assert model.equations_["loss"].iloc[i] == pytest.approx(loss)


# Units ------------------------------------------------------------------------------------------------------
FORMS = ["a*exp(-b/(x0 + c))", "a/(1 + exp(b - c*x0))", "a*exp(-b*x0)*cos(w*x0 + c)", "x0/(a + b*x0^c)"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("unit", "of_target"), [(1.37, 1.0), (1.0, 0.0042), (25.4, 1e6)])
def test_units_do_not_matter(form, unit, of_target):
    x, y = X[:, :1], np.sin(2.0 * X[:, 0]) + 3.0 + rng.normal(0.0, 0.1, 60)
    first, second = fit_of(form, x, y)[0], fit_of(form, unit * x, of_target * y)[0]
    np.testing.assert_allclose(
        second.on_all_rows.evaluate(unit * x) / of_target, first.on_all_rows.evaluate(x), rtol=1e-5
    )


# Certified fits ---------------------------------------------------------------------------------------------
CERTIFIED = [
    ("nist_misra1a", "a*(1 - exp(-b*x))"), ("nist_boxbod", "a*(1 - exp(-b*x))"),
    ("nist_chwirut2", "exp(-b1*x)/(b2 + b3*x)"), ("nist_rat42", "a/(1 + exp(b - c*x))"),
    ("nist_mgh10", "b1*exp(b2/(x + b3))"), ("nist_eckerle4", "(b1/b2)*exp(-0.5*((x - b3)/b2)^2)"),
    ("nist_danwood", "b1*x^b2"),
    ("nist_thurber", "(b1 + b2*x + b3*x^2 + b4*x^3)/(1 + b5*x + b6*x^2 + b7*x^3)"),
    ("nist_hahn1", "(b1 + b2*x + b3*x^2 + b4*x^3)/(1 + b5*x + b6*x^2 + b7*x^3)"),
]  # fmt: skip


@pytest.fixture
def real():
    """The folder of real data, which a clone of the project does not have."""
    if not SHARED.is_dir():
        pytest.skip("there is no ../shared/data/real to compare with")
    return SHARED


@pytest.mark.parametrize(("name", "form"), CERTIFIED)
def test_the_form_alone_reaches_the_certified_sum_of_squares(real, name, form):
    cases = {case["name"]: case for case in json.loads((real / "manifest.json").read_text())}
    certified = cases[name]["certified"]["residual_sum_of_squares"]
    table = pd.read_csv(real / f"{name}.csv")
    for seed in range(3):
        loss = squared_error(form, table[["x"]].to_numpy(), table["y"].to_numpy(), names=("x",), seed=seed)
        assert loss <= (1.0 + 1e-6) * certified


def test_the_vapour_pressure_of_mercury_is_fitted_by_its_law(real):
    table = pd.read_csv(real / "mercury_vapour.csv")
    x, y = table[["temperature_C"]], table["pressure_mmHg"]
    guess = "a*exp(-b/(temperature_C + c))"
    model = SymbolicRegressor(guesses=[guess], random_state=0, max_evaluations=1000).fit(x, y)
    assert row_of(model, guess)["r2"] > 0.99999


SELF_MADE = [
    ("a*(1 - exp(-b*x0))", (239.0, 5.5e-4), np.linspace(77.0, 760.0, 14), lambda x, a, b: a * -np.expm1(-b * x)),
    ("a/(1 + exp(b - c*x0))", (72.5, 2.62, 0.0674), np.array([9.0, 14, 21, 28, 42, 57, 63, 70, 79]),
     lambda x, a, b, c: a / (1.0 + np.exp(b - c * x))),
    ("a*exp(b/(x0 + c))", (0.0056, 6181.0, 345.0), np.arange(50.0, 126.0, 5.0),
     lambda x, a, b, c: a * np.exp(b / (x + c))),
    ("(a/b)*exp(-0.5*((x0 - c)/b)^2)", (1.55, 4.09, 451.5), np.linspace(400.0, 500.0, 35),
     lambda x, a, b, c: a / b * np.exp(-0.5 * ((x - c) / b) ** 2)),
    ("a*exp(-b*x0)*cos(c*x0 + d)", (2.0, 0.7, 5.3, 0.4), np.linspace(0.0, 4.0, 60),
     lambda x, a, b, c, d: a * np.exp(-b * x) * np.cos(c * x + d)),
]  # fmt: skip


@pytest.mark.parametrize(("form", "truth", "x", "law"), SELF_MADE, ids=[form for form, *_ in SELF_MADE])
def test_the_form_alone_fits_noisy_data_better_than_the_parameters_behind_them(form, truth, x, law):
    exact = law(x, *truth)
    y = exact + 0.01 * np.std(exact) * np.random.default_rng(1).normal(size=len(x))
    error = float(np.sum((y - exact) ** 2))
    for seed in range(3):
        assert squared_error(form, x[:, None], y, seed=seed) <= error


@pytest.mark.parametrize(("unit", "of_target"), [(1.37, 1.0), (1.0, 0.0042)])
def test_the_row_of_a_guess_is_the_same_in_other_units(unit, of_target):
    guess = "a*exp(-b*x0)*x1 + c"
    first = row_of(fitted([guess]), guess)
    second = row_of(fitted([guess], X=unit * X, y=of_target * Y), guess)
    assert second["loss"] == pytest.approx(of_target**2 * first["loss"], rel=1e-6)
    assert (second["complexity"], second["n_terms"]) == (first["complexity"], first["n_terms"])
