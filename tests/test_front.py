"""The table of formulas: which terms stay, which row is chosen."""

import numpy as np
import pandas as pd
import pytest

from fouriertree import EmpiricalSpace, SymbolicRegressor, parse
from fouriertree.engine import CompiledEngine
from fouriertree.front import choose, least_squares, needed_terms, presentable, terms_for

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (60, 2))


def test_of_an_exact_sum_only_the_terms_that_it_needs_stay():
    space = EmpiricalSpace(X, 3 * X[:, 0] ** 2 - X[:, 1])
    trees = [parse(t) for t in ("1", "x0^2", "x0^2 + x1", "x1", "exp(x0)")]
    values = CompiledEngine().evaluate(trees, X)
    kept, best = needed_terms(space, least_squares(space, values), trees, CompiledEngine())
    assert np.allclose(best @ values[kept], space.y, atol=1e-10)
    assert [str(trees[i]) for i in kept] == ["x0^2", "x1"]


def test_of_a_sum_that_is_not_exact_every_term_beyond_rounding_stays():
    space = EmpiricalSpace(X, rng.normal(size=60))
    trees = [parse(t) for t in ("1", "x0^2", "x1")]
    coefficients = least_squares(space, CompiledEngine().evaluate(trees, X))
    assert needed_terms(space, coefficients, trees, CompiledEngine())[0] == [0, 1, 2]


def test_least_squares_does_not_mind_units():
    space = EmpiricalSpace(X * [1e-30, 1e25], 2 * X[:, 0] - 5 * X[:, 1])
    assert np.allclose(least_squares(space, space.X.T) * [1e-30, 1e25], [2, -5])


def test_numbers_are_drawn_together_and_equal_terms_merged():
    space = EmpiricalSpace(X, rng.normal(size=60))
    trees = [parse("2*x0"), parse("-(x0/4)"), parse("cos(0)*x1*3")]
    model = presentable(space, [1.0, 2.0, 0.5], trees, ("a", "b"), CompiledEngine())
    assert str(model) == "1.5*a + 1.5*b"


@pytest.mark.parametrize(("rows", "terms"), [(2, 2), (6, 2), (9, 3), (300, 100)])
def test_a_term_needs_three_rows(rows, terms):
    assert terms_for(rows) == terms


def table(losses, terms, complexities):
    return pd.DataFrame({"loss": losses, "n_terms": terms, "complexity": complexities})


def test_the_first_of_equally_exact_rows_is_chosen():
    assert choose(table([1.0, 1e-28, 1e-30], [1, 2, 3], [1, 8, 15]), 100, 1.0) == 1


def test_a_term_that_fits_noise_is_not_worth_its_length():
    assert choose(table([1.0, 0.01, 0.0099], [1, 2, 3], [1, 8, 15]), 100, 1.0) == 1


def test_a_row_that_interpolates_is_never_chosen():
    assert choose(table([1.0, 1e-4, 1e-30], [1, 2, 6], [1, 5, 40]), 6, 1.0) == 1


@pytest.mark.parametrize("n", [4, 8, 12, 20])
def test_few_noisy_rows_are_not_interpolated(n):
    x = np.random.default_rng(n).uniform(0, 10, n)
    y = 2 * x + 1 + np.random.default_rng(n + 1).normal(0, 0.3, n)
    model = SymbolicRegressor(random_state=0).fit(x[:, None], y)
    assert model.get_best()["n_terms"] <= max(2, n // 3)
    assert model.equations_["loss"].iloc[model.best_index_] > 1e-12


def test_a_time_limit_is_spent_on_further_searches():
    y = np.sin(2.3 * X[:, 0]) + np.exp(-(X[:, 1] ** 2))
    one = SymbolicRegressor(max_traverses=60_000, max_terms=4, random_state=0).fit(X, y)
    many = SymbolicRegressor(max_traverses=900_000, max_terms=4, random_state=0).fit(X, y)
    assert many.traverses_ > 5 * one.traverses_
    assert many.equations_["loss"].min() <= one.equations_["loss"].min()
