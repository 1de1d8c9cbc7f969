"""Baselines: linear models one feature at a time, and polynomials by products that are exact where powers fail."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Chebyshev

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.generate import Grammar
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.problems import Problem
from fouriertree.search import Hybrid
from fouriertree.search.hybrid import baselines
from fouriertree.search.hybrid.baselines import (
    PATIENCE,
    factored_polynomial,
    is_univariate_polynomial_possible,
    linear_candidates,
    polynomial_candidates,
    rational_candidates,
)
from fouriertree.search.hybrid.evaluation import Evaluation, Fronts
from fouriertree.search.hybrid.reductions import Reduction
from fouriertree.space import EmpiricalSpace

V = Vocabulary(PrimitiveSet.default())
RANGES = [(-1.0, 1.0), (0.0, 1.0), (2.0, 9.0), (-3e8, 1e8), (1e-9, 3e-9)]
seeds = st.integers(0, 2**32 - 1)


def context_of(X, y, operators=None, **options):
    primitives = PrimitiveSet.default() if operators is None else PrimitiveSet(operators)
    problem = Problem(EmpiricalSpace(X, y), Grammar(primitives, X.shape[1]))
    return Hybrid(**options).init(problem, 0)[0].context


# Linear models ----------------------------------------------------------------------------------------------
@pytest.fixture
def models(monkeypatch):
    """The sums that are evaluated."""
    seen = []

    def evaluate(context, sums, fronts, **options):
        seen.extend(sums)
        return Evaluation()

    monkeypatch.setattr(baselines, "evaluate", evaluate)
    return seen


def loss(data, terms):
    columns = np.column_stack([e.evaluate(data.X) * np.ones(len(data.y)) for e in terms])
    residual = data.y - columns @ np.linalg.lstsq(columns, data.y, rcond=None)[0]
    return float(residual @ residual)


def test_every_linear_model_adds_the_feature_that_helps_most(models):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    context = context_of(X, X @ [3.0, -2.0, 1.0, 0.5, 0.0] + rng.normal(0.0, 0.3, 80), max_terms=6)
    linear_candidates(context, Fronts())
    before = (Expression.constant(1.0),)
    for terms in models:
        candidates = [(*before, x) for x in context.data.variables if x not in before]
        assert loss(context.data, terms) <= min(loss(context.data, c) for c in candidates) * (1.0 + 1e-9)
        before = terms
    assert len(before) == 6


def test_dependent_features_are_left_out(models):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 40))
    linear_candidates(context_of(np.column_stack([a, b, a + b, 2.0 * a]), a - b, max_terms=10), Fronts())
    assert max(map(len, models)) == 3


def test_there_are_no_more_terms_than_asked_for(models):
    X = np.random.default_rng(2).normal(size=(50, 6))
    linear_candidates(context_of(X, X.sum(axis=1), max_terms=3), Fronts())
    assert [len(terms) for terms in models] == [2, 3]


# Polynomials of one variable --------------------------------------------------------------------------------
def projected(x, y, most, weights=None, vocabulary=V):
    """Terms and losses."""
    return factored_polynomial(x, y, np.ones(len(x)) if weights is None else weights, vocabulary, most)[:2]


def columns(terms, x):
    """Values of the terms, each of unit length: (n_rows, n_terms)."""
    values = np.stack([term.evaluate(x[:, None]) * np.ones(len(x)) for term in terms], axis=1)
    return values / np.linalg.norm(values, axis=0)


def fitted(design, y, roots=1.0):
    """The least-squares fit of y by the columns."""
    return design @ np.linalg.lstsq((design.T * roots).T, y * roots, rcond=None)[0]


@settings(max_examples=25, deadline=None)
@given(seed=seeds, degree=st.integers(0, 8), interval=st.sampled_from(RANGES))
def test_projection_onto_the_products_is_polynomial_least_squares(seed, degree, interval):
    rng = np.random.default_rng(seed)
    x, y, weights = rng.uniform(*interval, 60), rng.standard_normal(60), rng.uniform(0.2, 3.0, 60)
    terms, losses = projected(x, y, degree + 1, weights)
    # NumPy's weights multiply the errors and not their squares.
    fits = [Chebyshev.fit(x, y, d, w=np.sqrt(weights))(x) for d in range(degree + 1)]
    slow = [np.sum(weights * (y - fit) ** 2) / np.sum(weights * y**2) for fit in fits]
    np.testing.assert_allclose(losses, slow, rtol=1e-9)
    np.testing.assert_allclose(fitted(columns(terms, x), y, np.sqrt(weights)), fits[-1], atol=1e-9)


@pytest.mark.parametrize("interval", RANGES)
@pytest.mark.parametrize("degree", [1, 5, 20, 35])
def test_a_polynomial_is_exact_at_its_degree_and_not_before(degree, interval):
    rng = np.random.default_rng(degree)
    x = rng.uniform(*interval, 300)
    y = Chebyshev(rng.uniform(0.5, 1.5, degree + 1) * rng.choice([-1, 1], degree + 1), domain=interval)(x)
    terms, losses = projected(x, y, 60)
    assert len(terms) == degree + 1
    assert losses[-1] < 1e-26 < 1e-6 < losses[-2]
    # So is the sum of the terms as they are written.
    np.testing.assert_allclose(fitted(columns(terms, x), y), y, atol=1e-12 * np.abs(y).max())


def test_terms_stay_apart_where_powers_become_parallel():
    x = np.random.default_rng(0).uniform(2.0, 9.0, 300)
    terms, _ = projected(x, np.random.default_rng(1).standard_normal(300), 21)
    powers = np.vander(x, 21)
    assert np.linalg.cond(columns(terms, x)) < 1e3
    assert np.linalg.cond(powers / np.linalg.norm(powers, axis=0)) > 1e9


@pytest.mark.parametrize("operators", [["sub", "mul"], ["add", "sub", "mul"]])
def test_products_are_written_with_the_operators_there_are(operators):
    x = np.linspace(0.3, 2.0, 40)
    terms, _ = projected(x, x**3 - x, 10, vocabulary=Vocabulary(PrimitiveSet(operators)))
    used = {term.primitives.by_opcode(code).name for term in terms for code in term.op.tolist() if code > 1}
    assert used <= set(operators)
    np.testing.assert_allclose(fitted(columns(terms, x), x**3 - x), x**3 - x, atol=1e-12)


@pytest.mark.parametrize(
    ("operators", "n_features", "possible"),
    [
        (["add", "sub", "mul"], 1, True), (["add", "sub", "mul"], 2, False),
        (["add", "mul"], 1, False), (["sub", "mul"], 1, False), (["add", "sub", "div"], 1, False),
    ],
)  # fmt: skip
def test_polynomials_need_one_feature_and_three_operators(operators, n_features, possible):
    X = np.random.default_rng(0).uniform(1.0, 2.0, (30, n_features))
    assert is_univariate_polynomial_possible(context_of(X, X[:, 0], operators)) is possible


def test_a_loss_never_grows_and_noise_exhausts_the_patience():
    rng = np.random.default_rng(2)
    terms, losses = projected(rng.uniform(-1, 1, 4000), rng.standard_normal(4000), 200)
    assert (np.diff(losses) <= 0.0).all()
    assert PATIENCE <= len(terms) < 200
    assert losses[-1] > 0.9


@pytest.mark.parametrize("distinct", [1, 2, 5])
def test_there_are_as_many_terms_as_different_values_and_the_fit_has_the_means_there(distinct):
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, distinct, 50).astype(float), rng.standard_normal(50)
    terms, losses = projected(x, y, 50)
    assert len(terms) == distinct
    means = np.array([y[x == value].mean() for value in x])
    np.testing.assert_allclose(fitted(columns(terms, x), y), means, atol=1e-12)
    assert losses[-1] == pytest.approx(np.sum((y - means) ** 2) / np.sum(y**2))


def test_values_far_from_zero_cost_no_digits():
    x = 1e6 + np.random.default_rng(4).uniform(-1.0, 1.0, 200)
    y = (x - 1e6) ** 4 - 0.5 * (x - 1e6)
    assert projected(x, y, 10)[1][4] < 1e-18


def test_coefficients_of_rounding_size_are_left_out():
    x = np.random.default_rng(2).uniform(0.5, 2.0, (80, 1))
    context = context_of(x, 3.0 - 2.0 * x[:, 0] ** 2)
    found = polynomial_candidates(context, "t", Fronts()).found
    assert [str(term) for term in found[-1].terms] == ["1.0", "x0^2"]
    assert found[-1].is_law


@pytest.mark.parametrize(("name", "law"), [("log t", np.exp), ("1/t", np.reciprocal), ("t^2", np.sqrt)])
def test_polynomials_of_a_transformed_target_are_candidates_for_y(name, law):
    x = np.random.default_rng(2).uniform(0.5, 2.0, (80, 1))
    z = 3.0 - 0.7 * x[:, 0] ** 2
    found = polynomial_candidates(context_of(x, law(z)), name, Fronts()).found
    assert min(candidate.loss for candidate in found) < 1e-25


def test_a_reduction_without_variables_is_a_product_of_powers():
    X = np.random.default_rng(2).uniform(0.5, 2.0, (80, 2))
    context = context_of(X, 3.0 * X[:, 0] / X[:, 1] ** 2)
    a, b = (context.data.variables[context.data.features.tolist().index(j)] for j in (0, 1))
    [found] = rational_candidates(context, Reduction((), ((a, 1.0), (b, -2.0))), Fronts()).found
    assert found.is_law
