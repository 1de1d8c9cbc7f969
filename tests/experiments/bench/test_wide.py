"""Laws of three variables among many columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fouriertree.experiments.bench.everyday import HIGH, LOW
from fouriertree.experiments.bench.formulas import evaluate
from fouriertree.experiments.bench.structure import structure_right
from fouriertree.experiments.bench.wide import draw, generate


@given(st.integers(0, 2**63 - 1), st.integers(0, 500))
@settings(max_examples=40)
def test_a_law_has_three_variables_and_is_a_function_of_seed_and_index(seed, index):
    law = generate(seed, index)
    assert {f.variable for term in law.terms for f in term.factors} == {0, 1, 2}
    assert generate.__wrapped__(seed, index) == law


@pytest.mark.parametrize("columns", [5, 1000])
def test_the_target_depends_on_three_columns_only(columns):
    data = draw(generate(0, 0), columns, 300, 0.01, np.random.default_rng(0))
    assert data.X.shape == (300, columns)
    assert len(data.truth.free_symbols) == 3
    assert data.X.min() >= LOW
    assert data.X.max() <= HIGH
    np.testing.assert_allclose(evaluate(data.truth, data.symbols, data.X_test), data.y_test)
    assert structure_right(data.truth, data)
    assert not structure_right(data.truth * data.symbols[0], data)


def test_the_places_of_the_variables_are_random():
    places = {frozenset(map(str, draw(generate(0, 0), 50, 20, 0.0, np.random.default_rng(k)).truth.free_symbols))
              for k in range(5)}  # fmt: skip
    assert len(places) == 5
