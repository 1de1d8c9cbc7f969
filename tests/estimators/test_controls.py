"""The parameters of SymbolicRegressor: every row of the table observes them, and invalid values are refused."""

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from fouriertree import PrimitiveSet, SymbolicRegressor
from fouriertree.criteria.losses import as_loss
from fouriertree.expr.complexity import Complexity
from fouriertree.fit.pipeline import FitPipeline
from fouriertree.search.nesting import Nesting
from fouriertree.selection.table import CRITERIA

rng = np.random.default_rng(0)
X = rng.uniform(0.5, 3.0, (60, 2))
Y = X[:, 0] * np.sin(2.0 * X[:, 1]) + X[:, 1] ** 2 / (X[:, 0] + 1.0) + rng.normal(0.0, 0.05, 60)


def fitted(X=X, y=Y, sample_weight=None, **settings):
    settings = {"random_state": 0, "max_evaluations": 150_000, "max_size": 20} | settings
    return SymbolicRegressor(**settings).fit(X, y, sample_weight)


@pytest.fixture(scope="module")
def free():
    """The fit with default parameters."""
    return fitted()


def operators_of(model):
    """All operators inside the terms of all rows."""
    expressions = [e for row in model.models_ for e in row.expressions]
    return {e.primitives.by_opcode(code).name for e in expressions for code in e.op.tolist() if code > 1}


# Equations --------------------------------------------------------------------------------------------------
SETS = [
    ["+", "-", "*", "/"],
    ["+", "-", "*", "/", "exp", "log"],
    ["add", "sub", "mul", "pdiv", "sin", "cos", "plog"],
    ["+", "-", "*"],
    ["-", "*", "/"],
    ["+", "sin"],
    ["+", "*", "/", "sin"],
    ["+", "-", "*", "inv", "square"],
]


@pytest.mark.parametrize("operators", SETS, ids=" ".join)
def test_every_equation_has_only_allowed_operators(operators):
    model = fitted(operators=operators, max_evaluations=30_000, max_size=13)
    assert len(model.equations_) > 1
    # Coefficients and their signs are not operators.
    assert operators_of(model) <= {*PrimitiveSet(operators).names, "mul", "sub"}


def test_the_default_operators_are_those_of_the_default_set(free):
    assert operators_of(free) <= set(PrimitiveSet.default().names)
    assert {"div", "square"} <= operators_of(free)


@pytest.mark.parametrize("most", [1, 5, 12])
def test_no_row_is_larger_than_max_size(free, most):
    assert free.equations_["complexity"].max() > 12
    assert fitted(max_size=most).equations_["complexity"].max() <= most


def test_a_guess_that_is_written_as_a_sum_has_as_many_terms_as_the_sum():
    X = np.random.default_rng(0).uniform(1.0, 2.0, (60, 1))
    settings = {"guesses": ["(x0 + a)^2 - x0^2"], "max_evaluations": 1000, "random_state": 0}
    model = SymbolicRegressor(max_terms=1, **settings).fit(X, 6.0 * X[:, 0] + 9.0)
    assert model.equations_["n_terms"].max() == 1


@pytest.mark.parametrize("most", [1, 2])
def test_no_row_has_more_than_max_terms(free, most):
    assert free.equations_["n_terms"].max() > 2
    assert fitted(max_terms=most).equations_["n_terms"].max() <= most


def test_custom_complexities_are_those_of_the_table():
    own = {"sqrt": 7, "+": 3}
    model = fitted(complexities=own, max_size=40, max_evaluations=1_000_000)
    assert "sqrt" in operators_of(model)
    assert list(model.equations_["complexity"]) == [Complexity(own)(m.expression) for m in model.models_]
    assert "sqrt" not in operators_of(fitted(complexities={"sqrt": 40}, max_size=30))


@pytest.mark.parametrize("nesting", [None, {"sqrt": {"+": 0}}, {"sqrt": {"square": 0, "*": 0}}])
def test_nesting_is_kept_in_every_row_even_if_the_law_breaks_it(nesting):
    operators = ["+", "*", "/", "sqrt", "square"]
    model = fitted(y=np.hypot(*X.T), nesting=nesting, operators=operators, max_evaluations=60_000)
    if nesting is None:
        assert model.get_best()["equation"] in ("sqrt(x0^2 + x1^2)", "sqrt(x1^2 + x0^2)")
    else:
        rules = Nesting.of(nesting, PrimitiveSet.default())
        assert len(model.models_) > 1
        assert all(rules.allow(m.expressions) for m in model.models_)


def test_a_guess_that_the_nesting_rules_allow_is_recovered():
    y = 2.0 * np.log(X[:, 0] + 0.7)
    model = fitted(y=y, guesses=["a*log(x0 + c)"], nesting={"log": {"mul": 0}}, max_evaluations=10)
    assert model.get_best()["equation"] == "2*log(x0 + 0.7)"


def test_a_guess_of_the_correct_form_is_recovered_at_once():
    y = 2.3 * np.sin(1.7 * X[:, 0] * np.exp(-0.4 * X[:, 1])) / (1.0 + X[:, 0] ** 2) + 0.3
    guess = "a*sin(b*x0*exp(-c*x1))/(1 + x0^2) + d"
    model = fitted(y=y, guesses=["x0/x1", guess], max_evaluations=10, max_size=40)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-9)
    assert np.abs(fitted(y=y, max_evaluations=10).predict(X) - y).max() > 0.1


def test_guesses_use_the_feature_names():
    frame = pd.DataFrame(X, columns=["mass", "speed"])
    y = 0.5 * X[:, 0] * np.tanh(1.3 * X[:, 1])
    model = fitted(frame, y, guesses=["k*mass*tanh(c*speed)"], max_evaluations=10)
    assert model.get_best()["equation"] == "0.5*mass*tanh(1.3*speed)"


def test_a_wrong_guess_does_not_make_the_result_worse():
    y = 3.0 * X[:, 0] * X[:, 1]
    assert fitted(y=y, guesses=["log(x0 - 9)", "a*cos(x1)"]).get_best()["equation"] in ("3*x0*x1", "3*x1*x0")


# Losses -----------------------------------------------------------------------------------------------------
def power(y, predicted):
    return np.abs(y - predicted) ** 1.5


LINEAR = 2.0 * X[:, 0] + 1.0


def spoiled(seed=1):
    """The linear law with every twelfth row an outlier."""
    y = LINEAR + np.random.default_rng(seed).normal(0.0, 0.02, len(X))
    y[::12] += 30.0
    return y


@pytest.mark.parametrize("loss", ["absolute", "huber"])
def test_robust_losses_recover_the_linear_law_despite_outliers(loss):
    model = fitted(y=spoiled(), loss=loss, operators=["+", "-", "*", "/"], max_size=9)
    assert np.abs(model.predict(X) - LINEAR).max() < 0.05


@pytest.mark.parametrize("q", [0.1, 0.8])
def test_the_quantile_loss_has_that_fraction_of_the_rows_below(q):
    x = np.random.default_rng(2).uniform(0.0, 1.0, (200, 2))
    y = 2.0 * x[:, 0] + np.random.default_rng(3).exponential(1.0, 200)
    model = fitted(x, y, loss="quantile", quantile=q, max_size=7)
    assert np.mean(y <= model.predict(x)) == pytest.approx(q, abs=0.05)


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile", power])
def test_losses_of_the_table_are_mean_losses_of_the_predictions(loss):
    weights = np.random.default_rng(4).uniform(0.5, 2.0, len(Y))
    model = fitted(sample_weight=weights, loss=loss, quantile=0.7, max_size=9)
    for i, reported in enumerate(model.equations_["loss"]):
        losses = as_loss(loss, 0.7).cost(Y, model.predict(X, i))
        assert reported == pytest.approx(np.average(losses, weights=weights), rel=1e-9)


@pytest.mark.parametrize(
    "loss",
    ["absolute", "quantile", "huber", power],
)
def test_an_exact_law_is_exact_under_every_loss(loss):
    y = 2.0 * X[:, 0] / X[:, 1]
    np.testing.assert_allclose(
        fitted(y=y, loss=loss, quantile=0.3, max_evaluations=20_000).predict(X), y, rtol=1e-8
    )


def test_a_function_that_does_not_return_a_loss_per_row_is_refused():
    with pytest.raises(ValueError, match="loss must return the losses of"):
        fitted(loss=lambda y, predicted: np.mean((y - predicted) ** 2))


# Weights and names ------------------------------------------------------------------------------------------
def test_rows_of_weight_zero_are_ignored():
    y, weights = 3.0 * X[:, 0] / X[:, 1], np.ones(60)
    y[::7], weights[::7] = -1e5, 0.0
    assert fitted(y=y, sample_weight=weights).get_best()["equation"] == "3*x0/x1"


def test_heavy_rows_are_fitted_better():
    y = np.where(np.arange(60) % 2, X[:, 0], 2.0 * X[:, 0])
    weights = np.where(np.arange(60) % 2, 1.0, 1000.0)
    model = fitted(y=y, sample_weight=weights, operators=["+", "-", "*", "/"], max_size=5)
    np.testing.assert_allclose(model.predict(X), 2.0 * X[:, 0], rtol=0.02)


def test_feature_names_appear_in_the_equations():
    model = fitted(y=2.0 * X[:, 0] * X[:, 1] ** 2, feature_names=["mass", "speed"])
    assert model.get_best()["equation"] in ("2*mass*speed^2", "2*speed^2*mass")
    assert {str(s) for s in model.sympy().free_symbols} == {"mass", "speed"}


BAD_COLUMNS = {
    "text": (["red", "blue"] * 30, "column 'kind' is not numeric: it contains 'red'"),
    "categories": (pd.Categorical(["red", "blue"] * 30), "column 'kind' is not numeric: it contains 'red'"),
    "mixed": ([1.0, "blue"] * 30, "column 'kind' is not numeric: it contains 'blue'"),
}


@pytest.mark.parametrize(("column", "sentence"), BAD_COLUMNS.values(), ids=BAD_COLUMNS)
def test_a_column_that_is_not_numeric_is_refused_by_its_name(column, sentence):
    frame = pd.DataFrame({"size": X[:, 0], "kind": column})
    with pytest.raises(ValueError, match=sentence):
        fitted(frame)


def test_numeric_columns_of_other_types_are_accepted():
    whole = np.arange(60) % 5 + 1
    y = 2.0 * X[:, 0] * whole
    for column in (whole, whole.astype(str), whole.astype(object), pd.Categorical(whole)):
        frame = pd.DataFrame({"size": X[:, 0], "kind": column})
        assert fitted(frame, y).get_best()["equation"] in ("2*size*kind", "2*kind*size")


# Rows -------------------------------------------------------------------------------------------------------
def test_model_selection_determines_the_chosen_row(free):
    chosen = {s: fitted(model_selection=s) for s in CRITERIA}
    for model in chosen.values():
        pd.testing.assert_frame_equal(model.equations_, free.equations_)
    table = free.equations_
    assert chosen["mdl"].best_index_ == table["description_length"].argmin() == free.best_index_
    assert chosen["accuracy"].best_index_ == table["validation_loss"].argmin()
    best = chosen["best"].best_index_
    assert table["validation_loss"][best] <= 1.5 * table["validation_loss"].min()


def test_every_row_predicts_and_has_sympy_and_latex_forms(free):
    import sympy

    symbols = sympy.symbols("x0 x1")
    for i, row in enumerate(free.models_):
        values = sympy.lambdify(symbols, free.sympy(i), "numpy")(*X.T) * np.ones(len(X))
        np.testing.assert_allclose(free.predict(X, i), values, rtol=1e-9)
        np.testing.assert_array_equal(free.predict(X, i), row.predict(X))
        assert free.latex(i) == row.latex()
    best = free.best_index_
    np.testing.assert_array_equal(free.predict(X), free.predict(X, best))
    assert (free.sympy(), free.latex()) == (free.sympy(best), free.latex(best))


def test_a_missing_row_is_refused(free):
    last = len(free.models_) - 1
    for method in (free.sympy, free.latex, lambda i: free.predict(X, i)):
        for index in (last + 1, -1):
            with pytest.raises(IndexError, match=f"there is no row {index}; equations_ has rows 0 to {last}"):
                method(index)


def test_the_table_is_a_front(free):
    table = free.equations_
    assert (np.diff(table["complexity"]) > 0).all()
    assert (np.diff(table["loss"]) < 0).all()


# Limits -----------------------------------------------------------------------------------------------------
def test_a_run_ends_at_the_limit_that_was_set():
    assert fitted(max_evaluations=1_000).stop_reason_ == "evaluations used up"
    assert fitted(max_evaluations=None, time_limit=0.2).stop_reason_ == "time used up"
    assert fitted(max_evaluations=None, max_traverses=1_000).stop_reason_ == "traverses used up"
    generous = float(np.sum(np.square(Y - Y.mean())))
    model = fitted(target_loss=generous, max_evaluations=10**9)
    assert model.stop_reason_ == "target loss reached"
    assert model.evaluations_ < 10**6


def test_more_evaluations_never_give_a_worse_best_row():
    losses = [fitted(max_evaluations=n).equations_["loss"].min() for n in (1, 9_000, 20_000)]
    assert losses == sorted(losses, reverse=True)


# Bad values -------------------------------------------------------------------------------------------------
BAD = [
    ("operators", "sin"), ("operators", []), ("model_selection", "cheapest"), ("model_selection", None),
    ("loss", "cubed"), ("loss", None), ("quantile", 0.0), ("quantile", 1.5), ("quantile", float("nan")),
    ("max_terms", 0), ("max_terms", 1.5), ("max_terms", "3"), ("max_size", 0), ("max_size", "80"),
    ("nesting", {"sin": 0}), ("nesting", {"sin": {"sin": -1}}), ("guesses", "a*x0"),
    ("time_limit", -1), ("time_limit", "soon"), ("max_evaluations", -1), ("max_evaluations", "many"),
    ("max_traverses", -1), ("target_loss", -1.0), ("target_loss", float("nan")), ("random_state", -3),
    ("random_state", 1.5), ("n_jobs", 0), ("feature_names", ["a"]),
]  # fmt: skip
WRONG_KIND = [
    ("search", "FTG"), ("operators", 5), ("operators", ["sin", 3]), ("quantile", "half"), ("complexities", 5),
    ("nesting", 5), ("guesses", 5), ("guesses", [5]), ("n_jobs", "all"), ("n_jobs", 1.5),
    ("feature_names", 5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_bad_value_is_refused_with_the_name_of_its_parameter(name, value):
    with pytest.raises(ValueError, match=name):
        fitted(**{name: value})


@pytest.mark.parametrize(("name", "value"), WRONG_KIND)
def test_a_value_of_the_wrong_kind_is_refused_with_the_name_of_its_parameter(name, value):
    with pytest.raises(ValueError, match=name):
        fitted(**{name: value})


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"operators": ["sine"]}, "unknown operator 'sine'; did you mean 'sin'"),
        ({"complexities": {"sine": 2}}, "unknown operator 'sine'; did you mean 'sin'"),
        ({"complexities": {"sin": 0}}, "the complexity of 'sin' must be a whole number of at least 1; got 0"),
        ({"nesting": {"sin": {"exq": 0}}}, "unknown operator 'exq'; did you mean 'exp'"),
        ({"guesses": ["a*sin(x0"]}, "not closed"),
        ({"guesses": ["x0 + x9"]}, "there is no column x9"),
        ({"feature_names": ["a", "a"]}, "2 columns are called 'a'"),
    ],
)
def test_an_error_inside_of_a_value_is_located(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        fitted(**settings)


def test_matrix_products_of_a_fit_run_on_one_thread_and_those_after_it_on_as_many_as_before(monkeypatch):
    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    during, table = [], FitPipeline.table
    monkeypatch.setattr(FitPipeline, "table", lambda self: (during.append(threads()), table(self))[1])
    with threadpool_limits(2):
        before = threads()
        SymbolicRegressor(max_evaluations=200, random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
        assert (during, threads()) == ([{1}], before)
