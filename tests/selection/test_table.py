"""The table of equations: significant terms, the Pareto front, and model selection."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from fouriertree import Model, PrimitiveSet, SymbolicRegressor, parse
from fouriertree.criteria.archive import Candidate
from fouriertree.criteria.losses import Objective, as_loss
from fouriertree.data.training import TrainingData
from fouriertree.engine import CompiledEngine
from fouriertree.expr.complexity import Complexity
from fouriertree.fit.options import OPTIONS
from fouriertree.selection.finalize import (
    Equation,
    Finalizer,
    least_squares,
    significant_terms,
    with_split_logs,
)
from fouriertree.selection.table import COLUMNS, CRITERIA, choose, make_table, max_terms_for, table_text

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (60, 2))
NOISE = rng.normal(size=60)
TRAINING = np.arange(60) < 48


def objective(X, y, weights=None, n_training=None, loss="squared"):
    """The objective of a fit to these rows as they are, the first `n_training` of them the training set."""
    values = np.ones(len(y)) if weights is None else np.asarray(weights, float)
    data = TrainingData(np.ascontiguousarray(X, float), np.asarray(y, float), values, n_training or len(y))
    return Objective(data, as_loss(loss, 0.5), CompiledEngine())


def rows(y, n_training=48, loss="squared"):
    return objective(X[: len(y)], y, n_training=min(n_training, len(y)), loss=loss)


def row(text, loss, validation=None, complexity=None):
    """An equation with given losses."""
    expression = parse(text)
    size = Complexity()(expression) if complexity is None else complexity
    validation = loss if validation is None else validation
    return Equation(
        Model.from_expression(expression), size, loss, validation, loss, r2=0.0, may_have_pole=False
    )


def made(coefficients, texts, data, names=None):
    candidate = Candidate(tuple(coefficients), tuple(map(parse, texts)))
    return Finalizer(data, PrimitiveSet.default(), Complexity(), names)(candidate)


def table_of(found, data, linear_models=()):
    table = make_table(found, data, data, linear_models)
    return table.equations, table.frame


def test_an_equation_that_one_row_decides_is_not_in_the_table():
    x = np.append(np.linspace(0.0, 1.0, 60), 1.4)[:, None]
    y = 2.0 * x[:, 0] + 0.01 * np.random.default_rng(0).normal(size=61)
    y[-1] += 5.0
    data = objective(x, y)
    line, spike = made([2.0], ["x0"], data), made([2.0, 1e-12], ["x0", "exp(20.7*x0)"], data)
    assert spike.loss < 0.1 * line.loss
    assert (line.few_rows_decide, spike.few_rows_decide) == (False, True)
    assert table_of([line, spike], data)[0] == [line]
    assert table_of([line], data, [spike])[0] == [line]


def test_a_row_of_high_leverage_that_the_form_predicts_is_no_outlier():
    x = np.append(np.linspace(0.0, 1.0, 60), 30.0)[:, None]
    y = 2.0 * x[:, 0] + 1.0 + 0.1 * np.random.default_rng(0).normal(size=61)
    data = objective(x, y, np.append(np.ones(60), 1e6))
    constant, line = made([3.0], ["1"], data), made([2.0, 1.0], ["x0", "1"], data)
    assert table_of([constant, line], data)[0] == [constant, line]


def test_terms_of_an_equation_are_in_one_order():
    y = 3 * X[:, 0] ** 2 - X[:, 1] + 0.1 * NOISE
    terms = [(3.0, "x0^2"), (-1.0, "x1"), (0.1, "1"), (0.2, "x0*sin(x1)")]
    found = [made(*zip(*terms[i:] + terms[:i], strict=True), rows(y)).model for i in range(4)]
    assert len({str(model) for model in found}) == 1


def test_of_an_exact_sum_only_the_necessary_terms_are_kept():
    space = objective(X, 3 * X[:, 0] ** 2 - X[:, 1])
    trees = [parse(t) for t in ("1", "x0^2", "x0^2 + x1", "x1", "exp(x0)")]
    values = CompiledEngine().evaluate(trees, X)
    kept, best = significant_terms(space, least_squares(space, values), trees)
    assert np.allclose(best @ values[kept], space.data.y, atol=1e-10)
    assert [str(trees[i]) for i in kept] == ["x0^2", "x1"]


def test_of_a_sum_that_is_not_exact_every_term_above_rounding_is_kept():
    space = objective(X, NOISE)
    trees = [parse(t) for t in ("1", "x0^2", "x1")]
    coefficients = least_squares(space, CompiledEngine().evaluate(trees, X))
    assert significant_terms(space, coefficients, trees)[0] == [0, 1, 2]


def test_least_squares_does_not_depend_on_units():
    space = objective(X * [1e-30, 1e25], 2 * X[:, 0] - 5 * X[:, 1])
    assert np.allclose(least_squares(space, space.data.X.T) * [1e-30, 1e25], [2, -5])


def test_equal_terms_are_merged_and_constants_snapped():
    data = rows(1.5 * X[:, 0] - 2.5 * X[:, 1] + 1e-4 * NOISE)
    found = made([1.0, 2.0, -0.5], ["2*x0", "-(x0/4)", "cos(0)*x1*5"], data, ("a", "b"))
    assert str(found.model) == "1.5*a - 2.5*b"


def test_a_finalized_equation_has_the_best_constants_for_all_rows():
    y = 1.234567 * X[:, 0] - 0.7654321 * X[:, 1] + 0.1 * NOISE
    found = made([1.1, -0.9], ["x0", "x1"], rows(y))
    best = least_squares(objective(X, y), X.T)
    least = np.mean((y - best @ X.T) ** 2)
    # Constants may be snapped where the loss hardly changes.
    assert (1.0 - 1e-12) * least <= found.loss <= 1.1 * least
    errors = y - (1.1 * X[:, 0] - 0.9 * X[:, 1])
    assert found.training_loss == pytest.approx(np.mean(errors[TRAINING] ** 2))
    assert found.validation_loss == pytest.approx(np.mean(errors[~TRAINING] ** 2))


@pytest.mark.parametrize(
    ("whole", "split"),
    [
        ("3*log(2*x0) + x1", "3*log(x0) + x1 + 2.07944"),
        ("0.5*log(2*x0 + 4*x1)", "0.5*log(x0 + 2*x1) + 0.346574"),
        ("log(x0) - log(5*x1)", "log(x0) - log(x1) - 1.60944"),
        ("log(x0) + 2", "log(x0) + 2"),
        ("log(-2*x0)", "log(-2*x0)"),
        ("sin(log(2*x0))", "sin(log(2*x0))"),
    ],
)
def test_a_factor_inside_of_a_logarithm_becomes_a_constant_of_the_sum(whole, split):
    before = parse(whole)
    after = with_split_logs(before, PrimitiveSet.default())
    assert after.text(digits=6) == split
    X = np.random.default_rng(0).uniform(0.5, 2.0, (20, 2)) * (-1.0 if "-2" in whole else 1.0)
    np.testing.assert_allclose(after.evaluate(X), before.evaluate(X), rtol=1e-12)
    assert with_split_logs(after, PrimitiveSet.default()) == after


def test_an_equation_without_a_finite_value_on_some_row_is_not_in_the_table():
    assert made([1.0], ["log(x0)"], rows(NOISE)) is None


def test_the_median_minimizes_absolute_errors():
    y = np.where(np.arange(60) < 10, 1e3, NOISE)
    assert made([9.7], ["1"], rows(y, loss="absolute")).model.predict(X)[0] == pytest.approx(
        np.median(y), abs=0.1
    )


def test_every_criterion_is_a_choice_of_the_option_and_has_a_function():
    [option] = [option for option in OPTIONS if option.name == "model_selection"]
    assert set(option.kind.choices) == set(CRITERIA), (
        "name it in the option model_selection in fit/options.py"
    )


@pytest.mark.parametrize(("n_rows", "terms"), [(2, 2), (6, 2), (9, 3), (300, 100)])
def test_a_term_needs_three_rows(n_rows, terms):
    assert max_terms_for(n_rows) == terms


def test_the_table_has_one_row_per_complexity_and_its_losses_fall():
    found = [
        row("x0", 1.0),
        row("x1", 0.9),
        row("x0^2", 0.95),
        row("x0^2 + x1", 0.5),
        row("exp(x0^2)*x1", 0.6),
    ]
    kept, table = table_of(found, rows(NOISE))
    assert list(table.columns) == list(COLUMNS)
    assert [r.model.text() for r in kept] == list(table["equation"]) == ["x1", "x0^2 + x1"]
    assert list(table["loss"]) == [0.9, 0.5]


def test_no_equation_is_more_complex_than_an_exact_one():
    y = X[:, 0] ** 2 + X[:, 1]
    kept, _ = table_of([row("x0", 1.0), row("x0^2 + x1", 1e-30), row("x0^2 + x1 + 0.3", 0.0)], rows(y))
    assert [r.model.text() for r in kept] == ["x0", "x0^2 + x1"]


def test_an_equation_that_is_better_on_the_training_set_only_is_not_in_the_table():
    found = [row("x0", 1.0, 1.0), row("x0^2 + x1", 0.5, 5.0), row("sin(x0*x1) + x0^2", 0.45, 0.5)]
    kept, _ = table_of(found, rows(NOISE))
    assert [r.model.text() for r in kept] == ["x0", "sin(x0*x1) + x0^2"]


def test_equations_of_a_sample_are_evaluated_on_all_rows():
    y = 2.0 * X[:, 0] + NOISE
    few = replace(rows(y), data=rows(y).data.sample(20, seed=0))
    assert few.data.n_rows == 20
    table = make_table([made([1.0], ["1"], few), made([2.0], ["x0"], few)], few, rows(y))
    assert len(table.equations) == 2
    for row, loss in zip(table.equations, table.frame["loss"], strict=True):
        assert loss == pytest.approx(np.mean((y - row.model.predict(X)) ** 2))


def chosen(found, data, selection="mdl"):
    kept, table = table_of(found, data)
    return kept[choose(kept, table, data.data.n_rows, selection)].model.text()


def test_the_first_of_equally_exact_rows_is_chosen():
    y = X[:, 0] ** 2 + X[:, 1]
    found = [row("x0", 1.0), row("x0^2 + x1", 1e-28), row("x0^2 + x1 + 0.3", 1e-30)]
    assert chosen(found, rows(y)) == "x0^2 + x1"


def test_a_term_that_fits_noise_increases_the_description_length():
    found = [row("0.37", 1.0), row("1.37*x0", 0.01), row("1.37*x0 + 0.123*sin(x1)", 0.0099)]
    assert chosen(found, rows(NOISE)) == "1.37*x0"


@pytest.mark.parametrize("selection", CRITERIA)
def test_an_equation_that_interpolates_is_never_chosen(selection):
    six_terms = "0.37 + 1.37*x0 + 2.47*x1 + 3.37*x0^2 + 4.37*x1^2 + 5.37*x0*x1"
    found = [row("0.37", 1.0), row("1.37*x0", 1e-4), row(six_terms, 1e-30)]
    assert chosen(found, rows(NOISE[:6]), selection) == "1.37*x0"


def test_accuracy_uses_the_validation_loss():
    found = [row("x0", 1.0, 0.5), row("x0^2 + x1", 0.9, 0.4), row("sin(x0*x1) + x0^2", 0.5, 0.42)]
    assert chosen(found, rows(NOISE), "accuracy") == "x0^2 + x1"


def test_accuracy_uses_the_loss_on_all_rows_without_a_validation_set():
    found = [row("x0", 1.0, np.nan), row("x0^2 + x1", 0.9, np.nan), row("sin(x0*x1) + x0^2", 0.5, np.nan)]
    assert chosen(found, rows(NOISE, 60), "accuracy") == "sin(x0*x1) + x0^2"


def test_best_stops_where_more_complexity_gains_little():
    found = [row("x0", 1.0), row("x0^2 + x1", 0.01), row("sin(x0*x1) + x0^2 + x1", 0.0099)]
    assert chosen(found, rows(NOISE), "best") == "x0^2 + x1"


def test_a_criterion_receives_the_number_of_rows_and_of_fitted_constants(monkeypatch):
    received = []
    monkeypatch.setitem(CRITERIA, "mdl", lambda given: received.append(given) or given.loss)
    chosen([row("0.37*x0", 1.0), row("max(x0, 0) - 2*sin(1.37*x1)^2", 0.5)], rows(NOISE))
    assert received[-1].n_rows == 60
    assert received[-1].n_parameters.tolist() == [1, 2]
    assert received[-1].eligible.all()
    assert list(received[-1].table["loss"]) == received[-1].loss.tolist() == [1.0, 0.5]


def test_the_text_shows_the_validation_loss_where_there_is_one():
    for validation, cells in (
        (0.25, [">>>", "0", "1", "1", "0.5", "0.25"]),
        (np.nan, [">>>", "0", "1", "1", "0.5"]),
    ):
        _, table = table_of([row("x0", 0.5, validation)], rows(NOISE))
        heading, line = table_text(table, 0).splitlines()
        assert heading.split() == ["row", "terms", "complexity", "loss", "validation", "R²", "equation"]
        assert line.split() == [*cells, "0.000000", "x0"]


@pytest.mark.parametrize("n", [4, 8, 12, 20])
def test_few_noisy_rows_are_not_interpolated(n):
    x = np.random.default_rng(n).uniform(0, 10, n)
    y = 2 * x + 1 + np.random.default_rng(n + 1).normal(0, 0.3, n)
    model = SymbolicRegressor(max_evaluations=1_000_000, random_state=0).fit(x[:, None], y)
    assert model.get_best()["n_terms"] <= max(2, n // 3)
    # Some of the noise, whose variance is 0.09, is left.
    assert model.get_best()["loss"] > 1e-3


def test_a_larger_limit_is_used_and_gives_no_worse_result():
    y = np.sin(2.3 * X[:, 0]) + np.exp(-(X[:, 1] ** 2)) + 0.1 * NOISE
    few, many = (
        SymbolicRegressor(max_evaluations=n, max_terms=4, random_state=0).fit(X, y) for n in (2_000, 200_000)
    )
    assert few.stop_reason_ == many.stop_reason_ == "evaluations used up"
    assert many.evaluations_ > 5 * few.evaluations_
    assert many.equations_["loss"].min() <= few.equations_["loss"].min()


# Log-odds ---------------------------------------------------------------------------------------------------
def labels():
    return (NOISE / 2.0 + X[:, 0] > 0.0).astype(float)


def test_log_odds_have_maximum_likelihood_constants():
    y = labels()
    data = rows(y, loss="logistic")
    row = made([1.0, 0.5], ["x0", "1"], data)

    def mean_loss(c):
        return data.mean_loss(c[0] * X[:, 0] + c[1])

    best = minimize(mean_loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13})
    assert row.loss <= best.fun + 1e-6
    assert row.r2 == pytest.approx(1.0 - row.loss / data.baseline)
    assert len(row.validation_errors) == 0


def test_log_odds_are_validated_with_constants_of_the_training_set():
    y = labels()
    clean = made([0.5], ["x0"], rows(y, loss="logistic"))
    wrong = np.where(TRAINING, y, 1.0 - y)
    spoiled = made([0.5], ["x0"], rows(wrong, loss="logistic"))
    assert spoiled.training_loss == clean.training_loss
    assert spoiled.validation_loss > clean.validation_loss


LINEAR = "0.37*x0 + 1.37*x1 + 2.37"
OVERFITTED = "sin(1.37*x0*x1)"
LONG = "cos(2.37*x0) + exp(x0*x1) + sin(x1)^2"


def texts(found, linear_models):
    return [r.model.text() for r in table_of(found, rows(NOISE), linear_models)[0]]


def test_a_linear_model_of_smaller_description_length_is_in_the_table_though_a_simpler_equation_has_a_smaller_loss():
    found, linear_models = [row("0.37", 1.0), row(OVERFITTED, 0.6), row(LONG, 0.59)], [row(LINEAR, 0.62)]
    assert texts(found, linear_models) == ["0.37", OVERFITTED, LINEAR, LONG]
    kept, table = table_of(found, rows(NOISE), linear_models)
    assert choose(kept, table, 60) == 2
    assert table["complexity"].is_monotonic_increasing


def test_a_linear_model_without_a_smaller_description_length_is_not_in_the_table():
    assert texts([row("0.37", 1.0), row(OVERFITTED, 0.3)], [row(LINEAR, 0.62)]) == ["0.37", OVERFITTED]


def test_a_linear_model_with_a_larger_validation_loss_is_not_in_the_table():
    assert texts([row("0.37", 1.0), row(OVERFITTED, 0.6, 0.6)], [row(LINEAR, 0.62, 3.0)]) == [
        "0.37",
        OVERFITTED,
    ]


def test_more_complex_equations_that_are_no_better_than_the_linear_model_are_dropped():
    assert texts([row("0.37", 1.0), row(OVERFITTED, 0.6), row(LONG, 0.55)], [row(LINEAR, 0.5)]) == [
        "0.37",
        OVERFITTED,
        LINEAR,
    ]


def test_a_linear_model_replaces_the_mdl_choice_that_is_worse_than_the_linear_baseline():
    data = rows(X[:, 0] + 0.1 * X[:, 1] + NOISE)
    found = [row("1.25", 2.0), row("2.57*x0", 1.0), row("2.57*x0 + 1.23*sin(1.37*x1)^2", 0.8)]
    line = row("1.53*x0 + 0.257*x1", 0.9999)
    kept, equations = table_of(found, data, [line])
    assert choose(kept, equations, 60) == 1
    assert [one.model.text() for one in kept] == [one.model.text() for one in found]
    below = [replace(one, worse_than_linear=i < 2) for i, one in enumerate(found)]
    kept, equations = table_of(below, data, [replace(line, worse_than_linear=True)])
    assert len(kept) == 3
    kept, equations = table_of(
        below, data, [replace(line, worse_than_linear=True), row("1.6*x0 + 0.3*x1 + 0.01", 0.999)]
    )
    assert [one.model.text() for one in kept if one.preferred] == ["1.6*x0 + 0.3*x1 + 0.01"]
    assert kept[choose(kept, equations, 60)].preferred
    others = [replace(one, preferred=False) for one in kept]
    for selection in set(CRITERIA) - {"mdl"}:
        assert choose(kept, equations, 60, selection) == choose(others, equations, 60, selection)


@pytest.mark.parametrize("below", [False, True])
def test_a_linear_model_with_a_larger_validation_loss_is_never_preferred(below):
    data = rows(X[:, 0] + 0.1 * X[:, 1] + NOISE)
    found = [replace(one, worse_than_linear=below) for one in (row("1.25", 2.0), row("2.57*x0^2", 1.0, 0.6))]
    kept, _ = table_of(found, data, [row("1.53*x0 + 0.257*x1", 0.5, 3.0)])
    assert len(kept) == 2
    kept, _ = table_of(found, data, [row("1.53*x0 + 0.257*x1", 0.5, 0.6)])
    assert [one.preferred for one in kept] == [False, False, below]
