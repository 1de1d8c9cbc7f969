"""Code lengths: features have short codes where there is no law, and never longer ones than other terms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fouriertree import parse
from fouriertree.criteria.code_lengths import (
    NATS_PER_COMPLEXITY,
    ROWS_PER_FEATURE_NAT,
    SCALED_FEATURE,
    SUBSET_WEIGHT,
    constant_code_length,
    constants_of_linear_terms,
    feature_code_length,
    subset_code_length,
)
from fouriertree.expr import Expression

counts = st.integers(3, 10_000)
explained = st.floats(0.0, 60.0)


@given(counts, explained, explained)
def test_the_code_length_of_a_feature_grows_with_the_explained_variance_up_to_that_of_a_term(n, one, other):
    low, high = sorted((one, other))
    assert feature_code_length(n, low) <= feature_code_length(n, high)
    assert (
        0.0
        < feature_code_length(n, high)
        <= SCALED_FEATURE * NATS_PER_COMPLEXITY + constant_code_length(n, high)
    )


@given(counts)
def test_a_feature_must_explain_one_eightieth_of_the_residual(n):
    gain = -0.5 * n * np.log(1.0 - 1.0 / 80.0)
    assert gain == pytest.approx(n / ROWS_PER_FEATURE_NAT, rel=0.01)
    assert feature_code_length(n, 0.0) >= min(0.99 * gain, constant_code_length(n, 0.0))


def test_in_an_exact_law_a_feature_has_the_code_length_of_a_term():
    assert feature_code_length(1000, 20.0) == SCALED_FEATURE * NATS_PER_COMPLEXITY + constant_code_length(
        1000, 20.0
    )


COLUMNS = ["3.5*x0", "x1*2.5", "x0", "-x1"]
OTHERS = ["4.5", "5.5*sin(6.5*x0)", "exp(7.5*x1)", "(8.5*x0 + 1.25)*x1^2", "x0*x1*9.5"]


@given(st.lists(st.sampled_from([*COLUMNS, *OTHERS]), min_size=1, max_size=6))
def test_a_term_is_plain_if_the_derivative_by_its_constant_is_a_feature_or_constant(parts):
    whole = parse(" + ".join(f"({part})" for part in parts))
    X = np.random.default_rng(0).uniform(0.5, 1.5, (20, 2))
    constants = [i for i in range(len(whole)) if whole.op[i] == 0]
    slow = {i for i in constants if slope_is_plain(whole, i, X)}
    assert constants_of_linear_terms(whole) == slow


def slope_is_plain(whole, i, X):
    const = whole.const.copy()
    const[i] += 1.0
    moved = Expression.unchecked(whole.op, whole.arg, const, whole.primitives)
    slope = moved.evaluate(X) - whole.evaluate(X)
    plain = [np.ones(len(X)), *X.T]
    return any(np.allclose(np.abs(slope), column, rtol=1e-9) for column in plain)


@given(st.integers(1, 300), st.data())
def test_the_code_length_of_the_selection_is_a_fraction_of_the_logarithm_of_the_number_of_selections(
    columns, data
):
    chosen = data.draw(st.integers(0, columns))
    assert subset_code_length(chosen, columns) == pytest.approx(
        SUBSET_WEIGHT * np.log(float(math.comb(columns, chosen))), abs=1e-9
    )
