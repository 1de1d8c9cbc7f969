"""SymbolicRegressor: the conventions of scikit-learn, and the guarantees of this package."""

import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fouriertree import FTG, GramSVD, Hybrid, PrimitiveSet, SymbolicRegressor
from fouriertree.estimators.fitted import ExtrapolationWarning
from fouriertree.search.hybrid.search import LAW

#: evaluations that take a moment; without a limit, a search on noise ends only when all strategies have run
FEW, SOME = 3000, 60_000
LAW_OF_A_PENDULUM = "-0.4*velocity - 19.62*sin(angle)"


# Rows of weight zero are predicted, too, and may lie outside of the others.
@pytest.mark.filterwarnings("ignore::fouriertree.estimators.fitted.ExtrapolationWarning")
@parametrize_with_checks([SymbolicRegressor(max_evaluations=FEW)])
def test_the_estimator_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fouriertree.estimators.fitted.ExtrapolationWarning")
@parametrize_with_checks([SymbolicRegressor(max_evaluations=SOME)])
def test_scikit_learn_finds_nothing_to_object_to_in_a_longer_search(estimator, check):
    check(estimator)


@parametrize_with_checks([SymbolicRegressor(FTG(max_terms=6, best_of=500))])
def test_the_estimator_checks_of_scikit_learn_pass_with_another_search(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def pendulum():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"angle": rng.uniform(-3, 3, 150), "velocity": rng.uniform(-4, 4, 150)})
    return X, -19.62 * np.sin(X["angle"]) - 0.4 * X["velocity"]


@pytest.fixture(scope="module")
def fitted(pendulum):
    return SymbolicRegressor(random_state=0).fit(*pendulum)


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    return X, X[:, 0] * X[:, 1] + rng.normal(size=80)


def test_an_exact_law_is_recovered_and_printed_as_the_law(fitted, pendulum):
    assert fitted.get_best()["equation"] == LAW_OF_A_PENDULUM
    assert fitted.stop_reason_ == LAW
    assert fitted.score(*pendulum) == 1.0


COLUMNS = [
    "n_terms",
    "complexity",
    "loss",
    "training_loss",
    "validation_loss",
    "description_length",
    "r2",
    "equation",
]


@pytest.mark.parametrize("search", [None, FTG(max_terms=6)], ids=["hybrid", "FTG"])
def test_equations_has_a_row_per_complexity_and_losses_fall(noisy, search):
    model = SymbolicRegressor(search, max_terms=6, max_evaluations=SOME, random_state=0).fit(*noisy)
    table = model.equations_
    assert list(table.columns) == COLUMNS
    assert len(table) > 1
    assert len(model.models_) == len(table)
    assert (np.diff(table["complexity"]) > 0).all()
    assert (np.diff(table["loss"]) < 0).all()
    assert (np.diff(table["r2"]) > 0).all()
    assert table["n_terms"].between(1, 6).all()
    assert np.isfinite(table.drop(columns="equation")).all(axis=None)
    assert model.stop_reason_ == ("evaluations used up" if search is None else "all terms used")
    assert model.evaluations_ >= model.stop_reason_.startswith("evaluations") * SOME
    assert model.traverses_ >= len(table)


@pytest.mark.parametrize("n", [19, 20])
def test_there_is_a_validation_set_if_there_are_enough_rows(noisy, n):
    X, y = noisy
    model = SymbolicRegressor(max_evaluations=SOME, random_state=0).fit(X[:n], y[:n])
    assert np.isnan(model.equations_["validation_loss"]).all() == (n < 20)


@pytest.mark.parametrize("weighted", [False, True])
def test_reported_losses_are_those_of_the_predictions(noisy, weighted):
    X, y = noisy
    weights = np.random.default_rng(2).integers(0, 3, len(y)).astype(float) if weighted else np.ones(len(y))
    model = SymbolicRegressor(max_evaluations=SOME, random_state=0).fit(X, y, weights)
    X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    for i, row in model.equations_.iterrows():
        errors = y - model.predict(X, index=i)
        assert row["loss"] == pytest.approx(np.average(errors**2, weights=weights), rel=1e-12)
    assert model.equations_["r2"].iloc[model.best_index_] == pytest.approx(
        model.score(X, y, weights), abs=1e-12
    )


def test_print_shows_the_table_with_the_chosen_row_marked(fitted):
    lines = str(fitted).splitlines()
    assert len(lines) == 1 + len(fitted.equations_)
    assert [i for i, line in enumerate(lines[1:]) if line.startswith(">>>")] == [fitted.best_index_]
    assert lines[-1].endswith(LAW_OF_A_PENDULUM)


def test_repr_is_that_of_scikit_learn_before_and_after_fit(fitted):
    assert repr(fitted) == "SymbolicRegressor(random_state=0)"
    assert str(SymbolicRegressor(max_terms=3)) == "SymbolicRegressor(max_terms=3)"
    assert "SymbolicRegressor" in fitted._repr_html_()


def test_equations_have_sympy_and_latex_forms(fitted):
    import sympy

    angle, velocity = sympy.symbols("angle velocity")
    difference = fitted.sympy() + 19.62 * sympy.sin(angle) + 0.4 * velocity
    assert abs(difference.subs({angle: 1.3, velocity: -2.0})) < 1e-12
    assert r"\sin" in fitted.latex()
    assert fitted.sympy(index=0).is_number


def test_the_error_for_a_missing_row_names_it(fitted, pendulum):
    last = len(fitted.equations_) - 1
    with pytest.raises(IndexError, match=f"there is no row 70; equations_ has rows 0 to {last}"):
        fitted.predict(pendulum[0], index=70)


def test_among_equally_good_equations_the_simplest_is_chosen(noisy):
    X, _ = noisy
    model = SymbolicRegressor(target_loss=0.0, max_terms=4, random_state=0).fit(X, 2.0 * X[:, 0])
    assert model.get_best()["equation"] == "2*x0"
    assert model.best_index_ == len(model.equations_) - 1


@pytest.mark.parametrize("names", [["with space", "per%cent"], ["größe", "`tick`"], ["sin", "x0"]])
def test_feature_names_are_kept_unchanged(names):
    X = pd.DataFrame(np.random.default_rng(0).uniform(-2, 2, (60, 2)), columns=names)
    model = SymbolicRegressor(random_state=0).fit(X, 3.0 * X[names[0]] - X[names[1]])
    assert list(model.feature_names_in_) == names
    assert names[0].replace("`", "``") in model.get_best()["equation"]
    assert {str(symbol) for symbol in model.sympy().free_symbols} == set(names)
    assert isinstance(model.latex(), str)
    assert model.score(X, 3.0 * X[names[0]] - X[names[1]]) == 1.0


def test_feature_names_name_the_features_of_an_array(noisy):
    X, _ = noisy
    model = SymbolicRegressor(feature_names=["a", "b", "c"], random_state=0).fit(X, X[:, 1])
    assert model.get_best()["equation"] == "b"


def test_rows_of_weight_zero_do_not_count(noisy):
    X, _ = noisy
    y = 2.0 * X[:, 0]
    spoiled, weights = y.copy(), np.ones(len(y))
    spoiled[:10], weights[:10] = 1e6, 0.0
    model = SymbolicRegressor(random_state=0).fit(X, spoiled, weights)
    assert model.get_best()["equation"] == "2*x0"


@pytest.mark.parametrize("settings", [{}, {"search": FTG(max_terms=3)}, {"loss": "absolute"}], ids=str)
def test_a_row_of_weight_k_is_that_row_k_times(noisy, settings):
    X, y = noisy
    times = np.random.default_rng(3).integers(0, 4, len(y))
    order = np.random.default_rng(4).permutation(len(y))
    settings = {"max_evaluations": 3000, "random_state": 0} | settings
    weighted = SymbolicRegressor(**settings).fit(X[order], y[order], times[order])
    repeated = SymbolicRegressor(**settings).fit(X.repeat(times, axis=0), y.repeat(times))
    tenfold = SymbolicRegressor(**settings).fit(X, y, 10 * times)
    for other in (repeated, tenfold):
        pd.testing.assert_frame_equal(weighted.equations_, other.equations_, check_exact=True)
        for bound, same in zip(
            weighted.predict(X[times > 0], interval=0.8),
            other.predict(X[times > 0], interval=0.8),
            strict=True,
        ):
            np.testing.assert_array_equal(bound, same)
        np.testing.assert_array_equal(weighted.box_, other.box_)


def test_equal_weights_are_no_weights(noisy):
    X, y = noisy
    plain = SymbolicRegressor(max_evaluations=3000, random_state=0).fit(X, y)
    twice = SymbolicRegressor(max_evaluations=3000, random_state=0).fit(X.repeat(2, axis=0), y.repeat(2))
    alike = SymbolicRegressor(max_evaluations=3000, random_state=0).fit(X, y, np.full(len(y), 0.3))
    for other in (twice, alike):
        pd.testing.assert_frame_equal(plain.equations_, other.equations_, check_exact=True)


def test_the_scale_of_the_weights_changes_nothing(noisy):
    X, y = noisy
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    one = SymbolicRegressor(max_evaluations=SOME, random_state=0).fit(X, y, weights)
    other = SymbolicRegressor(max_evaluations=SOME, random_state=0).fit(X, y, 1024.0 * weights)
    assert list(one.equations_["equation"]) == list(other.equations_["equation"])


def test_a_seed_repeats_a_run_and_is_stored_in_seed(noisy):
    first = SymbolicRegressor(max_evaluations=SOME).fit(*noisy)
    again = SymbolicRegressor(max_evaluations=SOME, random_state=first.seed_).fit(*noisy)
    pd.testing.assert_frame_equal(first.equations_, again.equations_, check_exact=True)
    other = SymbolicRegressor(max_evaluations=SOME, random_state=np.random.RandomState(5)).fit(*noisy)
    assert other.seed_ != first.seed_


def test_the_number_of_threads_changes_no_bit(noisy):
    one = SymbolicRegressor(max_evaluations=SOME, random_state=3, n_jobs=1).fit(*noisy)
    two = SymbolicRegressor(max_evaluations=SOME, random_state=3, n_jobs=2).fit(*noisy)
    pd.testing.assert_frame_equal(one.equations_, two.equations_, check_exact=True)


@dataclass(frozen=True)
class InterruptedFTG(FTG):
    """FTG during which the user presses Ctrl-C: after so many terms, or at once."""

    terms: int = 0

    def init(self, problem, seed):
        if self.terms == 0:
            raise KeyboardInterrupt
        return super().init(problem, seed)

    def step(self, problem, state, budget):
        if state.progress.terms == self.terms:
            raise KeyboardInterrupt
        return super().step(problem, state, budget)


@pytest.mark.parametrize("terms", [0, 1, 3])
def test_an_interrupt_at_any_moment_leaves_a_fitted_model(noisy, terms):
    X, y = noisy
    model = SymbolicRegressor(InterruptedFTG(terms=terms), random_state=0).fit(X, y)
    assert model.stop_reason_ == "interrupted"
    assert 1 <= len(model.equations_) <= max(terms, 1)
    assert_a_constant_comes_first(model, X, y)


@pytest.mark.parametrize("when", ["init", 1, 2, 10])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_an_interrupt_at_any_moment_of_the_hybrid_leaves_a_fitted_model(noisy, monkeypatch, when, loss):
    X, y = noisy
    steps = []

    def init(self, problem, seed):
        raise KeyboardInterrupt

    def step(self, problem, state, budget, step=Hybrid.step):
        steps.append(0)
        if len(steps) == when:
            raise KeyboardInterrupt
        return step(self, problem, state, budget)

    monkeypatch.setattr(Hybrid, "init" if when == "init" else "step", init if when == "init" else step)
    y = y + 3.0 * X[:, 0]
    model = SymbolicRegressor(loss=loss, random_state=0).fit(X, y)
    assert model.stop_reason_ == "interrupted"
    assert len(model.equations_) > 1 or when != 10
    assert_a_constant_comes_first(model, X, y)


def assert_a_constant_comes_first(model, X, y):
    assert np.isfinite(model.predict(X)).all()
    first = model.predict(X, index=0)
    assert np.ptp(first) == 0.0
    # Or a short constant of about the same description length.
    assert first[0] == pytest.approx(y.mean(), abs=0.2 * y.std())


@pytest.mark.usefixtures("fitted")  # so that everything is compiled
def test_the_progress_bar_ends_with_the_fit_and_is_silent_without_a_terminal(noisy, capsys):
    for search in (None, InterruptedFTG(terms=2)):
        SymbolicRegressor(search, progress=True, max_evaluations=SOME).fit(*noisy)
    assert capsys.readouterr() == ("", "")


def test_a_time_limit_is_kept(noisy):
    for search, operators in ((None, None), (FTG(), ["+"])):
        model = SymbolicRegressor(search, operators=operators, time_limit=0.2, max_terms=80).fit(*noisy)
        assert model.stop_reason_ == "time used up"


def test_a_search_that_is_passed_is_used(noisy):
    search = FTG(projector=GramSVD(), max_terms=3)
    model = SymbolicRegressor(search, operators=PrimitiveSet.paper()).fit(*noisy)
    assert model.stop_reason_ == "all terms used"
    assert 1 <= len(model.equations_) <= 3


def test_user_defined_operators_appear_in_equations():
    operators = PrimitiveSet(["+", "*"])
    operators.add("sinc", lambda a: np.sinc(a))
    X = np.random.default_rng(0).uniform(-3, 3, (60, 1))
    model = SymbolicRegressor(operators=operators, random_state=0).fit(X, 2.0 * np.sinc(X[:, 0]))
    assert model.get_best()["equation"] == "2*sinc(x0)"


def test_a_constant_target_gives_a_constant(noisy):
    model = SymbolicRegressor(random_state=0).fit(noisy[0], np.full(80, 0.1))
    assert list(model.equations_["equation"]) == ["0.1"]
    assert model.equations_["r2"].iloc[0] == 1.0


def test_constant_features_do_not_appear_in_equations_and_the_fit_ends():
    y = np.random.default_rng(0).normal(size=30)
    model = SymbolicRegressor(random_state=0).fit(np.full((30, 2), 7.0), y)
    assert len(model.equations_) == 1
    assert model.stop_reason_ == "nothing is left to try"
    model = SymbolicRegressor(FTG(), random_state=0).fit(np.full((30, 2), 7.0), y)
    assert len(model.equations_) == 1
    assert model.stop_reason_ == "none of the last 100,000 candidates was of use"


def test_ten_thousand_features_are_fitted():
    X = np.random.default_rng(0).normal(size=(50, 10_000))
    model = SymbolicRegressor(random_state=0).fit(X, X[:, 1234] * 3.0)
    assert model.get_best()["equation"] == "3*x1234"
    assert model.predict(X).shape == (50,)


def test_values_that_are_not_finite_are_predicted_with_a_warning():
    X = np.linspace(1, 9, 40)[:, None]
    model = SymbolicRegressor(operators=["log"], random_state=0).fit(X, np.log(X[:, 0]))
    with (
        pytest.warns(UserWarning, match="no finite value on 2 of 3 rows"),
        pytest.warns(ExtrapolationWarning),
    ):
        values = model.predict([[-1.0], [0.0], [1.0]])
    assert np.isnan(values[0])
    assert values[1] == -np.inf
    assert values[2] == pytest.approx(0.0, abs=1e-12)


def test_a_fitted_model_survives_pickle_and_a_clone_is_not_fitted(fitted, pendulum):
    copy = pickle.loads(pickle.dumps(fitted))
    assert (copy.predict(pendulum[0]) == fitted.predict(pendulum[0])).all()
    assert str(copy) == str(fitted)
    assert not hasattr(clone(fitted), "equations_")


@pytest.mark.filterwarnings("ignore::fouriertree.estimators.fitted.ExtrapolationWarning")
def test_it_works_in_a_pipeline_and_in_cross_validation(pendulum):
    X, y = pendulum
    pipeline = make_pipeline(MinMaxScaler((-1, 1)), SymbolicRegressor(max_evaluations=SOME, random_state=0))
    assert pipeline.fit(X, y).score(X, y) > 0.5
    assert cross_val_score(SymbolicRegressor(random_state=0), X, y, cv=3).min() == pytest.approx(1.0)


BAD_DATA = [
    (pd.DataFrame({"a": [1.0, 2.0], "who": ["Ann", "Bob"]}), [1, 2], "column 'who' is not numeric: .* 'Ann'"),
    (np.array([["1", "b"], ["2", "c"]], dtype=object), [1, 2], "column 1 is not numeric: it contains 'b'"),
    ([[1.0], [2.0]], np.array(["p", "q"]), "y is not numeric: it contains 'p'"),
    ([[1.0]], [1.0], "1 sample.* minimum of 2"),
    ([[1.0], [np.nan]], [1.0, 2.0], "contains NaN"),
    ([[1.0], [2.0]], [1.0, np.inf], "infinity"),
    (
        [[1.0], [2.0]],
        [1e200, 1.0],
        r"^\|y\| is at most 1\.0e\+200, and its squares leave the range of float64; give y in another unit",
    ),
    ([[1.0], [2.0]], [1e-200, 0.0], "leave the range of float64; give y in another unit"),
]


@pytest.mark.parametrize(("X", "y", "sentence"), BAD_DATA)
def test_data_that_cannot_be_fitted_are_refused_with_one_sentence(X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        SymbolicRegressor().fit(X, y)


BAD_SETTINGS = [
    ({"max_terms": 0}, "max_terms must be None or a whole number of at least 1; got 0"),
    ({"time_limit": -1}, "time_limit must be None or a number of seconds, at least 0; got -1"),
    ({"target_loss": float("nan")}, "target_loss must be"),
    ({"random_state": -3}, "random_state must be .* got -3"),
    ({"random_state": "x"}, "random_state must be .* got 'x'"),
    ({"n_jobs": 0}, "n_jobs must be None or a whole number of at least 1"),
    ({"operators": ["sine"]}, "did you mean 'sin'"),
    ({"feature_names": ["a", "a"]}, "2 columns are called 'a'"),
    ({"feature_names": ["a"]}, "feature_names has 1 names, but X has 2 columns"),
]


@pytest.mark.parametrize(("settings", "sentence"), BAD_SETTINGS)
def test_invalid_parameters_are_refused_by_fit_and_not_before(settings, sentence):
    model = SymbolicRegressor(**settings)
    with pytest.raises(ValueError, match=sentence):
        model.fit([[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0])


def test_an_exhausted_search_is_followed_by_the_next():
    x = np.linspace(0.2, 1.2, 60)
    y = x**7 + x**13
    model = SymbolicRegressor(operators=["+", "*"], random_state=0).fit(x[:, None], y)
    assert model.equations_["loss"].min() < 1e-4 * np.var(y)


@pytest.mark.parametrize("seed", [0, 2**63 - 1])
def test_the_smallest_and_the_largest_seed_work(seed):
    x = np.linspace(0, 1, 30)
    model = SymbolicRegressor(random_state=seed, max_evaluations=SOME).fit(x[:, None], np.tan(x) + x**5)
    assert model.seed_ == seed


@pytest.mark.parametrize("search", [None, FTG()], ids=["hybrid", "FTG"])
def test_a_number_of_traverses_may_be_a_float(noisy, search):
    model = SymbolicRegressor(search, max_traverses=3e2, random_state=0).fit(*noisy)
    assert model.traverses_ >= 300
    assert model.stop_reason_ == "traverses used up"
