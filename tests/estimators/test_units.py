"""The units of the data do not matter: the same form is chosen for other ones."""

import numpy as np
import pytest

from fouriertree import SymbolicRegressor
from fouriertree.criteria.shapes import form_of
from fouriertree.experiments.bench.everyday import generate

#: factors of the features, and of the target
FACTORS, TARGET = (1.37, 0.21, 7.3, 0.9, 13.0), 0.0042


@pytest.mark.parametrize("noise", [0.01, 0.1])
@pytest.mark.parametrize("index", range(6))
def test_the_same_form_is_chosen_in_other_units(index, noise):
    law = generate(16, index)
    d = law.n_variables
    draws = np.random.default_rng(index)
    X = draws.uniform(0.5, 4.0, (150, d))
    y = sum(term.values(X) for term in law.terms)
    y = y + noise * np.sqrt(np.mean(y**2)) * draws.normal(size=len(y))
    options = {"max_evaluations": 1_000_000, "random_state": 0}
    plain = SymbolicRegressor(**options).fit(X, y)
    scaled = SymbolicRegressor(**options).fit(X * np.array(FACTORS[:d]), TARGET * y)
    assert form_of(plain.model_.expression) == form_of(scaled.model_.expression)
