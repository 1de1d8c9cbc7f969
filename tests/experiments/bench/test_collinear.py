"""Laws that nearly collinear terms approximate, and the check for such terms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.experiments.bench.collinear import (
    EXAMPLE,
    cancelling_pairs,
    degenerate_terms,
    generate,
    uncertain_coefficients,
)
from fouriertree.experiments.bench.everyday import HIGH, LOW, SPREAD
from fouriertree.expr import parse
from fouriertree.model import Model

SEEDS = st.integers(0, 2**63 - 1), st.integers(0, 500)


def rows(law=EXAMPLE, noise=0.01, n=500):
    rng = np.random.default_rng(0)
    X = rng.uniform(LOW, HIGH, (n, law.n_variables))
    y = sum(term.values(X) for term in law.terms)
    return X, y + noise * np.sqrt(np.mean(y**2)) * rng.standard_normal(n)


def model(text):
    return Model.from_expression(parse(text))


@given(*SEEDS)
@settings(max_examples=100)
def test_a_law_has_two_terms_of_a_variable_and_a_function_of_another_one(seed, index):
    law = generate(seed, index)
    assert len(law.terms) == 2
    assert {f.variable for term in law.terms for f in term.factors} == {0, 1, 2}
    for term in law.terms:
        linear, function = term.factors
        assert linear.family == "x"
        assert linear.variable != function.variable
    X = np.random.default_rng(1).uniform(LOW, HIGH, (4000, 3))
    assert law.spreads(X).min() >= SPREAD


@given(*SEEDS)
@settings(max_examples=20)
def test_a_law_is_a_function_of_seed_and_index(seed, index):
    assert generate.__wrapped__(seed, index) == generate.__wrapped__(seed, index)


def test_another_index_and_another_seed_give_another_law():
    assert len({generate(seed, index) for seed in range(5) for index in range(20)}) == 100


def test_the_example_is_the_law_that_finite_differences_were_seen_for():
    assert EXAMPLE.formula == "2.5*x0*exp(-0.8*x1) + 1.3*x2*sin(2.1*x0)"


@given(*SEEDS)
@settings(max_examples=20)
def test_no_term_of_a_law_is_degenerate(seed, index):
    law = generate(seed, index)
    assert degenerate_terms(model(law.formula), *rows(law)) == []


def test_a_finite_difference_of_large_terms_is_degenerate():
    text = "2.5*x0*exp(-0.8*x1) + 666.739*cos(2.10193*x0 - 0.0019497*x2) - 666.737*cos(2.10193*x0)"
    X, y = rows()
    # It is an accurate equation.
    assert np.std(y - model(text).predict(X)) < 0.05 * np.std(y)
    assert len(cancelling_pairs(model(text), X)) == 1
    # Their standard errors are large, but smaller than the coefficients.
    assert uncertain_coefficients(model(text), X, y) == []


def test_a_closer_finite_difference_has_uncertain_coefficients():
    text = "2.5*x0*exp(-0.8*x1) + 6667.0*cos(2.1*x0 - 0.000195*x2) - 6667.0*cos(2.1*x0)"
    assert len(uncertain_coefficients(model(text), *rows())) == 2


def test_a_coefficient_of_noise_is_uncertain_but_an_intercept_may_be():
    X, y = rows()
    assert len(uncertain_coefficients(model(EXAMPLE.formula + " + 0.0001*x1*x2"), X, y)) == 1
    assert uncertain_coefficients(model(EXAMPLE.formula + " + 0.00001"), X, y) == []


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("100.0*x0 - 99.5*x0*exp(-0.001*x1)", 1),
        ("100.0*x0 - 99.5*x0*exp(-0.001*x1) + x2", 1),
        ("100.0*x0 - 90.0*x0*exp(-0.001*x1)", 0),
        ("100.0*x0 + 99.5*x0*exp(-0.001*x1)", 0),
        ("x0", 0),
    ],
)
def test_two_terms_cancel_if_their_sum_is_small(text, pairs):
    assert len(cancelling_pairs(model(text), rows()[0])) == pairs
