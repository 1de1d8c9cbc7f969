"""Compositions P·h(S) + d·m: found by linear least squares behind the inverse of h."""

import numpy as np
import pytest

from fouriertree import SymbolicRegressor
from fouriertree.search.hybrid import compositions
from fouriertree.search.hybrid.compositions import KINDS, composition_candidates
from fouriertree.search.hybrid.evaluation import Evaluation, Fronts
from fouriertree.search.hybrid.reductions import Reduction
from fouriertree.search.hybrid.transforms import transform_named
from tests.search.hybrid.contexts import context_of

rng = np.random.default_rng(0)
X = rng.uniform(0.6, 3.0, (300, 3))
x, y, z = X.T
S = 0.4 * x + 0.9 * y**2 + 0.5
#: by what undoes the function of the sum
LAWS = {
    "1/t": 2.4 * z / S - 0.11 / x**2,
    "log t": 1.3 * np.exp(-0.3 * x - 0.2 * y**2) * z**2 + 0.1 * y,
    "t^2": np.sqrt(S) / z + 0.2 * x * y,
    "1/t^2": 0.7 * x / np.sqrt(S) + 0.3 * np.sqrt(y),
    "sqrt t": 0.2 * (x + 0.6 * y) ** 2 * z + 0.8 / y,
    "1/sqrt t": 3.0 / (x + 0.6 * y) ** 2 + 0.05 * z,
    "t^(2/3)": 0.4 * (x + 0.5 * y) ** 1.5 + 0.3 * z / x,
    "asin": 1.7 * z * np.arcsin(0.2 * x + 0.1 * y - 0.3) + 0.2 * x * y,
    "atan": 0.8 * np.arctan(0.5 * x**2 - 0.7 * y + 0.2 * z),
    "tanh": 1.3 * y * np.tanh(0.6 * x - 0.3 * z) - 0.1 / x,
    "sinh": 0.3 * np.sinh(0.5 * x + 0.4 * y - 0.6 * z) + 0.2 * y,
    "log": 2.1 * np.log(0.4 * x + 0.9 * y**2 + 0.2) / z,
    "logarithms": 0.7 * x * np.log(1.3 * y**2 / np.sqrt(z)) + 0.2 * z,
}


def candidates(target, transform, table=X, reduced=lambda variables: Reduction(variables)):
    context = context_of(target, table)
    with np.errstate(all="ignore"):
        return composition_candidates(context, reduced(context.data.variables), transform, Fronts())


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_a_composition_is_found_by_what_undoes_its_function(kind, sign):
    found = candidates(sign * LAWS[kind], kind)
    assert found.has_law
    assert found.cost.candidates > 1000


@pytest.mark.parametrize("transform", ["1/t", "t^2"])
def test_noise_does_not_hide_a_composition(transform):
    law = LAWS[transform]
    scale = 0.01 * np.sqrt(np.mean(law**2))
    found = candidates(law + scale * np.random.default_rng(1).normal(size=len(law)), transform)
    best = min(found.found, key=lambda candidate: candidate.loss)
    assert best.loss < 1.1e-4
    assert best.complexity < 40


def test_a_target_of_both_signs_and_other_numbers_of_features_have_no_compositions():
    assert candidates(x - y, "1/t") == Evaluation()
    one, many = X[:, :1], np.tile(X, (1, 4)) * np.linspace(1.0, 2.0, 12)
    assert candidates(1.0 / (one[:, 0] + 1.0), "1/t", one) == Evaluation()
    assert candidates(1.0 / (many.sum(axis=1) + 1.0), "1/t", many) == Evaluation()


def test_losses_to_first_order_are_those_of_least_squares():
    context = context_of(LAWS["1/t"], X)
    V, target, weights = context.data.X[:60].T, context.data.y[:60], context.data.weights[:60]
    if (target < 0.0).any():
        V, target, weights = V[:, target > 0.0], target[target > 0.0], weights[target > 0.0]
    given = context.data.variables, V, target, weights
    problem = compositions._Problem(*given, transform_named("1/t"), context.vocabulary, "1/t")
    with np.errstate(all="ignore"):
        losses = problem._losses(problem.P[:5])
    for i in range(5):
        t = target / problem.P[i]
        scale = problem.P[i] * t**2 * np.sqrt(weights)
        for j in (0, 3, len(problem.M)):
            columns = [scale * u for u in problem.U]
            columns += [np.sqrt(weights) * problem.M[j]] if j < len(problem.M) else []
            A, b = np.array(columns).T, scale / t
            slow = float(np.sum(np.square(b - A @ np.linalg.lstsq(A, b, rcond=None)[0])))
            assert losses[i, j] == pytest.approx(slow, rel=1e-3, abs=1e-9 * float(b @ b))


def test_a_composition_of_a_reduced_problem_is_found():
    # Of x·y and z, times y²: in three variables, the square of a product is no term of the sum.
    law = y**2 / (0.4 * (x * y) ** 2 + 0.9 * z + 0.5)
    order = context_of(law, X).data.features.tolist()

    def reduced(variables):
        a, b, c = (variables[order.index(j)] for j in range(3))
        return Reduction((a * b, c), ((b, 2.0),))

    assert candidates(law, "1/t", reduced=reduced).has_law


def test_a_fit_finds_a_composition():
    model = SymbolicRegressor(random_state=0, time_limit=60).fit(X, LAWS["1/t"])
    fresh = np.random.default_rng(2).uniform(0.7, 2.9, (100, 3))
    a, b, c = fresh.T
    law = 2.4 * c / (0.4 * a + 0.9 * b**2 + 0.5) - 0.11 / a**2
    np.testing.assert_allclose(model.predict(fresh), law, rtol=1e-6)
