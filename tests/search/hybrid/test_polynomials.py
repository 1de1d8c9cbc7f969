"""Polynomials of several variables: elimination is that of least squares, and laws whose terms cancel are found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.expr import Expression, PrimitiveSet
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search.hybrid.polynomials import (
    MOST_DEGREE,
    MOST_MONOMIALS,
    eliminated,
    is_polynomial_possible,
    monomials_up_to,
    multivariate_candidates,
)
from fouriertree.search.hybrid.reductions import Reduction
from tests.search.hybrid.contexts import candidates_of, context_of

X = np.random.default_rng(0).uniform(0.5, 4.0, (300, 3))
a, b, c = X.T
LAWS = {
    "a square": (a - b) ** 2,
    "a distance": np.sqrt((a - 1.3 * b) ** 2 + 2.0 * c**2),
    "a reciprocal": 2.0 / (a**2 + 0.3 * b * c + 1.0),
    "an exponential": np.exp(-0.2 * (a - b) ** 2 - 0.1 * c),
    "a cube": (a + 0.5 * b) ** 3 - 2.0 * c,
}


def candidates(y, table=X):
    return candidates_of(multivariate_candidates, context_of(y, table))


@pytest.mark.parametrize("law", LAWS)
def test_a_law_whose_terms_nearly_cancel_is_found(law):
    assert candidates(LAWS[law]).has_law


def test_noise_does_not_hide_it():
    y = LAWS["a distance"]
    noise = 0.01 * np.sqrt(np.mean(y**2)) * np.random.default_rng(1).normal(size=len(y))
    assert any(found.loss < 1.1e-4 and found.complexity < 30 for found in candidates(y + noise).found)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), p=st.integers(2, 6))
def test_every_step_leaves_out_the_column_that_matters_least(seed, p):
    rng = np.random.default_rng(seed)
    A, y = rng.standard_normal((30, p)), rng.standard_normal(30)

    def loss_of(columns):
        coefficients = np.linalg.lstsq(A[:, columns], y, rcond=None)[0]
        return coefficients, float(np.sum(np.square(y - A[:, columns] @ coefficients)))

    steps = list(eliminated(A, y))
    assert [len(chosen) for chosen, _, _ in steps] == list(range(p, 0, -1))
    for k, (chosen, coefficients, loss) in enumerate(steps):
        slow, least = loss_of(chosen)
        np.testing.assert_allclose(coefficients, slow, rtol=1e-8, atol=1e-10)
        assert loss == pytest.approx(least, rel=1e-8)
        if k:
            before = steps[k - 1][0]
            others = [loss_of(np.delete(before, j))[1] for j in range(len(before))]
            assert loss == pytest.approx(min(others), rel=1e-8)


def test_columns_that_depend_on_others_are_left_out():
    A = np.random.default_rng(0).standard_normal((30, 2))
    steps = list(eliminated(np.column_stack([A, A[:, 0] + 2.0 * A[:, 1]]), A[:, 0]))
    assert [len(chosen) for chosen, _, _ in steps] == [2, 1]
    assert steps[0][2] < 1e-20


def test_a_feature_of_two_values_is_no_obstacle():
    table = np.column_stack([(a > 2.0).astype(float), b])
    y = (b - 1.2) ** 2 + 0.7 * table[:, 0] * b
    assert candidates(y, table).has_law


@pytest.mark.parametrize(("n_variables", "n_rows"), [(2, 1000), (3, 1000), (6, 1000), (3, 45), (2, 10)])
def test_monomials_are_all_of_a_degree_and_not_more_than_the_rows_determine(n_variables, n_rows):
    powers = monomials_up_to(n_variables, n_rows)
    assert len(powers) <= min(MOST_MONOMIALS, n_rows // 2)
    if powers:
        degree = max(map(sum, powers))
        assert 2 <= degree <= MOST_DEGREE
        assert len(set(powers)) == len(powers)
        assert (0.0,) * n_variables in powers


def test_one_variable_many_variables_and_few_operators_have_none():
    v, variables = Vocabulary(PrimitiveSet.default()), tuple(map(Expression.variable, range(3)))
    assert is_polynomial_possible(Reduction(variables), v)
    assert not is_polynomial_possible(Reduction(variables[:1]), v)
    assert not is_polynomial_possible(Reduction(variables), Vocabulary(PrimitiveSet(["add", "sin"])))
