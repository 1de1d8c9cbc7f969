"""Chains of products span the polynomials, and projection onto them is exact where powers are hopeless."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Chebyshev

from fouriertree.expr import PrimitiveSet
from fouriertree.expr.vocabulary import Vocabulary
from fouriertree.search.hybrid.chain import PATIENCE, Chain

V = Vocabulary(PrimitiveSet.default())
RANGES = [(-1.0, 1.0), (0.0, 1.0), (2.0, 9.0), (-3e8, 1e8), (1e-9, 3e-9)]
seeds = st.integers(0, 2**32 - 1)


def grown(x, y, terms, weights=None, vocabulary=V):
    chain = Chain(x, y, np.ones(len(x)) if weights is None else weights, vocabulary)
    while not chain.finished and len(chain.terms) < terms:
        chain.step()
    return chain


def columns(chain, x):
    """Values of the terms, each of unit length: (n_rows, n_terms)."""
    values = np.stack([term.evaluate(x[:, None]) for term in chain.terms], axis=1)
    return values / np.linalg.norm(values, axis=0)


def fitted(design, y, roots=1.0):
    """The least-squares fit of y by the columns."""
    return design @ np.linalg.lstsq((design.T * roots).T, y * roots, rcond=None)[0]


@settings(max_examples=25, deadline=None)
@given(seed=seeds, degree=st.integers(0, 8), interval=st.sampled_from(RANGES))
def test_projection_onto_a_chain_is_polynomial_least_squares(seed, degree, interval):
    rng = np.random.default_rng(seed)
    x, y, weights = rng.uniform(*interval, 60), rng.standard_normal(60), rng.uniform(0.2, 3.0, 60)
    chain = grown(x, y, degree + 1, weights)
    # NumPy's weights multiply the errors and not their squares.
    best = Chebyshev.fit(x, y, degree, w=np.sqrt(weights))(x)
    slow = [
        np.sum(weights * (y - Chebyshev.fit(x, y, d, w=np.sqrt(weights))(x)) ** 2) for d in range(degree + 1)
    ]
    np.testing.assert_allclose(chain.losses, np.array(slow) / np.sum(weights * y**2), rtol=1e-9)
    np.testing.assert_allclose(np.sqrt(weights) * y - chain.residual, np.sqrt(weights) * best, atol=1e-9)
    np.testing.assert_allclose(fitted(columns(chain, x), y, np.sqrt(weights)), best, atol=1e-9)


@pytest.mark.parametrize("interval", RANGES)
@pytest.mark.parametrize("degree", [1, 5, 20, 35])
def test_a_polynomial_is_exact_at_its_degree_and_not_before(degree, interval):
    rng = np.random.default_rng(degree)
    x = rng.uniform(*interval, 300)
    y = Chebyshev(rng.uniform(0.5, 1.5, degree + 1) * rng.choice([-1, 1], degree + 1), domain=interval)(x)
    chain = grown(x, y, 60)
    assert len(chain.terms) == degree + 1
    assert chain.finished
    assert chain.losses[-1] < 1e-26 < 1e-6 < chain.losses[-2]
    # So is the sum of the terms as they are written.
    np.testing.assert_allclose(fitted(columns(chain, x), y), y, atol=1e-12 * np.abs(y).max())


def test_terms_stay_apart_where_powers_become_parallel():
    x = np.random.default_rng(0).uniform(2.0, 9.0, 300)
    chain = grown(x, np.random.default_rng(1).standard_normal(300), 21)
    powers = np.vander(x, 21)
    assert np.linalg.cond(columns(chain, x)) < 1e3
    assert np.linalg.cond(powers / np.linalg.norm(powers, axis=0)) > 1e9


@pytest.mark.parametrize("operators", [["add", "mul"], ["sub", "mul"], ["add", "sub", "mul"]])
def test_a_chain_is_written_with_the_operators_there_are(operators):
    x = np.linspace(0.3, 2.0, 40)
    chain = grown(x, x**3 - x, 10, vocabulary=Vocabulary(PrimitiveSet(operators)))
    used = {
        term.primitives.by_opcode(code).name for term in chain.terms for code in term.op.tolist() if code > 1
    }
    assert used <= set(operators)
    np.testing.assert_allclose(fitted(columns(chain, x), x**3 - x), x**3 - x, atol=1e-12)


def test_a_loss_never_grows_and_noise_exhausts_the_patience():
    rng = np.random.default_rng(2)
    chain = grown(rng.uniform(-1, 1, 4000), rng.standard_normal(4000), 200)
    assert (np.diff(chain.losses) <= 0.0).all()
    assert PATIENCE <= len(chain.terms) < 200
    assert chain.finished
    assert chain.loss > 0.9


@pytest.mark.parametrize("distinct", [1, 2, 5])
def test_there_are_as_many_terms_as_different_values_and_the_fit_has_the_means_there(distinct):
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, distinct, 50).astype(float), rng.standard_normal(50)
    chain = grown(x, y, 50)
    assert len(chain.terms) == distinct
    assert chain.finished
    means = np.array([y[x == value].mean() for value in x])
    np.testing.assert_allclose(y - chain.residual, means, atol=1e-12)


def test_values_far_from_zero_cost_no_digits():
    x = 1e6 + np.random.default_rng(4).uniform(-1.0, 1.0, 200)
    y = (x - 1e6) ** 4 - 0.5 * (x - 1e6)
    assert grown(x, y, 10).losses[4] < 1e-18
