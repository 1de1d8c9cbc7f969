"""Powers of sums c·P·S^γ + d·m: everything is fitted behind the logarithm, whatever the signs of y."""

import numpy as np
import pytest

from fouriertree.expr import PrimitiveSet
from fouriertree.search.hybrid.evaluation import Evaluation
from fouriertree.search.hybrid.log_sums import SumShape, log_sum_candidates
from tests.search.hybrid.contexts import candidates_of, context_of

X = np.random.default_rng(0).uniform(0.5, 4.0, (300, 4))
a, b, c, d = X.T
LAWS = {
    "1/S": 3.0 * a / (1.0 + 0.4 * b + 0.9 * c) - 0.6 * d,
    "√S": -1.3 * b * np.sqrt(a**2 + 0.5 * c) + 0.8 * d * a,
    "1/√S": 2.0 * b * d**2 * c / np.sqrt(0.3 * a + 0.7 * b**2),
    "S²": 0.7 * d * (a + 0.4 * b + 0.2 * c) ** 2 - 9.0 * b,
    "1/S²": 4.0 * a * b * c * np.sqrt(d) / (0.4 * a + b) ** 2,
}


def candidates(target, table=X, operators=None):
    return candidates_of(log_sum_candidates, context_of(target, table, operators))


@pytest.mark.parametrize("law", LAWS)
def test_a_power_of_a_sum_is_found(law):
    found = candidates(LAWS[law])
    assert found.has_law
    assert found.cost.candidates > 1000


@pytest.mark.parametrize("law", ["1/S", "√S"])
def test_noise_does_not_hide_it(law):
    target = LAWS[law]
    scale = 0.01 * np.sqrt(np.mean(target**2))
    found = candidates(target + scale * np.random.default_rng(1).normal(size=len(target)))
    assert min(candidate.loss for candidate in found.found) < 1.1e-4


def test_variables_of_both_signs_and_few_operators_have_none():
    assert candidates(LAWS["1/S"], X - 2.0) == Evaluation()
    assert candidates(LAWS["1/S"], operators=PrimitiveSet(["add", "mul"])) == Evaluation()


def test_slopes_of_the_shape_are_derivatives():
    shape, step = SumShape(X[:20].T), 1e-6
    parameters = np.random.default_rng(0).uniform(0.1, 1.0, (3, shape.starts.shape[1]))
    values, slopes = shape(parameters)
    assert values.shape == (3, 20)
    for j in range(parameters.shape[1]):
        moved = parameters + step * (np.arange(parameters.shape[1]) == j)
        np.testing.assert_allclose((shape(moved)[0] - values) / step, slopes[:, j], rtol=1e-4, atol=1e-4)
