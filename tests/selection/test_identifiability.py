"""Terms that the rows do not determine: cancelling terms, coefficients with large errors, waves with too few rows."""

import numpy as np
import pytest

from fouriertree import Model, SymbolicRegressor, parse
from fouriertree.selection.identifiability import (
    has_cancelling_terms,
    has_undersampled_wave,
    has_undetermined_coefficient,
)

rng = np.random.default_rng(0)
X = rng.uniform(0.5, 3.0, (200, 2))


def model(text):
    return Model.from_expression(parse(text))


@pytest.mark.parametrize(
    ("text", "cancelling"),
    [
        ("667*cos(2.1*x0 - 0.002*x1) - 667*cos(2.1*x0)", True),
        ("100*x0 - 99.5*x0*1.0001^x1", True),
        ("2*x0 - 1.9*x1", False),
        ("3*x0 + x1", False),
    ],
)
def test_terms_cancel_if_their_sum_is_below_one_per_cent_of_either_on_every_row(text, cancelling):
    found = model(text)
    values = [c * e.evaluate(X) for c, e in zip(found.coefficients, found.expressions, strict=True)]
    sizes = [np.maximum(np.abs(v), np.sqrt(np.mean(v**2))) for v in values]
    slow = bool((np.abs(sum(values)) <= 0.01 * np.max(sizes, axis=0)).all())
    assert has_cancelling_terms(found, X) == slow == cancelling


def test_a_coefficient_is_determined_if_it_exceeds_its_standard_error():
    """Of a linear model, the errors are those of the textbook, σ²·(ΦᵀΦ)⁻¹."""
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(size=200)
        y = 2.0 * X[:, 0] + 0.1 * X[:, 1] + noise
        design = np.column_stack([X, np.ones(200)])
        c = np.linalg.lstsq(design, y, rcond=None)[0]
        residual = y - design @ c
        errors = np.sqrt(residual @ residual / 197 * np.diag(np.linalg.inv(design.T @ design)))
        found = Model((c[0], c[1], c[2]), (parse("x0"), parse("x1"), parse("1")))
        expected = bool((errors[:2] > np.abs(c[:2])).any())
        assert has_undetermined_coefficient(found, X, y, np.ones(200)) == expected


def test_inner_constants_add_to_the_errors_of_coefficients():
    x = np.linspace(0.0, 1.0, 30)[:, None]
    y = 1.0 + 0.5 * x[:, 0] + 0.1 * rng.normal(size=30)
    # With a free rate near zero, exp(k·x) is nearly a constant, so that neither coefficient is determined.
    assert has_undetermined_coefficient(model("50*exp(0.01*x0) - 49"), x, y, np.ones(30))
    assert not has_undetermined_coefficient(model("0.5*x0 + 1"), x, y, np.ones(30))


def test_a_wave_needs_four_rows_per_period():
    x = np.linspace(0.0, 10.0, 41)[:, None]
    assert not has_undersampled_wave(model("sin(6*x0)"), x)  # 9.5 periods
    assert has_undersampled_wave(model("2*x0 + cos(7*x0)"), x)  # 11.1 periods


@pytest.mark.parametrize("seed", range(3))
def test_the_rows_determine_the_terms_of_the_chosen_equation(seed):
    draws = np.random.default_rng(seed)
    table = draws.uniform(0.5, 4.0, (150, 3))
    y = table[:, 0] * np.sin(table[:, 1]) + np.sqrt(table[:, 2]) + 0.3 * draws.normal(size=150)
    fitted = SymbolicRegressor(random_state=seed, max_evaluations=3_000_000).fit(table, y)
    for found in fitted.models_:
        assert not has_cancelling_terms(found, table)
        assert not has_undetermined_coefficient(found, table, y, np.ones(150))
