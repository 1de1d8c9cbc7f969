"""The hybrid search as a whole: laws are found to rounding, in any units and order, on odd data too."""

import numpy as np
import pandas as pd
import pytest

from fouriertree import EmpiricalSpace, Grammar, PrimitiveSet, Problem, SymbolicRegressor
from fouriertree.search import Accepted, Budget, Hybrid, Reported, run
from fouriertree.search.hybrid import tasks
from fouriertree.search.hybrid.context import PARTS
from fouriertree.search.hybrid.data import search_data
from fouriertree.search.hybrid.dictionary import SPECS
from fouriertree.search.hybrid.evaluation import Evaluation
from fouriertree.search.hybrid.search import LAW

LAWS = {
    "power law": (3, lambda a, b, c: 6.67 * a * b / c**2),
    "ratio": (2, lambda a, b: a / (1.0 + 2.0 * a * b)),
    "sine": (1, lambda a: 2.5 * np.sin(1.7 * a + 0.4) + 1.0),
    "modulated sine": (2, lambda a, b: b * np.sin(2.3 * a)),
    "moving mass": (2, lambda m, v: m / np.sqrt(1.0 - v**2 / 16.0)),
    "length": (2, lambda a, b: np.sqrt(a**2 + b**2)),
    "decay": (2, lambda a, b: a * np.exp(-b)),
}


def rows(d, n=100, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 3.0, (n, d))


def fitted(X, y, **settings):
    settings = {"random_state": 0, "max_evaluations": 20_000_000} | settings
    return SymbolicRegressor(**settings).fit(X, y)


def relative_error(model, X, y):
    # By the formula itself, which says nothing about rows outside of the data.
    return np.abs(model.model_.predict(X) - y).max() / np.abs(y).max()


def columns_of(model):
    return {i for e in model.model_.expressions for i in e.columns}


# Laws -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("d", "law"), LAWS.values(), ids=LAWS)
def test_a_law_is_found_to_rounding_and_known_to_be_one(d, law):
    X, new = rows(d, 60), rows(d, seed=1)
    model = fitted(X, law(*X.T))
    assert model.stop_reason_ == LAW
    # On rows that were not there when it was found, within the range and a little beyond.
    assert relative_error(model, new, law(*new.T)) < 1e-10
    assert relative_error(model, 1.05 * new, law(*(1.05 * new.T))) < 1e-9


def test_a_feature_that_does_not_matter_is_left_out():
    X = rows(4)
    model = fitted(X, X[:, 2] * np.exp(-X[:, 0]))
    assert columns_of(model) == {0, 2}
    assert relative_error(model, X, X[:, 2] * np.exp(-X[:, 0])) < 1e-12


def problem(X, y):
    return Problem(EmpiricalSpace(X, y), Grammar(PrimitiveSet.default(), X.shape[1]))


def test_a_run_ends_with_the_law_and_reports_it_last():
    X = rows(3)
    y = X[:, 0] * X[:, 1] / X[:, 2] - 0.7
    events = []
    result = run(Hybrid(), problem(X, y), Budget(max_candidates=20_000_000), [events.append])
    assert result.reason == LAW
    best = [e for e in events if isinstance(e, Accepted)][-1]
    predicted = sum(c * e.evaluate(X) for c, e in zip(best.coefficients, best.expressions, strict=True))
    np.testing.assert_allclose(predicted, y, rtol=1e-12)
    assert best.progress.loss == result.state.progress.loss
    assert {tuple(e.expressions) for e in events if isinstance(e, Accepted)} <= {
        tuple(e.expressions) for e in events if isinstance(e, Reported)
    }


# Invariance -------------------------------------------------------------------------------------------------
def noisy(seed=0, n=60):
    X = rows(3, n, seed)
    return X, X[:, 0] * X[:, 1] / (X[:, 2] + 1.0) + np.random.default_rng(seed).normal(0.0, 0.1, n)


def assert_same_data(one, other):
    for name in ("X", "y", "weights", "screening"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for a, b in zip(one.validation, other.validation, strict=True):
        np.testing.assert_array_equal(a, b)


def data_of(X, y):
    """The data of a problem of which the last rows are the validation set."""
    grammar = Grammar(PrimitiveSet.default(), X.shape[1])
    validation = EmpiricalSpace(X[-9:], y[-9:])
    return search_data(Problem(EmpiricalSpace(X[:-9], y[:-9]), grammar, holdout=validation), seed=5)


@pytest.mark.parametrize("d", [3, 20])
def test_search_data_depend_on_neither_order_nor_units_that_are_powers_of_two(d):
    X = rows(d, 80)
    y = X[:, 0] * X[:, 1] + X[:, 2]
    rng = np.random.default_rng(d)
    order, units = rng.permutation(d), 2.0 ** rng.integers(-40, 40, d)
    one, other = data_of(X, y), data_of((X * units)[:, order], 1024.0 * y)
    assert_same_data(one, other)
    np.testing.assert_array_equal(order[other.features], one.features)
    # The problem's units can be restored.
    np.testing.assert_allclose(one.X * one.scales, X[:-9, one.features], rtol=1e-15)
    np.testing.assert_array_equal(other.scales, one.scales * units[one.features])
    assert other.y_scale == 1024.0 * one.y_scale
    np.testing.assert_allclose(np.mean(one.X**2, axis=0), 1.0)
    assert np.mean(one.y**2) == pytest.approx(1.0)


def archived(X, y, limit=150_000):
    """The archive of a short run, in standardised units: {complexity: losses}."""
    state = run(Hybrid(), problem(X, y), Budget(max_candidates=limit)).state
    return {c: [e.loss for e in entries] for c, entries in state.training.entries.items()}


@pytest.fixture(scope="module")
def given_archive():
    return archived(*noisy())


@pytest.mark.parametrize("order", [[2, 0, 1], [1, 0, 2], [2, 1, 0]])
def test_the_order_of_the_features_changes_no_bit(given_archive, order):
    X, y = noisy()
    assert archived(X[:, order], y) == given_archive


@pytest.mark.parametrize("exponents", [(10, 0, 0, 0), (0, 0, 0, -37), (-30, 9, 2, 40)], ids=str)
def test_units_that_are_powers_of_two_change_no_bit(given_archive, exponents):
    X, y = noisy()
    *columns, target = 2.0 ** np.array(exponents, float)
    assert archived(X * columns, y * target) == given_archive


def test_other_names_change_nothing_but_names():
    X, y = noisy()
    frame = pd.DataFrame(X, columns=["mass", "speed", "time"])
    plain, named = (fitted(data, y, max_evaluations=20_000) for data in (X, frame))
    with_names = [m.text(6) for m in plain.models_]
    for i, name in enumerate(frame.columns):
        with_names = [text.replace(f"x{i}", name) for text in with_names]
    assert list(named.equations_["equation"]) == with_names
    pd.testing.assert_frame_equal(
        named.equations_.drop(columns="equation"), plain.equations_.drop(columns="equation"), check_exact=True
    )


def test_a_fit_of_permuted_features_predicts_the_same():
    (X, y), order = noisy(), [2, 0, 1]
    one, other = (fitted(data, y, max_evaluations=20_000) for data in (X, X[:, order]))
    assert list(one.equations_["complexity"]) == list(other.equations_["complexity"])
    for i in range(len(one.models_)):
        np.testing.assert_allclose(other.predict(X[:, order], i), one.predict(X, i), rtol=1e-9)


UNITS = {
    "powers of two": (2.0**-30, 2.0**11, 0.25, 2.0**40),
    "astronomy": (6.67e-11, 1.0, 1.496e11, 5.97e24),
    "quanta": (6.626e-34, 2.998e8, 1.602e-19, 1.381e-23),
}
DIMENSIONAL = {
    "product": lambda a, b, c: 1.7 * a * b / c**2,
    "fraction": lambda a, b, c: 3.3 * b / (a + 0.7 * c),
}


@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize("law", DIMENSIONAL.values(), ids=DIMENSIONAL)
def test_a_law_is_found_in_any_units(units, law):
    X = rows(3, 60)
    *columns, target = units
    model = fitted(X * columns, law(*X.T) * target)
    assert model.stop_reason_ == LAW
    assert relative_error(model, X * columns, law(*X.T) * target) < 1e-10


def test_units_that_are_powers_of_two_change_constants_only():
    X = rows(3, 60)
    y = 3.3 * X[:, 1] / (X[:, 0] + 0.7 * X[:, 2])
    *columns, target = UNITS["powers of two"]
    plain, other = fitted(X, y), fitted(X * columns, y * target)
    assert other.get_best()["complexity"] == plain.get_best()["complexity"]
    np.testing.assert_allclose(other.predict(X * columns) / target, plain.predict(X), rtol=1e-12)


# Determinism ------------------------------------------------------------------------------------------------
def test_jobs_change_no_bit_of_the_table():
    X, y = noisy()
    one, two = (fitted(X, y, max_evaluations=50_000, n_jobs=jobs) for jobs in (1, 2))
    pd.testing.assert_frame_equal(one.equations_, two.equations_, check_exact=True)
    assert one.evaluations_ == two.evaluations_


def reported(limit):
    events = []
    X, y = noisy()
    result = run(Hybrid(), problem(X, y), Budget(max_candidates=limit), [events.append], seed=3)
    found = [e for e in events if isinstance(e, Reported | Accepted)]
    return result, [(type(e), e.progress, e.coefficients.tolist(), e.expressions) for e in found]


def test_with_fewer_evaluations_a_run_reports_the_first_of_the_same_events():
    whole, long = reported(200_000)
    for limit in (1, 9_000, 60_000):
        part, short = reported(limit)
        assert part.state.progress.candidates < whole.state.progress.candidates
        assert short == long[: len(short)]
        # It ended with the first step at or beyond its limit.
        assert all(progress.candidates <= part.state.progress.candidates for _, progress, _, _ in short)
        assert all(progress.candidates >= limit for _, progress, _, _ in long[len(short) :])
        assert part.reason == "evaluations used up"


def test_another_seed_screens_other_rows_and_finds_the_same_law():
    X = rows(2, 500)
    y = X[:, 0] * np.exp(-0.8 * X[:, 1])
    one, other = (fitted(X, y, random_state=seed).get_best()["equation"] for seed in (0, 1))
    assert one == other


# Odd data ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "d"),
    [*((n, 1) for n in (2, 3, 4)), (5, 1), (8, 2)],
)
def test_a_handful_of_rows_is_fitted_and_not_interpolated_by_something_long(n, d):
    X = rows(d, n)
    y = np.random.default_rng(1).normal(0.0, 1.0, n)
    model = fitted(X, y, max_evaluations=40_000)
    assert np.isfinite(model.predict(X)).all()
    assert model.get_best()["n_terms"] <= max(2, n // 3)
    assert model.stop_reason_ != LAW


def test_five_rows_of_a_linear_function_are_enough():
    X = rows(1, 5)
    assert fitted(X, 2.0 * X[:, 0] + 1.0, max_evaluations=50_000).get_best()["equation"] == "2*x0 + 1"


def test_features_that_are_constant_or_equal_or_of_two_values_are_no_obstacle():
    X = np.column_stack([rows(2), np.full(100, 4.0), np.arange(100) % 2, np.zeros(100)])
    X = np.column_stack([X, X[:, 0]])
    y = 3.0 * X[:, 1] * X[:, 3] + X[:, 0]
    model = fitted(X, y)
    assert relative_error(model, X, y) < 1e-12
    assert columns_of(model) <= {0, 1, 3, 5}


@pytest.mark.parametrize("constant", [0.0, 0.1, -3e7])
def test_a_constant_target_is_that_constant(constant):
    model = fitted(rows(2), np.full(100, constant), max_evaluations=10_000)
    assert len(model.equations_) == 1
    np.testing.assert_array_equal(model.predict(rows(2, seed=1)), constant)


def test_a_target_far_from_zero_is_not_taken_for_a_constant():
    X = rows(1)
    y = 1e10 + X[:, 0]
    model = fitted(X, y, max_evaluations=50_000)
    assert np.abs(model.predict(X) - y).max() < 1e-4


@pytest.mark.parametrize("unit", [1e-160, 1e140, 1e155])
def test_features_of_any_size_are_no_obstacle(unit):
    X = rows(2, 60)
    assert (
        relative_error(fitted(X * [unit, 1.0], X[:, 0] * X[:, 1]), X * [unit, 1.0], X[:, 0] * X[:, 1]) < 1e-12
    )


def test_of_two_hundred_features_the_three_that_matter_are_found():
    X = rows(200, 200)
    y = X[:, 17] * X[:, 99] / X[:, 180]
    model = fitted(X, y, max_evaluations=3_000_000)
    assert columns_of(model) == {17, 99, 180}
    assert relative_error(model, X, y) < 1e-12


@pytest.mark.parametrize(
    ("law", "longest"),
    [(lambda a, b: 3.0 * a + 1.0, 5), (lambda a, b: a * b, 3), (lambda a, b: 0.0 * a, 1)],
    ids=["line", "product", "nothing"],
)
def test_of_noisy_data_the_short_law_is_chosen(law, longest):
    X = rows(2, 60)
    noise = np.random.default_rng(2).normal(0.0, 0.3, 60)
    model = fitted(X, law(*X.T) + noise, max_evaluations=20_000)
    assert model.get_best()["complexity"] <= longest
    # Nearer to the law than the data are.
    assert np.std(model.predict(X) - law(*X.T)) < 0.3 * np.std(noise)


# Parts ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_left_out_is_not_used(part, monkeypatch):
    composed = []
    for name in (
        "composition_candidates",
        "product_candidates",
        "log_sum_candidates",
        "function_factor_candidates",
    ):
        monkeypatch.setattr(tasks, name, lambda *about: composed.append(about) or Evaluation())
    X = np.random.default_rng(0).uniform(1.0, 3.0, (60, 3))
    noise = np.random.default_rng(1).normal(0.0, 0.01, 60)
    y = X[:, 0] / X[:, 1] + np.sin(X[:, 2]) + 0.1 * X[:, 0] ** 3 + noise
    search = Hybrid(max_dictionary=200, rounds=1, without=frozenset({part}))
    state = run(search, problem(X, y), Budget(), [], 0).state
    branches = [known.branch for known in state.branches]
    assert branches
    uses = {
        "transforms": any(branch.transform != "t" for branch in branches),
        "ratios": any(SPECS[branch.dictionary].ratio for branch in branches),
        "modulation": any(SPECS[branch.dictionary].modulated for branch in branches),
        "functions": any(SPECS[branch.dictionary].functions for branch in branches),
        "reductions": any(b.reduction.factor or len(b.reduction.variables) < 3 for b in branches),
        "compositions": bool(composed),
        "separable products": any(SPECS[branch.dictionary].max_factors for branch in branches),
        "variation": state.varied > 0 or len(state.replaced) > 0,
    }
    assert uses.keys() == set(PARTS)
    assert not uses[part]
    # All others are used, except where the data have no symmetry.
    assert {name for name, used in uses.items() if used} | {"reductions"} >= set(PARTS) - {part}


# Many rows --------------------------------------------------------------------------------------------------
def test_many_rows_are_sampled_for_the_search_and_losses_are_of_all_rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(1.0, 3.0, (120_000, 2))
    y = 2.0 * X[:, 0] / X[:, 1] + rng.normal(0.0, 0.1, len(X))
    model = SymbolicRegressor(random_state=0, max_evaluations=200_000).fit(X, y)
    assert model.get_best()["equation"] == "2*x0/x1"
    for i, row in model.equations_.iterrows():
        assert row["loss"] == pytest.approx(np.mean((y - model.predict(X, index=i)) ** 2), rel=1e-9)


# Budgets ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("limit", [1, 2, 1000])
def test_candidates_of_the_last_task_are_reported_when_the_budget_is_spent(limit):
    ended = run(Hybrid(), problem(*noisy()), Budget(max_candidates=limit))
    assert not ended.state.pending
    assert ended.state.progress.candidates == ended.state.cost.candidates >= limit
